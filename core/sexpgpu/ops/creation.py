"""Rows of the operator table: tensors made of host values, and the questions about a tensor that the host answers."""

from __future__ import annotations

from collections.abc import Iterator

from sexpgpu.diagnostics import rules
from sexpgpu.graph.nodes import Node, Shape
from sexpgpu.language.dtypes import BOOL, I32, I64, DType
from sexpgpu.language.fault import Fault
from sexpgpu.language.values import List, Value, is_number, keyword, kind_of
from sexpgpu.ops.call import MOST_AXES, Call, bracketed, item_forms, known
from sexpgpu.ops.table import op
from sexpgpu.reader.forms import Form

_FAMILY = "creation"


@op(
    "zeros",
    "shape &optional (dtype :float)",
    _FAMILY,
    "Zeros; of `:bool`, false.",
    "(zeros [2 3] :i32)",
    residuals="none",
)
def zeros(call: Call) -> Value:
    return call.emit([], call.shape(), call.dtype("dtype"))


@op("ones", "shape &optional (dtype :float)", _FAMILY, "Ones; of `:bool`, true.", "(ones [2 3])", residuals="none")
def ones(call: Call) -> Value:
    return call.emit([], call.shape(), call.dtype("dtype"))


@op(
    "full",
    "shape value &optional (dtype nil)",
    _FAMILY,
    "One host number or boolean everywhere. Without a dtype it has the number's own: `:i64`, `:float` or `:bool`.",
    "(full [2 3] 0.5)",
    residuals="none",
)
def full(call: Call) -> Value:
    shape = call.shape()
    value = call.value("value")
    if isinstance(value, Node):
        message = f"`full` needs a number that is known before the run, and this is {kind_of(value)}"
        raise call.fault(rules.STAGE_TENSOR, "value", message, "write (broadcast-to x shape) to spread a tensor")
    number = _plain(call, value, call.at("value"))
    dtype = call.dtype("dtype", _own(call, [number]))
    return call.emit([], shape, dtype, value=_as(call, number, dtype, call.at("value")))


@op(
    "iota",
    "shape &key (axis -1) (dtype :i32)",
    _FAMILY,
    "The numbers 0, 1, 2, … along one axis, repeated along the others.",
    "(iota [2 3])",
    residuals="none",
)
def iota(call: Call) -> Value:
    shape, dtype = call.shape(), call.dtype("dtype", I32)
    if dtype is BOOL:
        raise call.fault(rules.DTYPE_OPERATOR, "dtype", "`iota` counts, and a :bool does not", "write :i32, and compare the result")
    return call.emit([], shape, dtype, axis=call.axis("axis", len(shape), -1, of="shape"))


@op(
    "tensor",
    "nested &optional (dtype nil)",
    _FAMILY,
    "The numbers or booleans that nested vectors hold. Without a dtype it is `:float` if one is a float, else `:i64` or `:bool`.",
    "(tensor [[1 2] [3 4]] :f32)",
    node="constant",
    residuals="none",
)
def tensor(call: Call) -> Value:
    nested, at = call.value("nested"), call.at("nested")
    leaves: list[tuple[int | float | bool, Form]] = []
    shape = _gather(call, nested, at, leaves, 0)
    dtype = call.dtype("dtype", _own(call, [number for number, _ in leaves]))
    values = iter([_as(call, number, dtype, form) for number, form in leaves])
    return call.emit([], shape, dtype, op="constant", value=_nest(shape, values))


def _gather(call: Call, value: Value, at: Form, leaves: list[tuple[int | float | bool, Form]], depth: int) -> Shape:
    """Collect the numbers of a nested list in order; the shape that it has. A fault at the first item that does not fit."""
    if not isinstance(value, List):
        leaves.append((_plain(call, value, at), at))
        return ()
    if depth >= MOST_AXES:
        raise call.fault(rules.LIMIT_PASSED, None, f"a tensor has at most {MOST_AXES} axes")
    call.tracer.tick(len(value.items))
    inner: Shape | None = None
    for item, form in zip(value.items, item_forms(value, at), strict=True):
        shape = _gather(call, known(item), form, leaves, depth + 1)
        if inner is not None and shape != inner:
            raise _ragged(call, form, shape, inner)
        inner = shape
    return (len(value.items), *(inner or ()))


