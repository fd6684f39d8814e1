"""Rows of the operator table: what puts the elements along axes together, or runs along one.

Sums and means of the half floats are made in f32 and then rounded; those of integers stay in their dtype, and wrap as NumPy's do
with that dtype.
"""

from __future__ import annotations

from collections.abc import Callable

from sexpgpu.diagnostics import rules
from sexpgpu.graph.nodes import Node, Shape
from sexpgpu.language.dtypes import BOOL, I32
from sexpgpu.language.fault import Fault
from sexpgpu.language.values import Value
from sexpgpu.ops.call import Accepts, Call, boolean, bracketed, floating, numeric
from sexpgpu.ops.table import op

_OF_BOOLEANS = {"sum": "count", "amax": "any", "amin": "all"}


def _operand(call: Call, only: Accepts) -> Node:
    """The argument `x`; of booleans, the fault names the operator that is defined for them."""
    value = call.value("x")
    instead = _OF_BOOLEANS.get(call.name)
    if isinstance(value, Node) and value.dtype is BOOL and instead:
        message = f"`{call.name}` takes numbers, and these are booleans"
        raise call.fault(rules.DTYPE_OPERATOR, "x", message, f"write ({instead} …), or cast them to :i32 first")
    return call.tensor("x", only)


def _without(shape: Shape, axes: tuple[int, ...], keepdims: bool) -> Shape:
    """The shape that is left when those axes are reduced."""
    if keepdims:
        return tuple(1 if axis in axes else extent for axis, extent in enumerate(shape))
    return tuple(extent for axis, extent in enumerate(shape) if axis not in axes)


def _empty(call: Call, x: Node, axis: int) -> Fault:
    message = f"`{call.name}` of no elements: axis {axis} of {bracketed(x.shape)} has length 0"
    return call.fault(rules.SHAPE_OPERATOR, "x", message, "reduce along axes that have elements")


def _reduced(only: Accepts, *, nonempty: bool = False) -> Callable[[Call], Value]:
    def rule(call: Call) -> Value:
        x = _operand(call, only)
        axes = call.axes("axes", len(x.shape))
        keepdims = call.boolean("keepdims")
        for axis in axes:
            if nonempty and x.shape[axis] == 0:
                raise _empty(call, x, axis)
        return call.emit([x], _without(x.shape, axes, keepdims), x.dtype, axes=axes, keepdims=keepdims)

    return rule


def _spread(call: Call) -> Value:
    x = _operand(call, floating)
    axes = call.axes("axes", len(x.shape))
    keepdims = call.boolean("keepdims")
    ddof = call.integer("ddof", least=0) if call.given("ddof") else 0
    return call.emit([x], _without(x.shape, axes, keepdims), x.dtype, axes=axes, keepdims=keepdims, ddof=ddof)


def _located(call: Call) -> Value:
    x = _operand(call, numeric)
    axis = call.axis("axis", len(x.shape), -1, of="x")
    if x.shape[axis] == 0:
        raise _empty(call, x, axis)
    keepdims = call.boolean("keepdims")
    return call.emit([x], _without(x.shape, (axis,), keepdims), I32, axis=axis, keepdims=keepdims)


def _running(call: Call) -> Value:
    x = _operand(call, numeric)
    return call.emit([x], x.shape, x.dtype, axis=call.axis("axis", len(x.shape), -1, of="x"))


def _count(call: Call) -> Value:
    mask = call.tensor("mask", boolean)
    axes = call.axes("axes", len(mask.shape))
    return call.emit([mask], _without(mask.shape, axes, False), I32, axes=axes)


def _masked_mean(call: Call) -> Value:
    x = call.tensor("x", floating)
    mask = call.tensor("mask", boolean)
    shape = call.broadcast(x, mask)
    axes = call.axes("axes", len(shape))
    return call.emit([x, mask], _without(shape, axes, False), x.dtype, axes=axes)


