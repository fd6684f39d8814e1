"""Graphs: flat lists of typed nodes. No node carries a subgraph; a node that uses another stands behind it.

A node knows the form that made it and the calls that led there, so whatever is said of a graph can be said of the file.
"""

from __future__ import annotations

from typing import Any, Literal

from sexpgpu.language.dtypes import DType
from sexpgpu.reader.forms import Form

Shape = tuple[int, ...]
Attribute = Any  # a number, string, dtype, None, or a tuple of those: which, the operation knows

InputKind = Literal["batch", "state", "trip", "ctx", "inputs", "stage", "observations", "index", "gradient", "value", "optimizer"]


class CallPath:
    """The calls that led to a place, the innermost first."""

    __slots__ = ("form", "parent")

    def __init__(self, form: Form, parent: CallPath | None) -> None:
        self.form = form
        self.parent = parent


class Node:
    """One tensor of a graph: `shape` (a scalar is `()`), `dtype`, the operator that makes it and the nodes that it reads.

    Besides the operators of the table there are three: `input` (attrs `kind`, `name`), `parameter` (attrs `path`, `variant`:
    `current`, `ema` or `initial`) and `constant` (attrs `value`, a host number or boolean; or nested tuples of them).
    """

    __slots__ = ("attrs", "calls", "dtype", "form", "index", "inputs", "op", "remat", "shape")

    def __init__(
        self,
        op: str,
        inputs: tuple[Node, ...],
        attrs: dict[str, Attribute],
        shape: Shape,
        dtype: DType,
        form: Form,
        calls: CallPath | None = None,
        remat: int = 0,
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.attrs = attrs
        self.shape = shape
        self.dtype = dtype
        self.form = form
        self.calls = calls
        self.remat = remat
        self.index = -1

    @property
    def size(self) -> int:
        """Number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def bytes(self) -> int:
        return self.size * self.dtype.bytes

    def __repr__(self) -> str:
        return f"<{self.op} {typed(self.shape, self.dtype)}>"


def typed(shape: Shape, dtype: DType) -> str:
    """`f32[4 8]`, the way a tensor's type is written in messages, hover and printed graphs."""
    return f"{dtype.name}[{' '.join(map(str, shape))}]"


class Graph:
    """One traced contract function, or a record function of a loader.

    `role` names what it does in a run (`generate.step`, `prepare`, `record`, …; a pass's graphs have the role of the training graph
    they stand for); `name` tells it apart (`eval.prepare`). `outputs` are what it returns by entry name, `""` for a single tensor.
    """

    __slots__ = ("counters", "diagnostics", "metrics", "name", "nodes", "outputs", "role", "whole")

    def __init__(self, name: str, role: str) -> None:
        self.name = name
        self.role = role
        self.nodes: list[Node] = []
        self.outputs: dict[str, Node] = {}
        self.metrics: list[Report] = []
        self.diagnostics: list[Report] = []
        self.counters: dict[str, Node] = {}
        self.whole = True
        """No unknown value arose in it, its inputs included."""

    def add(self, node: Node) -> Node:
        node.index = len(self.nodes)
        self.nodes.append(node)
        return node


Reduce = Literal["mean", "sum", "max", "min"]


class Report:
    """A metric or a diagnostic: a scalar node under a name, how batches are put together, and the weight of a mean."""

    __slots__ = ("form", "name", "node", "reduce", "weight")

    def __init__(self, name: str, node: Node, reduce: Reduce, weight: Node | None, form: Form) -> None:
        self.name = name
        self.node = node
        self.reduce: Reduce = reduce
        self.weight = weight
        self.form = form
