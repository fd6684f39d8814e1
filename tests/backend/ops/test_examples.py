"""The example of every operator, which hover and the reference show, runs; what it makes lowers to the type that was said."""

from __future__ import annotations

from typing import Any

import jax
import pytest

from sexpgpu.graph.nodes import Node
from sexpgpu.language.values import List
from sexpgpu.ops import OPS
from support.ops import compute, run, tensors


@pytest.mark.parametrize("name", OPS)
def test_it_runs(name: str) -> None:
    value = run(OPS[name].example)
    if not OPS[name].node:
        assert not isinstance(value, Node)
        return
    made = tensors(value)
    assert made
    assert isinstance(value, (Node, List))

    def lowered() -> list[Any]:
        return compute(made, {})

    assert [type.shape for type in jax.eval_shape(lowered)] == [node.shape for node in made]
