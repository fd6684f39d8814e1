"""What is said of a word in a form that does not read, since somebody is typing in it: what is in front of it, and what the last
analyses knew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sexpgpu.ide import ctx, facts, names, words
from sexpgpu.ide.arguments import callee_of
from sexpgpu.ide.cursor import Cursor, cursor_at
from sexpgpu.ide.definition import Target
from sexpgpu.ide.hover import Hover
from sexpgpu.ide.markup import Code, Part, Prose
from sexpgpu.ide.recall import Recall, View, entries
from sexpgpu.ide.roles import Place, place_of
from sexpgpu.ide.types import shown
from sexpgpu.language.special import SPECIAL_FORMS, TOP_LEVEL
from sexpgpu.language.values import Plist, Value, keyword
from sexpgpu.program.unit import Definition
from sexpgpu.reader.forms import ListForm, SymbolForm
from sexpgpu.source import Source, Span

_LISTS = (*ctx.READERS, "plist-set")


class _Word(NamedTuple):
    """A word, where it stands, and what is known around it."""

    text: str
    span: Span
    cursor: Cursor
    place: Place
    recall: Recall


def is_open(view: View, offset: int) -> bool:
    """Whether an offset is in a form that does not read."""
    for top in view.module.reading.forms:
        if top.origin <= offset <= top.origin + len(top.text):
            return top.broken
    return False


def glimpse(views: Sequence[View], source: Source, offset: int) -> Hover | None:
    """What there is to say of the word at an offset. `views` are what is known of the file, the latest first."""
    word = _word(views, source, offset)
    if word is None:
        return None
    parts = _keyword(word) if word.text.startswith(":") else _symbol(word)
    return Hover(word.span, tuple(parts), True) if parts else None


def target(views: Sequence[View], source: Source, offset: int) -> Target | None:
    """Where the name at an offset is bound or defined."""
    word = _word(views, source, offset)
    if word is None or word.place.role not in ("head", "value"):
        return None
    bound = word.place.locals.get(word.text)
    if bound is not None:
        start = word.cursor.top.origin + bound.start
        place = Span(source, start, start + len(bound.name))
        return Target(word.span, place, place)
    found = _definition(word)
    if found is None or found.top is None or found.top.form is None:
        return None
    whole = found.form or found.top.form
    return Target(word.span, whole.span, (found.name_form or whole).span)


def _word(views: Sequence[View], source: Source, offset: int) -> _Word | None:
    cursor = cursor_at(source, offset) if views else None
    if cursor is None or cursor.kind != "word" or cursor.start == cursor.end:
        return None
    span = Span(source, cursor.start, cursor.end)
    recall = Recall(views, cursor.top, cursor.path)
    return _Word(source.text[cursor.start : cursor.end], span, cursor, place_of(cursor.path), recall)


def _definition(word: _Word) -> Definition | None:
    """What a name stands for: as the file is now, where that says so."""
    place, name = word.place, word.text
    for view in word.recall.views:
        module = view.module
        spaces = (module.loaders, module.passes) if place.key == "loader" else (module.scope,)
        for space in spaces:
            if name in space:
                return space[name]
    return word.recall.definition(name)


def _symbol(word: _Word) -> list[Part]:
    place, name = word.place, word.text
    bound = place.locals.get(name)
    if bound is not None:
        return _local(word, name, bound)
    called = place.role == "head"
    if called and name in SPECIAL_FORMS:
        return words.word(SPECIAL_FORMS[name])
    if place.role == "head of top" and name in TOP_LEVEL:
        return words.word(TOP_LEVEL[name])
    if place.role not in ("head", "value"):
        return words.marker(name) or []
    found = _definition(word)
    return names.definition(word.recall.latest.analysis, found) if found is not None else []


def _local(word: _Word, name: str, bound: SymbolForm) -> list[Part]:
    values = word.recall.of_local(bound)
    if not values:
        return [Code(name)]
    return _typed(name, values)


def _typed(written: str, values: Sequence[Value]) -> list[Part]:
    size = facts.size(values)
    return [Code(f"{written} : {shown(values)}"), *([Prose(size)] if size else [])]


def _keyword(word: _Word) -> list[Part]:
    place, name, recall = word.place, word.text[1:], word.recall
    around = place.around
    if not isinstance(around, ListForm):
        return []
    if place.head in _LISTS and place.at == 2:
        values = recall.values(around.items[1], place)
        if any(isinstance(value, Plist) and value.role == "ctx" for value in values):
            return ctx.explain(recall.latest.analysis, name, None)
        found = entries(values).get(keyword(name), [])
        return _typed(f"({place.head} {around.items[1].text} {word.text})", found) if found else []
    if place.role == "key":
        return words.declared_key(place.head, name) or []
    callee = callee_of(around.items[0], place, recall) if place.at else None
    told = words.argument_key(name, callee.name, callee.signature) if callee is not None else None
    return told or []
