"""Constants, and tensors made from nothing but a shape."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from sexpgpu.graph.nodes import Node

from sexpgpu_jax.lowering.table import jnp_dtype, lowers


@lowers("constant")
def constant(node: Node) -> jax.Array:
    return jnp.asarray(node.attrs["value"], jnp_dtype(node.dtype))
