"""A report as a terminal shows it."""

from __future__ import annotations

from sexpgpu.explain.report import GraphReport, RunReport
from sexpgpu.graph.nodes import Graph
from sexpgpu.graph.printer import line, printed
from sexpgpu.plan.memory import gib


def report_text(report: RunReport) -> str:
    """The whole report: the run in a line, the training step, the passes, parameters and memory."""
    total = sum(parameter.size for parameter in report.parameters)
    trained = sum(parameter.size for parameter in report.parameters if not parameter.frozen)
    microbatches = f", {report.microbatches} microbatches a step" if report.microbatches > 1 else ""
    lines = [
        f"run {report.name}".rstrip()
        + f": {report.steps:,} steps on {report.loader} (batch {report.batch}{microbatches}) with {report.optimizer}",
        f"{len(report.parameters)} parameters of {total:,} values, {trained:,} of them trained",
        "",
        "training step",
        *(_graph_line(graph) for graph in report.step),
    ]
    for pass_ in report.passes:
        batches = "one epoch" if pass_.batches is None else f"{pass_.batches} batch{'es' * (pass_.batches != 1)}"
        lines += ["", f"pass {pass_.name}: {batches} of {pass_.loader} every {pass_.every:,} steps"]
        lines += [_graph_line(graph) for graph in pass_.graphs]
    lines += ["", "parameters", *_parameters(report), "", *_memory(report)]
    return "\n".join(lines) + "\n"


def _graph_line(graph: GraphReport) -> str:
    times = f" × {graph.times}" if graph.times != 1 else ""
    head = f"  {graph.name}{times}"
    facts = [f"{graph.operators} operator{'s' * (graph.operators != 1)}"]
    if graph.parameters:
        facts.append(f"{len(graph.parameters)} parameter{'s' * (len(graph.parameters) != 1)}")
    if graph.memory is not None:
        facts.append(gib(graph.memory))
    if graph.reports:
        facts.append("reports " + " ".join(graph.reports))
    reads = " ".join(f"{name} {type_}" for name, type_ in graph.reads.items() if not name.startswith("ctx/")) or "-"
    gives = " ".join(f":{name} {type_}" if name else type_ for name, type_ in graph.gives.items()) or "-"
    return f"{head:<24} {', '.join(facts)}\n      {reads} → {gives}"


def _parameters(report: RunReport) -> list[str]:
    widest = max((len(parameter.path) for parameter in report.parameters), default=0)
    lines: list[str] = []
    for each in report.parameters:
        lines.append(f"  {each.path:<{widest}}  {each.type:<18} {each.size:>12,}" + ("  frozen" if each.frozen else ""))
    return lines


def _memory(report: RunReport) -> list[str]:
    if not report.memory:
        return ["memory: not planned"]
    lines = [f"memory: {gib(report.peak)}"]
    generation = [count for name, count in report.memory.items() if name.startswith("generate.")]
    if generation:
        lines[0] += f", generation {gib(max(generation))}"
    lines += [f"  {name:<22} {gib(count)}" for name, count in report.memory.items()]
    if report.unstacked:
        lines.append("unstacked: reads " + " ".join(f":{name}" for name in report.unstacked))
    return lines


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
