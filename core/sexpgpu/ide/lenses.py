"""What an editor writes above the forms of a run: what can be done with it, and what it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from sexpgpu.ide import memory
from sexpgpu.ide.hints import counted, trips_of
from sexpgpu.reader.forms import ListForm
from sexpgpu.source import Span

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.program.unit import Module

Action = Literal["run", "explain", ""]


class Lens(NamedTuple):
    """A title above a span, and what it does when it is chosen; without an action the title is all there is to it."""

    span: Span
    title: str
    action: Action = ""


def lenses(analysis: Analysis, module: Module) -> list[Lens]:
    """The lenses of a file, in text order."""
    found: list[Lens] = []
    for top in module.reading.forms:
        form = top.form
        if top.broken or not isinstance(form, ListForm) or form.head not in memory.HEADS:
            continue
        at = form.items[0].span
        if form.head == "defrun":
            found += [Lens(at, "▶ Run", "run"), Lens(at, "Explain", "explain")]
        facts: list[str] = []
        if form.head == "defgenerate":
            trips, microbatches = trips_of(analysis)
            if trips is not None:
                facts.append(counted(trips) + (f" in each of {microbatches:,} microbatches" if microbatches > 1 else ""))
        figure = memory.figure(analysis, form)
        if figure:
            facts.append(_TITLES[form.head].format(figure))
        if facts:
            found.append(Lens(at, ", ".join(facts)))
    return found


_TITLES = {"defrun": "peak memory {}", "defgenerate": "generation {}", "defpass": "memory {}"}
