"""A report as a terminal shows it."""

from __future__ import annotations

from collections.abc import Iterable

from sexpgpu.explain.report import GraphReport, PassReport, RunReport
from sexpgpu.graph.nodes import Graph
from sexpgpu.graph.printer import line, printed
from sexpgpu.plan.memory import gib

_WIDTH = 100
_KINDS = 12  # of operators that are told of one graph


def report_text(report: RunReport) -> str:
    """The whole report: the run in a line, the training step, the passes, parameters and memory."""
    total = sum(parameter.size for parameter in report.parameters)
    trained = sum(parameter.size for parameter in report.parameters if not parameter.frozen)
    microbatches = f", {report.microbatches} microbatches a step" if report.microbatches > 1 else ""
    lines = [
        f"run {report.name}".rstrip()
        + f": {report.steps:,} steps on {report.loader} (batch {report.batch}{microbatches}) with {report.optimizer}",
        f"{_count(len(report.parameters), 'parameter')} of {_count(total, 'value')}, "
        + (f"{trained:,} of them trained" if trained < total else "all trained"),
        "",
        "training step",
        *(line for graph in report.step for line in _graph(graph)),
    ]
    for pass_ in report.passes:
        lines += ["", _pass(pass_), *(line for graph in pass_.graphs for line in _graph(graph))]
    lines += ["", "parameters", *_parameters(report), "", *_memory(report)]
    return "\n".join(lines) + "\n"


def _pass(pass_: PassReport) -> str:
    batches = "one epoch" if pass_.batches is None else _count(pass_.batches, "batch", "es")
    return f"pass {pass_.name}: {batches} of {pass_.loader} every {_count(pass_.every, 'step')}"


def _graph(graph: GraphReport) -> Iterable[str]:
    head = graph.name + (f" × {graph.times}" if graph.times != 1 else "")
    facts = [gib(graph.memory)] if graph.memory is not None else []
    if graph.parameters:
        facts.append(_count(len(graph.parameters), "parameter"))
    if graph.reports:
        facts.append("reports " + " ".join(graph.reports))
    yield f"  {head:<24} {', '.join(facts)}".rstrip()
    kinds = [f"{kind} × {count}" if count > 1 else kind for kind, count in graph.kinds.items()]
    if len(kinds) > _KINDS + 1:
        kinds[_KINDS:] = [f"{len(kinds) - _KINDS} other kinds"]
    yield from _wrapped(f"{_count(graph.operators, 'operator')}: ", kinds, ", ")
    yield from _wrapped("in   ", [f"{name} {type_}" for name, type_ in graph.reads.items()], "  ")
    yield from _wrapped("out  ", [f":{name} {type_}" if name else type_ for name, type_ in graph.gives.items()], "  ")


def _wrapped(head: str, items: list[str], between: str) -> Iterable[str]:
    """Items behind a head, in as many lines as they need, those behind the first indented as far as the head is long. None
    where there are none."""
    row = f"      {head}"
    indent, empty = " " * len(row), True
    for number, item in enumerate(items):
        piece = item + between.rstrip() if number + 1 < len(items) else item
        if not empty and len(row) + len(piece) > _WIDTH:
            yield row.rstrip()
            row, empty = indent, True
        row += piece + " " * (len(between) - len(between.rstrip()))
        empty = False
    if items:
        yield row.rstrip()


def _parameters(report: RunReport) -> list[str]:
    path = max((len(each.path) for each in report.parameters), default=0)
    type_ = max((len(each.type) for each in report.parameters), default=0)
    lines: list[str] = []
    for each in report.parameters:
        lines.append(f"  {each.path:<{path}}  {each.type:<{type_}} {each.size:>12,}" + ("  frozen" if each.frozen else ""))
    return lines


def _memory(report: RunReport) -> list[str]:
    if not report.memory:
        return ["memory: not planned"]
    largest = max(report.memory, key=lambda name: report.memory[name])
    lines = [f"memory: {gib(report.peak)} in {largest}"]
    generation = [count for name, count in report.memory.items() if name.startswith("generate.")]
    if generation:
        lines[0] += f", generation {gib(max(generation))}"
    lines.append("  throughout: " + ", ".join(f"{name} {gib(count)}" for name, count in report.stays.items() if count))
    widest = max(len(name) for name in report.memory)
    for name, count in report.memory.items():
        own = report.own[name]
        lines.append(f"  {name:<{widest}} {gib(count):>12}, {gib(own) if own else 'nothing'} of its own")
    if report.unstacked:
        lines.append("unstacked: reads " + " ".join(f":{name}" for name in report.unstacked))
    return lines


def _count(count: int, what: str, plural: str = "s") -> str:
    return f"{count:,} {what}{plural if count != 1 else ''}"


def graph_text(graph: Graph) -> str:
    """One graph with dtypes, and behind each node the place in the file that made it."""
    places: dict[str, str] = {}
    for node in graph.nodes:
        span = node.form.span
        at = span.source.position(span.start)
        places[f"  {line(node)}"] = f"{span.source.name}:{at.line + 1}:{at.character + 1}"
    lines = printed(graph).split("\n")
    widest = max((len(each) for each in lines if each in places), default=0)
    return "\n".join(f"{each:<{widest}}  ; {places[each]}" if each in places else each for each in lines) + "\n"
