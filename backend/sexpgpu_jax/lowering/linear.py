"""Products of vectors, matrices and tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp

from sexpgpu.graph.nodes import Node
from sexpgpu_jax.lowering.table import lowers

Product = Callable[..., jax.Array]


def product(compute: Product, *operands: jax.Array, result: jnp.dtype | None = None) -> jax.Array:
    """A product whose half-float operands are summed in f32, given in `result` (default: their own dtype).

    `compute` takes the operands and `preferred_element_type`, as the products of JAX do.
    """
    own = operands[0].dtype
    if own not in (jnp.float16, jnp.bfloat16):
        return compute(*operands)
    return _half(compute, own if result is None else result, *operands)


# Left to JAX, the gradient of a product summed in f32 is a product of f32 with half floats, which a device computes in f32
# altogether: several times slower. Cut to half floats first, as the operands are, it stays as fast as the product itself.
@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _half(compute: Product, result: jnp.dtype, *operands: jax.Array) -> jax.Array:
    return compute(*operands, preferred_element_type=jnp.float32).astype(result)


def _half_forward(compute: Product, result: jnp.dtype, *operands: jax.Array) -> tuple[jax.Array, tuple[jax.Array, ...]]:
    return _half(compute, result, *operands), operands


def _half_backward(compute: Product, _: jnp.dtype, operands: tuple[jax.Array, ...], gradient: jax.Array) -> tuple[jax.Array, ...]:
    return jax.vjp(compute, *operands)[1](gradient.astype(operands[0].dtype))


_half.defvjp(_half_forward, _half_backward)


@lowers("matmul")
def matmul(_: Node, x: jax.Array, y: jax.Array) -> jax.Array:
    return product(jnp.matmul, x, y)


@lowers("einsum")
def einsum(node: Node, *operands: jax.Array) -> jax.Array:
    return product(partial(jnp.einsum, node.attrs["subscripts"]), *operands)


@lowers("dot")
def dot(_: Node, x: jax.Array, y: jax.Array) -> jax.Array:
    return product(jnp.dot, x, y)


@lowers("outer")
def outer(_: Node, x: jax.Array, y: jax.Array) -> jax.Array:
    return x[:, None] * y