def _ragged(call: Call, at: Form, shape: Shape, before: Shape) -> Fault:
    def said(shape: Shape) -> str:
        return bracketed(shape) if shape else "a number"

    message = f"`tensor` is ragged here: this is {said(shape)}, and the items before it are {said(before)}"
    return call.fault(rules.SHAPE_OPERATOR, at, message, "every vector at one depth has the same length")


def _nest(shape: Shape, values: Iterator[object]) -> object:
    """The values in nested tuples of that shape."""
    if not shape:
        return next(values)
    return tuple(_nest(shape[1:], values) for _ in range(shape[0]))


def _plain(call: Call, value: Value, at: Form) -> int | float | bool:
    """A host number or boolean."""
    if isinstance(value, bool) or is_number(value):
        assert isinstance(value, (int, float))
        return value
    raise call.wrong_kind(value, at, "a number", of_tensor="write (stack (list …)) to join tensors into one")


def _own(call: Call, numbers: list[int | float | bool]) -> DType:
    """The dtype that numbers have of themselves; `:float` when there are none."""
    if numbers and all(isinstance(number, bool) for number in numbers):
        return BOOL
    return I64 if numbers and not any(isinstance(number, float) for number in numbers) else call.tracer.float


def _as(call: Call, number: int | float | bool, dtype: DType, at: Form) -> int | float | bool:
    """The number as a value of the dtype; a fault at it where the dtype has none."""
    if not isinstance(number, bool):
        return call.fitting(number, dtype, at)
    if dtype is BOOL:
        return number
    message = f"`{call.name}` needs a number for {dtype!r} here, and this is {kind_of(number)}"
    raise call.fault(rules.TYPE_KIND, at, message, "write 1 or 0")


@op("eye", "n &optional (dtype :float)", _FAMILY, "The identity matrix of `n` rows and columns.", "(eye 3)", residuals="none")
def eye(call: Call) -> Value:
    n = call.integer("n", least=0)
    return call.emit([], (n, n), call.dtype("dtype"))


@op(
    "tri",
    "n m &optional (k 0) (dtype :float)",
    _FAMILY,
    "A matrix of `n` rows and `m` columns: ones at and below diagonal `k`, zeros above. With `:bool` it is a causal mask.",
    "(tri 4 4 0 :bool)",
    residuals="none",
)
def tri(call: Call) -> Value:
    n, m = call.integer("n", least=0), call.integer("m", least=0)
    return call.emit([], (n, m), call.dtype("dtype"), k=call.integer("k") if call.given("k") else 0)


# Questions that the host answers: shapes and dtypes are known before the run.


def _typed(call: Call) -> tuple[Shape, DType]:
    """The shape and dtype of the argument; a host number has those of the tensor that it would become."""
    value = call.value("x")
    if isinstance(value, Node):
        return value.shape, value.dtype
    if isinstance(value, (int, float)):
        return (), _own(call, [value])
    raise call.no_tensor(value, call.at("x"), "a tensor")


@op("shape", "x", _FAMILY, "The shape of `x`, a vector of host integers.", "(shape (ones [2 3]))", node="")
def shape(call: Call) -> Value:
    return List(_typed(call)[0], vector=True)


@op("dim", "x axis", _FAMILY, "The length of one axis of `x`, a host integer.", "(dim (ones [2 3]) -1)", node="")
def dim(call: Call) -> Value:
    extents = _typed(call)[0]
    return extents[call.axis("axis", len(extents))]


@op("rank", "x", _FAMILY, "How many axes `x` has, a host integer.", "(rank (ones [2 3]))", node="")
def rank(call: Call) -> Value:
    return len(_typed(call)[0])


@op("size", "x", _FAMILY, "How many elements `x` has, a host integer.", "(size (ones [2 3]))", node="")
def size(call: Call) -> Value:
    count = 1
    for extent in _typed(call)[0]:
        count *= extent
    return count


@op("dtype", "x", _FAMILY, "The dtype of `x`, a keyword.", "(dtype (ones [2 3]))", node="")
def dtype(call: Call) -> Value:
    return keyword(_typed(call)[1].name)
