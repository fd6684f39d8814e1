"""Where what stands under the cursor is defined."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sexpgpu.files import beside
from sexpgpu.ide import ctx
from sexpgpu.ide.occurrences import occurrences, subject
from sexpgpu.ide.places import forms_at, module_of
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


def definitions(analysis: Analysis, module: Module, offset: int) -> list[Target]:
    """Where what stands at an offset is defined: a name where it is bound, the file of a `load` at its start, a key, a counter and
    the name of a report where they are made, which may be in several places."""
    path = forms_at(module, offset)
    match path[-1] if path else None:
        case SymbolForm() as form:
            found = _symbol(analysis, form)
            return [] if found is None else [found]
        case KeywordForm() as form if ctx.reads(analysis, path):
            counters = ctx.counters(analysis, form.name.removeprefix("stage-"))
            return [_target(form, each.call, each.call.items[1]) for each in counters]
        case StringForm() as form if len(path) == 2 and isinstance(path[0], ListForm) and path[0].head == "load":
            found = _file(analysis, module, form)
            return [] if found is None else [found]
        case KeywordForm() | StringForm():
            return _made(analysis, module, offset)
        case _:
            return []


def _made(analysis: Analysis, module: Module, offset: int) -> list[Target]:
    """Where the key or the report is made that is named at an offset, or the parameter or the pass defined."""
    found = subject(analysis, module, offset)
    if found is None:
        return []
    return [Target(found.at, _around(analysis, each.span), each.span) for each in occurrences(analysis, found) if each.writes]


def _around(analysis: Analysis, place: Span) -> Span:
    """The call around a place."""
    within = module_of(analysis, place.source)
    path = forms_at(within, place.start) if within is not None else []
    return path[-2].span if len(path) > 1 else place


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
