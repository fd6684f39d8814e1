"""The report of a run as plain data: the training step graph by graph, then the passes, with what each reads, gives and holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sexpgpu.graph.nodes import Graph, Node, typed
from sexpgpu.plan.memory import AVERAGE, Plan, plan_memory
from sexpgpu.program.model import Optimizer, Pass, Program

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

_LEAVES = ("input", "parameter", "constant")


class GraphReport(NamedTuple):
    """One graph: how many `times` it runs a microbatch, its operators, how many of each kind (the most frequent first), what it
    reads and gives by name, the paths of the parameters that it reads, what it reports, and the bytes that its phase holds (None:
    it has no phase of its own)."""

    name: str
    times: int
    operators: int
    kinds: dict[str, int]
    reads: dict[str, str]
    gives: dict[str, str]
    parameters: tuple[str, ...]
    reports: tuple[str, ...]
    memory: int | None


class PassReport(NamedTuple):
    name: str
    loader: str
    every: int
    batches: int | None
    graphs: tuple[GraphReport, ...]


class ParameterReport(NamedTuple):
    path: str
    type: str
    size: int
    frozen: bool


class RunReport(NamedTuple):
    """A run. `memory` is the plan's phases in bytes, `own` what each of them holds beside what stays, `stays` what that consists
    of, `peak` the largest phase; `unstacked` what keeps microbatches one at a time."""

    name: str
    steps: int
    loader: str
    batch: int
    microbatches: int
    optimizer: str
    step: tuple[GraphReport, ...]
    passes: tuple[PassReport, ...]
    parameters: tuple[ParameterReport, ...]
    unstacked: tuple[str, ...]
    memory: dict[str, int]
    own: dict[str, int]
    stays: dict[str, int]
    peak: int


def explain(analysis: Analysis) -> RunReport | None:
    """The report of an analysis without errors that has a run; None for any other."""
    program = analysis.program
    run, loader, optimizer = program.run, program.training, program.optimizer
    if not analysis.ok or run is None or loader is None or optimizer is None or loader.batch is None:
        return None
    plan = plan_memory(program)
    parameters = tuple(
        ParameterReport(each.path, typed(each.shape, each.dtype), _count(each.shape), each.frozen)
        for each in program.parameters.values()
    )
    return RunReport(
        run.name,
        run.integer("steps"),
        loader.name,
        loader.batch,
        run.integer("microbatches"),
        optimizer.name,
        _step(program, optimizer, plan),
        tuple(_pass(pass_, plan) for pass_ in program.passes.values()),
        parameters,
        program.unstacked,
        {phase.name: phase.bytes for phase in plan.phases} if plan else {},
        {phase.name: phase.own for phase in plan.phases} if plan else {},
        _stays(plan) if plan else {},
        plan.largest.bytes if plan else 0,
    )


def _stays(plan: Plan) -> dict[str, int]:
    averaged = {AVERAGE: plan.average} if plan.average else {}
    return {"parameters": plan.parameters, **averaged, "optimizer state": plan.optimizer, "batch": plan.batch}


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


def _step(program: Program, optimizer: Optimizer, plan: Plan | None) -> tuple[GraphReport, ...]:
    graphs: list[GraphReport] = []
    generator = program.generator
    if generator is not None:
        graphs += [
            _graph(graph, plan, times)
            for graph, times in ((generator.init, 1), (generator.step, generator.trips or 0), (generator.finish, 1))
            if graph is not None
        ]
    graphs += [
        _graph(graph, plan, 1, phase)
        for graph, phase in ((program.prepare, "prepare"), (program.objective, "training"))
        if graph is not None
    ]
    named = {"lr": optimizer.schedule, **optimizer.schedules}
    graphs += [_graph(graph, plan, 1, "update", name) for name, graph in named.items() if graph is not None]
    graphs += [_graph(graph, plan, 1, "update") for graph in optimizer.update.values()]
    if not any(named.values()) and not optimizer.update:  # a constant rate takes no graph
        graphs.append(GraphReport("optimizer", 1, 0, {}, {}, {}, (), (), _phase(plan, "update")))
    return tuple(graphs)


def _phase(plan: Plan | None, name: str) -> int | None:
    """The bytes of a phase."""
    return next((each.bytes for each in plan.phases if each.name == name), None) if plan else None


def _pass(pass_: Pass, plan: Plan | None) -> PassReport:
    graphs: list[GraphReport] = []
    if pass_.generator is not None:
        generator = pass_.generator
        for graph, times in ((generator.init, 1), (generator.step, generator.trips or 0), (generator.finish, 1)):
            if graph is not None:
                graphs.append(_graph(graph, plan, times, f"{pass_.name}/{graph.name}"))
    for graph, phase in ((pass_.prepare, ""), (pass_.objective, pass_.name), (pass_.curriculum, ""), (pass_.stop_when, "")):
        if graph is not None:
            graphs.append(_graph(graph, plan, 1, phase))
    loader = pass_.loader.name if pass_.loader is not None else ""
    return PassReport(pass_.name, loader, pass_.every or 0, pass_.batches, tuple(graphs))


def _graph(graph: Graph, plan: Plan | None, times: int, phase: str | None = None, result: str = "") -> GraphReport:
    """The report of a graph; `result` names what it gives where that has no name."""
    reads: dict[str, str] = {}
    parameters: list[str] = []
    for node in graph.nodes:
        if node.op == "input":
            reads[_input_name(node)] = typed(node.shape, node.dtype)
        elif node.op == "parameter":
            parameters.append(str(node.attrs["path"]))
    gives = {name or result: typed(node.shape, node.dtype) for name, node in graph.outputs.items()}
    memory = _phase(plan, graph.name if phase is None else phase)
    reports = (*(report.name for report in graph.metrics), *(f":{name}" for name in graph.counters))
    kinds: dict[str, int] = {}
    for node in graph.nodes:
        if node.op not in _LEAVES:
            kinds[node.op] = kinds.get(node.op, 0) + 1
    kinds = dict(sorted(kinds.items(), key=lambda kind: -kind[1]))
    return GraphReport(graph.name, times, sum(kinds.values()), kinds, reads, gives, tuple(parameters), reports, memory)


def _input_name(node: Node) -> str:
    kind, name = str(node.attrs["kind"]), str(node.attrs["name"])
    return kind if kind == name else f"{kind}/{name}"
