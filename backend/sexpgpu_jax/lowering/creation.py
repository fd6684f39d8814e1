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
    return jnp.asarray(np.asarray(node.attrs["value"], jnp_dtype(node.dtype)).reshape(node.shape))


@lowers("zeros")
def _zeros(node: Node) -> jax.Array:
    return jnp.zeros(node.shape, jnp_dtype(node.dtype))


@lowers("ones")
def _ones(node: Node) -> jax.Array:
    return jnp.ones(node.shape, jnp_dtype(node.dtype))


@lowers("full")
def _full(node: Node) -> jax.Array:
    return jnp.full(node.shape, node.attrs["value"], jnp_dtype(node.dtype))


@lowers("iota")
def _iota(node: Node) -> jax.Array:
    return lax.broadcasted_iota(jnp_dtype(node.dtype), node.shape, node.attrs["axis"])


@lowers("eye")
def _eye(node: Node) -> jax.Array:
    return jnp.eye(node.shape[0], dtype=jnp_dtype(node.dtype))


@lowers("tri")
def _tri(node: Node) -> jax.Array:
    return jnp.tri(*node.shape, k=node.attrs["k"], dtype=jnp_dtype(node.dtype))
