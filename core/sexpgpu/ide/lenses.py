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


def lenses(analysis: Analysis, module: Module, told: dict[str, str] | None = None) -> list[Lens]:
    """The lenses of a file, in text order.

    `told` keeps from one analysis to the next what was said of a form, by its text: while the file has an error, and may not be
    traced, that goes on standing there. Otherwise the lines below would jump with every word that somebody types. Where a run is
    declared, a figure that is chosen is explained.
    """
    found: list[Lens] = []
    before = dict(told or {})
    if told is not None:
        told.clear()
    explained: Action = "explain" if any(top.head == "defrun" for top in module.reading.forms) else ""
    clean = all(each.rule.severity != "error" for each in analysis.diagnostics)
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
        says = ", ".join(facts)
        if told is not None:
            says = says if clean else before.get(top.text, says)
            told[top.text] = says
        if says:
            found.append(Lens(at, says, explained))
    return found


_TITLES = {"defrun": "peak memory {}", "defgenerate": "generation {}", "defpass": "memory {}"}
