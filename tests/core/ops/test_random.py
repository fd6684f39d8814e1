"""Draws: what is accepted, its type, its place and salt, and what is said of the rest."""

from __future__ import annotations

import pytest

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Rule
from sexpgpu.graph.nodes import Shape
from sexpgpu.language.dtypes import BF16, BOOL, F16, F32, I32, I64, U8, DType
from sexpgpu.language.values import Value
from sexpgpu.ops import OPS
from support.ops import FakeTracer, faulty, node, run, tensor

NAMES: dict[str, Value] = {
    "x": tensor(2, 3),
    "half": tensor(2, 3, dtype=BF16),
    "scalar": tensor(),
    "step": tensor(dtype=I64),
    "index": tensor(dtype=I32),
    "flag": tensor(dtype=BOOL),
    "steps": tensor(1, dtype=I64),
    "whole": tensor(2, 3, dtype=I32),
    "empty": tensor(2, 0),
}

TYPES: list[tuple[str, Shape, DType]] = [
    ("(uniform [2 3])", (2, 3), F32),
    ("(uniform [] :lo -1 :hi 1 :dtype :f16)", (), F16),
    ("(normal [4] :mean 1.0 :std 0 :dtype :bf16)", (4,), BF16),
    ("(bernoulli 0.5 [2 3])", (2, 3), BOOL),
    ("(bernoulli 1 [])", (), BOOL),
    ("(bernoulli x [5 2 3] :salt step)", (5, 2, 3), BOOL),
    ("(randint [3] 0 10)", (3,), I32),
    ("(randint [3] 0 256 :dtype :u8)", (3,), U8),
    ("(categorical x)", (2,), I32),
    ("(categorical half :axis 0 :salt index)", (3,), I32),
    ("(gumbel [0 2])", (0, 2), F32),
    ("(permutation 8)", (8,), I32),
    ("(permutation 0)", (0,), I32),
    ("(dropout half 0.5)", (2, 3), BF16),
    ("(dropout x scalar)", (2, 3), F32),
]


@pytest.mark.parametrize(("text", "shape", "dtype"), TYPES, ids=[text for text, _, _ in TYPES])
def test_types(text: str, shape: Shape, dtype: DType) -> None:
    made = node(run(text, None, **NAMES))
    assert (made.shape, made.dtype) == (shape, dtype)
    assert OPS[made.op].draw


def test_every_draw_is_of_the_compute_float() -> None:
    for text in ("(uniform [2])", "(normal [2])", "(gumbel [2])"):
        assert node(run(text, FakeTracer(BF16))).dtype is BF16


@pytest.mark.parametrize("name", [row.name for row in OPS.values() if row.draw])
def test_a_draw_has_a_place_of_its_own_and_ends_with_its_salt(name: str) -> None:
    tracer = FakeTracer()
    first, second = (node(run(OPS[name].example, tracer)) for _ in range(2))
    assert first.attrs["place"] != second.attrs["place"]
    assert (first.inputs[-1].op, first.inputs[-1].attrs["value"]) == ("constant", 7)
    salted = node(run(OPS[name].example.replace("7", "step"), tracer, **NAMES))
    assert salted.inputs[-1] is NAMES["step"]


def test_without_a_salt_it_is_a_zero_that_the_call_itself_wrote() -> None:
    made = node(run("(uniform [2])"))
    assert made.inputs[-1].attrs["value"] == 0
    assert made.inputs[-1].form is made.form
    written = node(run("(uniform [2] :salt 0)"))
    assert written.inputs[-1].form is not written.form


@pytest.mark.parametrize("rate", ["0", "0.0"])
def test_dropout_of_rate_zero_is_its_operand(rate: str) -> None:
    tracer = FakeTracer()
    assert run(f"(dropout x {rate} :salt step)", tracer, **NAMES) is NAMES["x"]
    assert not tracer.graph.nodes
    assert node(run("(dropout x 0.1)", tracer, **NAMES)).attrs["place"] == "objective/dropout#0"


