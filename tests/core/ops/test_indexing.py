"""Reading and writing by index, windows and order: what is accepted, its type, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Rule
from sexpgpu.graph.nodes import Node, Shape
from sexpgpu.language.dtypes import BF16, BOOL, DTYPES, F16, F32, I32, I64, U8, DType
from sexpgpu.language.fault import Fault, UnknownArgument
from sexpgpu.language.values import UNKNOWN, Absent, Keyword, List, keyword
from sexpgpu.ops import OPS, Op
from support.agreement import agree
from support.ops import FakeTracer, apply, faulty, fixed, node, read, run, shapes, tensor, tensors

AXIS = st.integers(-3, 2)


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.int32)


def indices(shape: Shape) -> Node:
    return tensor(*shape, dtype=I32)


# Shapes are NumPy's


@given(shapes(least_axes=1, most_axes=3), shapes(most_axes=2), AXIS)
def test_take_accepts_and_types_what_numpy_does(shape: Shape, where: Shape, axis: int) -> None:
    agree(
        lambda: apply("take", tensor(*shape), indices(where), axis=axis),
        lambda: np.take(zeros(*shape), zeros(*where), axis, mode="clip"),
    )


@given(shapes(least_axes=1, most_axes=3, most=2), shapes(least_axes=1, most_axes=3, most=2), AXIS)
def test_take_along_accepts_and_types_what_numpy_does(shape: Shape, where: Shape, axis: int) -> None:
    call = lambda: apply("take-along", tensor(*shape), indices(where), axis=axis)  # noqa: E731
    agree(call, lambda: np.take_along_axis(zeros(*shape), zeros(*where), axis))


@given(shapes(least_axes=1, most_axes=3, least=1, most=2), shapes(least_axes=1, most_axes=3, most=2), shapes(most_axes=3, most=2))
def test_put_along_accepts_and_types_what_numpy_does(shape: Shape, where: Shape, values: Shape) -> None:
    def reference() -> np.ndarray:
        array = zeros(*shape)
        np.broadcast_to(zeros(*values), np.take_along_axis(array, zeros(*where), -1).shape)
        np.put_along_axis(array, zeros(*where), zeros(*values), -1)
        return array

    agree(lambda: apply("put-along", tensor(*shape), indices(where), tensor(*values)), reference)


@given(shapes(least_axes=1, most_axes=3, most=3), shapes(most_axes=2), shapes(most_axes=3), st.booleans(), AXIS, st.data())
def test_scatter_add_takes_what_broadcasts_to_the_rows(
    shape: Shape, where: Shape, updates: Shape, fitting: bool, axis: int, data: st.DataObject
) -> None:
    if fitting and -len(shape) <= axis < len(shape):
        rows = (*shape[: axis % len(shape)], *where, *shape[axis % len(shape) + 1 :])
        updates = tuple(data.draw(st.sampled_from([1, extent])) for extent in rows)[data.draw(st.integers(0, len(rows))) :]

    def reference() -> np.ndarray:
        array = zeros(*shape)
        moved = np.moveaxis(array, axis, 0)
        np.broadcast_to(zeros(*updates), (*array.shape[: axis % len(shape)], *where, *array.shape[axis % len(shape) + 1 :]))
        return np.moveaxis(moved, 0, axis)

    agree(lambda: apply("scatter-add", tensor(*shape), indices(where), tensor(*updates), axis=axis), reference)


@given(shapes(least_axes=1), AXIS, st.sampled_from(["sort", "argsort"]))
def test_sort_accepts_and_types_what_numpy_does(shape: Shape, axis: int, name: str) -> None:
    agree(lambda: apply(name, tensor(*shape), axis=axis), lambda: np.sort(zeros(*shape), axis))


# Types

NAMES: dict[str, Any] = {
    "x": tensor(4, 3),
    "b": tensor(4, 3, dtype=BOOL),
    "s": tensor(),
    "f": tensor(2),
    "i": tensor(2, dtype=I32),
    "n": tensor(dtype=I64),
    "row": tensor(1, 3, dtype=I32),
    "column": tensor(4, 1, dtype=I32),
}


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=repr)
@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("(take x i)", (2, 3)),
        ("(take x i :axis -1)", (4, 2)),
        ("(take x 0)", (3,)),
        ("(take-along x column)", (4, 1)),
        ("(take-along x row :axis 0)", (1, 3)),
        ("(put-along x column (take-along x column))", (4, 3)),
        ("(dynamic-slice x [n 0] [4 2])", (4, 2)),
        ("(dynamic-update x x i)", (4, 3)),
    ],
)
def test_what_moves_elements_takes_and_keeps_every_dtype(text: str, shape: Shape, dtype: DType) -> None:
    result = node(run(text, **{**NAMES, "x": tensor(4, 3, dtype=dtype)}))
    assert (result.shape, result.dtype) == (shape, dtype)


@pytest.mark.parametrize(
    "text",
    ["(sort b)", "(argsort b)", "(top-k b 1)", "(segment-sum b (take i [0]) 2)", "(scatter-add b i true)"],
)
def test_what_orders_or_adds_takes_no_bool(text: str) -> None:
    text = text.replace("(take i [0])", "column")
    fault = faulty(rules.DTYPE_OPERATOR, "b", text, **NAMES)
    assert "(cast" in fault.help


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES.values() if dtype.is_integer], ids=repr)
def test_indices_are_of_any_integer_dtype(dtype: DType) -> None:
    assert node(run("(take x i)", x=tensor(4, 3), i=tensor(2, dtype=dtype))).shape == (2, 3)


@pytest.mark.parametrize("name", ["f", "b", "1.5"])
@pytest.mark.parametrize(
    "text",
    [
        "(take x @)",
        "(take-along x @)",
        "(put-along x @ 1)",
        "(scatter-add x @ 1)",
        "(segment-sum x @ 2)",
        "(dynamic-slice x @ [1 1])",
        "(dynamic-update x x [0 @])",
        "(one-hot @ 3)",
    ],
)
def test_indices_are_integers(text: str, name: str) -> None:
    if name == "1.5" and "dynamic-slice" in text:
        text = text.replace("@", "[@ 0]")
    fault = faulty(rules.DTYPE_OPERATOR, name, text.replace("@", name), **NAMES)
    assert "an integer dtype" in fault.message


def test_a_vector_of_numbers_becomes_indices_by_tensor() -> None:
    assert fixed(faulty(rules.TYPE_KIND, "[1 2]", "(take x [1 2])", **NAMES)) == "(take x (tensor [1 2]))"


def test_numbers_take_the_dtype_of_the_tensor_they_are_written_to() -> None:
    assert node(run("(put-along x column 1)", **NAMES)).inputs[2].dtype is F32
    assert node(run("(scatter-add x i 1)", x=tensor(4, dtype=U8), i=NAMES["i"])).inputs[2].dtype is U8
    faulty(rules.DTYPE_NUMBER, "0.5", "(put-along x i 0.5)", x=tensor(4, dtype=U8), i=NAMES["i"])
    faulty(rules.DTYPE_NUMBER, "-1", "(scatter-add x i -1)", x=tensor(4, dtype=U8), i=NAMES["i"])
    faulty(rules.DTYPE_NUMBER, "1", "(put-along x i 1)", x=tensor(4, dtype=BOOL), i=NAMES["i"])
    assert node(run("(put-along x i true)", x=tensor(4, dtype=BOOL), i=NAMES["i"])).dtype is BOOL
    for text in ("(put-along x i y)", "(scatter-add x i y)", "(dynamic-update x y [0])"):
        faulty(rules.DTYPE_MIXED, text, text, x=tensor(4), y=tensor(2, dtype=F16), i=NAMES["i"])


def test_one_hot_is_of_the_float_of_the_place_unless_it_is_told() -> None:
    assert node(run("(one-hot column 5)", **NAMES)).shape == (4, 1, 5)
    assert node(run("(one-hot n 5)", FakeTracer(BF16), **NAMES)).dtype is BF16
    assert node(run("(one-hot n 5 :bool)", **NAMES)).dtype is BOOL
    assert node(run("(one-hot 2 0 :i32)", **NAMES)).shape == (0,)


def test_top_k_gives_a_plist_of_values_and_indices() -> None:
    plist = run("(top-k x 2)", x=tensor(4, 3, dtype=BF16))
    assert isinstance(plist, List)
    assert [item.name for item in plist.items if isinstance(item, Keyword)] == ["values", "indices"]
    assert [(result.shape, result.dtype) for result in tensors(plist)] == [((4, 2), BF16), ((4, 2), I32)]


def test_argsort_gives_i32() -> None:
    assert node(run("(argsort x)", **NAMES)).dtype is I32


def test_starts_are_scalars_numbers_or_one_vector() -> None:
    for starts in ("[n 1]", "(list 0 n)", "[0 0]", "i"):
        assert node(run(f"(dynamic-slice x {starts} [2 2])", **NAMES)).shape == (2, 2)
    for starts in ("n", "0", "[n]", "(expand-dims n 0)"):
        assert node(run(f"(dynamic-slice f {starts} 1)", **NAMES)).shape == (1,)
    assert node(run("(dynamic-slice s [] [])", **NAMES)).shape == ()


# What is wrong, and where

FAULTS: list[tuple[Rule, str, str]] = [
    (rules.SHAPE_OPERATOR, "2", "(take x i :axis 2)"),
    (rules.SHAPE_OPERATOR, "s", "(take s i)"),
    (rules.SHAPE_OPERATOR, "i", "(take (slice x [0 0] [0 nil]) i)"),
    (rules.TYPE_KIND, ":x", "(take :x i)"),
    (rules.TYPE_KIND, "true", "(take x true)"),
    (rules.STAGE_TENSOR, "n", "(take x i :axis n)"),
    (rules.SHAPE_OPERATOR, "i", "(take-along x i)"),
    (rules.SHAPE_OPERATOR, "s", "(take-along s n)"),
    (rules.SHAPE_BROADCAST, "(take-along x k)", "(take-along x k)"),
    (rules.SHAPE_OPERATOR, "column", "(take-along (slice x [0 0] [nil 0]) column)"),
    (rules.SHAPE_OPERATOR, "i", "(put-along x i 1)"),
    (rules.SHAPE_BROADCAST, "(put-along x k 1)", "(put-along x k 1)"),
    (rules.SHAPE_BROADCAST, "(put-along x column x)", "(put-along x column x)"),
    (rules.SHAPE_BROADCAST, "(scatter-add x i x)", "(scatter-add x i x)"),
    (rules.SHAPE_OPERATOR, "s", "(scatter-add s i 1)"),
    (rules.SHAPE_OPERATOR, "i", "(segment-sum x i 2)"),
    (rules.SHAPE_OPERATOR, "column", "(segment-sum x column 2)"),
    (rules.SHAPE_OPERATOR, "s", "(segment-sum s n 2)"),
    (rules.TYPE_KIND, "-1", "(segment-sum x (reshape column [4]) -1)"),
    (rules.STAGE_TENSOR, "n", "(segment-sum x (reshape column [4]) n)"),
    (rules.TYPE_KIND, "-1", "(one-hot i -1)"),
    (rules.STAGE_TENSOR, "n", "(one-hot i n)"),
    (rules.TYPE_KIND, ":f31", "(one-hot i 3 :f31)"),
    (rules.SHAPE_OPERATOR, "[n]", "(dynamic-slice x [n] [1 1])"),
    (rules.SHAPE_OPERATOR, "column", "(dynamic-slice x column [1 1])"),
    (rules.SHAPE_OPERATOR, "i", "(dynamic-slice x [i 0] [1 1])"),
    (rules.SHAPE_OPERATOR, "i", "(dynamic-slice f i [1])"),
    (rules.SHAPE_OPERATOR, "n", "(dynamic-slice x n [1 1])"),
    (rules.SHAPE_OPERATOR, "[1]", "(dynamic-slice x [0 0] [1])"),
    (rules.SHAPE_OPERATOR, "5", "(dynamic-slice x [0 0] [5 1])"),
    (rules.TYPE_KIND, "-1", "(dynamic-slice x [0 0] [-1 1])"),
    (rules.STAGE_TENSOR, "n", "(dynamic-slice x [0 0] [n 1])"),
    (rules.SHAPE_OPERATOR, "f", "(dynamic-update x f [0 0])"),
    (rules.SHAPE_OPERATOR, "0.0", "(dynamic-update x 0.0 [0 0])"),
    (rules.SHAPE_OPERATOR, "x", "(dynamic-update (take-along x column) x [0 0])"),
    (rules.SHAPE_OPERATOR, "[0]", "(dynamic-update x x [0])"),
    (rules.SHAPE_OPERATOR, "s", "(sort s)"),
    (rules.SHAPE_OPERATOR, "3", "(argsort x :axis 3)"),
    (rules.TYPE_KIND, "1", "(sort x :descending 1)"),
    (rules.SHAPE_OPERATOR, "0", "(top-k x 0)"),
    (rules.SHAPE_OPERATOR, "4", "(top-k x 4)"),
    (rules.SHAPE_OPERATOR, "s", "(top-k s 1)"),
    (rules.STAGE_TENSOR, "n", "(top-k x n)"),
    (rules.TYPE_KIND, "2.0", "(top-k x 2.0)"),
]


@pytest.mark.parametrize(("rule", "at", "text"), FAULTS, ids=[text for _, _, text in FAULTS])
def test_what_is_wrong_is_said_at_the_smallest_place(rule: Rule, at: str, text: str) -> None:
    faulty(rule, at, text, **NAMES, k=tensor(2, 2, dtype=I32))


def test_messages_show_shapes_and_what_to_write() -> None:
    told = {
        "(take-along x i)": ("f32[4 3]", "i32[2]", "expand-dims"),
        "(take-along x k)": ("[4 3]", "[2 2]", "axis 1"),
        "(scatter-add x i x)": ("[4 3]", "[2 3]"),
        "(segment-sum x i 2)": ("4 rows of f32[4 3]", "i32[2]", "must be [4]"),
        "(dynamic-slice x [0 0] [5 1])": ("5", "axis 0 of f32[4 3]", "write 0 to 4"),
        "(dynamic-slice x n [1 1])": ("f32[4 3]", "write [0 0]"),
        "(dynamic-update x 0.0 [0 0])": ("f32[4 3]", "f32[]"),
        "(top-k x 4)": ("f32[4 3]", "write 1 to 3"),
    }
    for text, parts in told.items():
        with pytest.raises(Fault) as caught:
            run(text, **NAMES, k=tensor(2, 2, dtype=I32))
        said = f"{caught.value.message} {caught.value.help}"
        assert all(part in said for part in parts), said


@pytest.mark.parametrize(
    "text", ["(take x u)", "(take x i :axis u)", "(dynamic-slice x [0 u] [1 1])", "(dynamic-slice x i [u 1])", "(top-k x u)"]
)
def test_an_unknown_argument_silences_the_call(text: str) -> None:
    with pytest.raises(UnknownArgument):
        run(text, **NAMES, u=UNKNOWN)


def test_an_absent_entry_is_no_index() -> None:
    absent = Absent(List([keyword("rows"), NAMES["i"]]), "row", read(":row"), [])
    fault = faulty(rules.TYPE_KIND, "a", "(take x a)", a=absent, x=tensor(4))
    assert ":rows" in fault.help


def test_a_tensor_has_at_most_32_axes() -> None:
    wide = tensor(*[1] * 32, dtype=I32)
    for text in ("(one-hot x 2)", "(take f x :axis 0)"):
        faulty(rules.LIMIT_PASSED, text, text, x=wide, f=tensor(2, 2))


@pytest.mark.parametrize("row", [row for row in OPS.values() if row.family == "indexing"], ids=lambda row: row.name)
def test_the_example_of_a_row_runs(row: Op) -> None:
    assert tensors(run(row.example))
