"""What elementwise operators compute is what NumPy computes, in the dtype that the checker says; gradients are checked too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.test_util import check_grads

from sexpgpu.graph.nodes import Node, Shape
from sexpgpu.language.dtypes import BF16, BOOL, DTYPES, F16, F32, F64, I8, I32, I64, U8, DType
from sexpgpu.language.values import List
from sexpgpu.ops.call import integral, numeric
from sexpgpu_jax.lowering import jnp_dtype
from support.ops import apply, array, broadcastable, check_against_jax, compiled, compute, dtypes, node, run, shapes, tensor

TOLERANCE = {"f16": 4e-3, "bf16": 3e-2, "f32": 2e-5, "f64": 1e-10}

UNARY: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "exp": (np.exp, -3, 3),
    "expm1": (np.expm1, -3, 3),
    "log": (np.log, 0.1, 5),
    "log1p": (np.log1p, -0.5, 5),
    "sqrt": (np.sqrt, 0.1, 5),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 5),
    "sin": (np.sin, -3, 3),
    "cos": (np.cos, -3, 3),
    "tanh": (np.tanh, -3, 3),
    "erf": (jax.scipy.special.erf, -3, 3),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -3, 3),
    "log-sigmoid": (lambda x: -np.log1p(np.exp(-x)), -3, 3),
    "relu": (lambda x: np.maximum(x, 0), -3, 3),
    "gelu": (lambda x: x * (1 + jax.scipy.special.erf(x / np.sqrt(2))) / 2, -3, 3),
    "silu": (lambda x: x / (1 + np.exp(-x)), -3, 3),
    "softplus": (lambda x: np.log1p(np.exp(x)), -3, 3),
    "reciprocal": (lambda x: 1 / x, 0.3, 5),
    "abs": (np.abs, -3, 3),
    "neg": (np.negative, -3, 3),
    "square": (np.square, -3, 3),
    "sign": (np.sign, -3, 3),
    "floor": (np.floor, -3, 3),
    "ceil": (np.ceil, -3, 3),
    "round": (np.round, -3, 3),
}
BINARY: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "floor-div": np.floor_divide,
    "mod": np.remainder,
    "rem": np.fmod,
    "min": np.minimum,
    "max": np.maximum,
    "=": np.equal,
    "/=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
BITS: dict[str, Callable[..., Any]] = {"bit-and": np.bitwise_and, "bit-or": np.bitwise_or, "bit-xor": np.bitwise_xor}
LOGIC: dict[str, Callable[..., Any]] = {"logical-and": np.logical_and, "logical-or": np.logical_or, "logical-xor": np.logical_xor}


@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64], ids=repr)
def test_functions_are_numpys(dtype: DType) -> None:
    xs = [array((3, 5), dtype, least=least, most=most) for _, least, most in UNARY.values()]
    found = check_against_jax(lambda *xs: List([apply(op, x) for op, x in zip(UNARY, xs, strict=True)]), *xs)
    for (op, (function, _, _)), x, value in zip(UNARY.items(), xs, found, strict=True):
        wanted, tolerance = function(x.astype(np.float64)), TOLERANCE[dtype.name]
        np.testing.assert_allclose(value.astype(np.float64), wanted, tolerance, tolerance, err_msg=op)


@compiled
@given(st.sampled_from(list(BINARY)), dtypes(numeric), broadcastable(2))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_pairs_are_numpys(op: str, dtype: DType, pair: tuple[Shape, ...]) -> None:
    x, y = (array(shape, dtype, seed, -9, 9) for seed, shape in enumerate(pair))
    tolerance = TOLERANCE.get(dtype.name, 0)
    check_against_jax(lambda x, y: apply(op, x, y), x, y, reference=BINARY[op], rtol=tolerance, atol=tolerance)


@compiled
@given(st.sampled_from(list(BITS)), dtypes(integral), broadcastable(2))
def test_bits_are_numpys(op: str, dtype: DType, pair: tuple[Shape, ...]) -> None:
    x, y = (array(shape, dtype, seed, -128, 127) for seed, shape in enumerate(pair))
    check_against_jax(lambda x, y: apply(op, x, y), x, y, reference=BITS[op])


@compiled
@given(st.sampled_from(list(LOGIC)), broadcastable(2))
def test_logic_is_numpys(op: str, pair: tuple[Shape, ...]) -> None:
    x, y = (array(shape, BOOL, seed) for seed, shape in enumerate(pair))
    check_against_jax(lambda x, y: apply(op, x, y), x, y, reference=LOGIC[op])


@compiled
@given(shapes(), dtypes(), dtypes())
def test_casts_are_numpys(shape: Shape, source: DType, target: DType) -> None:
    x = array(shape, source, least=0 if target.kind == "uint" else -9, most=9)
    check_against_jax(lambda x: apply("cast", x, target), x, reference=lambda x: x.astype(jnp_dtype(target)))


def test_a_float_is_cast_toward_zero_and_to_bool_by_being_0() -> None:
    x = np.array([-2.7, -0.5, 0.0, 0.5, 2.7], np.float32)
    assert check_against_jax(lambda x: apply("cast", x, I32), x)[0].tolist() == [-2, 0, 0, 0, 2]
    assert check_against_jax(lambda x: apply("cast", x, BOOL), x)[0].tolist() == [True, True, False, True, True]


@compiled
@given(broadcastable(3), dtypes())
def test_where_is_numpys(trio: tuple[Shape, ...], dtype: DType) -> None:
    condition, x, y = array(trio[0], BOOL), array(trio[1], dtype, 1), array(trio[2], dtype, 2)
    check_against_jax(lambda c, x, y: apply("where", c, x, y), condition, x, y, reference=np.where)


@compiled
@given(broadcastable(3), dtypes(numeric))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_clip_is_numpys(trio: tuple[Shape, ...], dtype: DType) -> None:
    x, lo, hi = (array(shape, dtype, seed, -9, 9) for seed, shape in enumerate(trio))
    check_against_jax(lambda *xs: apply("clip", *xs), x, lo, hi, reference=lambda x, lo, hi: np.minimum(np.maximum(x, lo), hi))


@pytest.mark.parametrize("dtype", [F16, F32, F64], ids=repr)
def test_division_and_logaddexp(dtype: DType) -> None:
    x, y = array((2, 3), dtype, 1, 0.5, 3), array((3,), dtype, 2, 0.5, 3)
    tolerance = TOLERANCE[dtype.name]
    check_against_jax(lambda x, y: apply("/", x, y), x, y, reference=np.divide, rtol=tolerance)
    check_against_jax(lambda x: apply("/", x), x, reference=np.reciprocal, rtol=tolerance)
    check_against_jax(lambda x, y: apply("logaddexp", x, y), x, y, reference=np.logaddexp, rtol=tolerance)


# Where NumPy, XLA and devices differ, or the result is easily got wrong


@pytest.mark.parametrize("op", ["floor-div", "mod", "rem"])
@pytest.mark.parametrize("dtype", [I8, U8, I32, I64], ids=repr)
def test_an_integer_divided_by_zero_gives_0(op: str, dtype: DType) -> None:
    x = np.array([7, 0, 5, 9], jnp_dtype(dtype))
    y = np.array([0, 0, 2, 2], jnp_dtype(dtype))
    found = check_against_jax(lambda x, y: apply(op, x, y), x, y)[0]
    assert found.tolist() == ([0, 0, 2, 4] if op == "floor-div" else [0, 0, 1, 1])
    assert check_against_jax(lambda x: apply(op, x, 0), x)[0].tolist() == [0, 0, 0, 0]


def test_integer_division_rounds_as_python() -> None:
    numbers = [-(2**63), -(2**31) - 1, -7, -2, -1, 1, 2, 7, 2**31, 2**63 - 1]
    pairs = [(x, y) for x in (0, *numbers) for y in numbers if (x, y) != (-(2**63), -1)]
    x, y = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    quotients, rests = check_against_jax(lambda x, y: List([apply("floor-div", x, y), apply("mod", x, y)]), x, y)
    assert list(zip(quotients.tolist(), rests.tolist(), strict=True)) == [divmod(x, y) for x, y in pairs]


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 33, 0.5, -1, -2.5, 2.0])
def test_powers_of_floats_are_numpys(exponent: float) -> None:
    x = array((2, 3), F32, least=0.5, most=1.5)
    check_against_jax(lambda x: apply("pow", x, exponent), x, reference=lambda x: np.power(x, np.float32(exponent)))
    y = np.full((3,), exponent, np.float32)
    check_against_jax(lambda x, y: apply("pow", x, y), x, y, reference=np.power)


def test_powers_of_integers_are_exact_and_negative_ones_are_cut() -> None:
    x = np.array([-3, -2, -1, 0, 1, 2, 3], np.int32)
    for exponent in (0, 1, 5):
        check_against_jax(lambda x, e=exponent: apply("pow", x, e), x, reference=lambda x, e=exponent: x**e)
    for exponent, wanted in ((-1, [0, 0, -1, 0, 1, 0, 0]), (-2, [0, 0, 1, 0, 1, 0, 0])):
        assert check_against_jax(lambda x, e=exponent: apply("pow", x, e), x)[0].tolist() == wanted
        y = np.full(7, exponent, np.int32)
        assert check_against_jax(lambda x, y: apply("pow", x, y), x, y)[0].tolist() == wanted
    u = np.array([2, 3], np.uint8)
    check_against_jax(lambda x, y: apply("pow", x, y), u, u, reference=np.power)


def test_shifts_lose_what_passes_the_end_and_keep_the_sign() -> None:
    x = np.array([1, -1, -128, 127], np.int8)
    assert check_against_jax(lambda x: apply("shift-left", x, 1), x)[0].tolist() == [2, -2, 0, -2]
    assert check_against_jax(lambda x: apply("shift-right", x, 1), x)[0].tolist() == [0, -1, -64, 63]
    assert check_against_jax(lambda x: apply("shift-right", x, 9), x)[0].tolist() == [0, -1, -1, 0]
    assert check_against_jax(lambda x: apply("shift-left", x, 9), x)[0].tolist() == [0, 0, 0, 0]
    u = np.array([128, 255], np.uint8)
    assert check_against_jax(lambda x: apply("shift-right", x, 1), u)[0].tolist() == [64, 127]


def test_nan_passes_through_min_max_and_sign() -> None:
    x = np.array([np.nan, 1.0], np.float32)
    for op in ("min", "max"):
        assert np.isnan(check_against_jax(lambda x, op=op: apply(op, x, 0.0), x)[0][0])
    assert np.isnan(check_against_jax(lambda x: apply("sign", x), x)[0][0])
    assert check_against_jax(lambda x: apply("is-nan", x), x)[0].tolist() == [True, False]
    assert check_against_jax(lambda x: apply("is-finite", x), x)[0].tolist() == [False, True]


def test_large_arguments_do_not_overflow_on_the_way() -> None:
    x = np.array([-200.0, 200.0], np.float32)
    for op, wanted in {
        "sigmoid": [0, 1],
        "log-sigmoid": [-200, 0],
        "softplus": [0, 200],
        "silu": [0, 200],
        "gelu": [0, 200],
    }.items():
        np.testing.assert_allclose(check_against_jax(lambda x, op=op: apply(op, x), x)[0], wanted, atol=1e-30)
    np.testing.assert_allclose(check_against_jax(lambda x: apply("logaddexp", x, x), x)[0], x + np.log(np.float32(2)))


def test_more_than_two_operands_fold_from_the_left() -> None:
    x = array((3,), F32)
    check_against_jax(lambda x: apply("-", x, 1, x, 2), x, reference=lambda x: x - 1 - x - 2)
    check_against_jax(lambda x: apply("max", x, 0, 0.5), x, reference=lambda x: np.maximum(np.maximum(x, 0), 0.5))


# Host numbers and tensors agree


def test_the_host_computes_what_the_device_does() -> None:
    operands = dict.fromkeys(UNARY, (2.5,)) | dict.fromkeys([*BINARY, "/", "pow", "logaddexp"], (7.5, 2.5))
    on_device = check_against_jax(lambda *xs: List([apply(op, *xs[-len(operands[op]) :]) for op in operands]), 7.5, 2.5)
    on_host: dict[str, Any] = {op: apply(op, *numbers) for op, numbers in operands.items()}
    wanted = {op: float(value) for op, value in on_host.items()}
    assert dict(zip(operands, map(float, on_device), strict=True)) == pytest.approx(wanted, rel=1e-9)


def test_the_tanh_formula_of_gelu() -> None:
    x = array((8,), F64)
    check_against_jax(
        lambda x: apply("gelu", x, approximate=True), x, reference=lambda x: jax.nn.gelu(x, approximate=True), rtol=1e-12
    )
    assert apply("gelu", 1.5, approximate=True) == pytest.approx(float(jax.nn.gelu(jnp.float64(1.5), approximate=True)))


# Gradients

SMOOTH = [op for op in UNARY if op not in ("sign", "floor", "ceil", "round")]


def function_of(result: Node, *inputs: Node) -> Callable[..., Any]:
    return lambda *values: compute([result], dict(zip(inputs, values, strict=True)))[0]


@pytest.mark.parametrize("op", SMOOTH)
def test_gradients_of_functions(op: str) -> None:
    _, least, most = UNARY[op]
    x = tensor(5, dtype=F64)
    check_grads(function_of(node(apply(op, x)), x), (jnp.asarray(array((5,), F64, 3, least, most)),), order=1, modes=["rev"])


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "pow", "min", "max", "logaddexp", "mod", "rem"])
def test_gradients_of_pairs(op: str) -> None:
    x, y = tensor(2, 3, dtype=F64), tensor(3, dtype=F64)
    values = jnp.asarray(array((2, 3), F64, 3, 2.1, 2.9)), jnp.asarray(array((3,), F64, 4, 1.1, 1.9))
    check_grads(function_of(node(apply(op, x, y)), x, y), values, order=1, modes=["rev"])


def test_gradients_of_powers_by_a_number_are_defined_at_0() -> None:
    x = tensor(dtype=F32)
    for exponent, wanted in ((2, 0.0), (1, 1.0), (3, 0.0)):
        power = function_of(node(apply("pow", x, exponent)), x)
        assert float(jax.grad(power)(jnp.float32(0.0))) == wanted


def test_no_gradient_passes_what_stops_it() -> None:
    x = tensor(3)
    stopped = node(run("(+ (* x (stop-gradient x)) (floor x) (sign x))", x=x))
    gradient = jax.grad(lambda value: function_of(stopped, x)(value).sum())(jnp.asarray([1.0, 2.0, 3.0], jnp.float32))
    assert gradient.tolist() == [1.0, 2.0, 3.0]


def test_what_where_does_not_choose_has_no_gradient() -> None:
    x = tensor(2)
    chosen = node(run("(where (> x 0.0) (* x 3.0) 0.0)", x=x))
    gradient = jax.grad(lambda value: function_of(chosen, x)(value).sum())(jnp.asarray([-1.0, 1.0], jnp.float32))
    assert gradient.tolist() == [0.0, 3.0]


def test_every_dtype_has_its_own_in_jax() -> None:
    assert len({jnp_dtype(dtype) for dtype in DTYPES.values()}) == 12
    assert jnp_dtype(I64).itemsize == 8
