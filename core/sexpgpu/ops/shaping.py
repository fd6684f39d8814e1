"""Rows of the operator table: axes and joins. These operators move elements and compute nothing, so they take every dtype.

Shape rules are those of NumPy's function of the name (`numpy.reshape`, `numpy.transpose`, …). Several operators make one operation:
`expand-dims` and `squeeze` are a `reshape`, `swap-axes` is a `transpose`. What cuts a tensor or grows it stands in `cuts.py`.
"""

from __future__ import annotations

from math import prod

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Edit, Fix
from sexpgpu.graph.nodes import Node, Shape, typed
from sexpgpu.language.fault import Fault
from sexpgpu.language.values import Value, kind_of
from sexpgpu.ops.call import Call, any_dtype, bracketed
from sexpgpu.ops.checks import broadcasts_to
from sexpgpu.ops.table import op
from sexpgpu.reader.forms import Form

# Axes


@op(
    "reshape",
    "x shape",
    "shaping",
    "The elements of `x` in row-major order, in another shape of as many elements. One entry may be -1: it takes what is left.",
    "(reshape (iota [2 6]) [3 -1])",
    residuals="none",
)
def reshape(call: Call) -> Value:
    x = call.tensor("x")
    return call.emit([x], _reshaped(call, x), x.dtype)


