"""Everywhere that one thing stands: a definition, a local variable, a key of plists, a counter, a metric.

`subject` says what stands at a place, `occurrences` where else the analysis sees it, and `elsewhere` where another analysis does
that has a file in common with the first.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from sexpgpu.ide import ctx
from sexpgpu.ide.bindings import values_of
from sexpgpu.ide.keyflow import Flow, calls_with, different, key_name
from sexpgpu.ide.places import forms_at
from sexpgpu.ide.reporters import Reporters
from sexpgpu.ide.reports import Named, named
from sexpgpu.language.marks import Local
from sexpgpu.language.parameters import Malformed, ParameterList, parse_parameters
from sexpgpu.language.values import Closure
from sexpgpu.program.unit import Definition, provided
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, StringForm, SymbolForm
from sexpgpu.source import Span

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.program.unit import Module

Kind = Literal["definition", "local", "key", "metric", "diagnostic"]
_STAGE = "stage-"


class Subject(NamedTuple):
    """What stands at a place: its `name`, and `at`, the form or the part of a string that says it. `what` is the definition or the
    local variable, or the form of a key or a string; `keys` are those of a key's name."""

    kind: Kind
    name: str
    at: Span
    what: Definition | Local | Form
    keys: Flow | None = None


class Occurrence(NamedTuple):
    """One place: the form or the part of a string to show, the part that another name would replace, and whether the thing is
    defined, bound or made there rather than read."""

    span: Span
    part: Span
    writes: bool


def subject(analysis: Analysis, module: Module, offset: int) -> Subject | None:
    """What stands at an offset, if it is something that can stand elsewhere too."""
    path = forms_at(module, offset)
    match path[-1] if path else None:
        case SymbolForm() as form:
            found = analysis.marks.references.get(form)
            if isinstance(found, Local):
                return Subject("local", form.name, form.span, found)
            return None if found is None else Subject("definition", form.name, form.span, found)
        case KeywordForm() as form:
            return _keyword(analysis, path, form)
        case StringForm() as form:
            return _string(analysis, form, offset)
        case _:
            return None


def _keyword(analysis: Analysis, path: list[Form], form: KeywordForm) -> Subject | None:
    call = path[-2] if len(path) > 1 else None
    local = _argument(analysis, call, form) if isinstance(call, ListForm) else None
    if local is not None:
        return Subject("local", form.name, form.span, local)
    name = form.name
    if ctx.reads(analysis, path) and name.startswith(_STAGE) and ctx.counters(analysis, name.removeprefix(_STAGE)):
        name = name.removeprefix(_STAGE)
    return _key(analysis, form, name)


def _string(analysis: Analysis, form: StringForm, offset: int) -> Subject | None:
    for each in named(analysis, form.text):
        if each.form is form:
            if each.owner_at is not None and offset <= each.owner_at.end:
                found = analysis.unit.main.passes.get(each.owner)
                return None if found is None else Subject("definition", each.owner, _around(each.owner_at, form, offset), found)
            return Subject(each.kind, each.name, _around(each.at, form, offset), form)
    return _key(analysis, form, form.value)


def _around(part: Span, form: Form, offset: int) -> Span:
    """The part of a string, or all of it where the offset is at another part."""
    return part if part.start <= offset <= part.end else form.span


def _key(analysis: Analysis, form: Form, name: str) -> Subject | None:
    keys = Flow(analysis, name)
    return Subject("key", name, form.span, form, keys) if form in keys.sites else None


def occurrences(analysis: Analysis, found: Subject) -> list[Occurrence]:
    """Where an analysis sees a subject, in the file itself and its loads, by file and place."""
    match found.what:
        case Definition() as definition:
            places = _of_definition(analysis, definition)
        case Local() as local:
            places = _of_local(analysis, local)
        case form if found.keys is not None:
            places = [Occurrence(site.form.span, _tail(site.form, found.name), site.makes) for site in found.keys.group(form)]
        case form:
            places = [_of_name(each) for each in Reporters(analysis, found.kind, found.name).group(form)]
    return in_order(places)


class Seen(NamedTuple):
    """A subject as one analysis sees it."""

    analysis: Analysis
    subject: Subject
    places: list[Occurrence]


