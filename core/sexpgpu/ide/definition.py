"""Where what stands under the cursor is defined."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sexpgpu.files import beside
from sexpgpu.ide import ctx
from sexpgpu.ide.places import forms_at
from sexpgpu.language.marks import Local
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, StringForm, SymbolForm
from sexpgpu.source import Span

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.program.unit import Module


class Target(NamedTuple):
    """`origin` is the text that leads there, `whole` the form that defines it, `name` the part of it to go to."""

    origin: Span
    whole: Span
    name: Span


def definition(analysis: Analysis, module: Module, offset: int) -> Target | None:
    """Where the symbol at an offset is defined or bound, the file that a `load` names, or the call that declares a counter."""
    path = forms_at(module, offset)
    match path[-1] if path else None:
        case SymbolForm() as form:
            return _symbol(analysis, form)
        case KeywordForm() as form if ctx.reads(analysis, path):
            found = ctx.counters(analysis, form.name.removeprefix("stage-"))
            return _target(form, found[0].call, found[0].call.items[1]) if found else None
        case StringForm() as form if len(path) == 2 and isinstance(path[0], ListForm) and path[0].head == "load":
            return _file(analysis, module, form)
        case _:
            return None


def _symbol(analysis: Analysis, form: SymbolForm) -> Target | None:
    found = analysis.marks.references.get(form)
    if found is None:
        return None
    if isinstance(found, Local):
        return _target(form, found.form, found.name_form)
    whole = found.form
    if whole is None and found.top is not None:
        whole = found.top.form
    return None if whole is None else _target(form, whole, found.name_form or whole)


def _file(analysis: Analysis, module: Module, form: StringForm) -> Target | None:
    path = beside(module.source.name, form.value)
    for loaded in module.loads:
        if loaded.source.name == path:
            start = Span(loaded.source, 0, 0)
            return Target(form.span, start, start)
    return None


def _target(origin: Form, whole: Form, name: Form) -> Target:
    return Target(origin.span, whole.span, name.span)
