"""Softmax and losses, attention, convolution and pooling."""

from __future__ import annotations

from functools import partial, reduce
from typing import cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from sexpgpu.graph.nodes import Node
from sexpgpu_jax.lowering.linear import product
from sexpgpu_jax.lowering.table import jnp_dtype, lowers, wide


@lowers("softmax")
def softmax(node: Node, x: jax.Array) -> jax.Array:
    return jax.nn.softmax(x.astype(wide(node.dtype)), axis=node.attrs["axis"]).astype(x.dtype)


@lowers("log-softmax")
def log_softmax(node: Node, x: jax.Array) -> jax.Array:
    return jax.nn.log_softmax(x.astype(wide(node.dtype)), axis=node.attrs["axis"]).astype(x.dtype)


# Losses


@lowers("cross-entropy")
def cross_entropy(node: Node, logits: jax.Array, labels: jax.Array, *weights: jax.Array) -> jax.Array:
    classes = logits.shape[-1]
    most = min(classes - 1, node.inputs[1].dtype.most)
    inside = jnp.clip(labels, 0, most)
    loss = cast("jax.Array", _label_loss(cast("float", node.attrs["smoothing"]), logits, inside.astype(jnp.int32)))
    loss = jnp.where(inside == labels, loss, jnp.asarray(jnp.nan, loss.dtype))
    for weight in weights:
        loss = loss * weight.astype(loss.dtype)
    if node.attrs["ignore"] is not None:
        loss = jnp.where(labels == node.attrs["ignore"], 0, loss)
    return loss.astype(jnp.float32)


# The gradient is made of the logits and one number a row; JAX's own would keep, and scatter into, arrays as large as the logits.
@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _label_loss(smoothing: float, logits: jax.Array, labels: jax.Array) -> jax.Array:
    return _label_loss_forward(smoothing, logits, labels)[0]


Kept = tuple[jax.Array, jax.Array, jax.Array]


def _label_loss_forward(smoothing: float, logits: jax.Array, labels: jax.Array) -> tuple[jax.Array, Kept]:
    dtype = jnp.promote_types(logits.dtype, jnp.float32)
    x = logits.astype(dtype)
    total = jax.nn.logsumexp(x, axis=-1)
    picked = jnp.take_along_axis(logits, labels[..., None], axis=-1)[..., 0].astype(dtype)
    loss = total - picked
    if smoothing:
        loss = loss + jnp.asarray(smoothing, dtype) * (picked - jnp.mean(x, axis=-1))
    return loss, (logits, labels, total)


def _label_loss_backward(smoothing: float, kept: Kept, gradient: jax.Array) -> tuple[jax.Array, None]:
    logits, labels, total = kept
    classes = logits.shape[-1]
    chance = jnp.exp(logits.astype(total.dtype) - total[..., None])
    label = labels[..., None] == lax.broadcasted_iota(jnp.int32, logits.shape, logits.ndim - 1)
    rest = jnp.asarray(smoothing / classes, total.dtype)
    target = jnp.where(label, jnp.asarray(1 - smoothing, total.dtype) + rest, rest)
    return (gradient[..., None] * (chance - target)).astype(logits.dtype), None


_label_loss.defvjp(_label_loss_forward, _label_loss_backward)


@lowers("kl-divergence")
def kl_divergence(node: Node, log_p: jax.Array, log_q: jax.Array) -> jax.Array:
    log_p, log_q = log_p.astype(wide(node.dtype)), log_q.astype(wide(node.dtype))
    there = log_p > -jnp.inf
    finite = jnp.where(there, log_p, 0)
    terms = jnp.where(there, jnp.exp(finite) * (finite - jnp.where(there, log_q, 0)), 0)
    terms = jnp.where(jnp.isnan(log_p), log_p, terms)
    return jnp.sum(terms, axis=-1).astype(jnp_dtype(node.dtype))


@lowers("binary-cross-entropy")
def binary_cross_entropy(node: Node, logits: jax.Array, labels: jax.Array) -> jax.Array:
    dtype = wide(node.inputs[0].dtype)
    x, z = logits.astype(dtype), labels.astype(dtype)
    return (jax.nn.softplus(x) - x * z).astype(jnp.float32)


