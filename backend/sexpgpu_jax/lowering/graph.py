"""One graph as a pure JAX function: its nodes computed one after another, only those that what is asked for reaches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import jax

from sexpgpu.graph.nodes import Graph, Node
from sexpgpu_jax.lowering import LOWERINGS
from sexpgpu_jax.lowering.random import draw_key
from sexpgpu_jax.lowering.table import jnp_dtype

Arrays = Mapping[str, jax.Array]


class Environment(NamedTuple):
    """What a graph reads: `inputs` by kind and name (`trip`, `index`, `stage`, `value` and `gradient` have the name ""),
    `parameters` by variant and path, and the run's `seed`, an i64 scalar."""

    inputs: Mapping[str, Arrays]
    parameters: Mapping[str, Arrays]
    seed: jax.Array


SINGLE = frozenset({"trip", "stage", "index", "value", "gradient"})
"""Kinds of inputs of which a graph has one alone."""


def compute(wanted: Sequence[Node], environment: Environment) -> list[jax.Array]:
    """The values of the nodes `wanted`, each of its node's shape and dtype. All nodes are of one graph."""
    known: dict[Node, jax.Array] = {}
    for node in reached(wanted):
        known[node] = value_of(node, [known[source] for source in node.inputs], environment)
    return [known[node] for node in wanted]


def run_graph(graph: Graph, environment: Environment) -> dict[str, jax.Array]:
    """The graph's outputs by name (`""` for a single tensor)."""
    return dict(zip(graph.outputs, compute(list(graph.outputs.values()), environment), strict=True))


def value_of(node: Node, inputs: Sequence[jax.Array], environment: Environment) -> jax.Array:
    """One node's value from those of the nodes that it reads."""
    attrs = cast("dict[str, Any]", node.attrs)
    if node.op == "input":
        name = "" if attrs["kind"] in SINGLE else attrs["name"]
        value = environment.inputs[attrs["kind"]][name]
    elif node.op == "parameter":
        value = environment.parameters[attrs["variant"]][attrs["path"]]
    elif "place" in attrs:
        value = LOWERINGS[node.op](node, draw_key(environment.seed, attrs["place"], inputs[-1]), *inputs[:-1])
    else:
        value = LOWERINGS[node.op](node, *inputs)
    assert (value.shape, value.dtype) == (node.shape, jnp_dtype(node.dtype)), f"{node!r}: {value.dtype}{list(value.shape)}"
    return value


def reached(wanted: Iterable[Node]) -> list[Node]:
    """The nodes that `wanted` depend on, themselves included, each behind those that it reads."""
    seen = set(wanted)
    waiting = list(seen)
    while waiting:
        for source in waiting.pop().inputs:
            if source not in seen:
                seen.add(source)
                waiting.append(source)
    return sorted(seen, key=lambda node: node.index)


def parameters_read(graphs: Iterable[Graph | None]) -> dict[str, set[str]]:
    """The paths of the parameters that the graphs read, by variant."""
    read: dict[str, set[str]] = {}
    for graph in graphs:
        for node in graph.nodes if graph else ():
            if node.op == "parameter":
                read.setdefault(cast("str", node.attrs["variant"]), set()).add(cast("str", node.attrs["path"]))
    return read


def abstract(node: Node) -> jax.ShapeDtypeStruct:
    """A node's type as JAX has it."""
    return jax.ShapeDtypeStruct(node.shape, jnp_dtype(node.dtype))
