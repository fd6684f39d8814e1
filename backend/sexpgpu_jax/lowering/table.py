"""The table of lowerings: how each operation of a graph is computed in JAX, one small function an operation."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from sexpgpu.language.dtypes import BF16, BOOL, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, DType

Lowering = Callable[..., jax.Array]

LOWERINGS: dict[str, Lowering] = {}
"""By `node.op`. A lowering takes the node and its inputs' arrays, and gives an array of the node's shape and dtype."""


def lowers(*names: str) -> Callable[[Lowering], Lowering]:
    """Enter a function under the names of the operations that it computes."""

    def enter(lowering: Lowering) -> Lowering:
        for name in names:
            assert name not in LOWERINGS, f"two lowerings are called {name}"
            LOWERINGS[name] = lowering
        return lowering

    return enter


_JNP = {
    BOOL: jnp.bool_,
    I8: jnp.int8,
    I16: jnp.int16,
    I32: jnp.int32,
    I64: jnp.int64,
    U8: jnp.uint8,
    U16: jnp.uint16,
    U32: jnp.uint32,
    F16: jnp.float16,
    BF16: jnp.bfloat16,
    F32: jnp.float32,
    F64: jnp.float64,
}


def jnp_dtype(dtype: DType) -> jnp.dtype:
    """JAX's name for a dtype of the language."""
    return jnp.dtype(_JNP[dtype])


def wide(dtype: DType) -> jnp.dtype:
    """The dtype in which sums over `dtype` are made: f32 for the half floats, its own for all else (language §8, precision)."""
    return jnp_dtype(F32 if dtype in (F16, BF16) else dtype)
