"""Axes, joins, cuts and borders: what moves elements and computes nothing."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from sexpgpu.graph.nodes import Node
from sexpgpu_jax.lowering.table import lowers


@lowers("reshape")
def reshape(node: Node, x: jax.Array) -> jax.Array:
    return lax.reshape(x, node.shape)


@lowers("transpose")
def transpose(node: Node, x: jax.Array) -> jax.Array:
    return lax.transpose(x, node.attrs["permutation"])


@lowers("broadcast-to")
def broadcast_to(node: Node, x: jax.Array) -> jax.Array:
    return jnp.broadcast_to(x, node.shape)


@lowers("concat")
def concat(node: Node, *parts: jax.Array) -> jax.Array:
    return lax.concatenate(parts, node.attrs["axis"])


@lowers("stack")
def stack(node: Node, *parts: jax.Array) -> jax.Array:
    return jnp.stack(parts, node.attrs["axis"])


@lowers("slice")
def slice_(node: Node, x: jax.Array) -> jax.Array:
    return lax.slice(x, node.attrs["starts"], node.attrs["stops"], node.attrs["strides"])


@lowers("pad")
def pad(node: Node, x: jax.Array, value: jax.Array) -> jax.Array:
    return lax.pad(x, value, [(before, after, 0) for before, after in node.attrs["widths"]])


@lowers("flip")
def flip(node: Node, x: jax.Array) -> jax.Array:
    return lax.rev(x, node.attrs["axes"])


@lowers("roll")
def roll(node: Node, x: jax.Array) -> jax.Array:
    return jnp.roll(x, node.attrs["shift"], node.attrs["axis"])


@lowers("repeat")
def repeat(node: Node, x: jax.Array) -> jax.Array:
    behind = node.attrs["axis"] + 1
    # A broadcast and a reshape: `jnp.repeat` would gather, and keep the indices for its gradient.
    apart = lax.expand_dims(x, [behind])
    return jnp.broadcast_to(apart, (*x.shape[:behind], node.attrs["n"], *x.shape[behind:])).reshape(node.shape)
