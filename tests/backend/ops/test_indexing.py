"""Indices, windows and order compute what NumPy computes, and what the language says where NumPy raises or leaves it open."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from jax.test_util import check_grads

from sexpgpu.graph.nodes import Shape
from sexpgpu.language.dtypes import BF16, F16, F32, I8, I32, I64, U8, U32, DType
from sexpgpu.ops.call import any_dtype, integral, numeric
from sexpgpu_jax.lowering import jnp_dtype
from support.ops import apply, array, check_against_jax, compiled, compute, dtypes, run, shapes, tensor, tensors

INDICES = dtypes(integral)


def indices(draw: Any, shape: Shape, extent: int, dtype: DType = I32) -> np.ndarray:
    """Indices of that shape, some of them out of range."""
    elements = st.integers(max(-2, dtype.least), min(extent + 1, dtype.most))
    return draw(arrays.arrays(jnp_dtype(dtype), shape, elements=elements))


def clamped(where: np.ndarray, extent: int) -> np.ndarray:
    return np.clip(where.astype(np.int64), 0, max(extent - 1, 0))


def rows_of(shape: Shape, axis: int, where: Shape) -> Shape:
    return (*shape[: axis % len(shape)], *where, *shape[axis % len(shape) + 1 :])


# Whole rows


@compiled
@given(shapes(least_axes=1, most_axes=3, least=1), shapes(most_axes=2, most=3), dtypes(any_dtype), INDICES, st.data())
def test_take_reads_rows_and_clamps(shape: Shape, where: Shape, dtype: DType, of: DType, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    check_against_jax(
        lambda x, i: apply("take", x, i, axis=axis),
        array(shape, dtype, least=-90, most=90),
        indices(data.draw, where, shape[axis], of),
        reference=lambda x, i: np.take(x, clamped(i, shape[axis]), axis),
    )


def test_no_index_takes_nothing_from_an_empty_axis() -> None:
    nothing = np.zeros(0, np.int32)
    check_against_jax(lambda x, i: apply("take", x, i), np.zeros((0, 3), np.float32), nothing, reference=lambda x, _: x)


@compiled
@given(shapes(least_axes=1, most_axes=3), shapes(most_axes=2, most=3), dtypes(numeric), INDICES, st.data())
def test_scatter_add_adds_rows_and_drops(shape: Shape, where: Shape, dtype: DType, of: DType, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    rows = rows_of(shape, axis, where)
    updates = tuple(data.draw(st.sampled_from([1, extent])) for extent in rows)[data.draw(st.integers(0, len(rows))) :]

    def reference(x: np.ndarray, i: np.ndarray, updates: np.ndarray) -> np.ndarray:
        result = np.moveaxis(x.astype(np.float64), axis, 0).copy()
        start = axis % len(shape)
        added = np.moveaxis(np.broadcast_to(updates, rows), range(start, start + i.ndim), range(i.ndim))
        inside = (i.astype(np.int64) >= 0) & (i.astype(np.int64) < shape[axis])
        np.add.at(result, i[inside].astype(np.int64), added[inside])
        return np.moveaxis(result, 0, axis)

    check_against_jax(
        lambda x, i, updates: apply("scatter-add", x, i, updates, axis=axis),
        array(shape, dtype, 0, 0, 4),
        indices(data.draw, where, shape[axis], of),
        array(updates, dtype, 1, 0, 4),
        reference=reference,
        rtol=0.2 if dtype in (F16, BF16) else 1e-5,
    )


@compiled
@given(shapes(least_axes=1, most_axes=3), dtypes(numeric), INDICES, st.integers(0, 4), st.data())
def test_segment_sum_sums_rows_by_id_and_drops(shape: Shape, dtype: DType, of: DType, n: int, data: st.DataObject) -> None:
    def reference(x: np.ndarray, ids: np.ndarray) -> np.ndarray:
        rows = [x.astype(np.float64)[ids.astype(np.int64) == segment].sum(0) for segment in range(n)]
        return np.reshape(rows, (n, *shape[1:]))

    check_against_jax(
        lambda x, ids: apply("segment-sum", x, ids, n),
        array(shape, dtype, 0, 0, 4),
        indices(data.draw, shape[:1], n, of),
        reference=reference,
        rtol=1e-2 if dtype in (F16, BF16) else 1e-5,
    )


def test_half_floats_are_summed_in_f32() -> None:
    ones = np.ones(3000, jnp.bfloat16)
    (total,) = check_against_jax(lambda x, ids: apply("segment-sum", x, ids, 1), ones, np.zeros(3000, np.int32))
    assert total[0] == np.asarray(3000, jnp.bfloat16)


# Single elements


def along(draw: Any, shape: Shape, of: DType) -> tuple[int, np.ndarray]:
    """An axis, and indices along it whose other axes broadcast with those of `shape`."""
    axis = draw(st.integers(0, len(shape) - 1))
    where = [draw(st.sampled_from([1, extent])) for extent in shape]
    where[axis] = draw(st.integers(0, 4))
    return axis, indices(draw, tuple(where), shape[axis], of)


@compiled
@given(shapes(least_axes=1, most_axes=3, least=1), dtypes(any_dtype), INDICES, st.data())
def test_take_along_reads_elements_and_clamps(shape: Shape, dtype: DType, of: DType, data: st.DataObject) -> None:
    axis, where = along(data.draw, shape, of)
    check_against_jax(
        lambda x, i: apply("take-along", x, i, axis=axis),
        array(shape, dtype, least=-90, most=90),
        where,
        reference=lambda x, i: np.take_along_axis(x, clamped(i, shape[axis]), axis),
    )


@given(st.booleans(), st.integers(0, 2))
@compiled
def test_take_along_broadcasts_both_ways(wide: bool, axis: int) -> None:
    x, where = array((1, 3, 2), F32), np.zeros((4, 3, 1), np.int32)
    if not wide:
        x, where = array((4, 3, 1), F32), np.zeros((1, 3, 2), np.int32)
    check_against_jax(
        lambda x, i: apply("take-along", x, i, axis=axis), x, where, reference=lambda x, i: np.take_along_axis(x, i, axis)
    )


def put(x: np.ndarray, where: np.ndarray, values: np.ndarray, axis: int) -> np.ndarray:
    """One write after the other, in row-major order of the indices."""
    result = x.copy()
    shape = list(np.broadcast_shapes(*[tuple(np.delete(s, axis)) for s in (x.shape, where.shape)]))
    shape.insert(axis, where.shape[axis])
    where, values = np.broadcast_to(where, shape).astype(np.int64), np.broadcast_to(values, shape)
    for place in np.ndindex(*shape):
        target = [0 if extent == 1 else at for at, extent in zip(place, x.shape, strict=True)]
        target[axis] = where[place]
        if 0 <= where[place] < x.shape[axis]:
            result[tuple(target)] = values[place]
    return result


@compiled
@given(shapes(least_axes=1, most_axes=3), dtypes(any_dtype), INDICES, st.data())
def test_put_along_writes_the_last_of_duplicates_and_drops(shape: Shape, dtype: DType, of: DType, data: st.DataObject) -> None:
    axis, where = along(data.draw, shape, of)
    written = (*shape[:axis], where.shape[axis], *shape[axis + 1 :])
    values = tuple(data.draw(st.sampled_from([1, extent])) for extent in written)[data.draw(st.integers(0, len(written))) :]
    check_against_jax(
        lambda x, i, values: apply("put-along", x, i, values, axis=axis),
        array(shape, dtype, 0, -90, 90),
        where,
        array(values, dtype, 1, -90, 90),
        reference=lambda x, i, values: put(x, i, values, axis),
    )


def test_put_along_writes_where_take_along_reads() -> None:
    x = array((3, 5), F32)
    where = np.argsort(x, -1)[:, :2].astype(np.int32)
    build = lambda x, i: apply("take-along", apply("put-along", x, i, 7.0), i)  # noqa: E731
    check_against_jax(build, x, where, reference=lambda _, i: np.full(i.shape, 7.0))


def test_put_along_takes_indices_that_are_wider_than_it() -> None:
    x, where, values = np.zeros((1, 4), np.float32), np.array([[1], [2], [1]], np.int32), np.array([[5], [6], [7]], np.float32)
    reference = lambda x, i, values: put(x, i, values, 1)  # noqa: E731
    (result,) = check_against_jax(lambda x, i, v: apply("put-along", x, i, v), x, where, values, reference=reference)
    assert result.tolist() == [[0, 7, 6, 0]]


@compiled
@given(shapes(most_axes=2), st.integers(0, 5), dtypes(any_dtype), INDICES, st.data())
def test_one_hot_is_zeros_out_of_range(shape: Shape, n: int, dtype: DType, of: DType, data: st.DataObject) -> None:
    check_against_jax(
        lambda i: apply("one-hot", i, n, run(f":{dtype.name}")),
        indices(data.draw, shape, n, of),
        reference=lambda i: (i[..., None].astype(np.int64) == np.arange(n)).astype(jnp_dtype(dtype)),
    )


@pytest.mark.parametrize("dtype", [I8, U8], ids=repr)
def test_narrow_indices_reach_as_far_as_they_can_on_a_long_axis(dtype: DType) -> None:
    x, where = np.arange(300, dtype=np.float32), np.array([0, 5, dtype.most, dtype.least], jnp_dtype(dtype))
    check_against_jax(lambda x, i: apply("take", x, i), x, where, reference=lambda x, i: x[clamped(i, 300)])
    check_against_jax(lambda x, i: apply("take-along", x, i), x, where, reference=lambda x, i: x[clamped(i, 300)])
    check_against_jax(lambda x, i: apply("put-along", x, i, 1.0), x, where, reference=lambda x, i: put(x, i, np.ones(4), 0))
    check_against_jax(lambda i: apply("one-hot", i, 300), where, reference=lambda i: i[:, None].astype(int) == np.arange(300))


@pytest.mark.parametrize("dtype", [U32, I64], ids=repr)
def test_far_indices_are_out_of_range_and_do_not_wrap(dtype: DType) -> None:
    far = np.array([1, dtype.most, 2**32 - 1, 2**31], jnp_dtype(dtype))
    x = np.arange(4, dtype=np.float32)
    check_against_jax(lambda x, i: apply("take", x, i), x, far, reference=lambda x, _: x[[1, 3, 3, 3]])
    check_against_jax(lambda x, i: apply("scatter-add", x, i, 9.0), x, far, reference=lambda x, _: x + np.array([0, 9, 0, 0]))
    check_against_jax(lambda x, i: apply("put-along", x, i, 9.0), x, far, reference=lambda *_: np.array([0, 9, 2, 3]))
    check_against_jax(lambda i: apply("one-hot", i, 4), far, reference=lambda _: np.eye(4)[[1]].repeat(4, 0) * [[1], [0], [0], [0]])
    check_against_jax(lambda x, i: apply("dynamic-slice", x, i, 2), x, far[1:2], reference=lambda x, _: x[2:])


# Windows


@compiled
@given(shapes(most_axes=3), dtypes(any_dtype), INDICES, st.booleans(), st.data())
def test_windows_are_read_and_written_inside(shape: Shape, dtype: DType, of: DType, vector: bool, data: st.DataObject) -> None:
    sizes = tuple(data.draw(st.integers(0, extent)) for extent in shape)
    wanted = [int(indices(data.draw, (), extent, of)) for extent in shape]
    starts = [min(max(start, 0), extent - size) for start, extent, size in zip(wanted, shape, sizes, strict=True)]
    window = tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))
    given: list[Any] = [np.array(wanted, jnp_dtype(of))] if vector else [np.array(start, jnp_dtype(of)) for start in wanted]

    def written(starts: tuple[Any, ...]) -> Any:
        return starts[0] if vector else starts

    x, update = array(shape, dtype, 0, -90, 90), array(sizes, dtype, 1, -90, 90)
    check_against_jax(
        lambda x, *starts: apply("dynamic-slice", x, written(starts), sizes), x, *given, reference=lambda x, *_: x[window]
    )

    def reference(x: np.ndarray, update: np.ndarray, *_: np.ndarray) -> np.ndarray:
        result = x.copy()
        result[window] = update
        return result

    check_against_jax(
        lambda x, update, *starts: apply("dynamic-update", x, update, written(starts)), x, update, *given, reference=reference
    )


def test_starts_mix_numbers_and_tensors_of_several_dtypes() -> None:
    x, i, j = array((4, 5, 6), F32), np.uint8(2), np.int64(-3)
    build = lambda x, i, j: apply("dynamic-slice", x, (i, 1, j), (2, 3, 4))  # noqa: E731
    check_against_jax(build, x, i, j, reference=lambda x, *_: x[2:4, 1:4, 0:4])


# Order


def in_order(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """The indices of a stable sort with nan on top."""
    if not descending:
        return np.argsort(x, axis, kind="stable")
    turned = np.argsort(np.flip(x, axis), axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(turned, axis)


@compiled
@given(shapes(least_axes=1, most_axes=3, least=1), dtypes(numeric), st.booleans(), st.integers(0, 9), st.data())
def test_sort_and_argsort_are_stable_in_both_directions(
    shape: Shape, dtype: DType, descending: bool, seed: int, data: st.DataObject
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = array(shape, dtype, seed, 0, 3)
    check_against_jax(
        lambda x: apply("argsort", x, axis=axis, descending=descending), x, reference=lambda x: in_order(x, axis, descending)
    )
    check_against_jax(
        lambda x: apply("sort", x, axis=axis, descending=descending),
        x,
        reference=lambda x: np.take_along_axis(x, in_order(x, axis, descending), axis),
    )


@compiled
@given(shapes(least_axes=1, most_axes=3, least=1, most=6), dtypes(numeric), st.integers(0, 9), st.data())
def test_top_k_is_the_head_of_a_descending_sort(shape: Shape, dtype: DType, seed: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, shape[-1]))

    def reference(x: np.ndarray) -> list[np.ndarray]:
        order = in_order(x, -1, True)[..., :k]
        return [np.take_along_axis(x, order, -1), order]

    check_against_jax(lambda x: apply("top-k", x, k), array(shape, dtype, seed, 0, 4), reference=reference)


@pytest.mark.parametrize("dtype", [F32, F16, BF16], ids=repr)
def test_nan_is_above_every_number_and_zeros_are_equal(dtype: DType) -> None:
    x = np.array([1, np.nan, -0.0, 0.0, np.inf, -np.nan, 0.0, -np.inf], jnp_dtype(dtype))
    x[5] = np.copysign(x[5], -1)
    up, down = [7, 2, 3, 6, 0, 4, 1, 5], [1, 5, 4, 0, 2, 3, 6, 7]
    for name, keys, expected in (("sort", {}, up), ("sort", {"descending": True}, down)):
        check_against_jax(lambda x, name=name, keys=keys: apply(name, x, **keys), x, reference=lambda x, at=expected: x[at])
        check_against_jax(lambda x, keys=keys: apply("argsort", x, **keys), x, reference=lambda _, at=expected: np.array(at))
    check_against_jax(lambda x: apply("top-k", x, 6), x, reference=lambda x: [x[down[:6]], np.array(down[:6])])


def test_order_of_nothing() -> None:
    empty = np.zeros((2, 0), np.float32)
    for name in ("sort", "argsort"):
        check_against_jax(lambda x, name=name: apply(name, x), empty, reference=lambda x: x)


# Gradients


@pytest.mark.parametrize(
    "text",
    [
        "(take x i)",
        "(take-along x j)",
        "(scatter-add x i y)",
        "(put-along x j (slice y [0 0] [nil 2]))",
        "(segment-sum x i 3)",
        "(dynamic-slice x [n 1] [2 2])",
        "(dynamic-update x y [n 0])",
        "(sort x)",
        "(sort x :axis 0 :descending true)",
        "(top-k x 2)",
    ],
)
def test_gradients_are_those_of_small_differences(text: str) -> None:
    # Far enough apart that a small difference changes no order.
    x, y = (np.random.default_rng(seed).permutation(12).reshape(3, 4).astype(np.float32) / 4 for seed in (1, 2))
    others = {"i": np.array([2, -1, 2], np.int32), "j": np.array([[0, 0], [3, 9], [1, 2]], np.int32), "n": np.int32(1)}
    nodes: dict[str, Any] = {"x": tensor(3, 4), "y": tensor(3, 4), "i": tensor(3, dtype=I32), "j": tensor(3, 2, dtype=I32)}
    nodes["n"] = tensor(dtype=I32)
    result = tensors(run(text, **nodes))[0]
    weights = array(result.shape, F32, 7)
    known = {nodes[name]: jnp.asarray(value) for name, value in others.items()}

    def loss(x: Any, y: Any) -> jax.Array:
        return jnp.sum(weights * compute([result], {nodes["x"]: jnp.asarray(x), nodes["y"]: jnp.asarray(y)} | known)[0])

    check_grads(loss, (x, y), order=1, modes=("rev",), eps=1e-2, atol=1e-3, rtol=1e-2)
