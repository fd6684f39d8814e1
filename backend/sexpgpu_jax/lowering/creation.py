"""Constants, and tensors made from nothing but a shape."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from sexpgpu.graph.nodes import Node
from sexpgpu_jax.lowering.table import jnp_dtype, lowers


@lowers("constant")
def _constant(node: Node) -> jax.Array:
    return jnp.asarray(_numbers(node).reshape(node.shape))


def _numbers(node: Node) -> np.ndarray:
    """The node's value in its dtype; a float beyond the dtype's range is infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(node.attrs["value"], jnp_dtype(node.dtype))


@lowers("zeros")
def _zeros(node: Node) -> jax.Array:
    return jnp.zeros(node.shape, jnp_dtype(node.dtype))


@lowers("ones")
def _ones(node: Node) -> jax.Array:
    return jnp.ones(node.shape, jnp_dtype(node.dtype))


@lowers("full")
def _full(node: Node) -> jax.Array:
    return jnp.full(node.shape, _numbers(node), jnp_dtype(node.dtype))


@lowers("iota")
def _iota(node: Node) -> jax.Array:
    return lax.broadcasted_iota(jnp_dtype(node.dtype), node.shape, node.attrs["axis"])


@lowers("eye")
def _eye(node: Node) -> jax.Array:
    return jnp.eye(node.shape[0], dtype=jnp_dtype(node.dtype))


@lowers("tri")
def _tri(node: Node) -> jax.Array:
    rows, columns = node.shape
    return jnp.tri(rows, columns, k=max(-rows, min(node.attrs["k"], columns)), dtype=jnp_dtype(node.dtype))
