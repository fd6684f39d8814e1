"""Rows of the operator table: draws.

A draw is a pure function of the run's seed, its place (the attribute `place`) and its salt, the last input of its node: an integer
scalar, 0 where none was given (language §5). Floats are drawn in f32 and then cast.
"""

from __future__ import annotations

from collections.abc import Callable

from sexpgpu.diagnostics import rules
from sexpgpu.graph.nodes import Node, Shape
from sexpgpu.language.dtypes import BOOL, F32, I32, I64, DType
from sexpgpu.language.values import Value
from sexpgpu.ops.call import Accepts, Call, bracketed, floating, integral
from sexpgpu.ops.checks import broadcasts_to
from sexpgpu.ops.host import shown
from sexpgpu.ops.table import op

_SALT = (
    "The result depends on the seed, the place in the file and `:salt` alone: salted with `(getf ctx :step)` it is new each step."
)


def _draw(call: Call, inputs: list[Node], shape: Shape, dtype: DType, **attrs: float) -> Node:
    """The node of a draw: behind its inputs the salt."""
    salt = _salt(call)
    if salt is None:
        salt = call.constant(0, I64, call.form)
    return call.tracer.emit(call.name, [*inputs, salt], shape, dtype, {"place": call.tracer.place(call.name), **attrs}, call.form)


def _salt(call: Call) -> Node | None:
    if not call.given("salt"):
        return None
    value = call.value("salt")
    if isinstance(value, float):
        raise call.wrong_kind(value, call.at("salt"), "an integer as salt")
    salt = call.tensor("salt", integral)
    if salt.shape:
        message = f"`{call.name}` takes an integer scalar as salt, and this is {bracketed(salt.shape)}"
        raise call.fault(rules.SHAPE_OPERATOR, "salt", message, "reduce it to one number, as in (sum x)")
    return salt


def _dtype(call: Call, only: Accepts, default: DType | None = None) -> DType:
    dtype = call.dtype("dtype", default)
    if not only(dtype):
        wanted, instead = ("a float", ":f32") if only is floating else ("an integer", ":i32")
        message = f"`{call.name}` draws {wanted} dtype, and this is {dtype!r}"
        raise call.fault(rules.DTYPE_OPERATOR, "dtype", message, f"write {instead}, and cast the result")
    return dtype


def _finite(call: Call, name: str, default: float) -> float:
    """A host number that says what is drawn."""
    if not call.given(name):
        return default
    value = call.value(name)
    if isinstance(value, Node):
        message = f"`{call.name}` needs a number that is known before the run as {name}, and this is a tensor"
        raise call.fault(rules.STAGE_TENSOR, name, message, f"draw without :{name}, then scale and shift the result")
    number = call.number(name)
    if not F32.least <= number <= F32.most:
        raise call.fault(rules.TYPE_KIND, name, f"`{call.name}` draws in f32, and {shown(number)} is no finite number there")
    return float(number)


@op(
    "uniform",
    "shape &key (lo 0.0) (hi 1.0) (salt 0) (dtype :float)",
    "random",
    f"Numbers spread evenly from `lo` to `hi`, which is excluded. {_SALT}",
    "(uniform [2 3] :lo -1.0 :salt 7)",
    draw=True,
    residuals="none",
)
def uniform(call: Call) -> Value:
    shape, dtype = call.shape(), _dtype(call, floating)
    lo, hi = _finite(call, "lo", 0.0), _finite(call, "hi", 1.0)
    if hi < lo:
        at = "hi" if call.given("hi") else "lo"
        raise call.fault(rules.TYPE_KIND, at, f"`uniform` draws from lo up to hi, and {lo} is above {hi}", "exchange the two")
    return _draw(call, [], shape, dtype, lo=lo, hi=hi)


@op(
    "normal",
    "shape &key (mean 0.0) (std 1.0) (salt 0) (dtype :float)",
    "random",
    f"Normally distributed numbers. {_SALT}",
    "(normal [2 3] :std 0.02 :salt 7)",
    draw=True,
    residuals="none",
)
def normal(call: Call) -> Value:
    shape, dtype = call.shape(), _dtype(call, floating)
    mean, std = _finite(call, "mean", 0.0), _finite(call, "std", 1.0)
    if std < 0:
        raise call.fault(rules.TYPE_KIND, "std", f"`normal` needs a standard deviation of 0 or more, not {std}")
    return _draw(call, [], shape, dtype, mean=mean, std=std)


