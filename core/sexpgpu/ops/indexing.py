"""Rows of the operator table: reading and writing where indices say, windows whose start is a tensor, and order.

Indices are integer tensors of any integer dtype, or host integers; they count from 0, and a negative one is out of range. What
reads clamps an index to its axis; what writes or adds drops it. Order counts nan above every number and -0.0 as 0.0; equal elements
keep theirs. Shape rules are those of `numpy.take`, `take_along_axis`, `put_along_axis` and `sort`, and of `jax.lax.dynamic_slice`,
`dynamic_update_slice` and `top_k`.
"""

from __future__ import annotations

from sexpgpu.diagnostics import rules
from sexpgpu.graph.nodes import Node, Shape, typed
from sexpgpu.language.dtypes import I32
from sexpgpu.language.values import List, Value, keyword, kind_of
from sexpgpu.ops.call import Call, any_dtype, bracketed, broadcast_shapes, integral, numeric
from sexpgpu.ops.checks import broadcasts_to, one_an_axis
from sexpgpu.ops.table import op

# Whole rows


@op(
    "take",
    "x indices &key (axis 0)",
    "indexing",
    "The rows of `x` along an axis that the indices name: the axis is replaced by the shape of the indices. An index out of range "
    "is clamped to the axis, a negative one to 0.",
    "(take (iota [4 3]) (tensor [2 0] :i32))",
    residuals="indices",
)
def take(call: Call) -> Value:
    x, indices = call.tensor("x"), call.tensor("indices", integral)
    axis = call.axis("axis", len(x.shape), 0, of="x")
    shape = _rows(x, axis, indices)
    _readable(call, x, axis, shape)
    return call.emit([x, indices], shape, x.dtype, axis=axis)


def _rows(x: Node, axis: int, indices: Node) -> Shape:
    return (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])


def _readable(call: Call, x: Node, axis: int, shape: Shape) -> None:
    """A fault E-SHAPE-002 at the indices if a result of that shape would read from an axis without elements."""
    if not x.shape[axis] and 0 not in shape:
        message = f"`{call.name}` has nothing to read: axis {axis} of {typed(x.shape, x.dtype)} is empty, and the indices are not"
        raise call.fault(rules.SHAPE_OPERATOR, "indices", message)


@op(
    "scatter-add",
    "x indices updates &key (axis 0)",
    "indexing",
    "`x` with a row of `updates` added at every index along an axis; rows of one index add up, and an index out of range is "
    "dropped. `updates` broadcasts to the shape that `take` would give.",
    "(scatter-add (zeros [4]) (tensor [2 0 2] :i32) 1.0)",
    residuals="indices",
)
def scatter_add(call: Call) -> Value:
    x, updates = call.join("x", "updates", only=numeric)
    indices = call.tensor("indices", integral)
    axis = call.axis("axis", len(x.shape), 0, of="x")
    broadcasts_to(call, "updates", updates.shape, _rows(x, axis, indices))
    return call.emit([x, indices, updates], x.shape, x.dtype, axis=axis)


@op(
    "segment-sum",
    "x ids n",
    "indexing",
    "The rows of `x`, along its first axis, summed by their id: row `i` of the `n` rows of the result is the sum of those whose id "
    "is `i`. An id out of range is dropped. Half floats are summed in f32.",
    "(segment-sum (ones [3 2]) (tensor [0 1 0] :i32) 2)",
    residuals="indices",
)
def segment_sum(call: Call) -> Value:
    x, ids = call.tensor("x", numeric), call.tensor("ids", integral)
    n = call.integer("n", 0)
    call.axis_of(0, call.at("x"), len(x.shape))
    if ids.shape != x.shape[:1]:
        message = (
            f"`segment-sum` needs one id for each of the {x.shape[0]} rows of {typed(x.shape, x.dtype)}, and this is {kind_of(ids)}"
        )
        raise call.fault(rules.SHAPE_OPERATOR, "ids", message, f"its shape must be {bracketed(x.shape[:1])}")
    return call.emit([x, ids], (n, *x.shape[1:]), x.dtype)


# Single elements


