"""Rows of the operator table: parts of a tensor, and borders around it. Like those of `shaping.py` they take every dtype.

A cut is static: its bounds are host values, and what is out of range is an error, as in `jax.lax`. `split` makes a list of `slice`.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

from sexpgpu.diagnostics import rules
from sexpgpu.graph.nodes import Node, typed
from sexpgpu.language.dtypes import BOOL
from sexpgpu.language.values import NIL, Absent, List, Nil, Value, kind_of
from sexpgpu.ops.call import Call, any_dtype, bracketed, item_forms, known
from sexpgpu.ops.checks import one_an_axis
from sexpgpu.ops.table import op
from sexpgpu.reader.forms import Form


@op(
    "split",
    "x n &key (axis 0)",
    "shaping",
    "A list of the parts of `x` along an axis: `n` equal ones, or parts of the sizes in a vector, which add up to the axis.",
    "(split (iota [6 2]) [1 2 3])",
    node="slice",
    residuals="none",
)
def split(call: Call) -> Value:
    x = call.tensor("x")
    axis = call.axis("axis", len(x.shape), 0, of="x")
    parts: list[Value] = []
    for start, stop in pairwise((0, *accumulate(_part_sizes(call, x, axis)))):
        starts = (0,) * axis + (start,) + (0,) * (len(x.shape) - axis - 1)
        stops = (*x.shape[:axis], stop, *x.shape[axis + 1 :])
        parts.append(_sliced(call, x, starts, stops, (1,) * len(x.shape)))
    return List(parts)


def _part_sizes(call: Call, x: Node, axis: int) -> tuple[int, ...]:
    value, extent = call.value("n"), x.shape[axis]
    of = f"axis {axis} of {typed(x.shape, x.dtype)}"
    if not isinstance(value, (List, Nil)):
        n = call.integer("n", 1)
        if extent % n:
            help = f"{n} does not divide {extent}; a vector of sizes makes unequal parts"
            raise call.fault(rules.SHAPE_OPERATOR, "n", f"`split` cannot cut {of} into {n} equal parts", help)
        call.tracer.tick(n)
        return (extent // n,) * n
    sizes = call.integers("n", 0)
    if sum(sizes) != extent:
        message = f"`split` cuts {of} into parts that add up to {extent}, and {bracketed(sizes)} add up to {sum(sizes)}"
        raise call.fault(rules.SHAPE_OPERATOR, "n", message)
    return sizes


@op(
    "slice",
    "x starts stops &key (strides nil)",
    "shaping",
    "The part of `x` from `starts` up to, not including, `stops`. Both have one entry for each axis: `nil` is the axis's beginning "
    "or end, a negative entry counts from the end. With `:strides`, of 1 or more, only every so many elements. A slice is known "
    "before the run; `dynamic-slice` takes starts that are tensors.",
    "(slice (iota [4 8]) [1 nil] [nil -2] :strides [1 2])",
    residuals="none",
)
def slice_(call: Call) -> Value:
    x = call.tensor("x")
    starts: list[int] = []
    stops: list[int] = []
    given = zip(_entries(call, "starts", x, "0"), _entries(call, "stops", x, "nil"), strict=True)
    for axis, ((start, start_at), (stop, stop_at)) in enumerate(given):
        starts.append(_position(call, start, start_at, x, axis, 0))
        stops.append(_position(call, stop, stop_at, x, axis, x.shape[axis]))
        if starts[-1] > stops[-1]:
            message = f"on axis {axis} of {typed(x.shape, x.dtype)} this slice stops at {stops[-1]}, before its start {starts[-1]}"
            raise call.fault(rules.SHAPE_OPERATOR, stop_at, message, f"write a stop of {starts[-1]} to {x.shape[axis]}, or nil")
    strides = tuple(_stride(call, stride, at) for stride, at in _entries(call, "strides", x, "1"))
    return _sliced(call, x, tuple(starts), tuple(stops), strides)


def _entries(call: Call, name: str, x: Node, example: str) -> list[tuple[Value, Form]]:
    """A vector's entries, one for each axis of `x`, with their forms; nil stands for a vector of nils."""
    if not call.given(name):
        return [(NIL, call.at(name))] * len(x.shape)
    entries = call.items(name)
    one_an_axis(call, name, len(entries), x, example)
    return entries


def _position(call: Call, value: Value, at: Form, x: Node, axis: int, default: int) -> int:
    if isinstance(value, Nil) and not isinstance(value, Absent):
        return default
    position, extent = call.integer_of(value, at), x.shape[axis]
    if not -extent <= position <= extent:
        message = f"{position} is out of range: axis {axis} of {typed(x.shape, x.dtype)} has {extent} elements"
        raise call.fault(rules.SHAPE_OPERATOR, at, message, f"write {-extent} to {extent}, or nil")
    return position + extent if position < 0 else position


def _stride(call: Call, value: Value, at: Form) -> int:
    if isinstance(value, Nil) and not isinstance(value, Absent):
        return 1
    stride = call.integer_of(value, at)
    if stride < 1:
        raise call.fault(rules.TYPE_KIND, at, f"a stride is 1 or more, not {stride}", "flip turns an axis around")
    return stride


def _sliced(call: Call, x: Node, starts: tuple[int, ...], stops: tuple[int, ...], strides: tuple[int, ...]) -> Node:
    shape = tuple(-(-(stop - start) // stride) for start, stop, stride in zip(starts, stops, strides, strict=True))
    return call.emit([x], shape, x.dtype, op="slice", starts=starts, stops=stops, strides=strides)


@op(
    "pad",
    "x widths &key (value 0)",
    "shaping",
    "`x` with `value` around it: `widths` has a pair [before after] for each axis. `:value` is a number or a scalar of `x`'s dtype "
    "(`false` where it is not given and `x` is `:bool`).",
    "(pad (iota [2 3]) [[0 0] [1 2]] :value 7)",
    residuals="none",
)
def pad(call: Call) -> Value:
    if call.given("value"):
        x, value = call.join("x", "value", only=any_dtype)
    else:
        x = call.tensor("x")
        value = call.constant(False if x.dtype is BOOL else 0.0 if x.dtype.is_float else 0, x.dtype, call.form)
    if value.shape:
        raise call.fault(rules.SHAPE_OPERATOR, "value", f"`pad` fills with a scalar, and this is {kind_of(value)}")
    widths = _widths(call, x)
    shape = tuple(before + extent + after for extent, (before, after) in zip(x.shape, widths, strict=True))
    return call.emit([x, value], shape, x.dtype, widths=widths)


def _widths(call: Call, x: Node) -> tuple[tuple[int, int], ...]:
    widths: list[tuple[int, int]] = []
    for pair, at in call.items("widths"):
        if not isinstance(pair, List) or len(pair.items) != 2:
            what = f"{len(pair.items)} entries" if isinstance(pair, List) else kind_of(pair)
            message = f"`pad` needs a pair for each axis, and this is {what}"
            raise call.fault(rules.TYPE_KIND, at, message, "write [[before after] …], one pair for each axis")
        before, after = (call.integer_of(known(item), form, 0) for item, form in zip(pair.items, item_forms(pair, at), strict=True))
        widths.append((before, after))
    one_an_axis(call, "widths", len(widths), x, "[0 0]")
    return tuple(widths)
