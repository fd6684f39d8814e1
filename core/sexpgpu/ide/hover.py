"""What a reader is told of the place under the cursor: what the word means, what the expression is, what a diagnostic says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from sexpgpu.diagnostics.finding import Diagnostic
from sexpgpu.ide import ctx, facts, memory, names, owned, words
from sexpgpu.ide.bindings import values_of
from sexpgpu.ide.literals import LITERALS, is_value, literal, says_more
from sexpgpu.ide.markup import Break, Code, Part, Prose, inline
from sexpgpu.ide.places import comment_at, forms_at, on_edge
from sexpgpu.ide.types import shown, type_of
from sexpgpu.ide.ways import CALLED
from sexpgpu.language.marks import Local
from sexpgpu.language.special import SPECIAL_FORMS, TOP_LEVEL
from sexpgpu.program.unit import Definition
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, QuoteForm, StringForm, SymbolForm, VectorForm
from sexpgpu.source import Span

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.program.unit import Module

_IGNORE = re.compile(r"sexpgpu:\s*ignore\[")
_CODE = re.compile(r"[A-Z]-[A-Z]+-\d{3}")
_LONGEST_NAME = 32


class Hover(NamedTuple):
    """What is said, and of which text. `typed` tells that a value is among it, so that an analysis which reached the place has seen
    more than one that did not."""

    span: Span
    parts: tuple[Part, ...]
    typed: bool


class _Said(NamedTuple):
    form: Form
    parts: list[Part]
    typed: bool = False


def hover(analysis: Analysis, module: Module, offset: int) -> Hover | None:
    """What there is to say of an offset of a module, or None. Needs an analysis that recorded."""
    comment = comment_at(module, offset)
    if comment is not None:
        return _ignored(comment, offset)
    path = forms_at(module, offset)
    said = _said(analysis, path, offset) if path else None
    found = _diagnostics(analysis, module, offset)
    told = [part for diagnostic in found for part in words.code(diagnostic.code) or ()]
    if said is None:
        return Hover(found[0].span, tuple(told), False) if found else None
    return Hover(said.form.span, (*said.parts, *((Break(), *told) if told else ())), said.typed)


def _ignored(comment: Span, offset: int) -> Hover | None:
    """The code under the cursor in a comment that asks not to hear of it."""
    text = comment.source.text[comment.start : comment.end]
    if _IGNORE.search(text) is None:
        return None
    for match in _CODE.finditer(text):
        if match.start() <= offset - comment.start <= match.end():
            parts = words.code(match[0], whole=True)
            span = Span(comment.source, comment.start + match.start(), comment.start + match.end())
            return None if parts is None else Hover(span, tuple(parts), False)
    return None


def _diagnostics(analysis: Analysis, module: Module, offset: int) -> list[Diagnostic]:
    """The diagnostics whose span holds the offset, the smallest first; each code once."""
    found = [
        each
        for each in analysis.diagnostics
        if each.span.source is module.source and each.span.start <= offset <= max(each.span.end - 1, each.span.start)
    ]
    found.sort(key=lambda each: each.span.end - each.span.start)
    return list({each.code: each for each in reversed(found)}.values())[::-1]


def _said(analysis: Analysis, path: list[Form], offset: int) -> _Said | None:
    form = path[-1]
    if len(path) > 1 and isinstance(path[-2], QuoteForm) and on_edge(form, offset):
        return _Said(path[-2], literal(path[-2]))
    match form:
        case SymbolForm():
            return _symbol(analysis, path, form)
        case KeywordForm():
            return _keyword(analysis, path, form)
        case StringForm():
            said = _entry(analysis, path, form) or _reported(analysis, form)
            return said or (_Said(form, literal(form)) if is_value(analysis, path) else None)
        case _ if isinstance(form, LITERALS) and on_edge(form, offset):
            return _Said(form, literal(form))
        case _:
            value = type_of(analysis, form) if on_edge(form, offset) else ""
            if isinstance(form, VectorForm) and value and not says_more(form, value):
                return _Said(form, literal(form))
            return _Said(form, [Code(_typed(form, value)), *_size(analysis, form)], True) if value else None


def _symbol(analysis: Analysis, path: list[Form], form: SymbolForm) -> _Said | None:
    call = path[-2] if len(path) > 1 else None
    heads = isinstance(call, ListForm) and call.items[0] is form
    found = analysis.marks.references.get(form)
    if isinstance(found, Local):
        parts = names.local(analysis, found)
        value = type_of(analysis, form) or shown(names.local_values(analysis, found))
        return _Said(form, [*parts, *(_result(analysis, call) if heads else ())], bool(value))
    parts: list[Part] | None = None
    made = owned.parts(analysis, call) if heads else []
    if isinstance(found, Definition):
        parts = names.definition(analysis, found, owned=bool(made), within=form.top.source)
    elif heads and form.name in SPECIAL_FORMS:
        parts = words.word(SPECIAL_FORMS[form.name])
    elif heads and form.name in TOP_LEVEL and len(path) == 2:
        return _Said(form, [*memory.table(analysis, call), *words.word(TOP_LEVEL[form.name])])
    else:
        parts = words.marker(form.name)
    if parts is None:
        value = type_of(analysis, form)
        return _Said(form, [Code(f"{form.name} : {value}")], True) if value else None
    if call is not None and heads:
        return _Said(form, [*parts, *_result(analysis, call), *made], bool(type_of(analysis, call) or made))
    return _Said(form, parts, isinstance(found, Definition) and (CALLED in parts or _has_type(parts)))


def _reported(analysis: Analysis, form: StringForm) -> _Said | None:
    parts = facts.report(analysis, form)
    return _Said(form, parts, _has_type(parts)) if parts else None


def _has_type(parts: list[Part]) -> bool:
    """Whether a value stands behind the name on top."""
    return bool(parts) and isinstance(parts[0], Code) and " : " in parts[0].text


def _size(analysis: Analysis, form: Form) -> list[Part]:
    size = facts.size(values_of(analysis, form))
    return [Prose(size)] if size else []


def _result(analysis: Analysis, call: Form | None) -> list[Part]:
    """What the call that a symbol heads evaluated to."""
    value = type_of(analysis, call) if call is not None else ""
    if call is None or not says_more(call, value):
        return []
    size = facts.size(values_of(analysis, call))
    return [Prose(f"Here: {inline(value)}" + (f", {size}" if size else ""))] if "\n" not in value else [Prose("Here:"), Code(value)]


def _keyword(analysis: Analysis, path: list[Form], form: KeywordForm) -> _Said | None:
    if ctx.reads(analysis, path):
        reader = ctx.reader(path)
        return _Said(form, ctx.explain(analysis, form.name, reader), reader in analysis.values)
    if ctx.declares(path):
        return _Said(form, ctx.explain(analysis, form.name, None), form.name in analysis.program.counters)
    entry = _entry(analysis, path, form)
    if entry is not None:
        return entry
    call = path[-2] if len(path) > 1 else None
    if not isinstance(call, ListForm) or not call.items:
        told = facts.dtype(form) or _plain(analysis, path)
        return _Said(form, told) if told else None
    parts: list[Part] | None = None
    if len(path) == 2:
        parts = words.declared_key(call.head or "", form.name)
    head = call.items[0]
    found = analysis.marks.references.get(head) if isinstance(head, SymbolForm) else None
    if isinstance(found, Definition) and found.signature is not None:
        parts = words.argument_key(form.name, found.name, found.signature)
    elif isinstance(head, SymbolForm) and found is None and head.name == "scope":
        parts = words.word(SPECIAL_FORMS["scope"])
    if parts is None:
        made = owned.parts(analysis, call) if form in call.items[1:2] else []
        if made:
            return _Said(form, [Code(f"({call.head} {form.text} …)"), *made], True)
        told = facts.key(analysis, form) or facts.dtype(form) or _plain(analysis, path)
        return _Said(form, told, _has_type(told)) if told else None
    index = call.items.index(form)
    given = call.items[index + 1] if index + 1 < len(call.items) else None
    value = type_of(analysis, given) if given is not None else ""
    if given is not None and says_more(given, value) and "\n" not in value:
        parts = [*parts, Prose(f"Here: {inline(value)}")]
    return _Said(form, parts, bool(value))


def _plain(analysis: Analysis, path: list[Form]) -> list[Part]:
    return literal(path[-1]) if is_value(analysis, path) else []


def _entry(analysis: Analysis, path: list[Form], form: Form) -> _Said | None:
    """The key of an entry that a call reads out of a plist: what it found there."""
    call = ctx.reader(path)
    value = type_of(analysis, call) if call is not None else ""
    if call is None or not value:
        return None
    return _Said(form, [Code(f"({call.head} {_short(call.items[1])} {form.text}) : {value}"), *_size(analysis, call)], True)


def _typed(form: Form, value: str) -> str:
    separator = "\n" if "\n" in value else " : "
    return f"{_short(form)}{separator}{value}"


def _short(form: Form) -> str:
    """A form on one line: whole if it is short, otherwise its beginning."""
    text = " ".join(form.text.split())
    if len(text) <= _LONGEST_NAME:
        return text
    if isinstance(form, ListForm) and form.head is not None and len(form.head) < _LONGEST_NAME:
        return f"({form.head} …)"
    return f"{text[:_LONGEST_NAME]}…"
