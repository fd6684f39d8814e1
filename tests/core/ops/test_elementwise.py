"""Elementwise operators: types, what is refused and where, and the same on host numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Rule
from sexpgpu.graph.nodes import Shape, typed
from sexpgpu.language.dtypes import BF16, BOOL, DTYPES, F16, F32, F64, I32, I64, U8, DType
from sexpgpu.language.fault import LimitPassed, UnknownArgument
from sexpgpu.language.values import UNKNOWN, Value
from sexpgpu.ops import OPS
from sexpgpu.ops.call import Accepts, floating, integral, numeric
from support.ops import FakeTracer, apply, broadcastable, faulty, fixed, node, run, tensor, tensors

X: dict[str, Any] = {
    "x": tensor(2, 3),
    "y": tensor(3),
    "n": tensor(2, 3, dtype=I32),
    "m": tensor(3, dtype=I64),
    "b": tensor(2, 3, dtype=BOOL),
    "h": tensor(3, dtype=BF16),
    "u": tensor(4, dtype=U8),
    "four": tensor(4),
    "nothing": UNKNOWN,
}

INTEGER = ("bit-and", "bit-or", "bit-xor", "shift-left", "shift-right")
ARITHMETIC = ("+", "-", "*", "floor-div", "mod", "rem", "pow", "min", "max")
ORDER = ("<", "<=", ">", ">=")
FLOAT = [
    *("reciprocal", "floor", "ceil", "round", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf"),
    *("sigmoid", "log-sigmoid", "relu", "gelu", "silu", "softplus", "is-nan", "is-finite"),
]


def type_of(text: str) -> str:
    result = node(run(text, **X))
    return typed(result.shape, result.dtype)


# Types


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("(+ x y 1 2.5)", "f32[2 3]"),
        ("(- n)", "i32[2 3]"),
        ("(- x y y)", "f32[2 3]"),
        ("(/ x)", "f32[2 3]"),
        ("(/ h 2)", "bf16[3]"),
        ("(max n 0)", "i32[2 3]"),
        ("(< n 3)", "bool[2 3]"),
        ("(= b true)", "bool[2 3]"),
        ("(/= b b)", "bool[2 3]"),
        ("(logical-xor b b b)", "bool[2 3]"),
        ("(is-nan h)", "bool[3]"),
        ("(clip x 0 y)", "f32[2 3]"),
        ("(where b x 0)", "f32[2 3]"),
        ("(where b 1 0)", "i64[2 3]"),
        ("(where b 1 0.5)", "f32[2 3]"),
        ("(where b true false)", "bool[2 3]"),
        ("(where true x 0)", "f32[2 3]"),
        ("(where b y y)", "f32[2 3]"),
        ("(cast x :i32)", "i32[2 3]"),
        ("(cast 3 :bf16)", "bf16[]"),
        ("(cast 3.9 :u8)", "u8[]"),
        ("(cast true :float)", "f32[]"),
        ("(stop-gradient b)", "bool[2 3]"),
        ("(shift-left n 2)", "i32[2 3]"),
        ("(gelu h :approximate true)", "bf16[3]"),
    ],
)
def test_type(text: str, type: str) -> None:
    assert type_of(text) == type


@given(broadcastable(3))
def test_operands_broadcast_as_numpy_does(shapes: tuple[Shape, ...]) -> None:
    x, y, z = (tensor(*shape) for shape in shapes)
    joined = np.broadcast_shapes(*shapes)
    assert node(apply("+", x, y, z)).shape == joined
    assert node(apply("clip", x, y, z)).shape == joined
    assert node(apply("where", tensor(*shapes[0], dtype=BOOL), y, z)).shape == joined


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=repr)
@pytest.mark.parametrize(
    ("names", "only"), [(FLOAT, floating), (ARITHMETIC, numeric), (ORDER, numeric), (INTEGER, integral), (["abs", "sign"], numeric)]
)
def test_every_operator_takes_the_dtypes_it_is_defined_for(names: list[str], only: Accepts, dtype: DType) -> None:
    for name in names:
        text = f"({name} v)" if len(OPS[name].signature.required) == 1 and name not in ARITHMETIC else f"({name} v v)"
        if only(dtype):
            result = node(run(text, v=tensor(2, dtype=dtype)))
            assert result.dtype is (BOOL if name in (*ORDER, "is-nan", "is-finite") else dtype)
        else:
            faulty(rules.DTYPE_OPERATOR, "v", text, v=tensor(2, dtype=dtype))


def test_float_is_the_compute_float_of_the_place() -> None:
    tracer = FakeTracer(BF16)
    assert node(run("(where b 1.0 0)", tracer, **X)).dtype is BF16
    assert node(run("(cast n :float)", tracer, **X)).dtype is BF16


def test_a_cast_to_the_same_dtype_makes_no_node() -> None:
    assert run("(cast x :f32)", **X) is X["x"]


def test_a_number_takes_the_dtype_that_it_meets() -> None:
    for name, dtype in (("x", F32), ("n", I32), ("h", BF16), ("u", U8)):
        constant = node(run(f"(+ 1 {name})", **X)).inputs[0]
        assert (constant.op, constant.dtype) == ("constant", dtype)


def test_branches_of_where_stay_in_its_inputs() -> None:
    chosen = node(run("(where b 1 2)", **X))
    assert [source.attrs.get("value") for source in chosen.inputs[1:]] == [1, 2]


# What is refused


@pytest.mark.parametrize(
    ("rule", "at", "text"),
    [
        (rules.DTYPE_MIXED, "(+ x n)", "(+ x n)"),
        (rules.DTYPE_MIXED, "(where b x n)", "(where b x n)"),
        (rules.DTYPE_MIXED, "(= b n)", "(= b n)"),
        (rules.DTYPE_NUMBER, "2.5", "(+ n 2.5)"),
        (rules.DTYPE_NUMBER, "300", "(+ u 300)"),
        (rules.DTYPE_NUMBER, "-1", "(max u -1)"),
        (rules.DTYPE_NUMBER, "1", "(= b 1)"),
        (rules.DTYPE_NUMBER, "300", "(cast 300 :u8)"),
        (rules.DTYPE_NUMBER, "nan", "(cast nan :i32)"),
        (rules.DTYPE_NUMBER, "inf", "(+ n inf)"),
        (rules.DTYPE_OPERATOR, "n", "(/ n 2)"),
        (rules.DTYPE_OPERATOR, "n", "(/ 2 n)"),
        (rules.DTYPE_OPERATOR, "n", "(/ n)"),
        (rules.DTYPE_OPERATOR, "n", "(sqrt n)"),
        (rules.DTYPE_OPERATOR, "n", "(where n x 0)"),
        (rules.DTYPE_OPERATOR, "b", "(+ b 1)"),
        (rules.DTYPE_OPERATOR, "b", "(< b b)"),
        (rules.DTYPE_OPERATOR, "x", "(logical-and b x)"),
        (rules.DTYPE_OPERATOR, "x", "(bit-and x 1)"),
        (rules.SHAPE_BROADCAST, "(+ x four)", "(+ x four)"),
        (rules.SHAPE_BROADCAST, "(where b four 0)", "(where b four 0)"),
        (rules.TYPE_KIND, "nil", "(+ x nil)"),
        (rules.TYPE_KIND, '"a"', '(= "a" "b")'),
        (rules.TYPE_KIND, "true", "(+ 1 true)"),
        (rules.TYPE_KIND, "true", "(= 1 true)"),
        (rules.TYPE_KIND, "1", "(logical-and true 1)"),
        (rules.TYPE_KIND, "1", "(where 1 x 0)"),
        (rules.TYPE_KIND, "1", "(where 1 2 3)"),
        (rules.TYPE_KIND, "false", "(where true 1 false)"),
        (rules.TYPE_KIND, "[1 2 3]", "(+ x [1 2 3])"),
        (rules.TYPE_KIND, ":f33", "(cast x :f33)"),
        (rules.STAGE_TENSOR, "b", "(gelu x :approximate b)"),
    ],
)
def test_refused(rule: Rule, at: str, text: str) -> None:
    faulty(rule, at, text, **X)


@pytest.mark.parametrize(
    ("rule", "at", "text", "mended"),
    [
        (rules.DTYPE_OPERATOR, "n", "(/ n 2)", "(floor-div n 2)"),
        (rules.DTYPE_OPERATOR, "n", "(/ n)", "(/ (cast n :float))"),
        (rules.DTYPE_OPERATOR, "n", "(sqrt n)", "(sqrt (cast n :float))"),
        (rules.DTYPE_OPERATOR, "n", "(where n x 0)", "(where (/= n 0) x 0)"),
        (rules.DTYPE_OPERATOR, "b", "(* 2 b)", "(* 2 (cast b :i32))"),
        (rules.DTYPE_MIXED, "(+ n m)", "(+ n m)", "(+ (cast n :i64) m)"),
        (rules.DTYPE_MIXED, "(+ x m)", "(+ x m)", "(+ x (cast m :f32))"),
        (rules.TYPE_KIND, "[1 2 3]", "(+ x [1.0 2 3])", "(+ x (tensor [1.0 2 3]))"),
        (rules.TYPE_KIND, "(list y y)", "(+ x (list y y))", "(+ x (stack (list y y)))"),
    ],
)
def test_fixes_mend(rule: Rule, at: str, text: str, mended: str) -> None:
    fault = faulty(rule, at.replace("[1 2 3]", "[1.0 2 3]"), text, **X)
    assert fixed(fault) == mended
    tensors(run(mended, **X))


def test_messages_name_what_was_found_and_what_to_write() -> None:
    fault = faulty(rules.DTYPE_OPERATOR, "n", "(/ n 2)", **X)
    assert "i32[2 3]" in fault.message
    assert "floor-div" in fault.help
    fault = faulty(rules.SHAPE_BROADCAST, "(+ x four)", "(+ x four)", **X)
    assert "[2 3]" in fault.message
    assert "[4]" in fault.message
    assert "equal" in faulty(rules.TYPE_KIND, ":a", "(= :a :b)", **X).help


def test_an_unknown_operand_makes_the_result_unknown() -> None:
    with pytest.raises(UnknownArgument):
        run("(+ x nothing)", **X)


def test_integers_beyond_a_float_dtype_do_not_fit() -> None:
    half, double = tensor(2, dtype=F16), tensor(2, dtype=F64)
    faulty(rules.DTYPE_NUMBER, "65505", "(+ h 65505)", h=half)
    node(run("(+ h 65504)", h=half))
    fault = faulty(rules.DTYPE_NUMBER, "big", "(+ d big)", big=1 << 4000, d=double)
    assert len(fault.message) < 120


# Host numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(+ 1 2 3)", 6),
        ("(+ 1 2 0.5)", 3.5),
        ("(- 5)", -5),
        ("(- 10 1 2)", 7),
        ("(/ 6 3)", 2.0),
        ("(/ 4)", 0.25),
        ("(floor-div -7 2)", -4),
        ("(floor-div 7.5 2)", 3.0),
        ("(mod -7 3)", 2),
        ("(rem -7 3)", -1),
        ("(rem -7.5 2)", -1.5),
        ("(pow 2 10)", 1024),
        ("(pow 2 -1)", 0.5),
        ("(pow 2 0.5)", math.sqrt(2)),
        ("(min 3 1 2)", 1),
        ("(max 1 2.5)", 2.5),
        ("(max 3 2.5)", 3.0),
        ("(abs -3)", 3),
        ("(sign -0.5)", -1.0),
        ("(sign 7)", 1),
        ("(square 1.5)", 2.25),
        ("(reciprocal 4)", 0.25),
        ("(floor -1.5)", -2),
        ("(ceil -1.5)", -1),
        ("(round 2.5)", 2),
        ("(round 3.5)", 4),
        ("(round 7)", 7),
        ("(sqrt 4)", 2.0),
        ("(exp 0)", 1.0),
        ("(relu 3)", 3.0),
        ("(sigmoid -1000)", 0.0),
        ("(softplus 1000)", 1000.0),
        ("(gelu 0 :approximate true)", 0.0),
        ("(logaddexp inf inf)", math.inf),
        ("(clip 7 0 5)", 5),
        ("(clip 7 0 5.0)", 5.0),
        ("(is-nan nan)", True),
        ("(is-finite 3)", True),
        ("(= 1 1.0)", True),
        ("(/= true false)", True),
        ("(< 1 2)", True),
        ("(logical-and true false true)", False),
        ("(logical-not false)", True),
        ("(bit-xor 6 3 1)", 4),
        ("(shift-left 1 100)", 1 << 100),
        ("(shift-right -5 1)", -3),
        ("(where false 1 2.0)", 2.0),
        ("(where true 1 2.0)", 1.0),
        ("(where true false true)", False),
        ("(stop-gradient 3)", 3),
    ],
)
def test_host_numbers_stay_on_the_host(text: str, value: Value) -> None:
    tracer = FakeTracer()
    found = run(text, tracer)
    assert (type(found), found) == (type(value), value)
    assert not tracer.graph.nodes


@given(st.integers(), st.integers())
def test_host_integers_are_exact(x: int, y: int) -> None:
    names: dict[str, Any] = {"x": x, "y": y}
    for op, exact in {"+": x + y, "-": x - y, "*": x * y, "min": min(x, y), "bit-or": x | y}.items():
        assert run(f"({op} x y)", **names) == exact
    if y:
        assert (run("(floor-div x y)", **names), run("(mod x y)", **names)) == divmod(x, y)
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        assert run("(rem x y)", **names) == x - quotient * y


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tanh", "square", "reciprocal"])
@given(st.floats(allow_nan=False, width=32))
def test_host_floats_are_numpys_or_a_fault(name: str, x: float) -> None:
    with np.errstate(all="ignore"):
        expected = float(getattr(np, name)(np.float64(x)))
    if math.isfinite(expected) or (math.isinf(x) and not math.isnan(expected)):
        assert run(f"({name} x)", x=x) == pytest.approx(expected, rel=1e-12)
    else:
        faulty(rules.TYPE_KIND, "x", f"({name} x)", x=x)


@pytest.mark.parametrize(
    ("at", "text"),
    [
        ("0", "(/ 1 0)"),
        ("0", "(/ 0)"),
        ("0.0", "(/ 1.5 0.0)"),
        ("0", "(floor-div 7 0)"),
        ("0", "(mod 7 0)"),
        ("0.0", "(rem 7.5 0.0)"),
        ("-1", "(pow 0 -1)"),
        ("0.5", "(pow -8 0.5)"),
        ("-1", "(sqrt -1)"),
        ("0", "(log 0)"),
        ("-1", "(log1p -1)"),
        ("0", "(rsqrt 0)"),
        ("1000", "(exp 1000)"),
        ("1e300", "(* 2 1e300 1e300)"),
        ("400", "(pow 10.0 400)"),
        ("nan", "(floor nan)"),
        ("inf", "(round inf)"),
        ("1.5", "(bit-and 3 1.5)"),
        ("-2", "(shift-left 1 -2)"),
    ],
)
def test_host_computation_without_a_result_is_a_fault_at_the_argument(at: str, text: str) -> None:
    faulty(rules.TYPE_KIND, at, text)


@pytest.mark.parametrize(
    "text", ["(pow 2 4096)", "(pow 3 big)", "(shift-left 1 4096)", "(* half half 4)", "(square most)", "(+ most 1)"]
)
def test_integers_that_grow_too_long_pass_the_bound(text: str) -> None:
    with pytest.raises(LimitPassed, match="4,096 bits"):
        run(text, big=10**1000, half=1 << 2047, most=(1 << 4096) - 1)


def test_integers_up_to_the_bound_are_kept() -> None:
    assert run("(pow 2 4095)") == 1 << 4095
    assert run("(shift-right -1 big)", big=1 << 4000) == -1
    assert run("(pow -1 big)", big=1 << 4000) == 1


def test_calls_need_the_arguments_that_lisp_needs() -> None:
    takes = {name: [OPS[name].signature.takes(count) for count in range(1, 4)] for name in ("+", "-", "<", "min")}
    assert takes == {"+": [False, True, True], "-": [True, True, True], "<": [False, True, False], "min": [False, True, True]}
