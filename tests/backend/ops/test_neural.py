"""Softmax, losses, attention, convolution and pooling in JAX: against jax.nn, jax.lax, Optax and NumPy, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from sexpgpu.graph.nodes import Shape
from sexpgpu.language.dtypes import BF16, BOOL, F16, F32, F64, I8, I32, I64, U8, U32, DType
from sexpgpu.language.values import List, Value, keyword
from sexpgpu.ops.call import floating
from sexpgpu_jax.lowering import jnp_dtype
from support.ops import apply, array, check_against_jax, compute, dtype_of, dtypes, node, shapes, tensor

TOLERANCE = {F16: 2e-3, BF16: 1e-2}


def close(dtype: DType) -> dict[str, Any]:
    return {"rtol": TOLERANCE.get(dtype, 2e-5), "atol": TOLERANCE.get(dtype, 1e-5)}


def f64(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64)


def gradient(build: Callable[..., Value], *arrays: Any, of: int = 0) -> np.ndarray:
    """The gradient of the sum of what the call gives with respect to one of its operands; asserts that no f64 sneaks in."""
    arrays = tuple(np.asarray(a) for a in arrays)
    inputs = [tensor(*a.shape, dtype=dtype_of(a)) for a in arrays]
    made = node(build(*inputs))

    def loss(*values: jax.Array) -> jax.Array:
        return jnp.sum(compute([made], dict(zip(inputs, values, strict=True)))[0].astype(jnp.float32))

    slope = jax.grad(loss, argnums=of)
    assert np.float64 in [a.dtype for a in arrays] or "f64" not in str(jax.make_jaxpr(slope)(*arrays))
    return np.asarray(jax.jit(slope)(*map(jnp.asarray, arrays)))


@settings(deadline=None, max_examples=10)
@given(shapes(least_axes=1, least=1), dtypes(floating), st.data())
def test_softmax_is_exact_to_its_dtype(shape: Shape, dtype: DType, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = array(shape, dtype, least=-30, most=30)
    shifted = f64(x) - f64(x).max(axis, keepdims=True)
    logarithms = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))
    for name, wanted in (("softmax", np.exp(logarithms)), ("log-softmax", logarithms)):
        check_against_jax(
            lambda x, name=name: apply(name, x, axis=axis), x, reference=lambda _, wanted=wanted: wanted, **close(dtype)
        )


def test_softmax_of_nothing_is_nothing() -> None:
    check_against_jax(lambda x: apply("softmax", x), np.zeros((2, 0), np.float32), reference=lambda x: x)


# Losses


@settings(deadline=None, max_examples=15)
@given(
    shapes(most_axes=2, least=1),
    st.integers(1, 6),
    dtypes(floating),
    st.sampled_from([I8, I32, I64, U8, U32]),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.booleans(),
)
def test_cross_entropy_is_optaxs(shape: Shape, classes: int, dtype: DType, kind: DType, smoothing: float, weighted: bool) -> None:
    logits = array((*shape, classes), dtype, least=-9, most=9)
    labels = np.random.default_rng(1).integers(0, classes, shape).astype(jnp_dtype(kind))
    weights = array(shape[-1:], F32, 2)
    given = (logits, labels, weights) if weighted else (logits, labels)

    def build(logits: Value, labels: Value, weights: Value | None = None) -> Value:
        return apply("cross-entropy", logits, labels, weights=weights, smoothing=smoothing)

    def reference(logits: np.ndarray, labels: np.ndarray, weights: np.ndarray | float = 1.0) -> np.ndarray:
        target = np.eye(classes)[labels.astype(int)] * (1 - smoothing) + smoothing / classes
        return np.asarray(optax.softmax_cross_entropy(jnp.asarray(f64(logits)), jnp.asarray(target)) * weights).astype(np.float32)

    check_against_jax(build, *given, reference=reference, rtol=1e-4, atol=1e-4)


def test_ignored_labels_lose_nothing_and_wrong_ones_are_nan() -> None:
    logits, labels = array((5, 3)), np.asarray([0, -1, 3, -7, 2], np.int32)
    (loss,) = check_against_jax(lambda x, y: apply("cross-entropy", x, y, ignore=-1), logits, labels)
    assert (np.isfinite(loss) == [True, True, False, False, True]).all()
    assert loss[1] == 0
    (loss,) = check_against_jax(lambda x, y: apply("cross-entropy", x, y, ignore=2), logits, labels)
    assert np.isnan(loss[1])
    assert loss[4] == 0


def test_labels_narrower_than_the_classes_are_right() -> None:
    logits, labels = array((4, 1000)), np.asarray([0, 100, 127, -1], np.int8)
    (loss,) = check_against_jax(lambda x, y: apply("cross-entropy", x, y), logits, labels)
    wanted = -np.asarray(jax.nn.log_softmax(logits))[range(3), labels[:3]]
    np.testing.assert_allclose(loss[:3], wanted, rtol=1e-5)
    assert np.isnan(loss[3])


def test_large_logits_do_not_overflow() -> None:
    logits = np.asarray([[1e4, -1e4, 0], [-np.inf, 0, 0]], np.float32)
    check_against_jax(
        lambda x, y: apply("cross-entropy", x, y),
        logits,
        np.asarray([0, 1]),
        reference=lambda *_: np.asarray([0, np.log(2)], np.float32),
    )


@pytest.mark.parametrize("dtype", [F32, BF16, F64], ids=str)
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_gradient_of_cross_entropy_is_chance_minus_target(dtype: DType, smoothing: float) -> None:
    logits, labels = array((2, 4, 7), dtype), array((2, 4), I32, 1, least=0, most=6)
    labels[0, 0] = -1
    weights = array((4,), F32, 2)

    def build(x: Value, y: Value, w: Value) -> Value:
        return apply("cross-entropy", x, y, weights=w, ignore=-1, smoothing=smoothing)

    target = np.eye(7)[labels] * (1 - smoothing) + smoothing / 7
    wanted = (np.asarray(jax.nn.softmax(f64(logits))) - target) * (weights * (labels != -1))[..., None]
    found = gradient(build, logits, labels, weights)
    assert found.dtype == logits.dtype
    np.testing.assert_allclose(f64(found), wanted, **close(dtype))


@settings(deadline=None, max_examples=8)
@given(shapes(least_axes=1, most_axes=3, least=1), dtypes(floating))
def test_kl_divergence_is_the_sum_over_the_last_axis(shape: Shape, dtype: DType) -> None:
    p, q = (np.asarray(jax.nn.log_softmax(array(shape, dtype, seed))) for seed in (1, 2))
    check_against_jax(
        lambda p, q: apply("kl-divergence", p, q),
        p,
        q,
        reference=lambda p, q: (np.exp(f64(p)) * (f64(p) - f64(q))).sum(-1).astype(p.dtype),
        **close(dtype),
    )


def test_kl_divergence_counts_nothing_where_p_is_zero() -> None:
    p = np.log(
        np.asarray([[0.5, 0.5, 0.0]], np.float32), where=np.asarray([[True, True, False]]), out=np.full((1, 3), -np.inf, np.float32)
    )
    q = np.full((1, 3), np.log(1 / 3), np.float32)
    check_against_jax(lambda p, q: apply("kl-divergence", p, q), p, q, reference=lambda *_: np.log([1.5]).astype(np.float32))
    check_against_jax(lambda p, q: apply("kl-divergence", p, q), q, p, reference=lambda *_: np.asarray([np.inf], np.float32))
    assert np.isfinite(gradient(lambda p, q: apply("kl-divergence", p, q), p, q)).all()
    assert np.isnan(
        check_against_jax(lambda p, q: apply("kl-divergence", p, q), np.asarray([np.nan, 0], np.float32), np.zeros(2, np.float32))[
            0
        ]
    )


@pytest.mark.parametrize("dtype", [F32, F16, BF16, F64], ids=str)
def test_binary_cross_entropy_is_optaxs(dtype: DType) -> None:
    logits, labels = array((4, 3), dtype, least=-50, most=50), array((3,), dtype, 1, least=0, most=1)
    check_against_jax(
        lambda x, y: apply("binary-cross-entropy", x, y),
        logits,
        labels,
        reference=lambda x, y: np.asarray(optax.sigmoid_binary_cross_entropy(f64(x), f64(y))).astype(np.float32),
        rtol=1e-5,
    )


# Attention


@settings(deadline=None, max_examples=12)
@given(
    st.integers(1, 2),
    st.sampled_from([(1, 1), (4, 2), (4, 4), (3, 1)]),
    st.integers(1, 5),
    st.integers(1, 5),
    st.sampled_from([F32, F16, BF16]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 0.3]),
)
def test_attention_is_jaxs(
    batch: int, heads: tuple[int, int], rows: int, columns: int, dtype: DType, causal: bool, masked: bool, scale: float | None
) -> None:
    q = array((batch, heads[0], rows, 8), dtype, 1)
    k, v = (array((batch, heads[1], columns, 8), dtype, seed) for seed in (2, 3))
    others = (array((rows, columns), BOOL, 4), array((1, heads[0], 1, columns), dtype, 5)) if masked else ()

    def build(q: Value, k: Value, v: Value, mask: Value | None = None, bias: Value | None = None) -> Value:
        return apply("attention", q, k, v, causal=causal, mask=mask, bias=bias, scale=scale)

    def reference(*arrays: np.ndarray) -> np.ndarray:
        q, k, v, *others = (a.astype(np.float32) if a.dtype != bool else a[None, None] for a in arrays)
        mask, bias = others or (None, None)
        return np.asarray(jaxs(q, k, v, mask, bias, causal, scale)).astype(arrays[0].dtype)

    exact = {"rtol": 1e-4, "atol": 1e-5} if dtype is F32 else {"rtol": 3e-2, "atol": 2e-2}
    check_against_jax(build, q, k, v, *others, reference=reference, **exact)


@partial(jax.jit, static_argnums=(5, 6))
def jaxs(
    q: jax.Array,
    k: jax.Array,
    v: jax.Array,
    mask: jax.Array | None = None,
    bias: jax.Array | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> jax.Array:
    """`jax.nn.dot_product_attention`, with the axes of our operator."""
    swapped = (jnp.swapaxes(a, 1, 2) for a in (q, k, v))
    result = jax.nn.dot_product_attention(*swapped, bias=bias, mask=mask, is_causal=causal, scale=scale)
    return jnp.swapaxes(result, 1, 2)


@pytest.mark.parametrize("dtype", [F32, BF16], ids=str)
@pytest.mark.parametrize("of", [0, 1, 2])
def test_the_gradient_of_attention_is_that_of_jaxs(dtype: DType, of: int) -> None:
    q, k, v = (array((2, heads, 5, 8), dtype, heads) for heads in (4, 2, 2))
    found = gradient(lambda q, k, v: apply("attention", q, k, v, causal=True), q, k, v, of=of)

    wanted = jax.jit(jax.grad(lambda *a: jnp.sum(jaxs(*a, causal=True)), argnums=of))(*(a.astype(np.float32) for a in (q, k, v)))
    assert found.dtype == q.dtype
    np.testing.assert_allclose(f64(found), wanted, rtol=1e-4 if dtype is F32 else 3e-2, atol=1e-5 if dtype is F32 else 5e-2)


def test_values_may_have_a_size_of_their_own() -> None:
    q, k, v = array((1, 2, 3, 8)), array((1, 1, 4, 8)), array((1, 1, 4, 5))
    (found,) = check_against_jax(lambda q, k, v: apply("attention", q, k, v), q, k, v)
    assert found.shape == (1, 2, 3, 5)


def test_a_row_that_sees_nothing_weighs_all_alike() -> None:
    q, v = array((1, 1, 2, 4)), array((1, 1, 3, 4), seed=1)
    check_against_jax(
        lambda q, k, v, m: apply("attention", q, k, v, mask=m),
        q,
        v,
        v,
        np.zeros((2, 3), bool),
        reference=lambda q, _, v, __: np.broadcast_to(v.mean(2, keepdims=True), q.shape),
    )


@pytest.mark.parametrize("dtype", [F32, BF16, F64], ids=str)
@pytest.mark.parametrize("batched", [False, True])
def test_rope_turns_the_pairs_of_the_halves(dtype: DType, batched: bool) -> None:
    x = array((2, 3, 5, 8), dtype)
    positions = array((2, 5) if batched else (5,), I64, 1, least=0, most=40)

    def reference(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        angles = positions[..., None] * 500.0 ** (-np.arange(4) / 4)
        angles = angles[:, None] if batched else angles
        turned = (f64(x)[..., :4] + 1j * f64(x)[..., 4:]) * np.exp(1j * angles)
        return np.concatenate([turned.real, turned.imag], -1).astype(x.dtype)

    check_against_jax(
        lambda x, p: apply("rope", x, p, base=500),
        x,
        positions,
        reference=reference,
        **close(dtype) | {"atol": 1e-2 if dtype is BF16 else 1e-5},
    )


def test_rope_depends_on_differences_of_positions() -> None:
    q, k = array((1, 1, 1, 8)), array((1, 1, 1, 8), seed=1)

    def product(a: int, b: int) -> float:
        turned = [check_against_jax(lambda x, p: apply("rope", x, p), x, np.asarray([at]))[0] for x, at in ((q, a), (k, b))]
        return float((turned[0] * turned[1]).sum())

    assert product(7, 4) == pytest.approx(product(13, 10), rel=1e-4)


# Convolution and pooling

PADDING = st.sampled_from(["same", "valid", "widths"])


@st.composite
def windows(draw: st.DrawFn, most_axes: int = 3) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], Any]:
    """Space, window, stride and padding (as JAX has it) of up to three axes."""
    axes = draw(st.integers(1, most_axes))
    space, window = (tuple(draw(st.lists(st.integers(1, most), min_size=axes, max_size=axes))) for most in (7, 4))
    stride = tuple(draw(st.lists(st.integers(1, 3), min_size=axes, max_size=axes)))
    padding = draw(PADDING)
    if padding == "widths":
        return space, window, stride, tuple((draw(st.integers(0, w - 1)), draw(st.integers(0, w - 1))) for w in window)
    return space, window, stride, padding.upper()


def written(padding: Any) -> Any:
    return keyword(padding.lower()) if isinstance(padding, str) else padding


def convolution(stride: Any, padding: Any) -> Callable[..., jax.Array]:
    """The convolution of `jax.lax`, channels last."""

    def compute(x: jax.Array, w: jax.Array) -> jax.Array:
        letters = "HWD"[: x.ndim - 2]
        return lax.conv_general_dilated(x, w, stride, padding, dimension_numbers=(f"N{letters}C", f"{letters}IO", f"N{letters}C"))

    return compute


def pool(add: bool, window: Any, stride: Any, padding: Any) -> Callable[..., jax.Array]:
    """The reduction of windows of `jax.lax`, channels last."""
    widths = padding if isinstance(padding, str) else ((0, 0), *padding, (0, 0))
    how = (0.0, lax.add) if add else (-np.inf, lax.max)
    return lambda x: lax.reduce_window(x, how[0], how[1], (1, *window, 1), (1, *stride, 1), widths)


@given(windows())
def test_shapes_of_windows_are_laxs(case: Any) -> None:
    space, window, stride, padding = case
    x, w = tensor(2, *space, 3), tensor(*window, 3, 5)
    keys = {"stride": stride, "padding": written(padding)}
    image, kernel = (jax.ShapeDtypeStruct(t.shape, jnp.float32) for t in (x, w))
    assert node(apply("conv-op", x, w, **keys)).shape == jax.eval_shape(convolution(stride, padding), image, kernel).shape
    wanted = jax.eval_shape(pool(True, window, stride, padding), image).shape
    assert node(apply("avg-pool", x, window, **keys)).shape == node(apply("max-pool", x, window, **keys)).shape == wanted


@settings(deadline=None, max_examples=12)
@given(windows(), st.integers(1, 3), st.integers(1, 3))
def test_convolution_is_laxs(case: Any, channels: int, out: int) -> None:
    space, window, stride, padding = case
    check_against_jax(
        lambda x, w: apply("conv-op", x, w, stride=stride, padding=written(padding)),
        array((2, *space, channels)),
        array((*window, channels, out), seed=1),
        reference=jax.jit(convolution(stride, padding)),
        rtol=1e-4,
    )


@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
def test_half_convolutions_sum_in_f32_and_have_half_gradients(dtype: DType) -> None:
    x = np.ones((1, 4097, 1), jnp_dtype(dtype))
    x[0, 0] = 2048
    w = np.ones_like(x).reshape(4097, 1, 1)
    (value,) = check_against_jax(lambda x, w: apply("conv-op", x, w, padding=keyword("valid")), x, w)
    assert value.item() == np.asarray(2048 + 4096, x.dtype)
    x, w = array((2, 6, 3), dtype), array((3, 3, 2), dtype, 1)
    for of in (0, 1):
        found = gradient(lambda x, w: apply("conv-op", x, w), x, w, of=of)
        wanted = gradient(lambda x, w: apply("conv-op", x, w), x.astype(np.float32), w.astype(np.float32), of=of)
        assert found.dtype == x.dtype
        np.testing.assert_allclose(f64(found), wanted, rtol=2e-2, atol=2e-2)


@settings(deadline=None, max_examples=12)
@given(windows(), dtypes(floating))
def test_pools_are_reductions_of_windows(case: Any, dtype: DType) -> None:
    space, window, stride, padding = case
    keys = {"stride": stride, "padding": written(padding)}
    greatest, total = (pool(add, window, stride, padding) for add in (False, True))

    def reference(x: np.ndarray) -> list[np.ndarray]:
        means = jax.jit(lambda x: [total(x) / total(jnp.ones_like(x)), greatest(x)])(f64(x))
        return [np.asarray(a).astype(x.dtype) for a in means]

    check_against_jax(
        lambda x: List([apply("avg-pool", x, window, **keys), apply("max-pool", x, window, **keys)]),
        array((2, *space, 3), dtype),
        reference=reference,
        **close(dtype),
    )


def test_pools_have_gradients() -> None:
    x = np.asarray([1, 4, 2, 3], np.float32).reshape(1, 4, 1)
    found = gradient(lambda x: apply("max-pool", x, 2), x)
    assert found.ravel().tolist() == [0, 1, 0, 1]
    found = gradient(lambda x: apply("avg-pool", x, 2, stride=1, padding=keyword("same")), x)
    assert found.ravel().tolist() == [0.5, 1, 1, 1.5]


def test_integers_have_a_greatest_element() -> None:
    x = array((1, 5, 2), I8, least=-128, most=-100)
    check_against_jax(
        lambda x: apply("max-pool", x, 2, stride=1, padding=keyword("same")),
        x,
        reference=lambda x: np.maximum(x, np.concatenate([x[:, 1:], x[:, -1:]], 1)),
    )
