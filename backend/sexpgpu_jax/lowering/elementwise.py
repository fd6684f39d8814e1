"""Arithmetic, comparison, logic and the functions that act on each element alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from sexpgpu.graph.nodes import Node
from sexpgpu_jax.lowering.table import jnp_dtype, lowers

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "+": jnp.add,
    "-": jnp.subtract,
    "*": jnp.multiply,
    "/": jnp.divide,
    "min": jnp.minimum,
    "max": jnp.maximum,
    "logaddexp": jnp.logaddexp,
    "abs": jnp.abs,
    "neg": jnp.negative,
    "sign": jnp.sign,
    "square": jnp.square,
    "reciprocal": jnp.reciprocal,
    "floor": jnp.floor,
    "ceil": jnp.ceil,
    "round": jnp.round,
    "exp": jnp.exp,
    "expm1": jnp.expm1,
    "log": jnp.log,
    "log1p": jnp.log1p,
    "sqrt": jnp.sqrt,
    "rsqrt": lax.rsqrt,
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tanh": jnp.tanh,
    "erf": lax.erf,
    "sigmoid": jax.nn.sigmoid,
    "log-sigmoid": jax.nn.log_sigmoid,
    "relu": jax.nn.relu,
    "silu": jax.nn.silu,
    "softplus": jax.nn.softplus,
    "is-nan": jnp.isnan,
    "is-finite": jnp.isfinite,
    "=": jnp.equal,
    "/=": jnp.not_equal,
    "<": jnp.less,
    "<=": jnp.less_equal,
    ">": jnp.greater,
    ">=": jnp.greater_equal,
    "logical-and": jnp.logical_and,
    "logical-or": jnp.logical_or,
    "logical-xor": jnp.logical_xor,
    "logical-not": jnp.logical_not,
    "bit-and": jnp.bitwise_and,
    "bit-or": jnp.bitwise_or,
    "bit-xor": jnp.bitwise_xor,
    "shift-left": jnp.left_shift,
    "shift-right": jnp.right_shift,
    "where": jnp.where,
    "stop-gradient": lax.stop_gradient,
}


def _plain(function: Callable[..., Any]) -> Callable[..., jax.Array]:
    return lambda _node, *inputs: function(*inputs)


for _name, _function in _FUNCTIONS.items():
    lowers(_name)(_plain(_function))


def _constant(node: Node) -> int | float | None:
    """The number that a node is in every run, if it is a constant scalar."""
    return node.attrs["value"] if node.op == "constant" and node.shape == () else None


def _divided(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """Division whose result for integers over 0 is 0: XLA leaves it to the device, NumPy gives 0."""

    def lowering(node: Node, x: jax.Array, y: jax.Array) -> jax.Array:
        if node.dtype.is_float or _constant(node.inputs[1]):
            return function(x, y)
        zero = y == 0
        return jnp.where(zero, jnp.zeros_like(y), function(x, jnp.where(zero, jnp.ones_like(y), y)))

    return lowering


lowers("floor-div")(_divided(jnp.floor_divide))
lowers("mod")(_divided(jnp.remainder))
lowers("rem")(_divided(jnp.fmod))


@lowers("pow")
def _pow(node: Node, x: jax.Array, y: jax.Array) -> jax.Array:
    exponent = _constant(node.inputs[1])
    if exponent is not None and float(exponent).is_integer() and abs(exponent) <= 32 and (exponent >= 0 or node.dtype.is_float):
        return lax.integer_pow(x, int(exponent))
    if node.dtype.is_float:
        return jnp.power(x, y)
    # What a negative power leaves of an integer: 1 or -1 of 1 and -1, else 0.
    power = jnp.power(x, jnp.maximum(y, 0))
    unit = (x == 1) | (x == -1) if node.dtype.kind == "int" else x == 1
    odd = jnp.where(y % 2 == 0, x * x, x)
    return jnp.where(y >= 0, power, jnp.where(unit, odd, jnp.zeros_like(power)))


@lowers("clip")
def _clip(_node: Node, x: jax.Array, lo: jax.Array, hi: jax.Array) -> jax.Array:
    return jnp.minimum(jnp.maximum(x, lo), hi)


@lowers("gelu")
def _gelu(node: Node, x: jax.Array) -> jax.Array:
    return jax.nn.gelu(x, approximate=node.attrs["approximate"])


@lowers("cast")
def _cast(node: Node, x: jax.Array) -> jax.Array:
    return lax.convert_element_type(x, jnp_dtype(node.dtype))
