"""What the forms of a run take of the device's memory: a table to hover over, and one figure. All figures are the plan's."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from sexpgpu.ide.markup import Code, Part, Prose
from sexpgpu.plan.memory import AVERAGE, Phase, Plan, gib, plan_memory
from sexpgpu.reader.forms import Form, ListForm, SymbolForm

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

GENERATION = "generate."
HEADS = ("defrun", "defgenerate", "defpass")

_plans: WeakKeyDictionary[Analysis, Plan | None] = WeakKeyDictionary()


def plan_of(analysis: Analysis) -> Plan | None:
    """The memory plan of an analysis, made when it is first asked for; None where a part of the program is not known."""
    if analysis not in _plans:
        _plans[analysis] = plan_memory(analysis.program)
    return _plans[analysis]


def phases_of(plan: Plan, form: ListForm) -> list[Phase]:
    """The phases that a form brings about: all of them for `defrun`, the generator's for `defgenerate`, a pass's for `defpass`."""
    match form.head:
        case "defrun":
            return list(plan.phases)
        case "defgenerate":
            return [phase for phase in plan.phases if phase.name.startswith(GENERATION)]
        case "defpass" if len(form.items) > 1 and isinstance(name := form.items[1], SymbolForm):
            return [phase for phase in plan.phases if phase.name == name.name or phase.name.startswith(f"{name.name}/{GENERATION}")]
        case _:
            return []


def figure(analysis: Analysis, form: ListForm) -> str:
    """The largest phase of a form in a few characters, `0.4 GiB`; empty where it is not known."""
    plan = plan_of(analysis)
    phases = phases_of(plan, form) if plan is not None else []
    return gib(max(phase.bytes for phase in phases)) if phases else ""


def table(analysis: Analysis, form: Form | None) -> list[Part]:
    """What stays in memory, and what each phase of a form holds beside it. Nothing for a form that has no memory of its own."""
    if not isinstance(form, ListForm) or form.head not in HEADS:
        return []
    plan = plan_of(analysis)
    if plan is None:
        return [] if analysis.ok else [Prose("What it takes of the device's memory is known once the file has no errors.")]
    phases = phases_of(plan, form)
    if not phases:
        return []
    stays = {"parameters": plan.parameters}
    if plan.average:
        stays[AVERAGE] = plan.average
    stays["optimizer state"] = plan.optimizer
    if form.head == "defrun":
        stays["gradients"] = plan.gradients
    if form.head != "defpass":
        stays["batch"] = plan.batch
        if plan.state:
            stays["state of the trips"] = plan.state
    width = max(map(len, [*stays, *(phase.name for phase in phases)]))
    lines = [_first(plan, form, phases), f"{'':<{width}}{'holds':>12}{'in all':>12}"]
    lines += [f"{name:<{width}}{gib(count):>12}" for name, count in stays.items()]
    lines += [f"{phase.name:<{width}}{gib(phase.own):>12}{gib(phase.bytes):>12}" for phase in phases]
    largest = max(phases, key=lambda phase: phase.bytes)
    says = f"The most is taken in {largest.name}. " if len(phases) > 1 else ""
    return [Code("\n".join(lines)), Prose(says + "This is an estimate, made from the graphs alone.")]


def _first(plan: Plan, form: ListForm, phases: list[Phase]) -> str:
    """The line on top: `memory 0.6 GiB, generation 0.4 GiB`."""
    most = gib(max(phase.bytes for phase in phases))
    if form.head == "defgenerate":
        return f"generation {most}"
    generation = [phase.bytes for phase in phases if phase.name.rpartition("/")[2].startswith(GENERATION)]
    return f"memory {most}" + (f", generation {gib(max(generation))}" if generation else "")
