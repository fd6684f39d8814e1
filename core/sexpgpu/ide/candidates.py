"""What can be written, as items of a list: names of the file and of the language, keys, keywords, codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Literal, NamedTuple

from sexpgpu.diagnostics.rules import RULES
from sexpgpu.ide.bindings import folded
from sexpgpu.ide.recall import CONTRACTS, Recall
from sexpgpu.ide.snippets import SNIPPETS
from sexpgpu.language.dtypes import DTYPES
from sexpgpu.language.host import HOST
from sexpgpu.language.special import SPECIAL_FORMS, TOP_LEVEL
from sexpgpu.language.values import Function, Keyword, Model, Value
from sexpgpu.ops import OPS
from sexpgpu.prelude import PRELUDE
from sexpgpu.program.declarations import Key
from sexpgpu.program.unit import provided
from sexpgpu.reader.forms import SymbolForm

Kind = Literal[
    "local", "constant", "function", "model", "loader", "operator", "form", "key", "entry", "keyword", "value", "code", "file",
    "folder", "text",
]  # fmt: skip

# The order of a list: what the place asks for, then locals, then the file's own names, then the language's.
ASKED, LOCAL, OWN, OWN_LESS, PLAIN, LANGUAGE, LANGUAGE_LESS, SELDOM = range(8)

_LONGEST = 60
_MOST_VALUES = 50

CHOICES: dict[str, tuple[str, ...]] = {
    "dtype": (*DTYPES, "float"),
    "reduce": ("mean", "sum", "max", "min"),
    "padding": ("same", "valid"),
    "missing": ("init",),
    "precision": ("f32", "bf16"),
    "on-nan": ("stop", "skip", "ignore"),
    "stack": ("auto",),
}
"""The keywords that a parameter or a key of that name takes."""

_ASKED_ALONE = ("source", "initializer", "optimizer", "pretrained", "data")
_CONTRACTS = ("prepare", "objective", "curriculum")


class Item(NamedTuple):
    """One thing that can be written. `text` replaces what is typed, `snippet` does where the client knows tab stops; `order` sorts
    items; `about` finds its documentation: a kind of thing, its name, and whose it is."""

    label: str
    kind: Kind
    detail: str
    order: str
    text: str
    snippet: str = ""
    about: tuple[str, str, str] = ("", "", "")


def item(label: str, kind: Kind, detail: str, rank: int, about: tuple[str, str, str] = ("", "", ""), order: str = "") -> Item:
    """An item that is written as it is called."""
    return Item(label, kind, detail, f"{rank}{order or label}", label, about=about)


def brief(values: Iterable[Value]) -> str:
    """What values are, in a few characters."""
    text = folded(list(islice(values, _MOST_VALUES)))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


# Names


def locals_of(recall: Recall, names: dict[str, SymbolForm], *, called: bool) -> Iterator[Item]:
    """The local variables in scope; where something is called, those that may be functions first."""
    for name, form in names.items():
        values = recall.of_local(form)
        callable_ = not values or any(isinstance(value, Function) for value in values)
        yield item(name, "local", brief(values), LOCAL if callable_ or not called else SELDOM)


def definitions(recall: Recall, *, called: bool, functions: bool = False) -> Iterator[Item]:
    """What the file and its loads define as values. `functions` asks for functions."""
    for name, definition in recall.scope.items():
        about = "name", name, ""
        if definition.signature is not None:
            first = called or functions
            rank = SELDOM if name in _CONTRACTS else OWN if first else OWN_LESS
            kind: Kind = "model" if definition.kind == "defmodel" else "function"
            yield item(name, kind, f"({definition.signature})", rank, about)
        else:
            values = recall.of_definition(definition)
            fits = not (called or functions) or not values or any(isinstance(value, Function) for value in values)
            kind = "model" if any(isinstance(value, Model) for value in values) else "constant"
            yield item(name, kind, brief(values), OWN if fits else SELDOM, about)


_NEW_KINDS: dict[str, Kind] = {"def": "constant", "defun": "function", "defmodel": "model"}


def newly_defined(recall: Recall, defined: dict[str, str]) -> Iterator[Item]:
    """What the text defines by now and no analysis has seen yet."""
    for name, head in defined.items():
        if head in _NEW_KINDS and name not in recall.scope:
            yield item(name, _NEW_KINDS[head], "", SELDOM if name in _CONTRACTS else OWN)


_provided: dict[tuple[bool, str], list[Item]] = {}


def language(*, called: bool, group: str) -> list[Item]:
    """What the language provides: operators, host functions, the prelude. Those of a `group` that the place asks for come first,
    and what only makes sense where it is asked for comes last."""
    known = _provided.get((called, group))
    if known is None:
        known = _provided[called, group] = list(_language(called, group))
    return known


def _language(called: bool, group: str) -> Iterator[Item]:
    for name in [*OPS, *HOST, *PRELUDE]:
        definition = provided(name)
        if definition is None or definition.signature is None:
            continue
        row = OPS.get(name) or HOST.get(name)
        family = row.family if row is not None else ""
        if group and family == group:
            rank = ASKED
        elif family in _ASKED_ALONE:
            rank = SELDOM
        else:
            rank = LANGUAGE if called else LANGUAGE_LESS
        yield item(name, "operator" if name in OPS else "function", f"({definition.signature})", rank, ("name", name, ""))


def forms(*, bare: bool) -> Iterator[Item]:
    """The special forms, behind an opener; `bare` where there is nothing to fill in."""
    for name, row in SPECIAL_FORMS.items():
        snippet = "" if bare else SNIPPETS.get(name, "")
        yield Item(name, "form", row.shape, f"{LANGUAGE}{name}", name, snippet, ("word", name, ""))


def constants(*, truth: bool) -> Iterator[Item]:
    """`true`, `false` and `nil`; `truth` asks for one of the first two."""
    for name in ("true", "false", "nil"):
        yield item(name, "value", "", ASKED if truth and name != "nil" else PLAIN)


def function_of(key: str) -> Iterator[Item]:
    """The function that a key of a declaration wants, to be filled in."""
    handed = CONTRACTS.get(key)
    if handed is not None:
        shown = f"(lambda ({' '.join(handed)}) …)"
        text = f"(lambda ({' '.join(handed)})"
        yield Item("lambda", "form", shown, f"{ASKED}lambda", f"{text} )", f"{text} ${{0:body}})", ("word", "lambda", ""))


# The top level


def heads(*, opened: bool, bare: bool) -> Iterator[Item]:
    """The heads of forms of the top level, with the brackets where none is open; `bare` where there is nothing to fill in."""
    for name, row in TOP_LEVEL.items():
        snippet = "" if bare else SNIPPETS[name]
        text, snippet = (name, snippet) if opened else (f"({name} )", f"({snippet})")
        yield Item(name, "form", row.shape, f"{ASKED}{name}", text, snippet, ("word", name, ""))
    for name in ("assert", "print"):
        text = name if opened else f"({name} )"
        yield Item(name, "function", f"({HOST[name].signature})", f"{LANGUAGE}{name}", text, "", ("name", name, ""))


def names_to_define(recall: Recall, head: str) -> Iterator[Item]:
    """The names that mean something to the runtime and are not defined yet."""
    wanted = {"defun": _CONTRACTS, "defmodel": ("model",), "def": ("model",)}.get(head, ())
    for name in wanted:
        if name not in recall.latest.module.scope:
            detail = f"({' '.join(CONTRACTS[name])})" if name in CONTRACTS else "what is trained"
            yield item(name, "function", detail, ASKED)


# Keys and keywords


def keys(head: str, rows: Iterable[Key], written: set[str]) -> Iterator[Item]:
    """The keys of a declaration that are not written yet: those that it needs first, then in the table's order."""
    for index, key in enumerate(rows):
        if key.name not in written:
            detail = "required" if key.required else "" if key.default is None else brief([key.default])
            order = f"{0 if key.required else 1}{index:02}"
            yield item(f":{key.name}", "key", detail, ASKED, ("key", key.name, head), order)


