"""Draws. The lowering of a draw takes the key that `draw_key` makes of the run's seed, its place and its salt, then its inputs
without the salt.

The generator is threefry in its partitionable form: the numbers are the same however an array is spread over devices. Floats are
drawn in f32 and then cast.
"""

from __future__ import annotations

import hashlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from sexpgpu.graph.nodes import Node, Shape
from sexpgpu_jax.lowering.table import jnp_dtype, lowers

jax.config.update("jax_threefry_partitionable", True)


def draw_key(seed: jax.Array, place: str, salt: jax.Array) -> jax.Array:
    """The key of a draw, a pure function of the run's seed (i64, a scalar), the place of the draw and its salt (an integer scalar).

    The words of the seed are the key that the place (its BLAKE2b hash of 64 bits) and the salt (as i64) are folded into, each as a
    high and a low word.
    """
    key = jax.random.wrap_key_data(jnp.stack(_words(seed)), impl="threefry2x32")
    where = np.frombuffer(hashlib.blake2b(place.encode(), digest_size=8).digest(), ">u4").astype(np.uint32)
    for word in (*where, *_words(salt)):
        key = jax.random.fold_in(key, word)
    return key


def _words(number: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The high and the low word of an integer's 64 bits."""
    wide = number.astype(jnp.int64)
    return (wide >> 32).astype(jnp.uint32), wide.astype(jnp.uint32)


def _even(key: jax.Array, shape: Shape, lo: float = 0, hi: float = 1) -> jax.Array:
    """Numbers from `lo` up to `hi` in f32. The bounds are f32 themselves, or they would travel as f64."""
    return jax.random.uniform(key, shape, jnp.float32, np.float32(lo), np.float32(hi))


def _gumbel(key: jax.Array, shape: Shape) -> jax.Array:
    return -jnp.log(-jnp.log(_even(key, shape, float(np.finfo(np.float32).tiny))))


@lowers("uniform")
def uniform(node: Node, key: jax.Array) -> jax.Array:
    return _even(key, node.shape, node.attrs["lo"], node.attrs["hi"]).astype(jnp_dtype(node.dtype))


@lowers("normal")
def normal(node: Node, key: jax.Array) -> jax.Array:
    mean, std = (np.float32(node.attrs[name]) for name in ("mean", "std"))
    return (jax.random.normal(key, node.shape, jnp.float32) * std + mean).astype(jnp_dtype(node.dtype))


@lowers("gumbel")
def gumbel(node: Node, key: jax.Array) -> jax.Array:
    return _gumbel(key, node.shape).astype(jnp_dtype(node.dtype))


@lowers("bernoulli")
def bernoulli(node: Node, key: jax.Array, p: jax.Array) -> jax.Array:
    return _even(key, node.shape) < p.astype(jnp.float32)


@lowers("randint")
def randint(node: Node, key: jax.Array) -> jax.Array:
    return jax.random.randint(key, node.shape, node.attrs["lo"], node.attrs["hi"], jnp_dtype(node.dtype))


@lowers("categorical")
def categorical(node: Node, key: jax.Array, logits: jax.Array) -> jax.Array:
    return lax.argmax(logits.astype(jnp.float32) + _gumbel(key, logits.shape), node.attrs["axis"], jnp.int32)


@lowers("permutation")
def permutation(node: Node, key: jax.Array) -> jax.Array:
    return jax.random.permutation(key, jnp.arange(node.shape[0], dtype=jnp.int32))


@lowers("dropout")
def dropout(node: Node, key: jax.Array, x: jax.Array, rate: jax.Array) -> jax.Array:
    rate = rate.astype(jnp.float32)
    kept = _even(key, node.shape) >= rate
    scale = jnp.where(rate < 1, 1 / jnp.where(rate < 1, 1 - rate, 1), 0)
    return jnp.where(kept, x.astype(jnp.float32) * scale, 0).astype(x.dtype)