FAULTS: list[tuple[Rule, str, str]] = [
    (rules.TYPE_KIND, "(uniform 3)", "3"),
    (rules.TYPE_KIND, "(uniform [2 -1])", "-1"),
    (rules.STAGE_TENSOR, "(uniform [2 step])", "step"),
    (rules.DTYPE_OPERATOR, "(uniform [2] :dtype :i32)", ":i32"),
    (rules.TYPE_KIND, "(uniform [2] :lo 2.0)", "2.0"),
    (rules.TYPE_KIND, "(uniform [2] :lo 0 :hi -1)", "-1"),
    (rules.TYPE_KIND, "(uniform [2] :hi inf)", "inf"),
    (rules.STAGE_TENSOR, "(normal [2] :std scalar)", "scalar"),
    (rules.TYPE_KIND, "(normal [2] :std -1.0)", "-1.0"),
    (rules.TYPE_KIND, "(bernoulli 1.5 [2])", "1.5"),
    (rules.TYPE_KIND, "(bernoulli -1 [2])", "-1"),
    (rules.DTYPE_OPERATOR, "(bernoulli whole [2 3])", "whole"),
    (rules.SHAPE_BROADCAST, "(bernoulli x [3 2])", "(bernoulli x [3 2])"),
    (rules.SHAPE_BROADCAST, "(bernoulli x [3])", "(bernoulli x [3])"),
    (rules.DTYPE_OPERATOR, "(randint [2] 0 2 :dtype :f32)", ":f32"),
    (rules.TYPE_KIND, "(randint [2] 3 3)", "3"),
    (rules.STAGE_TENSOR, "(randint [2] 0 step)", "step"),
    (rules.DTYPE_NUMBER, "(randint [2] 0 257 :dtype :u8)", "257"),
    (rules.DTYPE_NUMBER, "(randint [2] -1 5 :dtype :u8)", "-1"),
    (rules.DTYPE_OPERATOR, "(categorical whole)", "whole"),
    (rules.SHAPE_OPERATOR, "(categorical empty)", "empty"),
    (rules.SHAPE_OPERATOR, "(categorical scalar)", "scalar"),
    (rules.TYPE_KIND, "(permutation -1)", "-1"),
    (rules.TYPE_KIND, "(permutation [3])", "[3]"),
    (rules.DTYPE_NUMBER, "(permutation 3000000000)", "3000000000"),
    (rules.TYPE_KIND, "(dropout x 1.0)", "1.0"),
    (rules.TYPE_KIND, "(dropout x -0.1)", "-0.1"),
    (rules.TYPE_KIND, "(dropout x nil)", "nil"),
    (rules.DTYPE_OPERATOR, "(dropout whole 0)", "whole"),
    (rules.SHAPE_OPERATOR, "(dropout x x)", "x"),
    # salts
    (rules.TYPE_KIND, "(uniform [2] :salt 0.5)", "0.5"),
    (rules.TYPE_KIND, '(uniform [2] :salt "a")', '"a"'),
    (rules.TYPE_KIND, "(dropout x 0 :salt 0.5)", "0.5"),
    (rules.DTYPE_OPERATOR, "(uniform [2] :salt scalar)", "scalar"),
    (rules.TYPE_KIND, "(uniform [2] :salt true)", "true"),
    (rules.DTYPE_OPERATOR, "(uniform [2] :salt flag)", "flag"),
    (rules.SHAPE_OPERATOR, "(uniform [2] :salt steps)", "steps"),
]


@pytest.mark.parametrize(("rule", "text", "at"), FAULTS, ids=[text for _, text, _ in FAULTS])
def test_what_is_wrong_is_shown_where_it_is(rule: Rule, text: str, at: str) -> None:
    faulty(rule, at, text, None, **NAMES)


def test_a_tensor_as_spread_is_told_to_scale_the_draw() -> None:
    fault = faulty(rules.STAGE_TENSOR, "scalar", "(normal [2] :std scalar)", None, **NAMES)
    assert "scale" in fault.help
