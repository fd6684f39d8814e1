"""Rows of the operator table: what acts on each element alone. Operands have one dtype, and broadcast as NumPy's do.

Functions that are alike stand in tables by name; `host.py` computes the same on host numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Edit, Fix
from sexpgpu.graph.nodes import Node
from sexpgpu.language.dtypes import BOOL, DType
from sexpgpu.language.fault import Fault, HostFault
from sexpgpu.language.values import Keyword, List, Symbol, Value, kind_of
from sexpgpu.ops import host
from sexpgpu.ops.call import Accepts, Call, any_dtype, boolean, floating, integral, numeric
from sexpgpu.ops.table import op
from sexpgpu.reader.forms import Form

Rule = Callable[[Call], Value]


def _operands(call: Call, *names: str) -> list[tuple[Value, Form]]:
    """The arguments of those names, then those of the rest parameter."""
    return [(call.value(name), call.at(name)) for name in names] + call.rest


def _fold(call: Call, operands: list[tuple[Value, Form]], only: Accepts) -> Node:
    """The operation on two or more operands, from the left."""
    nodes = call.join_all(operands, only)
    result = nodes[0]
    for node in nodes[1:]:
        result = call.emit([result, node], call.broadcast(result, node), result.dtype)
    return result


def _map(call: Call, only: Accepts, dtype: DType | None = None, name: str = "") -> Node:
    """The operation on the one argument `x`."""
    x = call.tensor("x", only)
    return call.emit([x], x.shape, dtype or x.dtype, op=name or None)


# What a rule is made of


def _mapped(only: Accepts, dtype: DType | None = None) -> Rule:
    return lambda call: _map(call, only, dtype)


def _folded(only: Accepts, *names: str) -> Rule:
    return lambda call: _fold(call, _operands(call, *(names or ("x", "y"))), only)


def _compared(only: Accepts) -> Rule:
    def rule(call: Call) -> Value:
        for name in ("x", "y"):
            value = call.value(name)
            if only is any_dtype and isinstance(value, (str, Keyword, Symbol, List)):
                message = f"`{call.name}` compares numbers and tensors, and this is {kind_of(value)}"
                raise call.fault(rules.TYPE_KIND, name, message, "write (equal a b) to compare other values")
        x, y = call.join("x", "y", only=only)
        return call.emit([x, y], call.broadcast(x, y), BOOL)

    return rule


# Rules of their own


def _subtract(call: Call) -> Value:
    return _fold(call, _operands(call, "x"), numeric) if call.rest else _map(call, numeric, name="neg")


def _divide(call: Call) -> Value:
    operands = _operands(call, "x")
    for value, at in operands:
        if isinstance(value, Node) and value.dtype.is_integer:
            raise _no_division(call, value, at, operands)
    return _fold(call, operands, floating) if call.rest else _map(call, floating, name="reciprocal")


def _no_division(call: Call, value: Node, at: Form, operands: list[tuple[Value, Form]]) -> Fault:
    """The fault for an integer operand; if no other is a float, `floor-div` may have been meant."""
    message = f"`/` takes floats, and this is {kind_of(value)}"
    head = call.head
    meets = next((f":{other.dtype.name}" for other, _ in operands if isinstance(other, Node) and other.dtype.is_float), None)
    help, fixes = call.wrapped(at, "cast", meets or ":float")
    if meets is None and not any(isinstance(other, float) for other, _ in operands):
        help = "write floor-div for whole numbers, or cast to :float first"
        if len(operands) == 2 and head.text == "/":
            fixes = (Fix("divide with floor-div", (Edit(head, "floor-div"),), safe=False), *fixes)
    return call.fault(rules.DTYPE_OPERATOR, at, message, help, fixes)


def _clip(call: Call) -> Value:
    nodes = call.join("x", "lo", "hi")
    return call.emit(nodes, call.broadcast(*nodes), nodes[0].dtype)


def _gelu(call: Call) -> Value:
    approximate = call.boolean("approximate")
    value = call.value("x")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return host.gelu_approximate(value) if approximate else host.FLOATS["gelu"](value)
        except HostFault as fault:
            raise call.fault(rules.TYPE_KIND, "x", fault.message) from None
    x = call.tensor("x", floating)
    return call.emit([x], x.shape, x.dtype, approximate=approximate)


def _where(call: Call) -> Value:
    condition = call.tensor("condition", boolean)
    x, y = call.join("x", "y", only=any_dtype)
    return call.emit([condition, x, y], call.broadcast(condition, x, y), x.dtype)


def _cast(call: Call) -> Value:
    dtype = call.dtype("dtype")
    value = call.value("x")
    if isinstance(value, (int, float)):
        return call.constant(_converted(call, value, dtype), dtype, call.at("x"))
    x = call.tensor("x")
    return x if x.dtype is dtype else call.emit([x], x.shape, dtype)


def _converted(call: Call, number: int | float, dtype: DType) -> int | float | bool:
    """A host number or boolean as a value of `dtype`; a fault E-DTYPE-002 at it where the dtype has none."""
    if dtype is BOOL:
        return number != 0
    if isinstance(number, bool) or (isinstance(number, float) and dtype.is_integer and math.isfinite(number)):
        number = int(number)
    return call.fitting(number, dtype, call.at("x"))


# The table: name, parameters, rule, what the backward pass keeps, example, meaning

# fmt: off
_ROWS: list[tuple[str, str, Rule, str, str, str]] = [
    ("+", "x y &rest more", _folded(numeric), "none", "(+ (ones [2 3]) (iota [3] :dtype :f32) 1)",
     "The sum of two or more operands."),
    ("-", "x &rest more", _subtract, "none", "(- (ones [3]) 0.5)",
     "The first operand less all others; of a single one, its negation."),
    ("*", "x y &rest more", _folded(numeric), "inputs", "(* 2 (ones [2 3]))",
     "The product of two or more operands."),
    ("/", "x &rest more", _divide, "inputs", "(/ (iota [4] :dtype :f32) 4)",
     "The first operand divided by all others; of a single one, its reciprocal. Integer tensors divide with `floor-div`."),
    ("floor-div", "x y", _folded(numeric), "none", "(floor-div (iota [6]) 2)",
     "The quotient, rounded toward minus infinity as in Python. An integer divided by a zero of a tensor gives 0."),
    ("mod", "x y", _folded(numeric), "inputs", "(mod (iota [6]) 4)",
     "What `floor-div` leaves: it has the sign of `y`, as in Python. An integer modulo a zero of a tensor gives 0."),
    ("rem", "x y", _folded(numeric), "inputs", "(rem (- (iota [6]) 3) 2)",
     "What a division rounded toward zero leaves: it has the sign of `x`. An integer modulo a zero of a tensor gives 0."),
    ("pow", "x y", _folded(numeric), "both", "(pow (iota [4] :dtype :f32) 2)",
     "`x` to the power of `y`. Of integer tensors, a negative power is rounded toward zero, and gives 0 for 0."),
    ("min", "x y &rest more", _folded(numeric), "inputs", "(min (iota [4]) 2)",
     "The least of two or more operands, element by element; nan where one is nan."),
    ("max", "x y &rest more", _folded(numeric), "inputs", "(max (iota [4]) 2)",
     "The greatest of two or more operands, element by element; nan where one is nan."),
    ("logaddexp", "x y", _folded(floating), "inputs", "(logaddexp (zeros [3]) -1.0)",
     "log(exp(x) + exp(y)), without overflow on the way. Floats only."),
    ("clip", "x lo hi", _clip, "inputs", "(clip (iota [6] :dtype :f32) 1 4)",
     "`x`, but `lo` where it is less and `hi` where it is greater; `hi` where the two cross."),

    ("abs", "x", _mapped(numeric), "inputs", "(abs (tensor [-1.5 2.0]))", "The absolute value."),
    ("neg", "x", _mapped(numeric), "none", "(neg (tensor [-1.5 2.0]))", "The negation, as `(- x)`."),
    ("sign", "x", _mapped(numeric), "none", "(sign (tensor [-1.5 0.0 2.0]))",
     "-1, 0 or 1 by the sign, in the dtype of `x`; nan of nan."),
    ("square", "x", _mapped(numeric), "inputs", "(square (tensor [1.0 2.0]))", "`x` times itself."),
    ("reciprocal", "x", _mapped(floating), "inputs", "(reciprocal (tensor [1.0 4.0]))", "1 divided by `x`. Floats only."),
    ("floor", "x", _mapped(floating), "none", "(floor (tensor [-1.5 2.5]))",
     "The greatest whole number that is not above `x`, as a float; of a host number, as an integer."),
    ("ceil", "x", _mapped(floating), "none", "(ceil (tensor [-1.5 2.5]))",
     "The least whole number that is not below `x`, as a float; of a host number, as an integer."),
    ("round", "x", _mapped(floating), "none", "(round (tensor [-1.5 2.5]))",
     "The nearest whole number, of two the even one, as a float; of a host number, as an integer."),

    ("exp", "x", _mapped(floating), "output", "(exp (tensor [0.0 1.0]))", "e to the power of `x`. Floats only."),
    ("expm1", "x", _mapped(floating), "output", "(expm1 (tensor [0.0 1e-6]))", "exp(x) - 1, exact near 0. Floats only."),
    ("log", "x", _mapped(floating), "inputs", "(log (tensor [1.0 2.0]))", "The natural logarithm. Floats only."),
    ("log1p", "x", _mapped(floating), "inputs", "(log1p (tensor [0.0 1e-6]))", "log(1 + x), exact near 0. Floats only."),
    ("sqrt", "x", _mapped(floating), "output", "(sqrt (tensor [1.0 4.0]))", "The square root. Floats only."),
    ("rsqrt", "x", _mapped(floating), "both", "(rsqrt (tensor [1.0 4.0]))", "1 divided by the square root. Floats only."),
    ("sin", "x", _mapped(floating), "inputs", "(sin (tensor [0.0 1.0]))", "The sine of an angle in radians. Floats only."),
    ("cos", "x", _mapped(floating), "inputs", "(cos (tensor [0.0 1.0]))", "The cosine of an angle in radians. Floats only."),
    ("tanh", "x", _mapped(floating), "output", "(tanh (tensor [-1.0 1.0]))", "The hyperbolic tangent. Floats only."),
    ("erf", "x", _mapped(floating), "inputs", "(erf (tensor [-1.0 1.0]))", "The error function. Floats only."),
    ("sigmoid", "x", _mapped(floating), "output", "(sigmoid (tensor [-1.0 1.0]))", "1 / (1 + exp(-x)). Floats only."),
    ("log-sigmoid", "x", _mapped(floating), "inputs", "(log-sigmoid (tensor [-1.0 1.0]))",
     "log(sigmoid(x)), without overflow on the way. Floats only."),
    ("relu", "x", _mapped(floating), "inputs", "(relu (tensor [-1.0 1.0]))", "`x` where it is above 0, else 0. Floats only."),
    ("gelu", "x &key (approximate false)", _gelu, "inputs", "(gelu (tensor [-1.0 1.0]) :approximate true)",
     "x · Φ(x), with Φ the standard normal's distribution function; `:approximate true` takes the tanh formula. Floats only."),
    ("silu", "x", _mapped(floating), "inputs", "(silu (tensor [-1.0 1.0]))", "x · sigmoid(x), also known as swish. Floats only."),
    ("softplus", "x", _mapped(floating), "inputs", "(softplus (tensor [-1.0 1.0]))",
     "log(1 + exp(x)), without overflow on the way. Floats only."),
    ("is-nan", "x", _mapped(floating, BOOL), "none", "(is-nan (tensor [0.0 nan]))", "True where `x` is nan. Floats only."),
    ("is-finite", "x", _mapped(floating, BOOL), "none", "(is-finite (tensor [0.0 inf]))",
     "True where `x` is neither infinite nor nan. Floats only."),

    ("=", "x y", _compared(any_dtype), "none", "(= (iota [4]) 2)",
     "True where `x` and `y` are equal; nan equals nothing. Strings, keywords and lists compare with `equal`."),
    ("/=", "x y", _compared(any_dtype), "none", "(/= (iota [4]) 2)", "True where `x` and `y` differ; nan differs from all."),
    ("<", "x y", _compared(numeric), "none", "(< (iota [4]) 2)", "True where `x` is less than `y`."),
    ("<=", "x y", _compared(numeric), "none", "(<= (iota [4]) 2)", "True where `x` is at most `y`."),
    (">", "x y", _compared(numeric), "none", "(> (iota [4]) 2)", "True where `x` is greater than `y`."),
    (">=", "x y", _compared(numeric), "none", "(>= (iota [4]) 2)", "True where `x` is at least `y`."),
    ("logical-and", "x y &rest more", _folded(boolean), "none", "(logical-and (> (iota [4]) 0) (< (iota [4]) 3))",
     "True where all operands are. `:bool` only; to decide before the run, write `and`."),
    ("logical-or", "x y &rest more", _folded(boolean), "none", "(logical-or (< (iota [4]) 1) (> (iota [4]) 2))",
     "True where one of the operands is, or more. `:bool` only; to decide before the run, write `or`."),
    ("logical-xor", "x y &rest more", _folded(boolean), "none", "(logical-xor (< (iota [4]) 3) (> (iota [4]) 0))",
     "True where an odd number of the operands are. `:bool` only."),
    ("logical-not", "x", _mapped(boolean), "none", "(logical-not (> (iota [4]) 1))", "True where `x` is false. `:bool` only."),
    ("bit-and", "x y &rest more", _folded(integral), "none", "(bit-and (iota [8]) 3)",
     "The bits set in all operands. Integers only."),
    ("bit-or", "x y &rest more", _folded(integral), "none", "(bit-or (iota [8]) 3)",
     "The bits set in one operand or more. Integers only."),
    ("bit-xor", "x y &rest more", _folded(integral), "none", "(bit-xor (iota [8]) 3)",
     "The bits set in an odd number of the operands. Integers only."),
    ("shift-left", "x count", _folded(integral, "x", "count"), "none", "(shift-left (iota [8]) 2)",
     "The bits of `x` moved up by `count` places; what passes the end is lost. Integers only."),
    ("shift-right", "x count", _folded(integral, "x", "count"), "none", "(shift-right (iota [8]) 2)",
     "The bits of `x` moved down by `count` places; a negative number stays negative. Integers only."),
    ("where", "condition x y", _where, "indices", "(where (> (iota [4]) 1) 1.0 0.0)",
     "`x` where the `:bool` condition is true, `y` elsewhere; all broadcast. This is how a graph branches: both are computed."),
    ("cast", "x dtype", _cast, "none", "(cast (iota [4]) :f32)",
     "`x` in another dtype. A float becomes an integer by rounding toward zero, and `:bool` is true where `x` is not 0."),
    ("stop-gradient", "x", _mapped(any_dtype), "none", "(stop-gradient (ones [3]))", "`x`, through which no gradient flows."),
]
# fmt: on

for _name, _signature, _rule, _kept, _example, _doc in _ROWS:
    op(_name, _signature, "elementwise", _doc, _example, host=host.HOST.get(_name), residuals=_kept)(_rule)
