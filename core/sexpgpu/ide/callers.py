"""Who calls what: functions, models, and the functions that a declaration hands to the runtime (`:step` of a generator).

A function that is handed on without being called counts too: whoever mentions it may call it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from sexpgpu.ide.bindings import values_of
from sexpgpu.ide.keyflow import different
from sexpgpu.ide.occurrences import Seen, subject
from sexpgpu.ide.places import children, forms_at, module_of
from sexpgpu.ide.symbols import HEADS, Kind
from sexpgpu.language.shapes import declared_pairs
from sexpgpu.language.values import Function
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.program.unit import Definition
from sexpgpu.reader.forms import Form, ListForm, SymbolForm, TopForm
from sexpgpu.source import Span

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.program.unit import Module


class Item(NamedTuple):
    """What calls or is called: `body` is the form to look for calls in, `whole` what stands for it, `at` its name in the text."""

    name: str
    kind: Kind
    detail: str
    whole: Span
    at: Span
    body: Form


class Calls(NamedTuple):
    """The places at which one item calls or mentions another: `item` is the other one."""

    item: Item
    places: list[Span]


def item(analysis: Analysis, module: Module, offset: int) -> Item | None:
    """The function or model that is named at an offset, or what a declaration's key there hands to the runtime."""
    found = subject(analysis, module, offset)
    if found is not None and isinstance(found.what, Definition):
        return _of_definition(analysis, found.what)
    path = forms_at(module, offset)
    if len(path) == 2 and isinstance(path[0], ListForm) and path[0].head in DECLARATIONS and path[0].head != "defmodel":
        for key, value in declared_pairs(path[0]):
            if key is path[1] and _is_function(analysis, value):
                return _of_key(path[0], key, value)
    return None


def around(module: Module, offset: int) -> Item | None:
    """The item whose name stands at an offset, or that holds it."""
    path = forms_at(module, offset)
    return _around(path[0].top, offset - path[0].top.origin) if path else None


def incoming(seen: Seen) -> list[Calls]:
    """What calls or mentions a definition, as one analysis sees it."""
    calls: list[tuple[Item | None, Span]] = []
    for place in seen.places:
        module = module_of(seen.analysis, place.span.source)
        if module is not None and not place.writes:
            calls.append((around(module, place.span.start), place.span))
    return _grouped(calls)


def outgoing(analysis: Analysis, caller: Item) -> list[Calls]:
    """The functions and models of `.sx` that an item calls or mentions."""
    calls: list[tuple[Item | None, Span]] = []
    waiting = [caller.body]
    while waiting:
        form = waiting.pop()
        found = analysis.marks.references.get(form) if isinstance(form, SymbolForm) else None
        if isinstance(found, Definition) and form is not found.name_form:
            calls.append((_of_definition(analysis, found), form.span))
        waiting.extend(reversed(children(form)))
    return _grouped(calls)


def _grouped(calls: Iterable[tuple[Item | None, Span]]) -> list[Calls]:
    """The calls by the other item, in the order of the text."""
    known = [(each, place) for each, place in calls if each is not None]
    known.sort(key=lambda call: (call[0].at.source.name, call[0].at.start, call[1].start))
    groups = groupby(known, key=lambda call: call[0].at)
    return [Calls(group[0][0], [place for _, place in group]) for _, each in groups if (group := list(each))]


# Items


def _of_definition(analysis: Analysis, found: Definition) -> Item | None:
    """The item of a function or a model; of a `def`, where its value is one of these."""
    form, name = found.form, found.name_form
    if form is None or name is None or found.unknown:
        return None
    if found.kind == "def" and not _is_function(analysis, form.items[2]):
        return None
    return _named(form, name) if found.kind in ("def", "defun", "defmodel") else None


def _is_function(analysis: Analysis, form: Form) -> bool:
    values = different(values_of(analysis, form))
    return any(isinstance(value, Function) for value in values) or (isinstance(form, ListForm) and form.head == "lambda")


def _named(form: ListForm, name: Form) -> Item:
    detail = form.items[2].text if form.head in ("defun", "defmodel") and len(form.items) > 2 else form.head or ""
    return Item(name.text, HEADS.get(form.head or "", "function"), " ".join(detail.split()), form.span, name.span, form)


def _of_key(form: ListForm, key: Form, value: Form) -> Item:
    source, start, _ = key.span
    named = f"{form.head} {form.items[1].text}" if isinstance(form.items[1], SymbolForm) else form.head or ""
    return Item(f"{named} {key.text}", "function", "", Span(source, start, value.span.end), key.span, value)


def _around(top: TopForm, at: int) -> Item | None:
    """The item of a form of the top level that holds a place: that of a declaration's key, or of the form itself."""
    form = top.form
    if not isinstance(form, ListForm):
        return None
    if form.head in DECLARATIONS and form.head != "defmodel":
        for key, value in declared_pairs(form):
            if key.start <= at < value.end:
                return _of_key(form, key, value)
    first, named = (*form.items[:2], None, None)[:2]
    if isinstance(named, SymbolForm) and form.head in HEADS:
        return _named(form, named)
    return None if first is None else _named(form, first)
