"""Softmax, losses, attention, convolution and pooling: what is accepted, its type, and what is said of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Rule
from sexpgpu.graph.nodes import Shape
from sexpgpu.language.dtypes import BF16, BOOL, DTYPES, F16, F32, I8, I32, I64, U8, DType
from sexpgpu.language.values import Absent, List, Value
from sexpgpu.ops.call import floating
from support.ops import FakeTracer, dtypes, faulty, fixed, node, read, run, shapes, tensor

NAMES: dict[str, Value] = {
    "scalar": tensor(),
    "x53": tensor(5, 3),
    "x510": tensor(5, 10),
    "w5": tensor(5),
    "w3": tensor(3),
    "w25": tensor(2, 5),
    "labels5": tensor(5, dtype=I32),
    "labels3": tensor(3, dtype=I32),
    "bytes5": tensor(5, dtype=U8),
    "flags5": tensor(5, dtype=BOOL),
    "half": tensor(5, 3, dtype=BF16),
    "empty": tensor(5, 0),
    "q": tensor(2, 4, 6, 8),
    "k": tensor(2, 2, 7, 8),
    "v": tensor(2, 2, 7, 9),
    "k3heads": tensor(2, 3, 7, 8),
    "k9": tensor(2, 2, 7, 9),
    "kbatch": tensor(1, 2, 7, 8),
    "v6": tensor(2, 2, 6, 9),
    "khalf": tensor(2, 2, 7, 8, dtype=BF16),
    "mask": tensor(6, 7, dtype=BOOL),
    "mask8": tensor(6, 8, dtype=BOOL),
    "bias": tensor(4, 6, 7),
    "bias5": tensor(5, 6, 7),
    "odd": tensor(2, 4, 6, 7),
    "at6": tensor(6, dtype=I32),
    "at26": tensor(2, 6, dtype=I64),
    "at7": tensor(7, dtype=I32),
    "image": tensor(2, 8, 9, 3),
    "kernel": tensor(3, 3, 3, 16),
    "kernel4": tensor(3, 3, 4, 16),
    "kernel0": tensor(3, 0, 3, 16),
    "line": tensor(2, 9, 3),
    "kernel1": tensor(3, 3, 16),
    "whole": tensor(2, 8, 9, 3, dtype=I32),
}


@given(shapes(least_axes=1, least=0), dtypes(floating))
def test_softmax_keeps_the_type(shape: Shape, dtype: DType) -> None:
    for name in ("softmax", "log-softmax"):
        made = node(run(f"({name} x)", x=tensor(*shape, dtype=dtype)))
        assert (made.shape, made.dtype) == (shape, dtype)


TYPES: list[tuple[str, Shape, DType]] = [
    ("(softmax half :axis 0)", (5, 3), BF16),
    ("(cross-entropy x53 labels5)", (5,), F32),
    ("(cross-entropy half labels5)", (5,), F32),
    ("(cross-entropy x53 labels5 :weights w5 :ignore -1 :smoothing 0.1)", (5,), F32),
    ("(cross-entropy x53 labels5 :weights 0.5)", (5,), F32),
    ("(cross-entropy x53 bytes5 :ignore 255)", (5,), F32),
    ("(cross-entropy w5 2)", (), F32),
    ("(kl-divergence x53 x53)", (5,), F32),
    ("(kl-divergence x53 w3)", (5,), F32),
    ("(kl-divergence half half)", (5,), BF16),
    ("(binary-cross-entropy half half)", (5, 3), F32),
    ("(binary-cross-entropy x53 1.0)", (5, 3), F32),
    ("(attention q k v)", (2, 4, 6, 9), F32),
    ("(attention q k v :causal true :mask mask :bias bias :scale 1)", (2, 4, 6, 9), F32),
    ("(rope q at6)", (2, 4, 6, 8), F32),
    ("(rope q at26 :base 500)", (2, 4, 6, 8), F32),
    ("(conv-op image kernel)", (2, 8, 9, 16), F32),
    ("(conv-op image kernel :stride 2)", (2, 4, 5, 16), F32),
    ("(conv-op image kernel :stride [1 3] :padding :valid)", (2, 6, 3, 16), F32),
    ("(conv-op image kernel :padding [[1 1] [0 2]])", (2, 8, 9, 16), F32),
    ("(conv-op line kernel1)", (2, 9, 16), F32),
    ("(avg-pool image 2)", (2, 4, 4, 3), F32),
    ("(avg-pool image [2 3] :stride 1)", (2, 7, 7, 3), F32),
    ("(max-pool image 3 :stride 2 :padding :same)", (2, 4, 5, 3), F32),
    ("(max-pool whole 2)", (2, 4, 4, 3), I32),
]


@pytest.mark.parametrize(("text", "shape", "dtype"), TYPES, ids=[text for text, _, _ in TYPES])
def test_types(text: str, shape: Shape, dtype: DType) -> None:
    made = node(run(text, None, **NAMES))
    assert (made.shape, made.dtype) == (shape, dtype)


FAULTS: list[tuple[Rule, str, str]] = [
    (rules.DTYPE_OPERATOR, "(softmax labels5)", "labels5"),
    (rules.SHAPE_OPERATOR, "(softmax x53 :axis 2)", "2"),
    (rules.SHAPE_OPERATOR, "(log-softmax scalar)", "scalar"),
    (rules.DTYPE_OPERATOR, "(cross-entropy labels5 labels5)", "labels5"),
    (rules.DTYPE_OPERATOR, "(cross-entropy x53 w5)", "w5"),
    (rules.SHAPE_OPERATOR, "(cross-entropy x53 labels3)", "labels3"),
    (rules.SHAPE_OPERATOR, "(cross-entropy scalar 1)", "scalar"),
    (rules.SHAPE_OPERATOR, "(cross-entropy empty labels5)", "empty"),
    (rules.SHAPE_BROADCAST, "(cross-entropy x53 labels5 :weights w3)", "(cross-entropy x53 labels5 :weights w3)"),
    (rules.SHAPE_BROADCAST, "(cross-entropy x53 labels5 :weights w25)", "(cross-entropy x53 labels5 :weights w25)"),
    (rules.DTYPE_OPERATOR, "(cross-entropy x53 labels5 :weights flags5)", "flags5"),
    (rules.DTYPE_NUMBER, "(cross-entropy x53 bytes5 :ignore -1)", "-1"),
    (rules.STAGE_TENSOR, "(cross-entropy x53 labels5 :ignore labels5)", "labels5"),
    (rules.TYPE_KIND, "(cross-entropy x53 labels5 :ignore 1.0)", "1.0"),
    (rules.TYPE_KIND, "(cross-entropy x53 labels5 :smoothing 1.5)", "1.5"),
    (rules.SHAPE_BROADCAST, "(kl-divergence x53 x510)", "(kl-divergence x53 x510)"),
    (rules.DTYPE_MIXED, "(kl-divergence x53 half)", "(kl-divergence x53 half)"),
    (rules.SHAPE_OPERATOR, "(kl-divergence x53 0.5)", "0.5"),
    (rules.DTYPE_OPERATOR, "(binary-cross-entropy w5 labels5)", "labels5"),
    (rules.SHAPE_BROADCAST, "(binary-cross-entropy w5 w3)", "(binary-cross-entropy w5 w3)"),
    (rules.SHAPE_OPERATOR, "(attention x53 k v)", "x53"),
    (rules.SHAPE_OPERATOR, "(attention q k9 v)", "k9"),
    (rules.SHAPE_OPERATOR, "(attention q kbatch v)", "kbatch"),
    (rules.SHAPE_OPERATOR, "(attention q k3heads v)", "k3heads"),
    (rules.SHAPE_OPERATOR, "(attention q k v6)", "v6"),
    (rules.DTYPE_MIXED, "(attention q khalf v)", "(attention q khalf v)"),
    (rules.SHAPE_BROADCAST, "(attention q k v :mask mask8)", "(attention q k v :mask mask8)"),
    (rules.SHAPE_BROADCAST, "(attention q k v :bias bias5)", "(attention q k v :bias bias5)"),
    (rules.DTYPE_OPERATOR, "(attention q k v :mask bias)", "bias"),
    (rules.DTYPE_OPERATOR, "(attention q k v :bias mask)", "mask"),
    (rules.STAGE_TENSOR, "(attention q k v :scale scalar)", "scalar"),
    (rules.TYPE_KIND, "(attention q k v :causal 1)", "1"),
    (rules.SHAPE_OPERATOR, "(rope odd at6)", "odd"),
    (rules.SHAPE_OPERATOR, "(rope x53 at6)", "x53"),
    (rules.SHAPE_OPERATOR, "(rope q at7)", "at7"),
    (rules.DTYPE_OPERATOR, "(rope q w5)", "w5"),
    (rules.TYPE_KIND, "(rope q at6 :base 0)", "0"),
    (rules.SHAPE_OPERATOR, "(conv-op x53 kernel)", "x53"),
    (rules.SHAPE_OPERATOR, "(conv-op image kernel1)", "kernel1"),
    (rules.SHAPE_OPERATOR, "(conv-op image kernel4)", "kernel4"),
    (rules.SHAPE_OPERATOR, "(conv-op image kernel0)", "kernel0"),
    (rules.DTYPE_OPERATOR, "(conv-op whole whole)", "whole"),
    (rules.TYPE_KIND, "(conv-op image kernel :stride 0)", "0"),
    (rules.SHAPE_OPERATOR, "(conv-op image kernel :stride [1 1 1])", "[1 1 1]"),
    (rules.TYPE_KIND, "(conv-op image kernel :padding :full)", ":full"),
    (rules.TYPE_KIND, "(conv-op image kernel :padding 1)", "1"),
    (rules.TYPE_KIND, "(conv-op image kernel :padding [[1 1] 1])", "1"),
    (rules.TYPE_KIND, "(conv-op image kernel :padding [[1 1] [1 -1]])", "-1"),
    (rules.SHAPE_OPERATOR, "(conv-op image kernel :padding [[1 1]])", "[[1 1]]"),
    (rules.SHAPE_OPERATOR, "(avg-pool x53 2)", "x53"),
    (rules.DTYPE_OPERATOR, "(avg-pool whole 2)", "whole"),
    (rules.SHAPE_OPERATOR, "(max-pool image [2])", "[2]"),
    (rules.TYPE_KIND, "(max-pool image 0)", "0"),
    (rules.SHAPE_OPERATOR, "(max-pool image 2 :padding [[2 0] [0 0]])", "[[2 0] [0 0]]"),
]


@pytest.mark.parametrize(("rule", "text", "at"), FAULTS, ids=[text for _, text, _ in FAULTS])
def test_what_is_wrong_is_shown_where_it_is(rule: Rule, text: str, at: str) -> None:
    faulty(rule, at, text, None, **NAMES)


@pytest.mark.parametrize("dtype", [d for d in DTYPES.values() if not d.is_float], ids=str)
def test_integers_and_booleans_have_no_softmax(dtype: DType) -> None:
    fault = faulty(rules.DTYPE_OPERATOR, "x", "(softmax x)", x=tensor(2, 3, dtype=dtype))
    assert fixed(fault) == "(softmax (cast x :float))"


@pytest.mark.parametrize("dtype", [F16, BF16, F32, I8, I64], ids=str)
def test_labels_are_integers_and_nothing_else(dtype: DType) -> None:
    if dtype.is_integer:
        assert node(run("(cross-entropy x53 y)", x53=tensor(5, 3), y=tensor(5, dtype=dtype))).dtype is F32
    else:
        faulty(rules.DTYPE_OPERATOR, "y", "(cross-entropy x53 y)", x53=tensor(5, 3), y=tensor(5, dtype=dtype))


def test_nil_is_no_mask_but_an_absent_entry_is_a_mistake() -> None:
    assert node(run("(attention q k v :mask nil)", None, **NAMES)).shape == (2, 4, 6, 9)
    absent = Absent(List([]), "mask", read(":mask"), [])
    fault = faulty(rules.TYPE_KIND, "m", "(attention q k v :mask m)", None, m=absent, **NAMES)
    assert ":mask" in fault.message


def test_a_row_of_nodes_holds_what_was_given() -> None:
    made = node(run("(attention q k v :mask mask)", None, **NAMES))
    assert made.inputs == tuple(NAMES[name] for name in ("q", "k", "v", "mask"))
    assert made.attrs["scale"] == pytest.approx(8**-0.5)


def test_number_literals_take_the_compute_float() -> None:
    made = node(run("(softmax x)", FakeTracer(BF16), x=tensor(3, dtype=BF16)))
    assert made.dtype is BF16
    assert node(run("(binary-cross-entropy 0.0 1.0)", FakeTracer(BF16))).inputs[0].dtype is BF16
