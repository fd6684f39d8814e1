"""Axes, joins, cuts and borders: what is accepted, its type, and what is said of the rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Rule
from sexpgpu.graph.nodes import Node, Shape
from sexpgpu.language.dtypes import BF16, BOOL, DTYPES, F32, I32, U8, DType
from sexpgpu.language.fault import Fault, UnknownArgument
from sexpgpu.language.values import UNKNOWN, Absent, List, Value, keyword
from sexpgpu.ops import OPS, Op
from support.agreement import agree
from support.ops import FakeTracer, apply, faulty, fixed, node, read, run, shapes, tensor, tensors

AXIS = st.integers(-4, 4)
AXES = st.one_of(AXIS, st.lists(AXIS, max_size=3).map(tuple))
SIZES = st.lists(st.integers(-1, 4), max_size=4).map(tuple)


def zeros(shape: Shape) -> np.ndarray:
    return np.zeros(shape, np.int8)


# Shapes are NumPy's


@given(shapes(), SIZES)
def test_reshape_accepts_and_types_what_numpy_does(shape: Shape, target: Shape) -> None:
    agree(lambda: apply("reshape", tensor(*shape), target), lambda: zeros(shape).reshape(target))


@given(shapes(least=1), st.data())
def test_reshape_works_out_an_open_axis(shape: Shape, data: st.DataObject) -> None:
    other = list(data.draw(st.permutations(shape)))
    if other:
        other[data.draw(st.integers(0, len(other) - 1))] = -1
    agree(lambda: apply("reshape", tensor(*shape), tuple(other)), lambda: zeros(shape).reshape(other))


@given(shapes(most_axes=3), st.one_of(st.none(), st.lists(st.integers(-3, 3), max_size=3).map(tuple)), st.booleans(), st.data())
def test_transpose_accepts_and_types_what_numpy_does(
    shape: Shape, permutation: Shape | None, right: bool, data: st.DataObject
) -> None:
    if right:
        permutation = tuple(data.draw(st.permutations(range(len(shape)))))
    given = () if permutation is None else (permutation,)
    agree(lambda: apply("transpose", tensor(*shape), *given), lambda: np.transpose(zeros(shape), permutation))


@given(shapes(), AXIS, AXIS)
def test_swap_axes_accepts_and_types_what_numpy_does(shape: Shape, a: int, b: int) -> None:
    agree(lambda: apply("swap-axes", tensor(*shape), a, b), lambda: np.swapaxes(zeros(shape), a, b))


@given(shapes(), AXES)
def test_expand_dims_accepts_and_types_what_numpy_does(shape: Shape, axes: int | Shape) -> None:
    agree(lambda: apply("expand-dims", tensor(*shape), axes), lambda: np.expand_dims(zeros(shape), axes))


@given(shapes(least_axes=1, most=2), st.one_of(st.none(), AXES))
def test_squeeze_accepts_and_types_what_numpy_does(shape: Shape, axes: int | Shape | None) -> None:
    agree(lambda: apply("squeeze", tensor(*shape), axes), lambda: np.squeeze(zeros(shape), axes))


@given(shapes(most_axes=3, most=2), shapes(most=2))
def test_broadcast_to_accepts_and_types_what_numpy_does(shape: Shape, target: Shape) -> None:
    agree(lambda: apply("broadcast-to", tensor(*shape), target), lambda: np.broadcast_to(zeros(shape), target))


@given(st.lists(shapes(most_axes=2, most=2), min_size=1, max_size=3), st.integers(-3, 2))
def test_concat_accepts_and_types_what_numpy_does(parts: list[Shape], axis: int) -> None:
    call = lambda: apply("concat", [tensor(*part) for part in parts], axis=axis)  # noqa: E731
    agree(call, lambda: np.concatenate([zeros(part) for part in parts], axis))


@given(shapes(least_axes=1, most_axes=3), st.lists(st.integers(0, 3), min_size=1, max_size=3), st.data())
def test_concat_of_fitting_parts(shape: Shape, extents: list[int], data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    parts = [tuple(extent if other == axis % len(shape) else size for other, size in enumerate(shape)) for extent in extents]
    call = lambda: apply("concat", [tensor(*part) for part in parts], axis=axis)  # noqa: E731
    agree(call, lambda: np.concatenate([zeros(part) for part in parts], axis))


@given(shapes(most_axes=3), st.integers(1, 3), AXIS)
def test_stack_accepts_and_types_what_numpy_does(shape: Shape, count: int, axis: int) -> None:
    call = lambda: apply("stack", [tensor(*shape)] * count, axis=axis)  # noqa: E731
    agree(call, lambda: np.stack([zeros(shape)] * count, axis))


@given(shapes(), st.integers(1, 4), AXIS)
def test_split_into_equal_parts_accepts_and_types_what_numpy_does(shape: Shape, n: int, axis: int) -> None:
    agree(lambda: apply("split", tensor(*shape), n, axis=axis), lambda: np.split(zeros(shape), n, axis))


@given(shapes(), AXES)
def test_flip_accepts_and_types_what_numpy_does(shape: Shape, axes: int | Shape) -> None:
    agree(lambda: apply("flip", tensor(*shape), axes), lambda: np.flip(zeros(shape), axes))


@given(shapes(), st.integers(-9, 9), AXIS)
def test_roll_accepts_and_types_what_numpy_does(shape: Shape, shift: int, axis: int) -> None:
    agree(lambda: apply("roll", tensor(*shape), shift, axis=axis), lambda: np.roll(zeros(shape), shift, axis))


@given(shapes(least_axes=1), st.integers(0, 3), AXIS)
def test_repeat_accepts_and_types_what_numpy_does(shape: Shape, n: int, axis: int) -> None:
    agree(lambda: apply("repeat", tensor(*shape), n, axis=axis), lambda: np.repeat(zeros(shape), n, axis))


@given(shapes(least_axes=1, most_axes=3), st.data())
def test_pad_accepts_and_types_what_numpy_does(shape: Shape, data: st.DataObject) -> None:
    pair = st.tuples(st.integers(-1, 3), st.integers(0, 3))
    widths = tuple(data.draw(pair) for _ in shape)
    agree(lambda: apply("pad", tensor(*shape), widths), lambda: np.pad(zeros(shape), widths))


@given(st.integers(0, 5), st.one_of(st.none(), st.integers(-6, 6)), st.one_of(st.none(), st.integers(-6, 6)), st.integers(0, 3))
def test_slice_cuts_as_numpy_does_where_it_is_in_range(extent: int, start: int | None, stop: int | None, stride: int) -> None:
    def reference() -> np.ndarray:
        begin, end = (at if at is None or at >= 0 else at + extent for at in (start, stop))
        begin, end = 0 if begin is None else begin, extent if end is None else end
        if not 0 <= begin <= end <= extent or not stride:
            raise ValueError
        return zeros((2, extent))[:, start:stop:stride]

    agree(lambda: apply("slice", tensor(2, extent), (None, start), (None, stop), strides=(1, stride)), reference)


# Dtypes and numbers


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=repr)
@pytest.mark.parametrize(
    "text",
    [
        "(reshape x [3 2])",
        "(transpose x)",
        "(swap-axes x 0 1)",
        "(expand-dims x 0)",
        "(squeeze x [])",
        "(broadcast-to x [4 2 3])",
        "(concat (list x x))",
        "(stack [x x])",
        "(split x 2)",
        "(slice x [0 1] [nil nil])",
        "(pad x [[0 0] [1 1]])",
        "(flip x 0)",
        "(roll x 1 :axis 0)",
        "(repeat x 2 :axis 0)",
    ],
)
def test_what_moves_elements_takes_and_keeps_every_dtype(text: str, dtype: DType) -> None:
    assert {result.dtype for result in tensors(run(text, x=tensor(2, 3, dtype=dtype)))} == {dtype}


def test_numbers_in_a_list_take_the_dtype_of_the_tensors() -> None:
    result = node(run("(stack (list 1 x 2))", x=tensor(dtype=U8)))
    assert (result.shape, result.dtype) == ((3,), U8)
    assert node(run("(stack (list 1 2.5))", FakeTracer(BF16))).dtype is BF16
    faulty(rules.DTYPE_NUMBER, "300", "(stack (list x 300))", x=tensor(dtype=U8))
    faulty(rules.DTYPE_NUMBER, "1.5", "(stack [x 1.5])", x=tensor(dtype=I32))


def test_padding_takes_the_dtype_of_the_tensor() -> None:
    assert node(run("(pad x [[1 0]] :value -1)", x=tensor(3))).inputs[1].attrs["value"] == -1.0
    assert node(run("(pad x [[1 0]])", x=tensor(3, dtype=BOOL))).inputs[1].attrs["value"] is False
    assert node(run("(pad x [[1 0]] :value true)", x=tensor(3, dtype=BOOL))).inputs[1].attrs["value"] is True
    assert node(run("(pad x [[1 0]] :value y)", x=tensor(3), y=tensor())).shape == (4,)
    faulty(rules.DTYPE_NUMBER, "0.5", "(pad x [[1 0]] :value 0.5)", x=tensor(3, dtype=I32))
    faulty(rules.DTYPE_NUMBER, "0", "(pad x [[1 0]] :value 0)", x=tensor(3, dtype=BOOL))
    faulty(rules.DTYPE_MIXED, "(pad x [[1 0]] :value y)", "(pad x [[1 0]] :value y)", x=tensor(3), y=tensor(dtype=I32))
    faulty(rules.SHAPE_OPERATOR, "x", "(pad x [[1 0]] :value x)", x=tensor(3))


def test_dtypes_do_not_mix_in_a_list() -> None:
    x, y = tensor(2), tensor(2, dtype=BF16)
    fault = faulty(rules.DTYPE_MIXED, "(concat (list x y))", "(concat (list x y))", x=x, y=y)
    assert fixed(fault) == "(concat (list x (cast y :f32)))"
    made = List([x, y])
    assert not faulty(rules.DTYPE_MIXED, "(concat xs)", "(concat xs)", xs=made).fixes


# What is wrong, and where

FAULTS: list[tuple[Rule, str, str]] = [
    (rules.SHAPE_OPERATOR, "[5 5]", "(reshape x [5 5])"),
    (rules.SHAPE_OPERATOR, "[3 -1]", "(reshape x [3 -1])"),
    (rules.SHAPE_OPERATOR, "[-1 0]", "(reshape x [-1 0])"),
    (rules.SHAPE_OPERATOR, "-1", "(reshape x [2 -1 -1])"),
    (rules.TYPE_KIND, "-2", "(reshape x [4 -2])"),
    (rules.TYPE_KIND, "8.0", "(reshape x [4 8.0])"),
    (rules.STAGE_TENSOR, "i", "(reshape x [4 i])"),
    (rules.STAGE_TENSOR, "i", "(reshape x i)"),
    (rules.TYPE_KIND, ":x", "(reshape :x [1])"),
    (rules.SHAPE_OPERATOR, "[0]", "(transpose x [0])"),
    (rules.SHAPE_OPERATOR, "2", "(transpose x [0 2])"),
    (rules.SHAPE_OPERATOR, "-2", "(transpose x [0 -2])"),
    (rules.SHAPE_OPERATOR, "2", "(swap-axes x 0 2)"),
    (rules.SHAPE_OPERATOR, "0", "(swap-axes 1 0 0)"),
    (rules.SHAPE_OPERATOR, "3", "(expand-dims x 3)"),
    (rules.SHAPE_OPERATOR, "-3", "(expand-dims x [1 -3])"),
    (rules.SHAPE_OPERATOR, "1", "(squeeze x [1])"),
    (rules.SHAPE_BROADCAST, "(broadcast-to x [4 4])", "(broadcast-to x [4 4])"),
    (rules.SHAPE_BROADCAST, "(broadcast-to x [8])", "(broadcast-to x [8])"),
    (rules.TYPE_KIND, "8", "(broadcast-to x 8)"),
    (rules.SHAPE_OPERATOR, "y", "(concat (list x x y))"),
    (rules.SHAPE_OPERATOR, "s", "(concat [x s])"),
    (rules.SHAPE_OPERATOR, "i", "(concat (list i i))"),
    (rules.SHAPE_OPERATOR, "2", "(concat (list x x) :axis 2)"),
    (rules.TYPE_KIND, "x", "(concat x)"),
    (rules.TYPE_KIND, "(list )", "(concat (list ))"),
    (rules.TYPE_KIND, "nil", "(concat nil)"),
    (rules.TYPE_KIND, ":k", "(concat (list x :k))"),
    (rules.SHAPE_OPERATOR, "y", "(stack (list x y))"),
    (rules.SHAPE_OPERATOR, "3", "(stack (list x x) :axis 3)"),
    (rules.TYPE_KIND, "x", "(stack x)"),
    (rules.SHAPE_OPERATOR, "3", "(split x 3)"),
    (rules.SHAPE_OPERATOR, "[1 2]", "(split x [1 2])"),
    (rules.TYPE_KIND, "0", "(split x 0)"),
    (rules.TYPE_KIND, "-1", "(split x [5 -1])"),
    (rules.STAGE_TENSOR, "i", "(split x i)"),
    (rules.SHAPE_OPERATOR, "1", "(split 1 1)"),
    (rules.SHAPE_OPERATOR, "[0]", "(slice x [0] [1 1])"),
    (rules.SHAPE_OPERATOR, "[1 1 1]", "(slice x [0 0] [1 1 1])"),
    (rules.SHAPE_OPERATOR, "5", "(slice x [5 0] [nil nil])"),
    (rules.SHAPE_OPERATOR, "-9", "(slice x [0 0] [nil -9])"),
    (rules.SHAPE_OPERATOR, "1", "(slice x [2 0] [1 nil])"),
    (rules.SHAPE_OPERATOR, "[1]", "(slice x [2 0] [nil nil] :strides [1])"),
    (rules.TYPE_KIND, "0", "(slice x [2 0] [nil nil] :strides [1 0])"),
    (rules.TYPE_KIND, "-1", "(slice x [2 0] [nil nil] :strides [-1 nil])"),
    (rules.TYPE_KIND, "2", "(slice x 2 [nil nil])"),
    (rules.STAGE_TENSOR, "i", "(slice x [i 0] [nil nil])"),
    (rules.TYPE_KIND, "1", "(pad x [1 1])"),
    (rules.TYPE_KIND, "[1 2 3]", "(pad x [[1 2 3] [0 0]])"),
    (rules.TYPE_KIND, "-1", "(pad x [[0 -1] [0 0]])"),
    (rules.SHAPE_OPERATOR, "[[1 1]]", "(pad x [[1 1]])"),
    (rules.SHAPE_OPERATOR, "[[1 1]]", "(pad 1 [[1 1]])"),
    (rules.SHAPE_OPERATOR, "0", "(flip x [0 0])"),
    (rules.SHAPE_OPERATOR, "2", "(flip x 2)"),
    (rules.SHAPE_OPERATOR, "2", "(roll x 1 :axis 2)"),
    (rules.STAGE_TENSOR, "i", "(roll x i :axis 0)"),
    (rules.TYPE_KIND, "-1", "(repeat x -1 :axis 0)"),
    (rules.TYPE_KIND, "nil", "(repeat x 2 :axis nil)"),
]


@pytest.mark.parametrize(("rule", "at", "text"), FAULTS, ids=[text for _, _, text in FAULTS])
def test_what_is_wrong_is_said_at_the_smallest_place(rule: Rule, at: str, text: str) -> None:
    faulty(rule, at, text, x=tensor(4, 8), y=tensor(4, 9), s=tensor(), i=tensor(dtype=I32))


def test_of_two_entries_the_second_is_blamed() -> None:
    for text, first, second in [("(reshape x [-1 -1])", "-1", "-1"), ("(transpose x [1 1])", "1", "1")]:
        fault = faulty(rules.SHAPE_OPERATOR, second, text, x=tensor(4, 8))
        assert fault.at.start > text.index(first)


def test_messages_show_shapes_and_what_to_write() -> None:
    told = {
        "(reshape x [5 5])": ("f32[4 8]", "25", "32"),
        "(reshape x [3 -1])": ("f32[4 8]", "3 does not divide 32"),
        "(concat (list x y))": ("f32[4 8]", "f32[4 9]", "axis 1 is 8 and 9"),
        "(stack (list x y))": ("[4 8]", "[4 9]", "concat"),
        "(broadcast-to x [4 4])": ("[4 8]", "[4 4]"),
        "(split x [1 2])": ("axis 0 of f32[4 8]", "add up to 3"),
        "(squeeze x 1)": ("f32[4 8]", "axis 1", "has 8"),
        "(slice x [0 9] [4 nil])": ("9", "f32[4 8]", "write -8 to 8"),
        "(slice x [0] [4])": ("f32[4 8]", "write [0 0]"),
        "(pad x [[1 1]])": ("f32[4 8]", "write [[0 0] [0 0]]"),
        "(transpose x [0])": ("f32[4 8]", "write [0 1] in another order"),
    }
    for text, parts in told.items():
        with pytest.raises(Fault) as caught:
            run(text, x=tensor(4, 8), y=tensor(4, 9))
        said = f"{caught.value.message} {caught.value.help}"
        assert all(part in said for part in parts), said


def test_a_shape_written_as_a_number_is_put_into_brackets() -> None:
    fault = faulty(rules.TYPE_KIND, "-1", "(reshape x -1)", x=tensor(4, 8))
    assert fixed(fault) == "(reshape x [-1])"
    assert node(run(fixed(fault), x=tensor(4, 8))).shape == (32,)


def test_where_one_expression_made_the_list_it_is_blamed() -> None:
    faulty(rules.SHAPE_OPERATOR, "xs", "(concat xs)", xs=List([tensor(4, 8), tensor(4, 9)]))


# Unknown and absent values, bounds


@pytest.mark.parametrize(
    "text",
    [
        "(reshape u [1])",
        "(reshape x [u])",
        "(reshape x u)",
        "(concat (list x u))",
        "(stack u)",
        "(pad x [[u 0]])",
        "(slice x [u] [nil])",
    ],
)
def test_an_unknown_argument_silences_the_call(text: str) -> None:
    with pytest.raises(UnknownArgument):
        run(text, x=tensor(4), u=UNKNOWN)


@pytest.mark.parametrize("text", ["(reshape x a)", "(slice x [a] [nil])", "(slice x [0] a)", "(pad x [[0 1]] :value a)"])
def test_an_absent_entry_is_no_nil(text: str) -> None:
    plist = List([keyword("size"), 3])
    fault = faulty(rules.TYPE_KIND, "a", text, x=tensor(4), a=Absent(plist, "sise", read(":sise"), []))
    assert ":size" in fault.help


def test_a_tensor_has_at_most_32_axes() -> None:
    wide = tensor(*[1] * 31)
    assert len(node(run("(stack (list x x))", x=wide)).shape) == 32
    text = "(expand-dims x [0 1])"
    faulty(rules.LIMIT_PASSED, text, text, x=wide)


def test_split_counts_its_parts_before_it_makes_them() -> None:
    class Bounded(FakeTracer):
        def tick(self, count: int = 1) -> None:
            if count > 500_000:
                raise OverflowError

    with pytest.raises(OverflowError):
        run("(split x 1000000000000)", Bounded(), x=tensor(0))


# What stands in the graph


def test_several_operators_make_one_operation() -> None:
    x = tensor(2, 1, 3)
    made: dict[str, Callable[[], Value]] = {
        "reshape": lambda: run("(squeeze x 1)", x=x),
        "transpose": lambda: run("(swap-axes x 0 2)", x=x),
        "slice": lambda: run("(split x 3 :axis 2)", x=x),
    }
    assert {op: {result.op for result in tensors(make())} for op, make in made.items()} == {op: {op} for op in made}
    assert node(run("(expand-dims x 0)", x=x)).op == "reshape"


def test_slices_hold_the_bounds_that_nil_and_negative_entries_stand_for() -> None:
    result = node(run("(slice x [nil -3] [-1 nil] :strides [2 nil])", x=tensor(6, 8)))
    assert result.attrs == {"starts": (0, 5), "stops": (5, 8), "strides": (2, 1)}
    assert result.shape == (3, 3)
    whole = node(run("(slice x nil nil)", x=tensor(6, 8)))
    assert whole.shape == (6, 8)


def test_split_by_sizes_gives_a_list_in_order() -> None:
    parts = run("(split x [1 0 3] :axis -1)", x=tensor(2, 4))
    assert isinstance(parts, List)
    assert [(part.shape, part.attrs["starts"]) for part in parts.items if isinstance(part, Node)] == [
        ((2, 1), (0, 0)),
        ((2, 0), (0, 1)),
        ((2, 3), (0, 1)),
    ]


@pytest.mark.parametrize("row", [row for row in OPS.values() if row.family == "shaping"], ids=lambda row: row.name)
def test_the_example_of_a_row_runs(row: Op) -> None:
    assert tensors(run(row.example))


def test_float_is_the_float_of_the_place() -> None:
    assert node(run("(reshape 1.5 [1])", FakeTracer(BF16))).dtype is BF16
    assert node(run("(reshape 1.5 [1])")).dtype is F32