def _reshaped(call: Call, x: Node) -> Shape:
    value, at = call.value("shape"), call.at("shape")
    if type(value) is int:
        fixes = (Fix(f"write [{value}]", (Edit(at, f"[{at.text}]"),)),)
        raise call.fault(rules.TYPE_KIND, at, "`reshape` needs a shape here, and this is an integer", f"write [{value}]", fixes)
    entries = [(call.integer_of(item, form, -1), form) for item, form in call.items("shape")]
    shape = tuple(extent for extent, _ in entries)
    open = [form for extent, form in entries if extent == -1]
    if len(open) > 1:
        message = "`reshape` can work out one -1, and this is another"
        raise call.fault(rules.SHAPE_OPERATOR, open[1], message, "write the size of one of the two axes")
    count = prod(extent for extent in shape if extent != -1)
    if open and count and x.size % count == 0:
        return tuple(x.size // count if extent == -1 else extent for extent in shape)
    if open or count != x.size:
        message = f"`reshape` cannot make {bracketed(shape)} of {typed(x.shape, x.dtype)}"
        if not open:
            reason = f"that is {count} elements, not {x.size}"
            help = f"the sizes must multiply to {x.size}; one of them may be -1"
        elif count:
            reason = f"{count} does not divide {x.size}, the number of elements"
            help = f"the other sizes must multiply to a divisor of {x.size}"
        else:
            reason = "beside an axis of size 0, -1 could be anything"
            help = "write the axis's size instead of -1"
        raise call.fault(rules.SHAPE_OPERATOR, at, f"{message}: {reason}", help)
    return shape


@op(
    "transpose",
    "x &optional permutation",
    "shaping",
    "The axes of `x` in another order: axis `i` of the result is axis `permutation[i]` of `x`. Without a permutation, in reverse.",
    "(transpose (iota [2 3 4]) [0 2 1])",
    residuals="none",
)
def transpose(call: Call) -> Value:
    x = call.tensor("x")
    rank = len(x.shape)
    if not call.given("permutation"):
        return _transposed(call, x, tuple(reversed(range(rank))))
    permutation = tuple(axis for axis, _ in call.axes_at("permutation", rank))
    if len(permutation) != rank:
        message = f"`transpose` needs every one of the {rank} axes of {typed(x.shape, x.dtype)}, and {len(permutation)} stand here"
        raise call.fault(rules.SHAPE_OPERATOR, "permutation", message, f"write {bracketed(range(rank))} in another order")
    return _transposed(call, x, permutation)


@op(
    "swap-axes",
    "x a b",
    "shaping",
    "`x` with axes `a` and `b` exchanged.",
    "(swap-axes (iota [2 3 4]) 1 -1)",
    node="transpose",
    residuals="none",
)
def swap_axes(call: Call) -> Value:
    x = call.tensor("x")
    rank = len(x.shape)
    a, b = call.axis("a", rank), call.axis("b", rank)
    permutation = list(range(rank))
    permutation[a], permutation[b] = b, a
    return _transposed(call, x, tuple(permutation))


def _transposed(call: Call, x: Node, permutation: tuple[int, ...]) -> Node:
    shape = tuple(x.shape[axis] for axis in permutation)
    return call.emit([x], shape, x.dtype, op="transpose", permutation=permutation)


@op(
    "expand-dims",
    "x axes",
    "shaping",
    "`x` with new axes of size 1, which stand at `axes` of the result.",
    "(expand-dims (iota [2 3]) [0 -1])",
    node="reshape",
    residuals="none",
)
def expand_dims(call: Call) -> Value:
    x = call.tensor("x")
    value = call.value("axes")
    new = 1 if type(value) is int else len(call.items("axes"))
    rank = len(x.shape) + new
    axes = {axis for axis, _ in call.axes_at("axes", rank)}
    extents = iter(x.shape)
    return call.emit([x], tuple(1 if axis in axes else next(extents) for axis in range(rank)), x.dtype, op="reshape")


@op(
    "squeeze",
    "x axes",
    "shaping",
    "`x` without `axes`, each of which must have size 1. With `nil`, without every axis of size 1.",
    "(squeeze (iota [2 1 3]) 1)",
    node="reshape",
    residuals="none",
)
def squeeze(call: Call) -> Value:
    x = call.tensor("x")
    if not call.given("axes"):
        return call.emit([x], tuple(extent for extent in x.shape if extent != 1), x.dtype, op="reshape")
    axes = call.axes_at("axes", len(x.shape))
    for axis, form in axes:
        if x.shape[axis] != 1:
            message = f"`squeeze` takes axes of size 1, and axis {axis} of {typed(x.shape, x.dtype)} has {x.shape[axis]}"
            ones = [str(other) for other, extent in enumerate(x.shape) if extent == 1]
            help = f"of size 1: axis {', '.join(ones)}" if ones else "it has no axis of size 1; reshape or a sum may be meant"
            raise call.fault(rules.SHAPE_OPERATOR, form, message, help)
    gone = {axis for axis, _ in axes}
    return call.emit([x], tuple(extent for axis, extent in enumerate(x.shape) if axis not in gone), x.dtype, op="reshape")


@op(
    "broadcast-to",
    "x shape",
    "shaping",
    "`x` repeated to `shape`: axes are matched from the last, and each is equal to the wanted one, or 1, or not there.",
    "(broadcast-to (iota [3]) [2 3])",
    residuals="none",
)
def broadcast_to(call: Call) -> Value:
    x = call.tensor("x")
    shape = call.shape("shape")
    broadcasts_to(call, "x", x.shape, shape)
    return call.emit([x], shape, x.dtype)


# Joins


@op(
    "concat",
    "list &key (axis 0)",
    "shaping",
    "The tensors of a list one behind the other along an axis; their other axes are equal.",
    "(concat (list (iota [2 3]) (iota [4 3])) :axis 0)",
    residuals="none",
)
def concat(call: Call) -> Value:
    operands = _tensors(call)
    first, at = operands[0]
    rank = len(first.shape)
    if not rank:
        raise call.fault(rules.SHAPE_OPERATOR, at, "`concat` joins along an axis, and a scalar has none", "stack joins scalars")
    axis = call.axis("axis", rank, 0)
    for node, form in operands[1:]:
        pair = f"{typed(first.shape, first.dtype)} and {typed(node.shape, node.dtype)}"
        if len(node.shape) != rank:
            message = f"`concat` joins tensors of as many axes, not {pair}"
            raise call.fault(rules.SHAPE_OPERATOR, form, message, "expand-dims and reshape give a tensor other axes")
        for other in range(rank):
            if other != axis and node.shape[other] != first.shape[other]:
                sizes = f"axis {other} is {first.shape[other]} and {node.shape[other]}"
                message = f"`concat` along axis {axis} cannot join {pair}: {sizes}"
                raise call.fault(rules.SHAPE_OPERATOR, form, message, f"all axes but {axis} must be equal")
    extent = sum(node.shape[axis] for node, _ in operands)
    shape = (*first.shape[:axis], extent, *first.shape[axis + 1 :])
    return call.emit([node for node, _ in operands], shape, first.dtype, axis=axis)


@op(
    "stack",
    "list &key (axis 0)",
    "shaping",
    "The tensors of a list side by side along a new axis, which stands at `axis` of the result; their shapes are equal.",
    "(stack (list (iota [3]) (iota [3])) :axis -1)",
    residuals="none",
)
def stack(call: Call) -> Value:
    operands = _tensors(call)
    first = operands[0][0]
    axis = call.axis("axis", len(first.shape) + 1, 0)
    for node, form in operands[1:]:
        if node.shape != first.shape:
            message = f"`stack` joins equal shapes, not {bracketed(first.shape)} and {bracketed(node.shape)}"
            raise call.fault(rules.SHAPE_OPERATOR, form, message, "concat joins along an axis that is there already")
    shape = (*first.shape[:axis], len(operands), *first.shape[axis:])
    return call.emit([node for node, _ in operands], shape, first.dtype, axis=axis)


def _tensors(call: Call) -> list[tuple[Node, Form]]:
    """The list's tensors, of one dtype, and where each was written; there is at least one."""
    value, at = call.value("list"), call.at("list")
    if isinstance(value, Node):
        message = f"`{call.name}` needs a list of tensors, and this is {kind_of(value)}"
        raise call.fault(rules.TYPE_KIND, at, message, f"write ({call.name} (list … …))")
    operands = call.items("list")
    if not operands:
        raise call.fault(rules.TYPE_KIND, at, f"`{call.name}` needs at least one tensor, and this list is empty")
    try:
        nodes = call.join_all(operands, any_dtype)
    except Fault as fault:
        if fault.rule is rules.DTYPE_MIXED and all(form is at for _, form in operands):
            # Where one expression made the whole list, there is no item's text that a `cast` could be put around.
            raise call.fault(fault.rule, None, fault.message, "cast the items of the list to one dtype") from None
        raise
    return [(node, form) for node, (_, form) in zip(nodes, operands, strict=True)]


# Order along an axis


@op(
    "flip",
    "x axes",
    "shaping",
    "`x` with the elements along `axes` in reverse; along all axes with `nil`.",
    "(flip (iota [2 3]) -1)",
    residuals="none",
)
def flip(call: Call) -> Value:
    x = call.tensor("x")
    return call.emit([x], x.shape, x.dtype, axes=call.axes("axes", len(x.shape)))


@op(
    "roll",
    "x shift &key axis",
    "shaping",
    "`x` with its elements moved `shift` places along an axis; what leaves at one end comes back at the other.",
    "(roll (iota [2 3]) 1 :axis -1)",
    residuals="none",
)
def roll(call: Call) -> Value:
    x = call.tensor("x")
    axis = call.axis("axis", len(x.shape))
    return call.emit([x], x.shape, x.dtype, shift=call.integer("shift") % max(1, x.shape[axis]), axis=axis)


@op(
    "repeat",
    "x n &key axis",
    "shaping",
    "`x` with every element along an axis standing `n` times in a row.",
    "(repeat (iota [2 3]) 2 :axis 0)",
    residuals="none",
)
def repeat(call: Call) -> Value:
    x = call.tensor("x")
    n = call.integer("n", 0)
    axis = call.axis("axis", len(x.shape))
    return call.emit([x], (*x.shape[:axis], x.shape[axis] * n, *x.shape[axis + 1 :]), x.dtype, n=n, axis=axis)