@op(
    "take-along",
    "x indices &key (axis -1)",
    "indexing",
    "The elements of `x` that the indices name along an axis, each beside its own place on the other axes, which broadcast. "
    "`indices` has as many axes as `x`. An index out of range is clamped to the axis, a negative one to 0.",
    "(take-along (iota [2 3]) (tensor [[2] [0]] :i32))",
    residuals="indices",
)
def take_along(call: Call) -> Value:
    x, indices = call.tensor("x"), call.tensor("indices", integral)
    axis, shape = _along(call, x, indices)
    _readable(call, x, axis, shape)
    return call.emit([x, indices], shape, x.dtype, axis=axis)


def _along(call: Call, x: Node, indices: Node) -> tuple[int, Shape]:
    """The axis, and the shape that is read or written along it."""
    axis = call.axis("axis", len(x.shape), -1, of="x")
    if len(indices.shape) != len(x.shape):
        message = f"`{call.name}` needs indices of as many axes as {typed(x.shape, x.dtype)}, and this is {kind_of(indices)}"
        raise call.fault(rules.SHAPE_OPERATOR, "indices", message, "expand-dims gives it another axis; take reads whole rows")
    others = broadcast_shapes(x.shape[:axis] + x.shape[axis + 1 :], indices.shape[:axis] + indices.shape[axis + 1 :])
    if others is None:
        pair = f"{bracketed(x.shape)} with indices of shape {bracketed(indices.shape)}"
        message = f"`{call.name}` along axis {axis} cannot broadcast {pair}"
        raise call.fault(rules.SHAPE_BROADCAST, None, message, "the axes beside it must be equal in pairs, or one of them 1")
    return axis, (*others[:axis], indices.shape[axis], *others[axis:])


@op(
    "put-along",
    "x indices values &key (axis -1)",
    "indexing",
    "`x` with `values` written where `take-along` would read. `values` broadcasts to what it would give; of several that go to one "
    "place the last stays, in row-major order of the indices. An index out of range is dropped.",
    "(put-along (zeros [2 3]) (tensor [[2] [0]] :i32) 1.0)",
    residuals="output",
)
def put_along(call: Call) -> Value:
    x, values = call.join("x", "values", only=any_dtype)
    indices = call.tensor("indices", integral)
    axis, shape = _along(call, x, indices)
    broadcasts_to(call, "values", values.shape, shape)
    return call.emit([x, indices, values], x.shape, x.dtype, axis=axis)


@op(
    "one-hot",
    "indices n &optional (dtype :float)",
    "indexing",
    "A last axis of size `n` that is 1 at the index and 0 elsewhere; zeros where the index is out of range.",
    "(one-hot (tensor [2 0] :i32) 3)",
    residuals="none",
)
def one_hot(call: Call) -> Value:
    indices = call.tensor("indices", integral)
    return call.emit([indices], (*indices.shape, call.integer("n", 0)), call.dtype("dtype"))


# Windows


@op(
    "dynamic-slice",
    "x starts sizes",
    "indexing",
    "A window of `x` of the given sizes, which begins at `starts`: integer scalars, one for each axis, or one vector tensor. A "
    "start is clamped so that the window lies inside `x`. `slice` is for starts that are known before the run.",
    "(dynamic-slice (iota [4 8]) [(tensor 1 :i32) 0] [2 8])",
    residuals="indices",
)
def dynamic_slice(call: Call) -> Value:
    x = call.tensor("x")
    starts = _starts(call, x)
    value = call.value("sizes")
    entries = [(value, call.at("sizes"))] if type(value) is int else call.items("sizes")
    sizes = [(call.integer_of(item, form, 0), form) for item, form in entries]
    one_an_axis(call, "sizes", len(sizes), x, "1")
    for axis, (size, form) in enumerate(sizes):
        if size > x.shape[axis]:
            message = f"a window of {size} is larger than axis {axis} of {typed(x.shape, x.dtype)}"
            raise call.fault(rules.SHAPE_OPERATOR, form, message, f"write 0 to {x.shape[axis]}")
    return call.emit([x, *starts], tuple(size for size, _ in sizes), x.dtype)


