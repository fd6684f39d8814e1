"""The shape and dtype of every binding: what an editor shows in place, and `check --types` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sexpgpu.graph.nodes import Node, typed
from sexpgpu.language.dtypes import DType
from sexpgpu.language.quotes import quoted
from sexpgpu.language.values import Function, List, Made, Model, Nil, Plist, Unknown, Value
from sexpgpu.reader.forms import ConstantForm, Form, KeywordForm, NumberForm, QuoteForm, StringForm
from sexpgpu.source import Span

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

_MOST_SHOWN = 60
_DEEPEST_SHOWN = 6


class Binding(NamedTuple):
    """A bound name, where it is bound, and what it is: one text, or several where calls differ."""

    span: Span
    name: str
    text: str


def bindings(analysis: Analysis) -> list[Binding]:
    """The bindings of the file itself, in text order: `def`s, `let` variables, and parameters of functions that were called."""
    found: list[Binding] = []
    source = analysis.source
    for definition in analysis.unit.main.definitions:
        if definition.kind == "def" and not definition.unknown and definition.form is not None and definition.name_form is not None:
            _add(found, analysis, definition.name, definition.name_form, definition.form.items[2])
    for local in analysis.marks.locals:
        if local.name_form.top.source is source:
            _add(found, analysis, local.name, local.name_form, local.value or local.name_form)
    return sorted(found, key=lambda binding: binding.span.start)


def _add(found: list[Binding], analysis: Analysis, name: str, at: Form, value: Form) -> None:
    text = folded(values_of(analysis, value))
    if text:
        found.append(Binding(at.span, name, text))


def values_of(analysis: Analysis, form: Form) -> list[Value]:
    """What a form evaluated to, once for each call path; a literal is itself."""
    match form:
        case NumberForm() | StringForm() | KeywordForm() | ConstantForm():
            return [quoted(form)]
        case QuoteForm():
            return [quoted(form.form)]
        case _:
            return analysis.values.get(form, [])


def folded(values: list[Value]) -> str:
    """The different things that a form was, each once, in the order in which it was them."""
    texts: dict[str, None] = {}
    for value in values:
        if not isinstance(value, Unknown):
            texts.setdefault(described(value))
    return " | ".join(texts)


def described(value: Value, depth: int = 0) -> str:
    """A value in a few characters: `f32[4 8]`, `(:row i32[4 8] :stride i32[4 1])`, `12`. `depth` lists stand around it."""
    match value:
        case Node():
            return typed(value.shape, value.dtype)
        case Model():
            return f"model {value.name}"
        case Function():
            return f"function ({value.signature})"
        case Made():
            return _made(value)
        case Plist():
            return value.role
        case List():
            return _listed(value, depth + 1)
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + value + '"' if len(value) <= _MOST_SHOWN else f'"{value[:_MOST_SHOWN]}…"'
        case Nil():
            return "nil"
        case _:
            return repr(value)


def _made(value: Made) -> str:
    """What a constructor describes, with what it holds where that is short: `spec i32[1]`, `npz "held.npz"`, `synthetic 48`."""
    shape, dtype = value.arguments.get("shape"), value.arguments.get("dtype")
    if value.group == "spec" and isinstance(shape, List) and isinstance(dtype, DType):
        return f"{value.name} {typed(tuple(each for each in shape.items if isinstance(each, int)), dtype)}"
    holds = value.arguments.get("path", value.arguments.get("count"))
    return f"{value.name} {described(holds)}" if isinstance(holds, str | int) else value.name


def _listed(value: List, depth: int) -> str:
    opener, closer = "[]" if value.vector else "()"
    if depth > _DEEPEST_SHOWN:
        return f"{opener}…{closer}"
    parts: list[str] = []
    for item in value.items:
        parts.append("…" if len(" ".join(parts)) > _MOST_SHOWN else described(item, depth))
        if parts[-1] == "…":
            break
    return f"{opener}{' '.join(parts)}{closer}"
