"""The outline of a file: its definitions and declarations, in text order, with the keys of those that have some."""

from __future__ import annotations

from typing import Literal, NamedTuple

from sexpgpu.language.shapes import declared_pairs
from sexpgpu.language.special import TOP_LEVEL
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.program.unit import Module
from sexpgpu.reader.forms import Form, ListForm, StringForm, SymbolForm, TopForm
from sexpgpu.source import Span

Kind = Literal["constant", "function", "model", "loader", "generator", "pass", "optimizer", "run", "file", "key"]

HEADS: dict[str, Kind] = {
    "def": "constant",
    "defun": "function",
    "defmodel": "model",
    "defloader": "loader",
    "defgenerate": "generator",
    "defpass": "pass",
    "defoptimizer": "optimizer",
    "defrun": "run",
    "load": "file",
}
_LONGEST_DETAIL = 60


class Symbol(NamedTuple):
    """One entry: `whole` is its form, `name_span` the part that names it, `detail` the text behind the name in an outline."""

    name: str
    kind: Kind
    detail: str
    whole: Span
    name_span: Span
    children: tuple[Symbol, ...]


def symbols(module: Module) -> list[Symbol]:
    """The outline. A form that does not read has an entry as long as its head does."""
    return [symbol for top in module.reading.forms if (symbol := _symbol(top)) is not None]


def _symbol(top: TopForm) -> Symbol | None:
    form, head = top.form, top.head
    if not isinstance(form, ListForm) or head is None or head not in TOP_LEVEL:
        return None
    whole = Span(top.source, top.origin, top.origin + len(top.text)) if top.broken else form.span
    named = next(iter(form.items[1:2]), None)
    at: Form = form.items[0]
    name, detail = head, ""
    if isinstance(named, SymbolForm) and TOP_LEVEL[head].namespace:
        name, at = named.name, named
        detail = _detail(form) if not top.broken else head
    elif isinstance(named, SymbolForm) and head == "defrun":
        name, at, detail = named.name, named, head
    elif isinstance(named, StringForm) and head == "load":
        name, at, detail = named.value or '""', named, head
    return Symbol(name, HEADS[head], detail, whole, at.span, () if top.broken else _keys(form))


def _detail(form: ListForm) -> str:
    """`(x ctx)` of a function, the value of a constant if it is short, the head of any other."""
    if form.head in ("def", "defun", "defmodel") and len(form.items) > 2:
        text = " ".join(form.items[2].text.split())
        return text if len(text) <= _LONGEST_DETAIL else text[: _LONGEST_DETAIL - 1] + "…"
    return form.head or ""


def _keys(form: ListForm) -> tuple[Symbol, ...]:
    if form.head not in DECLARATIONS or form.head == "defmodel":
        return ()
    found: list[Symbol] = []
    for key, value in declared_pairs(form):
        source, start, _ = key.span
        text = " ".join(value.text.split())
        detail = text if len(text) <= _LONGEST_DETAIL else text[: _LONGEST_DETAIL - 1] + "…"
        found.append(Symbol(f":{key.name}", "key", detail, Span(source, start, value.span.end), key.span, ()))
    return tuple(found)
