"""The names under which a run reports: metrics and diagnostics, where they are given and where they are asked for.

A pass's metric is asked for as `PASS/NAME`, so that a part of such a string names the pass, and the rest the metric.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from sexpgpu.ide.bindings import values_of
from sexpgpu.ide.keyflow import calls_with, different, provided_head
from sexpgpu.language.shapes import declared_pairs
from sexpgpu.language.values import Plist
from sexpgpu.reader.forms import Form, ListForm, StringForm, SymbolForm, VectorForm
from sexpgpu.source import Span

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

Kind = Literal["metric", "diagnostic"]


class Named(NamedTuple):
    """A string that names a metric or a diagnostic: the `name`, where it stands in the string, and whether it is given there.

    `owner` is the pass that is named in front of it, at `owner_at`. `whole` says that the string is written as it is read.
    """

    form: StringForm
    kind: Kind
    name: str
    at: Span
    gives: bool
    owner: str
    owner_at: Span | None
    whole: bool


def named(analysis: Analysis, word: str) -> Iterator[Named]:
    """The names in the file and its loads that stand in a top-level form in which a word occurs."""
    for call in calls_with(analysis, word):
        head = provided_head(analysis, call)
        if head in ("metric", "diagnostic") and len(call.items) > 1 and isinstance(call.items[1], StringForm):
            yield _given(call.items[1], "metric" if head == "metric" else "diagnostic")
        elif head in ("getf", "field") and len(call.items) > 2:
            key = call.items[2]
            if isinstance(key, StringForm) and observes(analysis, call):
                yield _asked(analysis, key)
        elif call.head == "defrun" and call is call.top.form:
            yield from _of_run(analysis, call)


def observes(analysis: Analysis, call: ListForm) -> bool:
    """Whether a call reads an entry of what a pass observed."""
    plist = call.items[1]
    values = different(values_of(analysis, plist))
    if not values:
        return isinstance(plist, SymbolForm) and plist.name == "observations"
    return any(isinstance(value, Plist) and value.role == "observations" for value in values)


def computed_observation(analysis: Analysis) -> Form | None:
    """A key that is computed to read an observation with."""
    for call in calls_with(analysis, "getf"):
        if provided_head(analysis, call) == "getf" and len(call.items) > 2:
            if not isinstance(call.items[2], StringForm) and observes(analysis, call):
                return call.items[2]
    return None


def _of_run(analysis: Analysis, form: ListForm) -> Iterator[Named]:
    for key, value in declared_pairs(form):
        if key.name == "keep-best":
            best = value.items[1] if isinstance(value, ListForm) and value.head == "list" and len(value.items) > 1 else value
            if isinstance(best, StringForm):
                yield _asked(analysis, best)
        elif key.name == "diagnostics" and isinstance(value, (ListForm, VectorForm)):
            for item in value.items:
                if isinstance(item, StringForm):
                    yield _given(item, "diagnostic")._replace(gives=False)


def _given(form: StringForm, kind: Kind) -> Named:
    source, start, end = form.span
    return Named(form, kind, form.value, Span(source, start + 1, end - 1), True, "", None, _plain(form))


def _asked(analysis: Analysis, form: StringForm) -> Named:
    source, start, end = form.span
    owner = _owner(analysis, form.value)
    if not _plain(form) or not owner:
        return Named(form, "metric", form.value, Span(source, start + 1, end - 1), False, "", None, _plain(form))
    parting = start + 1 + len(owner)
    name = form.value[len(owner) + 1 :]
    return Named(form, "metric", name, Span(source, parting + 1, end - 1), False, owner, Span(source, start + 1, parting), True)


def _owner(analysis: Analysis, value: str) -> str:
    """The pass in front of a metric's name: one of the file's, else what stands in front of the first slash."""
    passes = [name for name in analysis.unit.main.passes if value.startswith(f"{name}/")]
    return max(passes, key=len) if passes else value.partition("/")[0] if "/" in value else ""


def _plain(form: StringForm) -> bool:
    return form.text == f'"{form.value}"'
