"""What can be written at a place: asked of the text as it is now, and of the last analyses of it.

The text tells where the place stands, so that it may be anything; the analyses tell what names and plists hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sexpgpu.ide import asked, candidates, names, quoted, words
from sexpgpu.ide.arguments import Callee, argument_at, callee_of, keywords_left
from sexpgpu.ide.candidates import CHOICES, Item
from sexpgpu.ide.ctx import READERS, explain
from sexpgpu.ide.cursor import Cursor, cursor_at, is_followed, keywords_behind
from sexpgpu.ide.drift import defined, settled
from sexpgpu.ide.markup import Part
from sexpgpu.ide.quoted import Listing
from sexpgpu.ide.recall import Recall, View, entries
from sexpgpu.ide.roles import SCOPE_KEYS, Place, place_of
from sexpgpu.language.parameters import MARKERS
from sexpgpu.language.special import SPECIAL_FORMS, TOP_LEVEL, WORDS
from sexpgpu.language.values import Plist, Value
from sexpgpu.program.declarations import DECLARATIONS, Key
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, VectorForm
from sexpgpu.reader.terminals import TERMINALS
from sexpgpu.source import Source, Span

_IGNORE = re.compile(r";\s*sexpgpu:\s*ignore\[((?:[^\],]*,)*\s*)([^\],\s]*)\Z")
_CODE_REST = re.compile(r"[\w-]*")
_NUMBER = re.compile(f"(?:{TERMINALS['FLOAT']}|{TERMINALS['INTEGER']})|[+-]?\\.?[0-9].*")
_READ = (*READERS, "plist-set")
_GROUPS = {"init": "initializer", "source": "source", "stages": "source", "pretrained": "pretrained", "fields": "data"}
_OF_FILES = ("", '"', "/")
TRIGGERS = ("(", ":", '"', "[", "/")


class Completion(NamedTuple):
    """The items, and the text that each replaces; `settled` tells whether what is known is known of this text, but for the word
    that is being typed."""

    span: Span
    items: tuple[Item, ...]
    settled: bool = True


def complete(
    views: Sequence[View], source: Source, offset: int, listing: Listing | None = None, trigger: str = ""
) -> Completion | None:
    """What can be written at an offset of a text; None where nothing is offered. `views` are what is known of the file, the latest
    first: its text may have moved on. `trigger` is the character that asks, where no user does."""
    cursor = cursor_at(source, offset)
    if cursor is None:
        return None
    start, end = cursor.start, cursor.end
    if cursor.kind == "comment":
        found = _IGNORE.match(cursor.typed)
        if found is None:
            return None
        rest = _CODE_REST.match(source.text, offset)
        start, end = offset - len(found[2]), rest.end() if rest else offset
        written = {code.strip() for code in found[1].split(",")}
        here = {each.code for each in views[0].analysis.diagnostics}
        return _completion(source, start, end, candidates.codes(written, here))
    place = place_of(cursor.path)
    if cursor.kind == "string" and listing is not None and (kinds := quoted.file_kinds(place)) is not None and trigger in _OF_FILES:
        start += cursor.typed.rfind("/") + 1
        return _completion(source, start, end, quoted.files(source, cursor, kinds, listing))
    recall = Recall(views, cursor.top, cursor.path)
    same = settled(source.text, start, end, views[0].module.source.text)
    if cursor.kind == "string":
        found = quoted.closed(cursor, _in_string(recall, place, cursor))
        return _completion(source, start, end, found, same) if trigger != "/" else None
    if trigger in ('"', "/") or (cursor.typed and _NUMBER.fullmatch(cursor.typed)):
        return None
    if trigger == "[":
        return _completion(source, start, end, quoted.with_quotes(quoted.reported(recall, place, cursor)), same)
    found = _Words(recall, place, cursor, source, {} if same else defined(source.text)).items()
    if cursor.typed.startswith(":"):
        found = (each for each in found if each.label.startswith(":"))
    return _completion(source, start, end, found, same)


def _completion(source: Source, start: int, end: int, items: Iterable[Item], same: bool = True) -> Completion | None:
    """The items, of those that are called the same the first, in order."""
    by_label: dict[str, Item] = {}
    for each in items:
        by_label.setdefault(each.label, each)
    if not by_label:
        return None
    return Completion(Span(source, start, end), tuple(sorted(by_label.values(), key=lambda each: (each.order, each.label))), same)


class _Words:
    """What can be written where a word is. `defined` are names that the text defines, where it has moved on, with their heads."""

    def __init__(self, recall: Recall, place: Place, cursor: Cursor, source: Source, defined: dict[str, str]) -> None:
        self.recall = recall
        self.place = place
        self.cursor = cursor
        self.source = source
        self.defined = defined
        self.before: Sequence[Form] = place.around.items[: place.at] if place.around is not None else ()

    def items(self) -> Iterator[Item]:
        place = self.place
        match place.role:
            case "top":
                yield from candidates.heads(opened=False, bare=False)
            case "head of top":
                yield from candidates.heads(opened=True, bare=is_followed(self.source.text, self.cursor))
            case "head":
                group = self._group(self._outer())
                yield from self._expressions(called=True, group=group)
                yield from candidates.forms(bare=is_followed(self.source.text, self.cursor))
            case "key":
                yield from self._keys()
            case "define":
                yield from candidates.names_to_define(self.recall, place.head)
                if place.head == "defrun":
                    yield from self._keys()
            case "parameters":
                written = {each.text for each in self.before}
                yield from (candidates.item(each, "keyword", "", candidates.ASKED) for each in MARKERS if each not in written)
            case "value":
                yield from self._value()
            case _:
                pass

    def _keys(self) -> Iterator[Item]:
        place = self.place
        written = {each.name for each in self.before if isinstance(each, KeywordForm)} | set(self._behind())
        if place.head == "scope":
            yield from (
                candidates.item(f":{name}", "key", "", candidates.ASKED, ("word", "scope", ""))
                for name in SCOPE_KEYS
                if name not in written
            )
        elif place.head in DECLARATIONS:
            declaration = DECLARATIONS[place.head]
            yield from candidates.keys(place.head, declaration.keys.values(), declaration.settled(written))
        if place.head in ("scope", "defmodel"):
            yield from self._expressions()

    def _behind(self) -> list[str]:
        return keywords_behind(self.source.text, self.cursor.end)

    # Values

    def _value(self) -> Iterator[Item]:
        place = self.place
        if place.key and place.head in DECLARATIONS:
            yield from self._declared(place.head, place.key)
            return
        head = place.head
        if head in _READ and place.at == 2:
            values = self.recall.values(self.before[1], place)
            yield from _entries(self.recall, self.before[1], values, quoted=False)
        elif head == "list":
            yield from self._listed()
        if len(self.cursor.path) > 2 and (head != "list" or place.at == 1):
            yield from quoted.with_quotes(quoted.reported(self.recall, place, self.cursor))
        if isinstance(place.around, VectorForm):
            yield from self._axes(self.cursor.path[:-1], {each.text for each in self.before})
        parameter = ""
        if isinstance(place.around, ListForm) and place.at and head not in WORDS:
            callee = callee_of(place.around.items[0], place, self.recall)
            if callee is not None:
                given, index = self.before[1:], place.at - 1
                argument = argument_at(callee.signature, given, index, self.cursor.typed)
                if argument.kind == "keyword":
                    left = keywords_left(callee.signature, given[len(callee.signature.positional) :], self._behind())
                    signature = callee.signature
                    yield from candidates.keyword_arguments(callee.name, left, signature.keys, signature.required_keys)
                parameter = argument.name if argument.kind in ("positional", "value") else ""
                if parameter in asked.AXES:
                    yield from asked.axes(self.recall, callee, given, place)
                if parameter == "field" and callee.name == "tokens" and self._loader is not None:
                    yield from asked.fields(self.recall, self._loader)
                yield from candidates.choices(CHOICES.get(parameter, ()))
                truth = callee.signature.keys.get(parameter) in ("true", "false")
                yield from candidates.constants(truth=truth)
        if head == "defoptimizer":
            yield from candidates.keys(head, DECLARATIONS[head].keys.values(), set(self._behind()))
        yield from self._expressions(group="optimizer" if head == "defoptimizer" else _GROUPS.get(parameter, ""))
        yield from candidates.constants(truth=False)

    def _declared(self, head: str, name: str) -> Iterator[Item]:
        """The value of a declaration's key."""
        key = DECLARATIONS[head].keys.get(name, Key(name, "", ""))
        if key.kind == "loader":
            for view in self.recall.views:
                for loader in view.module.loaders:
                    yield candidates.item(loader, "loader", _batch(view, loader), candidates.ASKED, ("loader", loader, ""))
            for loader in (each for each, head in self.defined.items() if head == "defloader"):
                yield candidates.item(loader, "loader", "", candidates.ASKED)
            return
        yield from candidates.choices(CHOICES.get(name, ()))
        if key.kind == "best":
            yield from quoted.with_quotes(asked.metrics(self.recall))
        if key.kind == "function":
            yield from candidates.function_of(f"{head} :{name}")
        yield from candidates.constants(truth=key.kind == "boolean")
        yield from self._expressions(group=_group_of(key), functions=key.kind == "function")

    def _listed(self) -> Iterator[Item]:
        """The keys of a plist that is being written where the language says what they are."""
        path, written = self.cursor.path, {each.text for each in self.before} | {f":{name}" for name in self._behind()}
        top = path[0]
        if not isinstance(top, ListForm) or len(path) < 3:
            return
        key = top.items[-2].text if len(top.items) > 1 else ""
        found: Iterable[Item] = ()
        if (top.head, key) == ("defrun", ":mesh"):
            found = candidates.choices(("data", "fsdp", "exact"))
        elif (top.head, key) == ("defrun", ":keep-best") and self.place.at == 2:
            found = candidates.choices(("max", "min"))
        elif (top.head, key) == ("defgenerate", ":step"):
            found = candidates.entries(entries(list(self.recall.handed("state"))[:1]), "state", quoted=False)
        elif (top.head, key) == ("defoptimizer", ":update"):
            found = candidates.choices(("param", "state"))
        elif self._loader is not None and self.place.at % 2 and asked.is_record(path):
            found = asked.fields(self.recall, self._loader)
        yield from (each for each in found if each.label not in written)

    @property
    def _loader(self) -> Form | None:
        """The loader that is being written."""
        top = self.cursor.path[0]
        return top if isinstance(top, ListForm) and top.head == "defloader" else None

    def _axes(self, path: Sequence[Form], written: set[str]) -> Iterator[Item]:
        """The axes that a vector at the end of a path may list."""
        place = place_of(path)
        callee, parameter = self._argument(place)
        if callee is not None and parameter in asked.AXES and place.around is not None:
            yield from asked.axes(self.recall, callee, place.around.items[1 : place.at], place, written)

    def _argument(self, place: Place) -> tuple[Callee | None, str]:
        """What is called around a place, and which of its parameters the place gives."""
        if place.role == "value" and isinstance(place.around, ListForm) and place.at and place.head not in WORDS:
            callee = callee_of(place.around.items[0], place, self.recall)
            if callee is not None:
                argument = argument_at(callee.signature, place.around.items[1 : place.at], place.at - 1)
                return callee, argument.name if argument.kind in ("positional", "value") else ""
        return None, ""

    def _expressions(self, *, called: bool = False, group: str = "", functions: bool = False) -> Iterator[Item]:
        yield from candidates.locals_of(self.recall, self.place.locals, called=called)
        yield from candidates.definitions(self.recall, called=called, functions=functions)
        yield from candidates.newly_defined(self.recall, self.defined)
        yield from candidates.language(called=called, group=group)

    def _outer(self) -> Sequence[Form]:
        """The path of the call that is being written."""
        return self.cursor.path[:-1]

    def _group(self, path: Sequence[Form]) -> str:
        """Which of the constructors a call is asked to be one of, by what it is an argument of."""
        if len(path) < 2:
            return ""
        place = place_of(path)
        if place.key and place.head in DECLARATIONS:
            key = DECLARATIONS[place.head].keys.get(place.key)
            return _group_of(key) if key is not None else ""
        if place.head == "defoptimizer":
            return "optimizer"
        _, parameter = self._argument(place)
        if parameter in _GROUPS:
            return _GROUPS[parameter]
        if place.head in ("list", "mix", "vector") or isinstance(place.around, VectorForm):
            return self._group(path[:-1])
        return ""