_ALONG = "x &key (axes nil) (keepdims false)"
_SPREAD = "x &key (axes nil) (keepdims false) (ddof 0)"
_PLACE = "x &key (axis -1) (keepdims false)"
_RUN = "x &key (axis -1)"
_ALL = "All axes when `:axes` is not given."

# The table: name, parameters, rule, what the backward pass keeps, example, meaning

# fmt: off
_ROWS: list[tuple[str, str, Callable[[Call], Value], str, str, str]] = [
    ("sum", _ALONG, _reduced(numeric), "none", "(sum (ones [2 3]) :axes 1)",
     f"The sum along `:axes`, in the dtype of `x`. {_ALL}"),
    ("mean", _ALONG, _reduced(floating), "none", "(mean (ones [2 3]) :axes [0 1])",
     f"The mean along `:axes`; nan of no elements. {_ALL}"),
    ("prod", _ALONG, _reduced(numeric), "both", "(prod (iota [4]))",
     f"The product along `:axes`, in the dtype of `x`. {_ALL}"),
    ("amax", _ALONG, _reduced(numeric, nonempty=True), "both", "(amax (iota [2 3]) :axes -1 :keepdims true)",
     f"The greatest element along `:axes`; nan where one is nan. {_ALL}"),
    ("amin", _ALONG, _reduced(numeric, nonempty=True), "both", "(amin (iota [2 3]) :axes -1 :keepdims true)",
     f"The least element along `:axes`; nan where one is nan. {_ALL}"),
    ("any", _ALONG, _reduced(boolean), "none", "(any (> (iota [2 3]) 1) :axes 1)",
     f"Whether one of the booleans along `:axes` is true. {_ALL}"),
    ("all", _ALONG, _reduced(boolean), "none", "(all (> (iota [2 3]) 1) :axes 1)",
     f"Whether every boolean along `:axes` is true. {_ALL}"),
    ("var", _SPREAD, _spread, "inputs", "(var (iota [2 3] :dtype :f32) :axes -1)",
     f"The variance along `:axes`: squared distances from the mean, over their number less `:ddof`. {_ALL}"),
    ("std", _SPREAD, _spread, "both", "(std (iota [2 3] :dtype :f32) :axes -1 :ddof 1)",
     f"The standard deviation along `:axes`: the root of `var`. {_ALL}"),
    ("logsumexp", _ALONG, _reduced(floating), "both", "(logsumexp (ones [2 3]) :axes -1)",
     f"log Σ exp(x) along `:axes`, without overflow on the way. {_ALL}"),
    ("argmax", _PLACE, _located, "none", "(argmax (iota [2 3]))",
     "Where along `:axis` the greatest element stands, as `:i32`; the first of equals, and nan counts as greatest."),
    ("argmin", _PLACE, _located, "none", "(argmin (iota [2 3]) :axis 0)",
     "Where along `:axis` the least element stands, as `:i32`; the first of equals, and nan counts as least."),
    ("cumsum", _RUN, _running, "none", "(cumsum (ones [2 3]) :axis 0)",
     "The running sum along `:axis`, each element included, in the dtype of `x`."),
    ("cumprod", _RUN, _running, "both", "(cumprod (+ (iota [4]) 1))",
     "The running product along `:axis`, each element included, in the dtype of `x`."),
    ("count", "mask &key (axes nil)", _count, "none", "(count (> (iota [2 3]) 1) :axes -1)",
     f"How many of the booleans along `:axes` are true, as `:i32`. {_ALL}"),
    ("masked-mean", "x mask &key (axes nil)", _masked_mean, "indices", "(masked-mean (ones [2 3]) (> (iota [3]) 0) :axes -1)",
     f"The mean along `:axes` of the elements where the mask is true; nan where it is nowhere true. The two broadcast. {_ALL}"),
]
# fmt: on

for _name, _signature, _rule, _kept, _example, _doc in _ROWS:
    op(_name, _signature, "reductions", _doc, _example, residuals=_kept)(_rule)