# Attention


@lowers("attention")
def attention(node: Node, q: jax.Array, k: jax.Array, v: jax.Array, *others: jax.Array) -> jax.Array:
    batch, heads, rows, size = q.shape
    groups, columns = k.shape[1], k.shape[2]
    shared = (batch, groups, heads // groups, rows)
    dtype = wide(node.dtype)
    logits = product(partial(jnp.einsum, "bgnqd,bgkd->bgnqk"), q.reshape(*shared, size), k, result=dtype)
    logits = logits.reshape(batch, heads, rows, columns) * jnp.asarray(node.attrs["scale"], dtype)
    if node.attrs["bias"]:
        logits = logits + others[-1].astype(dtype)
    lowest = jnp.asarray(-0.7 * float(jnp.finfo(dtype).max), dtype)
    if node.attrs["causal"]:
        logits = jnp.where(jnp.tril(jnp.ones((rows, columns), jnp.bool_)), logits, lowest)
    if node.attrs["mask"]:
        logits = jnp.where(others[0], logits, lowest)
    weights = jax.nn.softmax(logits, axis=-1).astype(v.dtype).reshape(*shared, columns)
    return product(partial(jnp.einsum, "bgnqk,bgkd->bgnqd"), weights, v).reshape(node.shape)


@lowers("rope")
def rope(node: Node, x: jax.Array, positions: jax.Array) -> jax.Array:
    half, dtype = x.shape[-1] // 2, wide(node.dtype)
    turns = jnp.asarray(cast("float", node.attrs["base"]) ** -(np.arange(half) / max(half, 1)), dtype)
    angles = positions.astype(dtype)[..., None] * turns
    if positions.ndim == 2:
        angles = angles[:, None]
    sin, cos = jnp.sin(angles), jnp.cos(angles)
    first, second = x[..., :half].astype(dtype), x[..., half:].astype(dtype)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1).astype(x.dtype)


# Convolution and pooling


@lowers("conv-op")
def conv_op(node: Node, x: jax.Array, w: jax.Array) -> jax.Array:
    axes = x.ndim - 2
    channels_last = (0, axes + 1, *range(1, axes + 1))
    numbers = lax.ConvDimensionNumbers(channels_last, (axes + 1, axes, *range(axes)), channels_last)
    compute = partial(
        lax.conv_general_dilated, window_strides=node.attrs["stride"], padding=node.attrs["padding"], dimension_numbers=numbers
    )
    return product(compute, x, w)


@lowers("max-pool")
def max_pool(node: Node, x: jax.Array) -> jax.Array:
    least = -jnp.inf if node.dtype.is_float else node.dtype.least
    return lax.reduce_window(x, np.asarray(least, x.dtype), lax.max, **_windows(node))


@lowers("avg-pool")
def avg_pool(node: Node, x: jax.Array) -> jax.Array:
    dtype = wide(node.dtype)
    total = lax.reduce_window(x.astype(dtype), np.asarray(0, dtype), lax.add, **_windows(node))
    window, stride, padding = (cast("tuple", node.attrs[name]) for name in ("window", "stride", "padding"))
    counts = [
        np.minimum(starts + w, size) - np.maximum(starts, 0)
        for size, places, w, s, (before, _) in zip(x.shape[1:-1], node.shape[1:-1], window, stride, padding, strict=True)
        for starts in [np.arange(places) * s - before]
    ]
    count = reduce(np.multiply.outer, counts)[..., None]
    return (total / jnp.asarray(count, dtype)).astype(x.dtype)


def _windows(node: Node) -> dict[str, tuple]:
    """Windows over the space axes, as `lax.reduce_window` takes them."""
    window, stride, padding = (cast("tuple", node.attrs[name]) for name in ("window", "stride", "padding"))
    return {
        "window_dimensions": (1, *window, 1),
        "window_strides": (1, *stride, 1),
        "padding": ((0, 0), *padding, (0, 0)),
    }