def keyword_arguments(callee: str, names: Iterable[str], defaults: dict[str, str], needed: Iterable[str]) -> Iterator[Item]:
    """The keyword arguments of a call, in the signature's order."""
    needed = tuple(needed)
    for index, name in enumerate(names):
        detail = "required" if name in needed else defaults[name]
        yield item(f":{name}", "keyword", detail, ASKED, ("argument", name, callee), f"{index:02}")


def entries(found: dict[Value, list[Value]], role: str, *, quoted: bool) -> Iterator[Item]:
    """The keys of a plist. `quoted` tells that the place stands inside a string."""
    for key, values in found.items():
        about = ("ctx", key.name, "") if role == "ctx" and isinstance(key, Keyword) else ("", "", "")
        if isinstance(key, Keyword) and not quoted:
            yield item(f":{key.name}", "entry", brief(values), ASKED, about)
        elif isinstance(key, str):
            yield item(key if quoted else f'"{key}"', "entry", brief(values), ASKED)


def choices(names: Iterable[str]) -> Iterator[Item]:
    """Keywords of which a place takes one."""
    for index, name in enumerate(names):
        yield item(f":{name}", "value", "", ASKED, order=f"{index:02}")


def codes(written: set[str], here: set[str]) -> Iterator[Item]:
    """The codes that a comment may silence: those that are found in the file first."""
    for name, rule in RULES.items():
        if rule.severity != "error" and name not in written:
            yield item(name, "code", rule.title, ASKED if name in here else OWN, ("code", name, ""))
