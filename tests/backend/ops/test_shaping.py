"""Axes, joins, cuts and borders compute what NumPy computes, in the type that the tracer gave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexpgpu.graph.nodes import Shape
from sexpgpu.language.dtypes import BOOL, F32, DType
from support.ops import apply, array, check_against_jax, compiled, compute, dtypes, run, shapes, tensor, tensors


def numbered(shape: Shape, dtype: DType = F32) -> np.ndarray:
    """An array whose neighbours differ."""
    return array(shape, dtype, seed=len(shape), least=-90, most=90)


def axes_of(shape: Shape) -> st.SearchStrategy[int]:
    return st.integers(-len(shape), len(shape) - 1)


@compiled
@given(shapes(), dtypes(), st.data())
def test_reshape(shape: Shape, dtype: DType, data: st.DataObject) -> None:
    target = data.draw(st.permutations(shape))
    if target and data.draw(st.booleans()):
        target = [int(np.prod(target[:-1])) if 0 not in target else 0, *target[-1:]]
    check_against_jax(lambda x: apply("reshape", x, tuple(target)), numbered(shape, dtype), reference=lambda x: x.reshape(target))


@compiled
@given(shapes(), dtypes(), st.booleans(), st.data())
def test_transpose(shape: Shape, dtype: DType, reverse: bool, data: st.DataObject) -> None:
    permutation = () if reverse else (tuple(data.draw(st.permutations(range(len(shape))))),)
    check_against_jax(
        lambda x: apply("transpose", x, *permutation), numbered(shape, dtype), reference=lambda x: np.transpose(x, *permutation)
    )


@compiled
@given(shapes(least_axes=1), dtypes(), st.data())
def test_swap_axes(shape: Shape, dtype: DType, data: st.DataObject) -> None:
    a, b = data.draw(axes_of(shape)), data.draw(axes_of(shape))
    check_against_jax(lambda x: apply("swap-axes", x, a, b), numbered(shape, dtype), reference=lambda x: np.swapaxes(x, a, b))


@compiled
@given(shapes(most_axes=3), dtypes(), st.data())
def test_expand_dims_and_back(shape: Shape, dtype: DType, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 2))
    axes = tuple(data.draw(st.permutations(range(len(shape) + count)))[:count])
    check_against_jax(lambda x: apply("expand-dims", x, axes), numbered(shape, dtype), reference=lambda x: np.expand_dims(x, axes))
    back = lambda x: apply("squeeze", apply("expand-dims", x, axes), axes)  # noqa: E731
    check_against_jax(back, numbered(shape, dtype), reference=lambda x: x)


@compiled
@given(shapes(), dtypes(), st.data())
def test_broadcast_to(shape: Shape, dtype: DType, data: st.DataObject) -> None:
    x = tuple(data.draw(st.sampled_from([1, extent])) for extent in shape)[data.draw(st.integers(0, len(shape))) :]
    check_against_jax(lambda x: apply("broadcast-to", x, shape), numbered(x, dtype), reference=lambda x: np.broadcast_to(x, shape))


@compiled
@given(shapes(least_axes=1, most_axes=3), dtypes(), st.lists(st.integers(0, 3), min_size=1, max_size=3), st.data())
def test_concat(shape: Shape, dtype: DType, extents: list[int], data: st.DataObject) -> None:
    axis = data.draw(axes_of(shape))
    parts = [np.take(numbered(shape, dtype), np.zeros(extent, int), axis) if 0 not in shape else None for extent in extents]
    given = [numbered(shape, dtype) if part is None else part for part in parts]
    check_against_jax(lambda *xs: apply("concat", list(xs), axis=axis), *given, reference=lambda *xs: np.concatenate(xs, axis))


@compiled
@given(shapes(most_axes=3), dtypes(), st.integers(1, 3), st.data())
def test_stack(shape: Shape, dtype: DType, count: int, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    parts = [array(shape, dtype, seed) for seed in range(count)]
    check_against_jax(lambda *xs: apply("stack", list(xs), axis=axis), *parts, reference=lambda *xs: np.stack(xs, axis))


@compiled
@given(shapes(least_axes=1, most=6), dtypes(), st.data())
def test_split(shape: Shape, dtype: DType, data: st.DataObject) -> None:
    axis = data.draw(axes_of(shape))
    cuts = sorted(data.draw(st.lists(st.integers(0, shape[axis]), max_size=3)))
    sizes = tuple(np.diff([0, *cuts, shape[axis]]).tolist())
    x = numbered(shape, dtype)
    check_against_jax(lambda x: apply("split", x, sizes, axis=axis), x, reference=lambda x: np.split(x, cuts, axis))
    equal = data.draw(st.sampled_from([n for n in range(1, 7) if shape[axis] % n == 0]))
    check_against_jax(lambda x: apply("split", x, equal, axis=axis), x, reference=lambda x: np.split(x, equal, axis))


def ways_to_write(position: int, extent: int, default: int) -> st.SearchStrategy[int | None]:
    """A bound of a slice as itself, counted from the end, or as nil."""
    ways: list[int | None] = [position]
    ways += [position - extent] if position < extent else []
    ways += [None] if position == default else []
    return st.sampled_from(ways)


@compiled
@given(shapes(most=6), dtypes(), st.data())
def test_slice(shape: Shape, dtype: DType, data: st.DataObject) -> None:
    starts: list[int | None] = []
    stops: list[int | None] = []
    strides: list[int | None] = []
    for extent in shape:
        start = data.draw(st.integers(0, extent))
        stop = data.draw(st.integers(start, extent))
        starts.append(data.draw(ways_to_write(start, extent, 0)))
        stops.append(data.draw(ways_to_write(stop, extent, extent)))
        strides.append(data.draw(st.sampled_from([None, 1, 2, 5])))
    check_against_jax(
        lambda x: apply("slice", x, tuple(starts), tuple(stops), strides=tuple(strides)),
        numbered(shape, dtype),
        reference=lambda x: x[tuple(map(slice, starts, stops, strides))],
    )


@compiled
@given(shapes(least_axes=1, most_axes=3), dtypes(), st.integers(0, 3), st.data())
def test_pad(shape: Shape, dtype: DType, value: int, data: st.DataObject) -> None:
    widths = tuple(data.draw(st.tuples(st.integers(0, 3), st.integers(0, 3))) for _ in shape)
    fill = bool(value) if dtype is BOOL else value
    check_against_jax(
        lambda x: apply("pad", x, widths, value=fill),
        numbered(shape, dtype),
        reference=lambda x: np.pad(x, widths, constant_values=x.dtype.type(fill)),
    )


@compiled
@given(shapes(), dtypes(), st.data())
def test_flip(shape: Shape, dtype: DType, data: st.DataObject) -> None:
    axes = tuple(data.draw(st.sets(st.integers(0, len(shape) - 1)))) if shape else ()
    check_against_jax(lambda x: apply("flip", x, axes), numbered(shape, dtype), reference=lambda x: np.flip(x, axes))


@compiled
@given(shapes(least_axes=1), dtypes(), st.integers(-9, 9), st.data())
def test_roll(shape: Shape, dtype: DType, shift: int, data: st.DataObject) -> None:
    axis = data.draw(axes_of(shape))
    check_against_jax(
        lambda x: apply("roll", x, shift, axis=axis), numbered(shape, dtype), reference=lambda x: np.roll(x, shift, axis)
    )


@compiled
@given(shapes(least_axes=1, most_axes=3), dtypes(), st.integers(0, 3), st.data())
def test_repeat(shape: Shape, dtype: DType, n: int, data: st.DataObject) -> None:
    axis = data.draw(axes_of(shape))
    check_against_jax(lambda x: apply("repeat", x, n, axis=axis), numbered(shape, dtype), reference=lambda x: np.repeat(x, n, axis))


def test_padding_that_is_not_written_is_zero_or_false() -> None:
    for x in (np.ones(2, np.float32), np.ones(2, np.int8), np.ones(2, bool)):
        check_against_jax(lambda x: apply("pad", x, ((1, 0),)), x, reference=lambda x: np.pad(x, ((1, 0),)))


def test_padding_may_be_a_tensor() -> None:
    x, fill = np.arange(3, dtype=np.float32), np.float32(7)
    build = lambda x, fill: apply("pad", x, ((1, 2),), value=fill)  # noqa: E731
    check_against_jax(build, x, fill, reference=lambda x, fill: np.pad(x, ((1, 2),), constant_values=fill))


# What a gradient through them moves

MOVES: dict[str, Callable[[Any], Any]] = {
    "(reshape x [4 3])": lambda x: x.reshape(4, 3),
    "(transpose x)": lambda x: x.T,
    "(broadcast-to x [2 3 4])": lambda x: jnp.broadcast_to(x, (2, 3, 4)),
    "(concat (list x x) :axis 1)": lambda x: jnp.concatenate([x, x], 1),
    "(stack (list x x))": lambda x: jnp.stack([x, x]),
    "(slice x [0 1] [nil nil] :strides [2 2])": lambda x: x[::2, 1::2],
    "(pad x [[1 0] [0 2]])": lambda x: jnp.pad(x, ((1, 0), (0, 2))),
    "(flip x nil)": jnp.flip,
    "(roll x 1 :axis 1)": lambda x: jnp.roll(x, 1, 1),
    "(repeat x 2 :axis 0)": lambda x: jnp.repeat(x, 2, 0),
}


@pytest.mark.parametrize("text", MOVES)
def test_gradients_go_back_to_where_elements_came_from(text: str) -> None:
    x = tensor(3, 4)
    (result,) = tensors(run(text, x=x))
    weights = numbered(result.shape)
    value = numbered((3, 4))
    ours = jax.grad(lambda value: jnp.sum(weights * compute([result], {x: value})[0]))(value)
    np.testing.assert_allclose(ours, jax.grad(lambda value: jnp.sum(weights * MOVES[text](value)))(value))