@op(
    "dynamic-update",
    "x update starts",
    "indexing",
    "`x` with the window that begins at `starts` overwritten by `update`, which has as many axes as `x`. Starts are those of "
    "`dynamic-slice`, clamped so that the window lies inside `x`.",
    "(dynamic-update (zeros [4 2]) (ones [1 2]) [(tensor 3 :i32) 0])",
    residuals="indices",
)
def dynamic_update(call: Call) -> Value:
    x, update = call.join("x", "update", only=any_dtype)
    pair = f"{typed(x.shape, x.dtype)} with {typed(update.shape, update.dtype)}"
    if len(update.shape) != len(x.shape):
        message = f"`dynamic-update` cannot overwrite a window of {pair}: it has other axes"
        raise call.fault(rules.SHAPE_OPERATOR, "update", message, "expand-dims and reshape give a tensor other axes")
    for axis, (extent, size) in enumerate(zip(x.shape, update.shape, strict=True)):
        if size > extent:
            message = f"`dynamic-update` cannot overwrite a window of {pair}: axis {axis} is larger"
            raise call.fault(rules.SHAPE_OPERATOR, "update", message, f"at most {extent} fit axis {axis}")
    return call.emit([x, update, *_starts(call, x)], x.shape, x.dtype)


def _starts(call: Call, x: Node) -> list[Node]:
    """Integer scalars, one for each axis of `x`; or one vector of them. A single scalar stands for a vector of one."""
    value, at = call.value("starts"), call.at("starts")
    if isinstance(value, Node) and value.shape:
        starts = call.tensor("starts", integral)
        if starts.shape != (len(x.shape),):
            message = f"`{call.name}` needs one start for each axis of {typed(x.shape, x.dtype)}, and this is {kind_of(starts)}"
            raise call.fault(rules.SHAPE_OPERATOR, "starts", message, f"its shape must be [{len(x.shape)}]")
        return [starts]
    entries = [(value, at)] if isinstance(value, Node) or type(value) is int else call.items("starts")
    scalars: list[Node] = []
    for item, form in entries:
        scalar = call.tensor_of(item, form, integral)
        if scalar.shape:
            raise call.fault(rules.SHAPE_OPERATOR, form, f"a start is a scalar, and this is {kind_of(scalar)}")
        scalars.append(scalar)
    one_an_axis(call, "starts", len(scalars), x, "0")
    return scalars


# Order


@op(
    "sort",
    "x &key (axis -1) (descending false)",
    "indexing",
    "`x` in ascending order along an axis, nan last; with `:descending`, in descending order, nan first.",
    "(sort (tensor [3 1 2] :i32) :descending true)",
    residuals="output",
)
def sort(call: Call) -> Value:
    x = call.tensor("x", numeric)
    axis = call.axis("axis", len(x.shape), -1, of="x")
    return call.emit([x], x.shape, x.dtype, axis=axis, descending=call.boolean("descending"))


@op(
    "argsort",
    "x &key (axis -1) (descending false)",
    "indexing",
    "The indices (:i32) that put `x` in the order of `sort`; equal elements keep their order, in both directions.",
    "(argsort (tensor [3 1 2] :i32))",
    residuals="none",
)
def argsort(call: Call) -> Value:
    x = call.tensor("x", numeric)
    axis = call.axis("axis", len(x.shape), -1, of="x")
    return call.emit([x], x.shape, I32, axis=axis, descending=call.boolean("descending"))


@op(
    "top-k",
    "x k",
    "indexing",
    "The `k` greatest elements along the last axis, the greatest first, as a plist: `:values`, and their `:indices` (:i32). nan "
    "counts as greatest; of equal elements the earlier comes first.",
    "(top-k (tensor [3 1 2] :i32) 2)",
    residuals="output",
)
def top_k(call: Call) -> Value:
    x = call.tensor("x", numeric)
    axis = call.axis_of(-1, call.at("x"), len(x.shape))
    k = call.integer("k")
    if not 1 <= k <= x.shape[axis]:
        message = f"`top-k` cannot take {k} of the {x.shape[axis]} elements on the last axis of {typed(x.shape, x.dtype)}"
        raise call.fault(rules.SHAPE_OPERATOR, "k", message, f"write 1 to {x.shape[axis]}")
    shape = (*x.shape[:-1], k)
    values = call.emit([x], shape, x.dtype, k=k, part="values")
    indices = call.emit([x], shape, I32, k=k, part="indices")
    return List([keyword("values"), values, keyword("indices"), indices])