@op(
    "bernoulli",
    "p shape &key (salt 0)",
    "random",
    f"True with probability p, a number or a float tensor that broadcasts to the shape. {_SALT}",
    "(bernoulli 0.5 [2 3] :salt 7)",
    draw=True,
    residuals="none",
)
def bernoulli(call: Call) -> Value:
    p = _probability(call, "p", "from 0 to 1", lambda number: 0 <= number <= 1)
    shape = call.shape()
    broadcasts_to(call, "a p", p.shape, shape)
    return _draw(call, [p], shape, BOOL)


def _probability(call: Call, name: str, wanted: str, holds: Callable[[float], bool]) -> Node:
    """A float tensor; a host number becomes an f32 constant, if it holds."""
    value = call.value(name)
    if type(value) is int or type(value) is float:
        if not holds(value):
            raise call.fault(rules.TYPE_KIND, name, f"`{call.name}` takes a number {wanted} here, not {value}")
        return call.constant(float(value), F32, call.at(name))
    return call.tensor(name, floating)


@op(
    "randint",
    "shape lo hi &key (salt 0) (dtype :i32)",
    "random",
    f"Integers from `lo` up to `hi`, which is excluded, each as likely. {_SALT}",
    "(randint [2 3] 0 10 :salt 7)",
    draw=True,
    residuals="none",
)
def randint(call: Call) -> Value:
    shape, dtype = call.shape(), _dtype(call, integral, I32)
    lo, hi = call.integer("lo"), call.integer("hi")
    if hi <= lo:
        message = f"`randint` draws from lo up to hi, which is excluded, and there is nothing from {lo} to {hi}"
        raise call.fault(rules.TYPE_KIND, "hi", message, "hi must be above lo")
    for name, number in (("lo", lo), ("hi", hi - 1)):
        if not dtype.fits(number):
            message = f"`randint` may draw {number}, which does not fit {dtype!r} ({dtype.least} to {dtype.most})"
            raise call.fault(rules.DTYPE_NUMBER, name, message, "draw a wider :dtype")
    return _draw(call, [], shape, dtype, lo=lo, hi=hi)


@op(
    "categorical",
    "logits &key (axis -1) (salt 0)",
    "random",
    f"The index of a class along the axis, drawn with the probabilities softmax(logits), `:i32`. {_SALT}",
    "(categorical (zeros [4 10]) :salt 7)",
    draw=True,
    residuals="none",
)
def categorical(call: Call) -> Value:
    logits = call.tensor("logits", floating)
    axis = call.axis("axis", len(logits.shape), -1, of="logits")
    if not logits.shape[axis]:
        message = f"`categorical` has no class to draw: axis {axis} of {bracketed(logits.shape)} is empty"
        raise call.fault(rules.SHAPE_OPERATOR, "logits", message)
    return _draw(call, [logits], (*logits.shape[:axis], *logits.shape[axis + 1 :]), I32, axis=axis)


@op(
    "gumbel",
    "shape &key (salt 0)",
    "random",
    f"Standard Gumbel numbers, `:float`: the argmax of logits with these added is a `categorical` draw. {_SALT}",
    "(gumbel [2 3] :salt 7)",
    draw=True,
    residuals="none",
)
def gumbel(call: Call) -> Value:
    return _draw(call, [], call.shape(), call.tracer.float)


@op(
    "permutation",
    "n &key (salt 0)",
    "random",
    f"The integers from 0 to n - 1 in random order, `:i32` `[n]`. {_SALT}",
    "(permutation 8 :salt 7)",
    draw=True,
    residuals="none",
)
def permutation(call: Call) -> Value:
    n = call.integer("n", 0)
    if not I32.fits(n):
        raise call.fault(rules.DTYPE_NUMBER, "n", f"`permutation` gives :i32, which cannot count to {n}")
    return _draw(call, [], (n,), I32)


@op(
    "dropout",
    "x rate &key (salt 0)",
    "random",
    "x with each element 0 with probability `rate` and multiplied by 1/(1 - rate) otherwise. The rate is a number from 0 to 1, 1 "
    f"excluded, or a float scalar; of the number 0 the result is x, and nothing is drawn. {_SALT}",
    "(dropout (ones [2 3]) 0.1 :salt 7)",
    draw=True,
    residuals="none",
)
def dropout(call: Call) -> Value:
    x = call.tensor("x", floating)
    rate = call.value("rate")
    if type(rate) in (int, float) and rate == 0:
        _salt(call)
        return x
    rate = _probability(call, "rate", "from 0 up to, but not including, 1", lambda number: 0 <= number < 1)
    if rate.shape:
        message = f"`dropout` takes a scalar as rate, and this is {bracketed(rate.shape)}"
        raise call.fault(rules.SHAPE_OPERATOR, "rate", message, "(bernoulli p shape) draws with a probability for each element")
    return _draw(call, [x, rate], x.shape, x.dtype)
