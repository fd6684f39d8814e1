"""Sums, means, extrema and running sums. Those of the half floats are made in f32 and then rounded (language §8, precision)."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from sexpgpu.graph.nodes import Node
from sexpgpu_jax.lowering.table import jnp_dtype, lowers, wide

_EXACT: dict[str, Callable[..., jax.Array]] = {"amax": jnp.max, "amin": jnp.min, "any": jnp.any, "all": jnp.all}
_MEANS: dict[str, Callable[..., jax.Array]] = {
    "mean": jnp.mean,
    "var": jnp.var,
    "std": jnp.std,
    "logsumexp": jax.nn.logsumexp,
}
_SUMS: dict[str, Callable[..., jax.Array]] = {"sum": jnp.sum, "prod": jnp.prod}
_RUNNING: dict[str, Callable[..., jax.Array]] = {"cumsum": jnp.cumsum, "cumprod": jnp.cumprod}
_LOCATED: dict[str, Callable[..., jax.Array]] = {"argmax": lax.argmax, "argmin": lax.argmin}


def _exact(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    return lambda node, x: function(x, axis=node.attrs["axes"], keepdims=node.attrs["keepdims"])


def _mean(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    def lowering(node: Node, x: jax.Array) -> jax.Array:
        keys = {"ddof": min(node.attrs["ddof"], 2**31)} if "ddof" in node.attrs else {}
        x = x.astype(wide(node.dtype))
        return function(x, axis=node.attrs["axes"], keepdims=node.attrs["keepdims"], **keys).astype(jnp_dtype(node.dtype))

    return lowering


def _sum(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """Sums and products: NumPy would widen small integers, here they keep their dtype."""

    def lowering(node: Node, x: jax.Array) -> jax.Array:
        result = function(x, axis=node.attrs["axes"], keepdims=node.attrs["keepdims"], dtype=wide(node.dtype))
        return result.astype(jnp_dtype(node.dtype))

    return lowering


def _running(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    def lowering(node: Node, x: jax.Array) -> jax.Array:
        return function(x, axis=node.attrs["axis"], dtype=wide(node.dtype)).astype(jnp_dtype(node.dtype))

    return lowering


def _located(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    def lowering(node: Node, x: jax.Array) -> jax.Array:
        index = function(x, node.attrs["axis"], jnp_dtype(node.dtype))
        return jnp.expand_dims(index, node.attrs["axis"]) if node.attrs["keepdims"] else index

    return lowering


for _functions, _kind in ((_EXACT, _exact), (_MEANS, _mean), (_SUMS, _sum), (_RUNNING, _running), (_LOCATED, _located)):
    for _name, _function in _functions.items():
        lowers(_name)(_kind(_function))


@lowers("count")
def _count(node: Node, mask: jax.Array) -> jax.Array:
    return jnp.sum(mask, axis=node.attrs["axes"], dtype=jnp_dtype(node.dtype))


@lowers("masked-mean")
def _masked_mean(node: Node, x: jax.Array, mask: jax.Array) -> jax.Array:
    axes, dtype = node.attrs["axes"], wide(node.dtype)
    x, mask = jnp.broadcast_arrays(x, mask)
    total = jnp.sum(jnp.where(mask, x, jnp.zeros_like(x)), axis=axes, dtype=dtype)
    number = jnp.sum(mask, axis=axes, dtype=jnp.int32).astype(dtype)
    return (total / number).astype(jnp_dtype(node.dtype))