def elsewhere(analysis: Analysis, found: Subject, known: Iterable[Occurrence]) -> list[Seen]:
    """How another analysis sees a subject of which some occurrences are `known`: not at all, where it has no file in common, and as
    several, where it does not know that they are one. What the language provides is the same for all. Of a key `:stage-…` it may
    know that it is a counter's, and how that is named."""
    if isinstance(found.what, Definition) and found.what is provided(found.name):
        return [Seen(analysis, found, occurrences(analysis, found))]
    seen: list[Seen] = []
    places: set[tuple[str, int]] = set()
    modules = {os.path.abspath(module.path): module for module in analysis.unit.modules}
    for occurrence in known:
        source, start, _ = occurrence.part
        path = os.path.abspath(source.name)
        module = modules.get(path)
        if module is None or module.source.text != source.text or (path, start) in places:
            continue
        same = subject(analysis, module, start)
        if same is not None and same.kind == found.kind and (same.name == found.name or _counts(same, found)):
            seen.append(Seen(analysis, same, occurrences(analysis, same)))
            places |= {(os.path.abspath(each.part.source.name), each.part.start) for each in seen[-1].places}
    return seen


def _counts(same: Subject, found: Subject) -> bool:
    return found.kind == "key" and found.name == f"{_STAGE}{same.name}"


def in_order(places: Iterable[Occurrence]) -> list[Occurrence]:
    """Occurrences by file and place, each once."""
    distinct = {(os.path.abspath(each.part.source.name), each.part.start): each for each in places}
    return [distinct[key] for key in sorted(distinct)]


def _of_definition(analysis: Analysis, definition: Definition) -> list[Occurrence]:
    places: list[Occurrence] = []
    for form, found in analysis.marks.references.items():
        if found is definition:
            span = form.span
            places.append(Occurrence(span, span, form is definition.name_form))
    if definition.kind == "defpass":
        for each in named(analysis, f"{definition.name}/"):
            if each.owner == definition.name and each.owner_at is not None:
                places.append(Occurrence(each.owner_at, each.owner_at, False))
    return places


def _of_local(analysis: Analysis, local: Local) -> list[Occurrence]:
    places: list[Occurrence] = []
    for form, found in analysis.marks.references.items():
        if found is local:
            span = form.span
            places.append(Occurrence(span, span, form is local.name_form))
    return places + [Occurrence(key.span, _behind_colon(key), False) for key in _arguments(analysis, local)]


def _of_name(each: Named) -> Occurrence:
    return Occurrence(each.at, each.at, each.gives)


# Keyword arguments


def parameters_of(form: ListForm) -> ParameterList | None:
    """The parameters of a function's form."""
    index = 1 if form.head == "lambda" else 2 if form.head in ("defun", "defmodel") else 0
    if not index or len(form.items) <= index:
        return None
    try:
        return parse_parameters(form.items[index])
    except Malformed:
        return None


def _callees(analysis: Analysis, call: ListForm) -> Iterator[ListForm]:
    """The forms of the functions that a call may call."""
    head = next(iter(call.items), None)
    found = analysis.marks.references.get(head) if isinstance(head, SymbolForm) else None
    if isinstance(found, Definition) and found.kind in ("defun", "defmodel", "operator", "host"):
        if found.form is not None:
            yield found.form
    elif head is not None:
        for value in different(values_of(analysis, head)):
            if isinstance(value, Closure):
                yield value.form


def _argument(analysis: Analysis, call: ListForm, key: KeywordForm) -> Local | None:
    """The parameter that a keyword of a call gives a value to, where the function is the file's own."""
    for form in _callees(analysis, call):
        found = parameters_of(form)
        if found is not None and key in _keys_behind(call, found):
            for symbol, _ in found.keys:
                local = analysis.marks.references.get(symbol)
                if symbol.name == key.name and isinstance(local, Local):
                    return local
    return None


def _keys_behind(call: ListForm, parameters: ParameterList) -> tuple[Form, ...]:
    return call.items[1 + len(parameters.required) + len(parameters.optional) :: 2]


def named_by_calls(local: Local) -> bool:
    """Whether calls may name a local variable: it is a `&key` parameter."""
    found = parameters_of(local.form)
    return found is not None and any(symbol is local.name_form for symbol, _ in found.keys)


def _arguments(analysis: Analysis, local: Local) -> Iterator[KeywordForm]:
    """The keywords by which calls give a value to a `&key` parameter."""
    found = parameters_of(local.form)
    if found is None or not named_by_calls(local):
        return
    for call in calls_with(analysis, f":{local.name}"):
        keys = [key for key in _keys_behind(call, found) if isinstance(key, KeywordForm) and key.name == local.name]
        if keys and any(form is local.form for form in _callees(analysis, call)):
            yield from keys


# Parts of the text


def _behind_colon(form: KeywordForm) -> Span:
    source, start, end = form.span
    return Span(source, start + 1, end)


def _tail(form: Form, name: str) -> Span:
    """The part of a key that is its name: without colon or quotation marks, and without `stage-` of a counter's."""
    source, start, end = form.span
    end -= isinstance(form, StringForm)
    return Span(source, max(start, end - len(name)), end) if key_name(form) is not None else form.span
