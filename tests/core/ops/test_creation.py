"""Tensors made of host values, and the host's answers about tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Rule
from sexpgpu.graph.nodes import Shape, typed
from sexpgpu.language.dtypes import BF16, I32
from sexpgpu.language.values import List, Value, keyword
from support.ops import FakeTracer, apply, faulty, node, run, shapes, tensor

X: dict[str, Any] = {"x": tensor(2, 3), "n": tensor(dtype=I32), "shape": List([2, 3], vector=True)}


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("(zeros [2 3])", "f32[2 3]"),
        ("(zeros [])", "f32[]"),
        ("(zeros nil)", "f32[]"),
        ("(ones [0 2] :bool)", "bool[0 2]"),
        ("(zeros shape :i8)", "i8[2 3]"),
        ("(full [2] 1)", "i64[2]"),
        ("(full [2] 1.5)", "f32[2]"),
        ("(full [2] true)", "bool[2]"),
        ("(full [2] 1 :bf16)", "bf16[2]"),
        ("(full [2] 0.5 :float)", "f32[2]"),
        ("(iota [4])", "i32[4]"),
        ("(iota [2 3] :axis 0 :dtype :f32)", "f32[2 3]"),
        ("(tensor 3)", "i64[]"),
        ("(tensor [])", "f32[0]"),
        ("(tensor [[1 2] [3 4] [5 6]])", "i64[3 2]"),
        ("(tensor (list [1 2.5] (list 3 4)))", "f32[2 2]"),
        ("(tensor [true false])", "bool[2]"),
        ("(tensor [[] []])", "f32[2 0]"),
        ("(tensor [1 2] :u8)", "u8[2]"),
        ("(eye 3)", "f32[3 3]"),
        ("(tri 2 3)", "f32[2 3]"),
        ("(tri 2 2 -1 :bool)", "bool[2 2]"),
        ("(zeros [1099511627776 1099511627776])", "f32[1099511627776 1099511627776]"),
    ],
)
def test_type(text: str, type: str) -> None:
    result = node(run(text, **X))
    assert typed(result.shape, result.dtype) == type


def test_float_is_the_compute_float_of_the_place() -> None:
    for text in ("(zeros [2])", "(full [2] 0.5)", "(tensor [0.5])", "(eye 2)", "(tri 2 2)", "(iota [2] :dtype :float)"):
        assert node(run(text, FakeTracer(BF16))).dtype is BF16
    assert run("(dtype 0.5)", FakeTracer(BF16)) is keyword("bf16")


def nested(leaf: st.SearchStrategy[int | float | bool]) -> st.SearchStrategy[tuple[Shape, list[int | float | bool]]]:
    return shapes(most_axes=3, least=1).flatmap(
        lambda shape: st.tuples(st.just(shape), st.lists(leaf, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    )


@given(st.sampled_from([st.integers(-9, 9), st.booleans(), st.integers(-9, 9) | st.sampled_from([0.5, -1.5])]).flatmap(nested))
def test_a_literal_holds_what_it_was_written_with(drawn: tuple[Shape, list[int | float | bool]]) -> None:
    shape, numbers = drawn
    array = np.array(numbers, object).reshape(shape)
    result = node(apply("tensor", to_vectors(array)))
    assert result.op == "constant"
    assert result.shape == shape
    kept = np.array(result.attrs["value"], object).reshape(shape)
    assert (kept == array).all()
    kinds = {type(number) for number in numbers}
    assert result.dtype.name == ("bool" if kinds == {bool} else "i64" if float not in kinds else "f32")


def to_vectors(array: np.ndarray) -> object:
    return tuple(to_vectors(item) for item in array) if isinstance(array, np.ndarray) and array.ndim else np.asarray(array).item()


@pytest.mark.parametrize(
    ("rule", "at", "text"),
    [
        (rules.TYPE_KIND, "-1", "(zeros [2 -1])"),
        (rules.TYPE_KIND, "2.0", "(zeros [2.0])"),
        (rules.TYPE_KIND, "4", "(zeros 4)"),
        (rules.STAGE_TENSOR, "n", "(zeros [2 n])"),
        (rules.STAGE_TENSOR, "x", "(ones x)"),
        (rules.TYPE_KIND, ":i128", "(zeros [2] :i128)"),
        (rules.STAGE_TENSOR, "n", "(full [2] n)"),
        (rules.DTYPE_NUMBER, "300", "(full [2] 300 :u8)"),
        (rules.DTYPE_NUMBER, "0.5", "(full [2] 0.5 :i32)"),
        (rules.TYPE_KIND, "true", "(full [2] true :i32)"),
        (rules.TYPE_KIND, "nil", "(full [2] nil)"),
        (rules.SHAPE_OPERATOR, "2", "(iota [3 4] :axis 2)"),
        (rules.SHAPE_OPERATOR, "[]", "(iota [])"),
        (rules.DTYPE_OPERATOR, ":bool", "(iota [3] :dtype :bool)"),
        (rules.SHAPE_OPERATOR, "[3]", "(tensor [[1 2] [3]])"),
        (rules.SHAPE_OPERATOR, "3", "(tensor [[1 2] 3])"),
        (rules.SHAPE_OPERATOR, "[2]", "(tensor [1 [2]])"),
        (rules.SHAPE_OPERATOR, "[[3]]", "(tensor [[1 2] [[3]]])"),
        (rules.STAGE_TENSOR, "n", "(tensor [1 n])"),
        (rules.TYPE_KIND, "true", "(tensor [1 true])"),
        (rules.TYPE_KIND, '"a"', '(tensor [1 "a"])'),
        (rules.DTYPE_NUMBER, "256", "(tensor [[0 256]] :u8)"),
        (rules.DTYPE_NUMBER, "9223372036854775808", "(tensor [9223372036854775808])"),
        (rules.TYPE_KIND, "-1", "(eye -1)"),
        (rules.STAGE_TENSOR, "n", "(tri 2 n)"),
        (rules.SHAPE_OPERATOR, "2", "(dim x 2)"),
        (rules.TYPE_KIND, '"a"', '(shape "a")'),
        (rules.LIMIT_PASSED, "(zeros deep)", "(zeros deep)"),
        (rules.LIMIT_PASSED, "(tensor box)", "(tensor box)"),
    ],
)
def test_refused(rule: Rule, at: str, text: str) -> None:
    box: Value = 1
    for _ in range(33):
        box = List([box])
    faulty(rule, at, text, deep=List([1] * 33), box=box, **X)


def test_help_names_what_to_write() -> None:
    assert "broadcast-to" in faulty(rules.STAGE_TENSOR, "n", "(full [2] n)", **X).help
    assert "stack" in faulty(rules.STAGE_TENSOR, "n", "(tensor [1 n])", **X).help
    assert ":f32" in faulty(rules.TYPE_KIND, ":f23", "(zeros [2] :f23)").help


def test_shared_lists_count_every_visit() -> None:
    shared: Value = 1
    for _ in range(10):
        shared = List([shared, shared])
    tracer = FakeTracer()
    run("(tensor t)", tracer, t=shared)
    assert tracer.ticks >= 2**10


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("(shape x)", lambda value: isinstance(value, List) and value.vector and value.items == (2, 3)),
        ("(shape 3)", lambda value: value.items == ()),
        ("(dim x -1)", lambda value: value == 3),
        ("(rank x)", lambda value: value == 2),
        ("(size x)", lambda value: value == 6),
        ("(size 3)", lambda value: value == 1),
        ("(dtype x)", lambda value: value is keyword("f32")),
        ("(dtype 3)", lambda value: value is keyword("i64")),
        ("(dtype true)", lambda value: value is keyword("bool")),
    ],
)
def test_the_host_answers_without_a_node(text: str, check: Callable[[Value], bool]) -> None:
    tracer = FakeTracer()
    assert check(run(text, tracer, **X))
    assert not tracer.graph.nodes
