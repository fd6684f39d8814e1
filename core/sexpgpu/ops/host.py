"""Elementwise operators on host numbers: exact integers, Python's floats, and a fault where there is no result (operators.md).

Every function raises HostFault at the argument that has no result, LimitPassed where an integer grows too long.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sexpgpu.language.fault import HostFault, LimitPassed

if TYPE_CHECKING:
    from sexpgpu.language.values import Number, Value
    from sexpgpu.ops.table import HostFunction

MOST_BITS = 4096
"""How long a host integer may be (language §3)."""


def on_numbers(name: str, function: HostFunction) -> HostFunction:
    """`function`, refusing booleans."""

    def host(*values: Number) -> Value:
        for index, value in enumerate(values):
            if isinstance(value, bool):
                raise HostFault(index, f"`{name}` needs a tensor or a number here, and this is {_said(value)}")
        return function(*values)

    return host


def on_booleans(name: str, function: HostFunction) -> HostFunction:
    """`function`, refusing numbers."""

    def host(*values: Number) -> Value:
        for index, value in enumerate(values):
            if not isinstance(value, bool):
                raise HostFault(index, f"`{name}` needs true or false here, and this is {_said(value)}")
        return function(*values)

    return host


def on_pairs(name: str, function: HostFunction) -> HostFunction:
    """`function` on two values, refusing a boolean beside a number."""

    def host(x: Number, y: Number) -> Value:
        if isinstance(x, bool) is not isinstance(y, bool):
            raise HostFault(1, f"`{name}` is given {_said(x)} and {_said(y)}", "give it two numbers, or two booleans")
        return function(x, y)

    return host


def _said(value: Number) -> str:
    return str(value).lower() if isinstance(value, bool) else shown(value)


def shown(number: Number) -> str:
    """A number for a message; a long integer by its length alone."""
    if isinstance(number, float) or -(10**40) < number < 10**40:
        return str(number)
    return f"an integer of {number.bit_length():,} bits"


def too_long() -> LimitPassed:
    return LimitPassed(f"an integer here has more than {MOST_BITS:,} bits")


def as_float(number: Number, argument: int) -> float:
    try:
        return float(number)
    except OverflowError:
        raise HostFault(argument, f"{shown(number)} is too large for a float") from None


def joined(values: Sequence[Number]) -> Sequence[Number]:
    """The numbers as they are, or all as floats where one of them is a float."""
    if any(type(value) is float for value in values):
        return [as_float(value, index) for index, value in enumerate(values)]
    return values


def _within(result: Number, name: str, argument: int, *operands: Number) -> Number:
    """The result, unless it is too long an integer, or a float that finite operands have driven out of range."""
    if isinstance(result, int):
        if result.bit_length() > MOST_BITS:
            raise too_long()
    elif not math.isfinite(result) and all(map(_finite, operands)):
        raise HostFault(argument, f"the result of `{name}` is too large for a float")
    return result


def _finite(number: Number) -> bool:
    return isinstance(number, int) or math.isfinite(number)


# From float to float


def float_function(name: str, function: Callable[[float], float]) -> Callable[[Number], float]:
    """`function` on numbers as floats, with its domain and range errors as faults."""

    def host(x: Number) -> float:
        value = as_float(x, 0)
        try:
            return function(value)
        except (ValueError, ZeroDivisionError):
            raise HostFault(0, f"`{name}` has no value at {shown(x)}") from None
        except OverflowError:
            raise HostFault(0, f"`{name}` of {shown(x)} is too large for a float") from None

    return host


def _sigmoid(x: float) -> float:
    small = math.exp(-abs(x))
    return (1.0 if x >= 0 else small) / (1.0 + small)


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _gelu(x: float) -> float:
    return 0.5 * x * math.erfc(-x / math.sqrt(2.0))


def gelu_approximate(x: Number) -> float:
    value = as_float(x, 0)
    return 0.5 * value * (1.0 + math.tanh(math.sqrt(2.0 / math.pi) * (value + 0.044715 * value * value * value)))


_FLOATS: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "expm1": math.expm1,
    "log": math.log,
    "log1p": math.log1p,
    "sqrt": math.sqrt,
    "rsqrt": lambda x: 1.0 / math.sqrt(x),
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
    "erf": math.erf,
    "sigmoid": _sigmoid,
    "log-sigmoid": lambda x: -_softplus(-x),
    "relu": lambda x: 0.0 if x < 0 else x,
    "gelu": _gelu,
    "silu": lambda x: x * _sigmoid(x),
    "softplus": _softplus,
    "reciprocal": lambda x: 1.0 / x,
}
FLOATS = {name: float_function(name, function) for name, function in _FLOATS.items()}


def logaddexp(x: Number, y: Number) -> float:
    a, b = as_float(x, 0), as_float(y, 1)
    return a + math.log(2.0) if a == b else max(a, b) + math.log1p(math.exp(-abs(a - b)))


# Arithmetic


def folded(name: str, function: Callable[..., Number], alone: Callable[[Number], Number] | None = None) -> Callable[..., Number]:
    """`function` over two or more numbers from the left; `alone` for a single one."""

    def host(*values: Number) -> Number:
        if len(values) == 1 and alone is not None:
            return alone(values[0])
        numbers = joined(values)
        result = numbers[0]
        for index, number in enumerate(numbers[1:], 1):
            try:
                result = _within(function(result, number), name, index, result, number)
            except ZeroDivisionError:
                raise HostFault(index, f"`{name}` divides by zero") from None
            except (OverflowError, ValueError):
                raise HostFault(index, f"`{name}` of {shown(result)} and {shown(number)} has no value that a float holds") from None
        return result

    return host


def neg(x: Number) -> Number:
    return -x


def _divide(x: Number, y: Number) -> float:
    return x / y


def _floor_div(x: Number, y: Number) -> Number:
    return x // y


def _abs(x: Number) -> Number:
    return abs(x)


def _rem(x: Number, y: Number) -> Number:
    if isinstance(x, float) or isinstance(y, float):
        if y == 0:
            raise ZeroDivisionError
        return math.fmod(x, y)
    rest = abs(x) % abs(y)
    return -rest if x < 0 else rest


def _pow(x: Number, y: Number) -> Number:
    if isinstance(x, int) and isinstance(y, int) and y > 0 and (abs(x).bit_length() - 1) * y >= MOST_BITS:
        raise too_long()
    if x < 0 and isinstance(y, float) and math.isfinite(y) and not y.is_integer():
        raise ValueError
    return x**y


def _min(x: Number, y: Number) -> Number:
    return y if y < x or y != y else x


def _max(x: Number, y: Number) -> Number:
    return y if y > x or y != y else x


def square(x: Number) -> Number:
    return _within(x * x, "square", 0, x)


def sign(x: Number) -> Number:
    if x != x:
        return x
    return type(x)((x > 0) - (x < 0))


def clip(x: Number, lo: Number, hi: Number) -> Number:
    x, lo, hi = joined([x, lo, hi])
    return _min(_max(x, lo), hi)


def rounded(name: str, function: Callable[[float], int]) -> Callable[[Number], int]:
    """`floor`, `ceil` or `round`: from a number to an integer."""

    def host(x: Number) -> int:
        if isinstance(x, int):
            return x
        if not math.isfinite(x):
            raise HostFault(0, f"`{name}` has no integer for {x}")
        return function(x)

    return host


def is_nan(x: Number) -> bool:
    return x != x


def where(condition: Number, x: Number, y: Number) -> Number:
    if not isinstance(condition, bool):
        raise HostFault(0, f"`where` needs a :bool tensor here, and this is {_said(condition)}", "compare, as in (> x 0)")
    if isinstance(x, bool) is not isinstance(y, bool):
        raise HostFault(2, f"`where` chooses between {_said(x)} and {_said(y)}", "give it two numbers, or two booleans")
    if isinstance(x, bool):
        return x if condition else y
    return joined([x, y])[0 if condition else 1]


def _same(value: Number) -> Number:
    return value


# Bits


def folded_bits(name: str, function: Callable[[int, int], int]) -> Callable[..., int]:
    """`function` over two or more integers; a float is a fault."""

    def host(*values: Number) -> int:
        result: int | None = None
        for index, value in enumerate(values):
            if not isinstance(value, int):
                raise HostFault(index, f"`{name}` takes integers, and this is the float {value}")
            result = value if result is None else function(result, value)
        assert result is not None
        return result

    return host


def _shift_left(x: int, count: int) -> int:
    if count < 0:
        raise HostFault(1, f"`shift-left` by {shown(count)} places", "write shift-right to shift the other way")
    if x and x.bit_length() + count > MOST_BITS:
        raise too_long()
    return x << count if x else 0


def _shift_right(x: int, count: int) -> int:
    if count < 0:
        raise HostFault(1, f"`shift-right` by {shown(count)} places", "write shift-left to shift the other way")
    return x >> min(count, MOST_BITS)


# The table

_NUMBERS: dict[str, HostFunction] = {
    **FLOATS,
    "logaddexp": logaddexp,
    "+": folded("+", operator.add),
    "-": folded("-", operator.sub, neg),
    "*": folded("*", operator.mul),
    "/": folded("/", _divide, FLOATS["reciprocal"]),
    "floor-div": folded("floor-div", _floor_div),
    "mod": folded("mod", operator.mod),
    "rem": folded("rem", _rem),
    "pow": folded("pow", _pow),
    "min": folded("min", _min),
    "max": folded("max", _max),
    "abs": _abs,
    "neg": neg,
    "sign": sign,
    "square": square,
    "clip": clip,
    "floor": rounded("floor", math.floor),
    "ceil": rounded("ceil", math.ceil),
    "round": rounded("round", round),
    "is-nan": is_nan,
    "is-finite": _finite,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "bit-and": folded_bits("bit-and", int.__and__),
    "bit-or": folded_bits("bit-or", int.__or__),
    "bit-xor": folded_bits("bit-xor", int.__xor__),
    "shift-left": folded_bits("shift-left", _shift_left),
    "shift-right": folded_bits("shift-right", _shift_right),
}
_BOOLEANS: dict[str, HostFunction] = {
    "logical-and": lambda *values: all(values),
    "logical-or": lambda *values: any(values),
    "logical-xor": lambda *values: sum(values) % 2 == 1,
    "logical-not": operator.not_,
}
HOST: dict[str, HostFunction] = {
    **{name: on_numbers(name, function) for name, function in _NUMBERS.items()},
    **{name: on_booleans(name, function) for name, function in _BOOLEANS.items()},
    "=": on_pairs("=", operator.eq),
    "/=": on_pairs("/=", operator.ne),
    "where": where,
    "stop-gradient": _same,
}
"""The host function of every elementwise operator but `cast`, by its name."""
