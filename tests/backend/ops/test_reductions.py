"""What reductions compute is what NumPy computes, in the operand's dtype; half floats are summed in f32."""

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

from sexpgpu.graph.nodes import Shape
from sexpgpu.language.dtypes import BF16, BOOL, F16, F32, F64, I8, U8, DType
from sexpgpu.ops.call import floating, numeric
from support.ops import apply, array, broadcastable, check_against_jax, compiled, compute, dtypes, node, run, shapes, tensor

TOLERANCE = {"f16": 4e-3, "bf16": 3e-2, "f32": 2e-5, "f64": 1e-10}


def logsumexp(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
    return np.log(np.exp(x).sum(axis, keepdims=keepdims))


FLOATS: dict[str, Callable[..., Any]] = {"mean": np.mean, "var": np.var, "std": np.std, "logsumexp": logsumexp}
NUMBERS: dict[str, Callable[..., Any]] = {"sum": np.sum, "prod": np.prod, "amax": np.max, "amin": np.min}


@st.composite
def along(draw: st.DrawFn) -> tuple[Shape, tuple[int, ...]]:
    """A shape without empty axes, and some of its axes."""
    shape = draw(shapes(least=1, most_axes=3))
    return shape, tuple(draw(st.permutations(range(len(shape))))[: draw(st.integers(0, len(shape)))])


@compiled
@given(st.sampled_from(list(FLOATS)), dtypes(floating), along(), st.booleans())
def test_means_are_numpys(op: str, dtype: DType, drawn: tuple[Shape, tuple[int, ...]], keepdims: bool) -> None:
    shape, axes = drawn
    check_against_jax(
        lambda x: apply(op, x, axes=axes, keepdims=keepdims),
        array(shape, dtype),
        reference=lambda x: FLOATS[op](x.astype(np.float64), axis=axes, keepdims=keepdims),
        rtol=TOLERANCE[dtype.name],
        atol=TOLERANCE[dtype.name],
    )


@compiled
@given(st.sampled_from(list(NUMBERS)), dtypes(numeric), along(), st.booleans())
def test_sums_and_extrema_are_numpys(op: str, dtype: DType, drawn: tuple[Shape, tuple[int, ...]], keepdims: bool) -> None:
    shape, axes = drawn
    tolerance = TOLERANCE.get(dtype.name, 0)
    keys: dict[str, Any] = {"dtype": np.float64 if dtype.is_float else dtype.name.replace("i", "int").replace("u", "uint")}
    check_against_jax(
        lambda x: apply(op, x, axes=axes, keepdims=keepdims),
        array(shape, dtype, least=-9, most=9) if dtype.is_integer else array(shape, dtype),
        reference=lambda x: NUMBERS[op](x, axis=axes, keepdims=keepdims, **(keys if op in ("sum", "prod") else {})),
        rtol=tolerance,
        atol=tolerance,
    )


@compiled
@given(st.sampled_from(["any", "all", "count"]), shapes(most_axes=3), st.data())
def test_of_booleans(op: str, shape: Shape, data: st.DataObject) -> None:
    axes = tuple(range(len(shape)))[: data.draw(st.integers(0, len(shape)))]
    reference = {"any": np.any, "all": np.all, "count": np.count_nonzero}[op]
    check_against_jax(lambda x: apply(op, x, axes=axes), array(shape, BOOL), reference=lambda x: reference(x, axis=axes))


@compiled
@given(st.sampled_from(["argmax", "argmin"]), dtypes(numeric), shapes(least_axes=1, least=1, most_axes=3), st.booleans(), st.data())
def test_places_are_numpys(op: str, dtype: DType, shape: Shape, keepdims: bool, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    check_against_jax(
        lambda x: apply(op, x, axis=axis, keepdims=keepdims),
        array(shape, dtype),
        reference=lambda x: getattr(np, op)(x, axis=axis, keepdims=keepdims),
    )


@compiled
@given(st.sampled_from(["cumsum", "cumprod"]), dtypes(numeric), shapes(least_axes=1, most_axes=3), st.data())
def test_running_sums_are_numpys(op: str, dtype: DType, shape: Shape, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    tolerance = TOLERANCE.get(dtype.name, 0)
    x = array(shape, dtype)
    wanted = getattr(np, op)(x.astype(np.float64), axis=axis).astype(x.dtype)
    check_against_jax(lambda x: apply(op, x, axis=axis), x, reference=lambda _: wanted, rtol=tolerance, atol=tolerance)


@compiled
@given(broadcastable(2), dtypes(floating), st.data())
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_masked_mean_is_numpys_over_what_is_true(pair: tuple[Shape, ...], dtype: DType, data: st.DataObject) -> None:
    joined = np.broadcast_shapes(*pair)
    axes = tuple(range(len(joined)))[: data.draw(st.integers(0, len(joined)))]
    x, mask = array(pair[0], dtype, 1), array(pair[1], BOOL, 2)

    def reference(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
        x, mask = np.broadcast_to(x, joined).astype(np.float64), np.broadcast_to(mask, joined)
        return np.sum(x, axes, where=mask) / np.sum(mask, axes)

    tolerance = TOLERANCE[dtype.name]
    check_against_jax(
        lambda x, mask: apply("masked-mean", x, mask, axes=axes), x, mask, reference=reference, rtol=tolerance, atol=tolerance
    )


# What is easily got wrong


@pytest.mark.parametrize("dtype", [F16, BF16], ids=repr)
def test_half_floats_are_summed_in_f32(dtype: DType) -> None:
    ones = np.ones(5000, np.float32).astype(array((), dtype).dtype)
    for text, wanted in (("(mean x)", 1.0), ("(sum x)", 5000.0), ("(masked-mean x (= x x))", 1.0), ("(amax (cumsum x))", 5000.0)):
        value = check_against_jax(lambda x, text=text: run(text, x=x), ones)[0]
        assert float(value) == pytest.approx(wanted, rel=2**-8)
    assert float(check_against_jax(lambda x: run("(std x)", x=x), ones)[0]) == 0.0


def test_sums_of_small_integers_stay_in_their_dtype_and_wrap() -> None:
    assert check_against_jax(lambda x: apply("sum", x), np.full(3, 100, np.int8))[0].tolist() == 300 - 256
    assert check_against_jax(lambda x: apply("prod", x), np.full(2, 20, np.uint8))[0].tolist() == 400 - 256
    assert check_against_jax(lambda x: apply("cumsum", x), np.full(3, 100, np.int8))[0].tolist() == [100, -56, 44]
    assert (I8.bits, U8.bits) == (8, 8)


def test_what_is_left_of_nothing() -> None:
    empty = np.zeros((2, 0), np.float32)
    for op, wanted in (("sum", 0.0), ("prod", 1.0), ("logsumexp", -np.inf)):
        assert check_against_jax(lambda x, op=op: apply(op, x, axes=1), empty)[0].tolist() == [wanted, wanted]
    assert np.isnan(check_against_jax(lambda x: apply("mean", x), empty)[0])
    assert check_against_jax(lambda x: apply("amax", x, axes=0), empty)[0].shape == (0,)
    mask = np.array([[True, False], [False, False]])
    values = check_against_jax(lambda m: run("(masked-mean (ones [2]) m :axes -1)", m=m), mask)[0]
    assert values[0] == 1.0
    assert np.isnan(values[1])


def test_ddof_is_numpys() -> None:
    x = array((4, 2))
    for op, reference in (("var", np.var), ("std", np.std)):
        wanted = reference(x, axis=0, ddof=1)
        check_against_jax(lambda x, op=op: apply(op, x, axes=0, ddof=1), x, reference=lambda _, wanted=wanted: wanted)


def test_nan_and_ties() -> None:
    x = np.array([[1.0, np.nan, 3.0], [2.0, 2.0, 1.0]], np.float32)
    for text in ("(argmax x :axis 1)", "(argmin x :axis 1)", "(amax x :axes 1)"):
        reference = getattr(np, text[1:].split()[0])
        check_against_jax(lambda x, text=text: run(text, x=x), x, reference=lambda x, reference=reference: reference(x, 1))


def test_a_large_logsumexp_does_not_overflow() -> None:
    x = np.array([1000.0, 1000.0], np.float32)
    check_against_jax(lambda x: apply("logsumexp", x), x, reference=lambda _: np.float32(1000 + np.log(2)))


@pytest.mark.parametrize(
    "text", ["(sum x :axes 0)", "(mean x)", "(prod x)", "(amax x :axes 1)", "(var x :axes 1 :ddof 1)", "(std x)", "(logsumexp x)"]
)
def test_gradients(text: str) -> None:
    x = tensor(2, 3, dtype=F64)
    result = node(run(text, x=x))
    check_grads(lambda value: compute([result], {x: value})[0], (jnp.asarray(array((2, 3), F64)),), order=1, modes=["rev"])


def test_what_a_mask_leaves_out_has_no_gradient_even_if_it_is_nan() -> None:
    x = tensor(3)
    result = node(run("(masked-mean x (= x x))", x=x))
    gradient = jax.grad(lambda value: compute([result], {x: value})[0])(jnp.asarray([1.0, jnp.nan, 3.0], jnp.float32))
    assert gradient.tolist() == [0.5, 0.0, 0.5]
    assert gradient.dtype == jnp.dtype(F32.name.replace("f", "float"))
