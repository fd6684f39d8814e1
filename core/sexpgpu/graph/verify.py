"""What is true of every graph, checked after every trace in tests. A fault shows the nodes around it."""

from __future__ import annotations

from collections.abc import Callable

from sexpgpu.graph.nodes import Graph, Node
from sexpgpu.graph.printer import line
from sexpgpu.language.dtypes import DTYPES


class GraphFault(AssertionError):
    """A graph that is not well formed."""


def verify(graph: Graph) -> None:
    """Raise GraphFault where a node breaks one of the rules of `RULES`, or an output is no node of the graph."""
    from sexpgpu.ops import OPS

    operations = {"input", "parameter", "constant", *(op.node for op in OPS.values())}
    for position, node in enumerate(graph.nodes):
        if node.op not in operations:
            raise _fault(graph, position, f"no operator makes `{node.op}`")
        for what, holds in RULES:
            if not holds(graph, position, node):
                raise _fault(graph, position, what)
    reports = [report.node for report in (*graph.metrics, *graph.diagnostics)]
    for node in (*graph.outputs.values(), *reports, *graph.counters.values()):
        if not 0 <= node.index < len(graph.nodes) or graph.nodes[node.index] is not node:
            raise GraphFault(f"{graph.name}: an output is no node of the graph: {node!r}")


RULES: tuple[tuple[str, Callable[[Graph, int, Node], bool]], ...] = (
    ("its index is not its position", lambda graph, position, node: node.index == position),
    (
        "it reads a node that does not stand before it",
        lambda graph, position, node: all(0 <= i.index < position and graph.nodes[i.index] is i for i in node.inputs),
    ),
    ("its dtype is none of the table", lambda graph, position, node: DTYPES.get(node.dtype.name) is node.dtype),
    ("its shape has an extent below 0", lambda graph, position, node: all(extent >= 0 for extent in node.shape)),
    ("an input, parameter or constant reads nothing", lambda graph, position, node: not (node.op in _LEAVES and node.inputs)),
    ("a draw reads its salt last, an integer scalar", lambda graph, position, node: "place" not in node.attrs or _salted(node)),
)

_LEAVES = ("input", "parameter", "constant")


def _salted(node: Node) -> bool:
    return bool(node.inputs) and node.inputs[-1].shape == () and node.inputs[-1].dtype.is_integer


def _fault(graph: Graph, position: int, what: str) -> GraphFault:
    around = graph.nodes[max(0, position - 3) : position + 3]
    shown = "\n".join(("> " if node is graph.nodes[position] else "  ") + line(node) for node in around)
    return GraphFault(f"{graph.name}, node {position}: {what}\n{shown}")
