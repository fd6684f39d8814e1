"""Reading and writing where indices say, windows, and order.

JAX counts negative indices from the end and leaves the order of duplicate writes open. Neither may happen here: indices are brought
into range before JAX sees them, and every write knows which value it keeps.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax

from sexpgpu.graph.nodes import Node
from sexpgpu_jax.lowering.table import jnp_dtype, lowers, wide

_MOST = 2**31 - 1


def _signed(indices: jax.Array, extent: int) -> jax.Array:
    """The same indices in a signed dtype that also holds -1 and `extent`."""
    large = indices.dtype in (jnp.int64, jnp.uint32) or extent > _MOST
    return indices.astype(jnp.int64 if large else jnp.int32)


def _clamped(indices: jax.Array, most: int) -> jax.Array:
    """Indices out of 0 to `most` become the nearer of the two."""
    return jnp.clip(_signed(indices, most), 0, max(most, 0)).astype(jnp.int32 if most <= _MOST else jnp.int64)


def _or_beyond(indices: jax.Array, extent: int) -> jax.Array:
    """Indices out of range become `extent`, which a scatter of mode `drop` leaves out."""
    indices = _signed(indices, extent)
    inside = (indices >= 0) & (indices < extent)
    return jnp.where(inside, indices, extent).astype(jnp.int32 if extent <= _MOST else jnp.int64)


# Whole rows


@lowers("take")
def take(node: Node, x: jax.Array, indices: jax.Array) -> jax.Array:
    axis = node.attrs["axis"]
    if not node.size:  # JAX refuses an empty axis here, even where nothing is read
        return jnp.zeros(node.shape, jnp_dtype(node.dtype))
    return jnp.take(x, _clamped(indices, x.shape[axis] - 1), axis, mode="clip")


@lowers("scatter-add")
def scatter_add(node: Node, x: jax.Array, indices: jax.Array, updates: jax.Array) -> jax.Array:
    axis = node.attrs["axis"]
    if not x.size:
        return x
    return x.at[(*_all(axis), _or_beyond(indices, x.shape[axis]))].add(updates, mode="drop")


@lowers("segment-sum")
def segment_sum(node: Node, x: jax.Array, ids: jax.Array) -> jax.Array:
    sums = jnp.zeros(node.shape, wide(node.dtype))
    return sums.at[_or_beyond(ids, node.shape[0])].add(x.astype(sums.dtype), mode="drop").astype(x.dtype)


def _all(axes: int) -> tuple[slice, ...]:
    return (slice(None),) * axes


# Single elements


@lowers("take-along")
def take_along(node: Node, x: jax.Array, indices: jax.Array) -> jax.Array:
    axis = node.attrs["axis"]
    return jnp.take_along_axis(x, _clamped(indices, x.shape[axis] - 1), axis, mode="clip")


@lowers("put-along")
def put_along(node: Node, x: jax.Array, indices: jax.Array, values: jax.Array) -> jax.Array:
    axis = node.attrs["axis"]
    shape = [max(a, b) if a and b else 0 for a, b in zip(x.shape, indices.shape, strict=True)]
    shape[axis] = indices.shape[axis]
    indices = jnp.broadcast_to(_or_beyond(indices, x.shape[axis]), shape)
    values = jnp.broadcast_to(values, shape)
    if not values.size:
        return x
    # For every place the last write that goes there: a maximum does not depend on the order in which a device works.
    writes = jnp.arange(values.size, dtype=jnp.int32 if values.size <= _MOST else jnp.int64).reshape(shape)
    places = [
        indices if other == axis else lax.broadcasted_iota(jnp.int32, shape, other) if extent > 1 else jnp.zeros(shape, jnp.int32)
        for other, extent in enumerate(x.shape)
    ]
    last = jnp.full(x.shape, -1, writes.dtype).at[tuple(places)].max(writes, mode="drop")
    return jnp.where(last >= 0, jnp.take(values.ravel(), last, mode="clip"), x)


@lowers("one-hot")
def one_hot(node: Node, indices: jax.Array) -> jax.Array:
    n = node.shape[-1]
    indices = _signed(indices, n)[..., None]
    return (indices == lax.broadcasted_iota(indices.dtype, node.shape, len(node.shape) - 1)).astype(jnp_dtype(node.dtype))


# Windows


@lowers("dynamic-slice")
def dynamic_slice(node: Node, x: jax.Array, *starts: jax.Array) -> jax.Array:
    return lax.dynamic_slice(x, _inside(starts, x.shape, node.shape), node.shape)


@lowers("dynamic-update")
def dynamic_update(_: Node, x: jax.Array, update: jax.Array, *starts: jax.Array) -> jax.Array:
    return lax.dynamic_update_slice(x, update, _inside(starts, x.shape, update.shape))


def _inside(starts: Sequence[jax.Array], extents: Sequence[int], sizes: Sequence[int]) -> list[jax.Array]:
    """The starts, scalars or one vector of them, such that the window lies inside."""
    scalars = starts if not starts or not starts[0].ndim else list(starts[0])
    return [_clamped(start, extent - size) for start, extent, size in zip(scalars, extents, sizes, strict=True)]


# Order


@lowers("sort")
def sort(node: Node, x: jax.Array) -> jax.Array:
    return jnp.sort(x, node.attrs["axis"], stable=True, descending=node.attrs["descending"])


@lowers("argsort")
def argsort(node: Node, x: jax.Array) -> jax.Array:
    axis = node.attrs["axis"]
    # Turned around before and after, so that equal elements keep their order in a descending sort too.
    turn = (lambda array: lax.rev(array, [axis])) if node.attrs["descending"] else (lambda array: array)
    operands = turn(lax.stop_gradient(x)), turn(lax.broadcasted_iota(jnp.int32, x.shape, axis))
    return turn(lax.sort(operands, dimension=axis, num_keys=1, is_stable=True)[1])


@lowers("top-k")
def top_k(node: Node, x: jax.Array) -> jax.Array:
    keys = lax.stop_gradient(x)
    if jnp.issubdtype(x.dtype, jnp.floating):
        # JAX's order tells -0.0 from 0.0 and a negative nan from a positive one; that of `sort` does not.
        keys = jnp.where(jnp.isnan(keys), jnp.asarray(jnp.nan, x.dtype), jnp.where(keys == 0, jnp.zeros_like(keys), keys))
    indices = lax.top_k(keys, node.attrs["k"])[1]
    return indices if node.attrs["part"] == "indices" else jnp.take_along_axis(x, indices, -1, mode="clip")
