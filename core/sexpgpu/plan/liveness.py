"""Live sets: how many bytes of buffers a graph holds at its worst moment.

A compiler does not keep every node: what is computed element by element melts into what reads it, reshapes are views, and small
constants live in the code. What is left are buffers, each alive from the node that makes it to the last one that reads it.
"""

from __future__ import annotations

from sexpgpu.graph.nodes import Graph, Node
from sexpgpu.ops import OPS

_FUSED_FAMILIES = frozenset({"elementwise", "creation"})
_VIEWS = frozenset({"reshape", "expand-dims", "squeeze", "stop-gradient"})
_OUTSIDE = frozenset({"input", "parameter"})


def _families() -> dict[str, str]:
    return {op.node: op.family for op in OPS.values() if op.node}


class Buffers:
    """The nodes of a graph that take memory of their own, and when each is read last."""

    def __init__(self, graph: Graph) -> None:
        families = _families()
        readers: dict[int, list[int]] = {}
        for node in graph.nodes:
            for read in node.inputs:
                readers.setdefault(read.index, []).append(node.index)
        self.results = {node.index for node in graph.outputs.values()}
        self.results |= {report.node.index for report in graph.metrics} | {node.index for node in graph.counters.values()}
        self.nodes = graph.nodes
        self.last: list[int] = list(range(len(graph.nodes)))
        self.own: list[bool] = [False] * len(graph.nodes)
        for node in reversed(graph.nodes):
            index = node.index
            reads = readers.get(index, [])
            melts = (
                node.op == "constant" or node.op in _VIEWS or (families.get(node.op) in _FUSED_FAMILIES and len(reads) <= 1)
            ) and index not in self.results
            self.own[index] = node.op not in _OUTSIDE and not melts
            end = max((self._until(reader) for reader in reads), default=index)
            self.last[index] = len(graph.nodes) if index in self.results else end

    def _until(self, reader: int) -> int:
        """When a reader is done with what it reads: at once, or where it melts away, when its own reader is."""
        return reader if self.own[reader] or self.nodes[reader].op in _OUTSIDE else self.last[reader]


def forward_peak(graph: Graph) -> int:
    """Bytes of buffers alive at the worst moment of a graph that is computed once, its inputs and parameters not counted."""
    buffers = Buffers(graph)
    ends: dict[int, int] = {}
    live = peak = 0
    for node in graph.nodes:
        if buffers.own[node.index]:
            live += node.bytes
            ends[buffers.last[node.index]] = ends.get(buffers.last[node.index], 0) + node.bytes
        peak = max(peak, live)
        live -= ends.pop(node.index, 0)
    return peak


def training_peak(graph: Graph, trained: frozenset[str]) -> int:
    """Bytes of buffers alive at the worst moment of a loss and its gradient with respect to the parameters at `trained`.

    What the backward pass reads again is kept from where it is made: each operator's row says whether that is its inputs or its
    output. Going back, each kept buffer meets a gradient of its size, and goes once it has been read.
    """
    buffers = Buffers(graph)
    carries = _carriers(graph, trained)
    kept = _kept(graph, buffers, carries)
    live = peak = 0
    ends: dict[int, int] = {}
    for node in graph.nodes:
        if buffers.own[node.index] or node.index in kept:
            live += node.bytes
            if node.index not in kept:
                ends[buffers.last[node.index]] = ends.get(buffers.last[node.index], 0) + node.bytes
        peak = max(peak, live)
        live -= ends.pop(node.index, 0)
    held = sum(graph.nodes[index].bytes for index in kept)
    for node in reversed(graph.nodes):
        if node.index in carries and buffers.own[node.index]:
            incoming = max((read.bytes for read in node.inputs if read.index in carries), default=0)
            peak = max(peak, held + node.bytes + incoming)
        if node.index in kept:
            held -= node.bytes
    return peak


def _carriers(graph: Graph, trained: frozenset[str]) -> set[int]:
    """The nodes through which a gradient flows back to a trained parameter."""
    carries: set[int] = set()
    for node in graph.nodes:
        if node.op == "parameter":
            if node.attrs["path"] in trained and node.attrs["variant"] == "current":
                carries.add(node.index)
        elif node.dtype.is_float and node.op != "stop-gradient" and any(read.index in carries for read in node.inputs):
            carries.add(node.index)
    return carries


def _kept(graph: Graph, buffers: Buffers, carries: set[int]) -> set[int]:
    """The nodes that the backward pass reads again, apart from inputs and parameters, which are there anyway."""
    kept: set[int] = set()
    residuals = {op.node: op.residuals for op in OPS.values() if op.node}
    for node in graph.nodes:
        if node.index not in carries:
            continue
        keeps = residuals.get(node.op, "none")
        if keeps in ("inputs", "both", "indices"):
            wanted = [read for read in node.inputs if keeps != "indices" or not read.dtype.is_float]
            kept.update(read.index for read in wanted if _stored(read))
        if keeps in ("output", "both") and _stored(node):
            kept.add(node.index)
    return {index for index in kept if buffers.nodes[index].op not in _OUTSIDE}


def _stored(node: Node) -> bool:
    return node.op not in ("constant", *_OUTSIDE)
