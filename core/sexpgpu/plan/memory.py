"""The memory plan: the phases of a run, what each holds, and which is the largest (language §8)."""

from __future__ import annotations

from typing import NamedTuple

from sexpgpu.graph.nodes import Graph
from sexpgpu.language.values import Nil
from sexpgpu.plan.liveness import forward_peak, training_peak
from sexpgpu.program.model import Generator, Loader, Optimizer, Pass, Program

GIB = 1 << 30

AVERAGE = "average (:ema)"
"""What the copy of the parameters that `:ema` keeps is called, wherever the plan is shown."""

_STATES = {"sgd": 0, "adam": 2, "adamw": 2, "lion": 1, "adafactor": 1, "muon": 1}


class Phase(NamedTuple):
    """A part of a run: what it holds by itself, and what stands beside it, in bytes."""

    name: str
    own: int
    beside: int

    @property
    def bytes(self) -> int:
        return self.own + self.beside


class Plan(NamedTuple):
    """The phases of a run. `parameters`, `optimizer`, `gradients` and `batch` are what stays, in bytes; `state` is what
    the trips of the generator carry, `average` the running averages of `:ema`, both 0 without one."""

    parameters: int
    optimizer: int
    gradients: int
    batch: int
    phases: tuple[Phase, ...]
    state: int = 0
    average: int = 0

    @property
    def largest(self) -> Phase:
        return max(self.phases, key=lambda phase: phase.bytes)


def plan_memory(program: Program) -> Plan | None:
    """The plan of a program; None where a part of it is not known."""
    if program.objective is None or program.prepare is None or program.training is None or program.run is None:
        return None
    graphs = [graph for graph in program.graphs.values() if graph.role != "record"]
    if not all(graph.whole for graph in graphs) or program.training.batch is None:
        return None
    trained = {p.path: p for p in program.parameters.values() if not p.frozen}
    parameters = sum(_bytes(p.shape, p.dtype.bytes) for p in program.parameters.values())
    gradients = sum(_bytes(p.shape, p.dtype.bytes) for p in trained.values())
    optimizer = _optimizer_state(program.optimizer, gradients)
    averaged = not isinstance(program.run.settings.get("ema"), (Nil, type(None)))
    average = gradients if averaged else 0
    batch = _batch(program.training)
    stays = parameters + average + optimizer
    phases = _generator_phases(program.generator, stays + batch)
    inputs = _results(program.prepare)
    generated = _generated(program.generator)
    phases.append(Phase("prepare", forward_peak(program.prepare), stays + batch + generated))
    phases.append(
        Phase("training", training_peak(program.objective, frozenset(trained)) + gradients, stays + batch + generated + inputs)
    )
    phases.append(Phase("update", gradients, stays + gradients))
    for pass_ in program.passes.values():
        phases += _pass_phases(pass_, stays)
    state = _results(program.generator.init) if program.generator is not None else 0
    return Plan(parameters, optimizer, gradients, batch, tuple(phases), state, average)


def _bytes(shape: tuple[int, ...], each: int) -> int:
    count = each
    for extent in shape:
        count *= extent
    return count


def _optimizer_state(optimizer: Optimizer | None, trained: int) -> int:
    if optimizer is None:
        return 0
    if optimizer.name == "custom":
        return sum(_results(graph) for graph in optimizer.init.values())
    slots = _STATES.get(optimizer.name, 0)
    if optimizer.name == "sgd" and optimizer.settings.get("momentum") not in (0, 0.0):
        slots = 1
    return slots * trained


def _batch(loader: Loader) -> int:
    rows = loader.batch or 0
    return sum(rows * _bytes(field.shape, field.dtype.bytes) for field in (loader.fields or {}).values())


def _results(graph: Graph | None) -> int:
    """Bytes of what a graph returns; what it hands on unchanged is counted once."""
    return sum({node.index: node.bytes for node in graph.outputs.values()}.values()) if graph is not None else 0


def _generated(generator: Generator | None) -> int:
    return _results(generator.finish or generator.step) if generator is not None else 0


def _generator_phases(generator: Generator | None, beside: int) -> list[Phase]:
    if generator is None:
        return []
    state = _results(generator.init)
    phases = [
        Phase("generate.init", forward_peak(generator.init), beside) if generator.init else None,
        Phase("generate.step", forward_peak(generator.step) + state, beside) if generator.step else None,
        Phase("generate.finish", forward_peak(generator.finish) + state, beside) if generator.finish else None,
    ]
    return [phase for phase in phases if phase is not None]


def _pass_phases(pass_: Pass, stays: int) -> list[Phase]:
    beside = stays + (_batch(pass_.loader) if pass_.loader is not None else 0)
    phases = [Phase(f"{pass_.name}/{phase.name}", phase.own, beside) for phase in _generator_phases(pass_.generator, beside)]
    if pass_.objective is not None:
        phases.append(
            Phase(pass_.name, forward_peak(pass_.objective), beside + _results(pass_.prepare) + _generated(pass_.generator))
        )
    return phases


def gib(count: int) -> str:
    """Bytes as a person reads them: `0.4 GiB`, `12.0 MiB`."""
    if count >= GIB // 10:
        return f"{count / GIB:.1f} GiB"
    if count >= 1 << 20:
        return f"{count / (1 << 20):.1f} MiB"
    return f"{count / 1024:.1f} KiB"
