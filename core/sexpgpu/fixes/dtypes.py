"""Dtypes, shapes and what the host decides."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sexpgpu.fixes.comments import loses_comments
from sexpgpu.fixes.edits import around, put_behind, replaced
from sexpgpu.fixes.proposal import Proposal
from sexpgpu.fixes.spots import Spot
from sexpgpu.fixes.table import Case, proposes
from sexpgpu.graph.nodes import Node, Shape
from sexpgpu.language.dtypes import BOOL, DTYPES, DType
from sexpgpu.language.marks import Local
from sexpgpu.language.special import SPECIAL_FORMS
from sexpgpu.language.values import List, Unknown, Value
from sexpgpu.ops.operands import broadcast_shapes
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, NumberForm, StringForm, SymbolForm, VectorForm

_ON_TENSORS = {"not": "logical-not", "equal": "=", "and": "logical-and", "or": "logical-or"}
_WIDER = ("i16", "i32", "i64")


def tensors(spot: Spot, form: Form) -> list[Node]:
    """What a form evaluated to, where that was a tensor every time; empty where it was not."""
    found = spot.known(form)
    nodes = [value for value in found if isinstance(value, Node)]
    return nodes if len(nodes) == len(found) else []


@proposes("E-DTYPE-002")
def a_dtype_that_fits(case: Case) -> Iterable[Proposal]:
    """The number as an integer where it is one, or the tensors beside it in a wider dtype."""
    form, call = case.spot.form, case.spot.parent
    if not isinstance(form, NumberForm) or call is None:
        return
    value = form.value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        yield Proposal(f"write {int(value)}", (replaced(form, str(int(value))),), safe=True)
    found = re.search(r"(?:meets|fit) :(\w+)", case.diagnostic.message)
    if found is None or call.head not in ("+", "-", "*", "/", "<", ">", "<=", ">=", "=", "/=", "min", "max", "where"):
        return
    met = DTYPES.get(found[1])
    wider = ":f32" if isinstance(value, float) else next((f":{name}" for name in _WIDER if _holds(DTYPES[name], value)), None)
    operands = call.items[2 if call.head == "where" else 1 :]
    beside = [each for each in operands if any(node.dtype is met for node in tensors(case.spot, each))]
    if met is not None and wider is not None and beside:
        edits = [edit for each in beside for edit in around(each, "(cast ", f" {wider})")]
        yield Proposal(f"cast the :{found[1]} to {wider}", tuple(edits))


def _holds(dtype: DType, value: int | float) -> bool:
    bits = int(re.sub(r"\D", "", dtype.name))
    return -(1 << (bits - 1)) <= value < 1 << (bits - 1)


@proposes("E-DTYPE-003")
def counted(case: Case) -> Iterable[Proposal]:
    """`count` of booleans for their `sum`."""
    call = case.spot.parent
    if call is not None and call.head == "sum" and "(count …)" in case.diagnostic.help and case.spot.place() == 1:
        edits = (replaced(call.items[0], "count"),)
        yield Proposal("write count", edits)
        yield Proposal("write (cast … :i32)", around(case.spot.form, "(cast ", " :i32)"))


# Shapes


@proposes("E-SHAPE-001")
def another_axis(case: Case) -> Iterable[Proposal]:
    """An axis of size 1 put in, where one more makes the shapes fit."""
    call = case.spot.form
    if not isinstance(call, ListForm) or len(call.items) != 3 or "batch axes" in case.diagnostic.message:
        return
    first, second = (tensors(case.spot, each) for each in call.items[1:])
    if len({node.shape for node in first}) != 1 or len({node.shape for node in second}) != 1:
        return
    for operand, mine, other, which in (
        (call.items[1], first[0].shape, second[0].shape, "first"),
        (call.items[2], second[0].shape, first[0].shape, "second"),
    ):
        if 0 < len(mine) < 8 and len(mine) <= len(other):
            for axis in (-1, *range(len(mine) - 1, 0, -1)):
                place = len(mine) if axis == -1 else axis
                if _broadcasts((*mine[:place], 1, *mine[place:]), other):
                    title = f"put an axis into the {which}: (expand-dims … {axis})"
                    yield Proposal(title, around(operand, "(expand-dims ", f" {axis})"))
                    break


def _broadcasts(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(one), reversed(other), strict=False))


@proposes("E-SHAPE-002")
def a_shape_that_fits(case: Case) -> Iterable[Proposal]:
    """An axis that there is, a size that follows from the others, a matrix the other way round."""
    form, call, message = case.spot.form, case.spot.parent, case.diagnostic.message
    if call is None:
        return
    found = re.search(r"a tensor of (\d+) axes has axes (-\d+) to (\d+)", message)
    if found and isinstance(form, NumberForm) and form.value not in (-1, -2):
        nearest = found[2] if form.value < 0 else found[3]
        yield Proposal(f"write {nearest}", (replaced(form, nearest),))
    if call.head == "reshape" and isinstance(form, VectorForm):
        yield from _inferred(case, form, message)
    if call.head == "matmul" and len(call.items) == 3 and form is call.items[2]:
        first, second = tensors(case.spot, call.items[1]), tensors(case.spot, form)
        shapes = {(a.shape, b.shape) for a, b in zip(first, second, strict=False)}
        if shapes and all(len(a) == 2 == len(b) and a[1] == b[1] for a, b in shapes):
            yield Proposal("write (transpose …)", around(form, "(transpose ", ")"))
    if call.head == "cross-entropy" and case.spot.place() == 2:
        shapes = {node.shape for node in tensors(case.spot, form)}
        if shapes and all(shape and shape[-1] == 1 for shape in shapes):
            yield Proposal("write (squeeze … -1)", around(form, "(squeeze ", " -1)"))


def _inferred(case: Case, form: VectorForm, message: str) -> Iterable[Proposal]:
    found = re.search(r"not ([\d,]+)$", message)
    values = [value for value in case.spot.known(form) if isinstance(value, List)]
    if found is None or not values:
        return
    wanted = int(found[1].replace(",", ""))
    sizes = values[0].items
    for index in range(len(sizes) - 1, -1, -1):
        rest = [size for place, size in enumerate(sizes) if place != index]
        product = 1
        for size in rest:
            product = product * size if isinstance(size, int) and size > 0 else 0
        if product and wanted % product == 0:
            yield Proposal("let -1 stand for a size", (replaced(form.items[index], "-1"),))
            return


# Stages


@proposes("E-STAGE-001")
def decided_in_the_graph(case: Case) -> Iterable[Proposal]:
    """The operator that decides for each element, where the host was asked."""
    parent, grand, place = case.spot.parent, case.spot.above(2), case.spot.place()
    if parent is None:
        return
    if place == 0 and grand is not None and grand.head == "cond" and parent in grand.items[1:]:
        yield from _of_cond(case, grand)
    if place < 1:
        return
    head, operands = parent.items[0], parent.items[1:]
    word = _ON_TENSORS.get(parent.head or "", "")
    if parent.head == "if" and place == 1 and len(operands) == 3:
        if _are_tensors(operands[1:]):
            sure = _picks(operands[1:]) and _may_meet(case.spot, operands[0], operands[1:])
            yield Proposal("write where", (replaced(head, "where"),), safe=sure)
    elif parent.head in ("and", "or"):
        sure = all(_is_condition(case.spot, each) for each in operands)
        if len(operands) > 1:  # two by two, from the left
            rest = [put_behind(each, ")") for each in operands[1:-1]]
            edits = (replaced(head, " (".join([word] * (len(operands) - 1))), *rest)
            yield Proposal(f"write {word}", edits, safe=sure)
    elif parent.head == "not" and not _is_condition(case.spot, case.spot.form):
        yield Proposal("write (= … 0)", (replaced(head, "="), put_behind(operands[0], " 0")))
    elif word:
        sure = parent.head == "not" or all(tensors(case.spot, each) or isinstance(each, NumberForm) for each in operands)
        yield Proposal(f"write {word}", (replaced(head, word),), safe=sure)


def _is_condition(spot: Spot, form: Form) -> bool:
    nodes = tensors(spot, form)
    return bool(nodes) and all(node.dtype is BOOL for node in nodes)


def _may_meet(spot: Spot, condition: Form, branches: Iterable[Form]) -> bool:
    """Whether `where` takes a condition and branches, as far as their values are known."""
    deciding = [value for value in _values(spot, condition) if not isinstance(value, Unknown)]
    picked = [value for each in branches for value in _values(spot, each) if not isinstance(value, Unknown)]
    nodes = [value for value in picked if isinstance(value, Node)]
    dtypes = {node.dtype for node in nodes}
    if any(not isinstance(value, (Node, int, float)) for value in picked) or len(dtypes) > 1:
        return False
    if any(isinstance(value, float) for value in picked) and any(not dtype.is_float for dtype in dtypes):
        return False
    shape: Shape | None = ()
    for value in (*deciding, *nodes):
        if shape is None or not isinstance(value, Node):
            return False
        shape = broadcast_shapes(shape, value.shape)
    return shape is not None and all(isinstance(value, Node) and value.dtype is BOOL for value in deciding)


def _values(spot: Spot, form: Form) -> list[Value]:
    """What a form evaluated to, or would have, where it is a variable."""
    local = spot.analysis.marks.references.get(form) if isinstance(form, SymbolForm) else None
    if not isinstance(local, Local) or spot.known(form):
        return spot.known(form)
    return spot.known(local.name_form) or (spot.known(local.value) if local.value is not None else [])


def _of_cond(case: Case, cond: ListForm) -> Iterable[Proposal]:
    """`cond` as `where` in `where`; the last clause must be what is left."""
    clauses = [clause for clause in cond.items[1:] if isinstance(clause, ListForm) and len(clause.items) == 2]
    if len(clauses) != len(cond.items) - 1 or len(clauses) < 2 or clauses[-1].items[0].text != "true":
        return
    branches = [clause.items[1] for clause in clauses]
    if not _are_tensors(branches):
        return
    text = branches[-1].text
    for clause in reversed(clauses[:-1]):
        text = f"(where {clause.items[0].text} {clause.items[1].text} {text})"
    edits = (replaced(cond, text),)
    if not loses_comments(case.spot.module, edits):
        sure = len(clauses) == 2 and _may_meet(case.spot, clauses[0].items[0], branches)
        yield Proposal("write where", edits, safe=sure)


def _are_tensors(branches: Iterable[Form]) -> bool:
    """Whether nothing shows that a branch is no tensor: nothing has evaluated it."""
    return not any(
        isinstance(each, (StringForm, KeywordForm, VectorForm))
        or each.text in ("nil", "true", "false", "()")
        or (isinstance(each, ListForm) and each.head in ("list", "lambda", "metric", "counter", "str", "quote"))
        for each in branches
    )


def _picks(branches: Iterable[Form]) -> bool:
    """Whether the branches only compute, so that it does no harm to compute both."""
    return not any(isinstance(each, ListForm) and each.head in SPECIAL_FORMS for each in branches)