def _group_of(key: Key) -> str:
    """Which of the constructors a declaration's key asks for; the `:init` of one is a function, and no initializer."""
    return "" if key.kind == "function" else _GROUPS.get(key.name, "")


def _entries(recall: Recall, plist: Form, values: list[Value], *, quoted: bool) -> Iterator[Item]:
    role = next((value.role for value in values if isinstance(value, Plist)), "")
    return candidates.entries(entries(values), role, quoted=quoted)


def _batch(view: View, loader: str) -> str:
    known = view.analysis.program.loaders.get(loader)
    return " ".join(f":{field}" for field in known.fields) if known is not None and known.fields else ""


# Strings


def _in_string(recall: Recall, place: Place, cursor: Cursor) -> Iterator[Item]:
    if place.head in _READ and place.at == 2 and place.around is not None:
        plist = place.around.items[1]
        yield from _entries(recall, plist, recall.values(plist, place), quoted=True)
        return
    yield from quoted.reported(recall, place, cursor)


# Documentation


def documentation(view: View, about: tuple[str, str, str]) -> list[Part]:
    """What is said of an item when it is looked at."""
    what, name, owner = about
    analysis, module = view
    match what:
        case "name":
            definition = module.lookup(name)
            return names.definition(analysis, definition) if definition is not None else []
        case "loader":
            definition = module.loaders.get(name)
            return names.definition(analysis, definition) if definition is not None else []
        case "word":
            row = SPECIAL_FORMS.get(name) or TOP_LEVEL.get(name)
            return words.word(row) if row is not None else []
        case "key":
            return words.declared_key(owner, name) or []
        case "argument":
            definition = module.lookup(owner)
            signature = definition.signature if definition is not None else None
            return (words.argument_key(name, owner, signature) or []) if signature is not None else []
        case "ctx":
            return explain(analysis, name, None)
        case "code":
            return words.code(name, whole=True) or []
        case _:
            return []


__all__ = ["TRIGGERS", "Completion", "complete", "documentation"]
