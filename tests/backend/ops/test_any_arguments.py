"""Whatever an operator is given, it answers with a value or a fault; what it accepts, JAX computes in the type that was said."""

from __future__ import annotations

from typing import Any

import jax
from hypothesis import given, settings

from sexpgpu.graph.nodes import Node
from sexpgpu.language.fault import Fault, LimitPassed, UnknownArgument
from sexpgpu.language.signature import Mismatch
from sexpgpu.language.values import List, Value
from sexpgpu_jax.lowering import jnp_dtype
from support.arguments import calls
from support.ops import compute, run

MOST_ELEMENTS = 2**20


@given(calls())
@settings(max_examples=1000)
def test_it_answers_or_refuses(call: tuple[str, dict[str, Value]]) -> None:
    text, names = call
    try:
        value = run(text, **names)  # type: ignore[arg-type]
    except (Fault, UnknownArgument, LimitPassed, Mismatch):
        return
    made = [node for node in (value.items if isinstance(value, List) else [value]) if isinstance(node, Node)]
    reached = _reached(made)
    if all(extent < MOST_ELEMENTS for node in reached for extent in node.shape):
        leaves = [node for node in reached if node.op == "input"]

        def lowered(*values: Any) -> list[Any]:
            return compute(made, dict(zip(leaves, values, strict=True)))

        types = jax.eval_shape(lowered, *(jax.ShapeDtypeStruct(leaf.shape, jnp_dtype(leaf.dtype)) for leaf in leaves))
        assert [(type.shape, type.dtype) for type in types] == [(node.shape, jnp_dtype(node.dtype)) for node in made]


def _reached(nodes: list[Node]) -> list[Node]:
    found = dict.fromkeys(nodes)
    for node in nodes:
        found.update(dict.fromkeys(_reached(list(node.inputs))))
    return list(found)
