"""Reductions: types are NumPy's, and what has no axes, no elements or no such dtype is refused where it stands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Rule
from sexpgpu.graph.nodes import Shape, typed
from sexpgpu.language.dtypes import BF16, BOOL, DTYPES, I8, I32, DType
from sexpgpu.ops.call import Accepts, boolean, floating, numeric
from support.agreement import agree
from support.ops import apply, broadcastable, faulty, fixed, node, run, shapes, tensor

AXES = st.one_of(st.none(), st.integers(-4, 4), st.lists(st.integers(-4, 4), max_size=3).map(tuple))
X: dict[str, Any] = {
    "x": tensor(2, 3),
    "n": tensor(2, 3, dtype=I32),
    "b": tensor(2, 3, dtype=BOOL),
    "h": tensor(3, dtype=BF16),
    "i": tensor(3, dtype=I8),
    "s": tensor(),
    "e": tensor(2, 0),
}
DEFINED: dict[str, Accepts] = {
    **dict.fromkeys(("sum", "prod", "amax", "amin", "argmax", "argmin", "cumsum", "cumprod"), numeric),
    **dict.fromkeys(("mean", "var", "std", "logsumexp"), floating),
    **dict.fromkeys(("any", "all", "count"), boolean),
}


@given(st.sampled_from(["sum", "prod", "amax", "amin", "mean", "var", "std"]), shapes(least_axes=1), AXES, st.booleans())
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_shapes_are_numpys(op: str, shape: Shape, axes: int | tuple[int, ...] | None, keepdims: bool) -> None:
    array = np.zeros(shape, np.float32)
    agree(
        lambda: apply(op, tensor(*shape), axes=axes, keepdims=keepdims),
        lambda: getattr(np, op)(array, axis=axes, keepdims=keepdims),
    )


@given(shapes(least_axes=1), st.integers(-4, 4), st.booleans())
def test_shapes_along_one_axis_are_numpys(shape: Shape, axis: int, keepdims: bool) -> None:
    x, array = tensor(*shape), np.zeros(shape, np.float32)
    agree(lambda: apply("argmax", x, axis=axis, keepdims=keepdims), lambda: array.argmax(axis, keepdims=keepdims))
    agree(lambda: apply("cumsum", x, axis=axis), lambda: array.cumsum(axis))


@given(broadcastable(2), st.integers(-1, 0))
def test_a_masked_mean_reduces_what_both_broadcast_to(pair: tuple[Shape, ...], axis: int) -> None:
    joined = np.broadcast_shapes(*pair)
    x, mask = tensor(*pair[0]), tensor(*pair[1], dtype=BOOL)
    assert node(apply("masked-mean", x, mask)).shape == ()
    if joined:
        assert node(apply("masked-mean", x, mask, axes=axis)).shape == np.zeros(joined).sum(axis).shape


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=repr)
@pytest.mark.parametrize("op", DEFINED)
def test_dtypes(op: str, dtype: DType) -> None:
    if DEFINED[op](dtype):
        wanted = I32 if op in ("argmax", "argmin", "count") else dtype
        assert node(run(f"({op} v)", v=tensor(2, 3, dtype=dtype))).dtype is wanted
    else:
        faulty(rules.DTYPE_OPERATOR, "v", f"({op} v)", v=tensor(2, 3, dtype=dtype))


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("(sum i)", "i8[]"),
        ("(sum x :axes [])", "f32[2 3]"),
        ("(sum x :axes nil)", "f32[]"),
        ("(amax x :axes [1] :keepdims true)", "f32[2 1]"),
        ("(amax e :axes 0)", "f32[0]"),
        ("(mean e)", "f32[]"),
        ("(argmax x)", "i32[2]"),
        ("(argmin x :axis 0 :keepdims true)", "i32[1 3]"),
        ("(cumsum n :axis 0)", "i32[2 3]"),
        ("(std h :ddof 1)", "bf16[]"),
        ("(sum s)", "f32[]"),
        ("(sum 3)", "i64[]"),
        ("(mean 3)", "f32[]"),
        ("(count b :axes -1)", "i32[2]"),
        ("(masked-mean h b :axes 0)", "bf16[3]"),
    ],
)
def test_type(text: str, type: str) -> None:
    result = node(run(text, **X))
    assert typed(result.shape, result.dtype) == type


@pytest.mark.parametrize(
    ("rule", "at", "text"),
    [
        (rules.SHAPE_OPERATOR, "2", "(sum x :axes 2)"),
        (rules.SHAPE_OPERATOR, "-3", "(sum x :axes [0 -3])"),
        (rules.SHAPE_OPERATOR, "-2", "(sum x :axes [0 -2])"),
        (rules.SHAPE_OPERATOR, "0", "(sum s :axes 0)"),
        (rules.SHAPE_OPERATOR, "s", "(argmax s)"),
        (rules.SHAPE_OPERATOR, "s", "(cumsum s)"),
        (rules.SHAPE_OPERATOR, "-1", "(cumsum s :axis -1)"),
        (rules.SHAPE_OPERATOR, "e", "(amax e :axes 1)"),
        (rules.SHAPE_OPERATOR, "e", "(amin e)"),
        (rules.SHAPE_OPERATOR, "e", "(argmax e)"),
        (rules.SHAPE_BROADCAST, "(masked-mean (ones [4]) b)", "(masked-mean (ones [4]) b)"),
        (rules.DTYPE_OPERATOR, "n", "(mean n)"),
        (rules.DTYPE_OPERATOR, "x", "(any x)"),
        (rules.DTYPE_OPERATOR, "n", "(masked-mean x n)"),
        (rules.STAGE_TENSOR, "n", "(sum x :axes n)"),
        (rules.STAGE_TENSOR, "b", "(sum x :keepdims b)"),
        (rules.TYPE_KIND, "1.5", "(sum x :axes 1.5)"),
        (rules.TYPE_KIND, "-1", "(var x :ddof -1)"),
        (rules.TYPE_KIND, "true", "(sum true)"),
        (rules.TYPE_KIND, "nil", "(sum nil)"),
        (rules.TYPE_KIND, "1", "(any 1)"),
    ],
)
def test_refused(rule: Rule, at: str, text: str) -> None:
    faulty(rule, at, text, **X)


def test_of_booleans_the_right_operator_is_named() -> None:
    for op, instead in (("sum", "count"), ("amax", "any"), ("amin", "all")):
        assert f"({instead}" in faulty(rules.DTYPE_OPERATOR, "b", f"({op} b)", **X).help


def test_fixes_mend() -> None:
    assert fixed(faulty(rules.DTYPE_OPERATOR, "n", "(mean n :axes 0)", **X)) == "(mean (cast n :float) :axes 0)"
    assert fixed(faulty(rules.DTYPE_OPERATOR, "n", "(all n)", **X)) == "(all (/= n 0))"


def test_axes_are_kept_from_0_and_in_order() -> None:
    assert node(run("(sum x :axes [-1 0])", **X)).attrs["axes"] == (0, 1)
    assert node(run("(argmax x)", **X)).attrs["axis"] == 1
