"""Rows of the operator table: products of vectors, matrices and tensors.

Half floats are multiplied as they are and summed in f32; the result comes back in the operands' dtype (language §8).
"""

from __future__ import annotations

import re

from sexpgpu.diagnostics import rules
from sexpgpu.graph.nodes import Node
from sexpgpu.language.fault import Fault
from sexpgpu.language.values import Value
from sexpgpu.ops.call import Call, bracketed, broadcast_shapes
from sexpgpu.ops.table import op
from sexpgpu.reader.forms import Form

_SUBSCRIPTS = re.compile(r"[A-Za-z]*(,[A-Za-z]*)*->[A-Za-z]*")


@op(
    "matmul",
    "x y",
    "linear",
    "The matrix product, as NumPy has it: the last axis of `x` meets the last but one of `y`, the axes before them broadcast. "
    "A vector counts as a row on the left and as a column on the right, and its axis is not in the result.",
    "(matmul (ones [8 2 3]) (ones [3 4]))",
)
def matmul(call: Call) -> Value:
    x, y = call.join("x", "y")
    for name, node in (("x", x), ("y", y)):
        if not node.shape:
            message = "`matmul` needs a vector or a matrix, and this is a scalar"
            raise call.fault(rules.SHAPE_OPERATOR, name, message, "write (* x y)")
    rows, inner = x.shape[-2:-1], x.shape[-1]
    *_, meets = y.shape[:-1] or y.shape
    columns = y.shape[-1:] if len(y.shape) > 1 else ()
    if inner != meets:
        which = "the last but one" if columns else "the only"
        message = f"`matmul` of {bracketed(x.shape)} and {bracketed(y.shape)}"
        message = f"{message}: the last axis of the first is {inner}, {which} axis of the second is {meets}"
        raise call.fault(rules.SHAPE_OPERATOR, "y", message, "the two must be equal: transpose or reshape one of them")
    batch = broadcast_shapes(x.shape[:-2], y.shape[:-2])
    if batch is None:
        message = f"`matmul` cannot broadcast the batch axes of {bracketed(x.shape)} with those of {bracketed(y.shape)}"
        help = "of the axes before the last two, each pair must be equal, or one of them 1"
        raise call.fault(rules.SHAPE_BROADCAST, None, message, help)
    return call.emit([x, y], (*batch, *rows, *columns), x.dtype)


@op(
    "einsum",
    "subscripts x &rest more",
    "linear",
    "Sums of products by letters: each operand has a letter for every axis, equal letters run together, and letters that do not "
    "stand behind `->` are summed over. The result's letters are always written; there is no ellipsis, and a letter has one size.",
    '(einsum "bsd,de->bse" (ones [2 5 3]) (ones [3 4]))',
)
def einsum(call: Call) -> Value:
    given = [(call.value("x"), call.at("x")), *call.rest]
    subscripts = call.string("subscripts").replace(" ", "")
    terms, result = _parts(call, subscripts, len(given))
    nodes = call.join_all(given)
    sizes: dict[str, tuple[int, str]] = {}
    for term, node, (_, at) in zip(terms, nodes, given, strict=True):
        _measure(term, node, at, sizes)
    return call.emit(nodes, tuple(sizes[letter][0] for letter in result), nodes[0].dtype, subscripts=subscripts)


def _parts(call: Call, subscripts: str, count: int) -> tuple[list[str], str]:
    """The letters of each operand, and those of the result."""

    def malformed(message: str, help: str) -> Fault:
        return call.fault(rules.TYPE_KIND, "subscripts", f"`einsum` cannot read `{subscripts}`: {message}", help)

    if not _SUBSCRIPTS.fullmatch(subscripts):
        if "..." in subscripts:
            raise malformed("it has an ellipsis", "write a letter for every axis")
        if "->" not in subscripts:
            raise malformed("it does not say what the result is", 'write its letters behind an arrow, as in "ij,jk->ik"')
        raise malformed("it is no list of letters", 'write the letters of each operand, then of the result, as in "ij,jk->ik"')
    operands, result = subscripts.split("->")
    terms = operands.split(",")
    if len(terms) != count:
        operand = f"{len(terms)} operand{'s' * (len(terms) != 1)}"
        raise malformed(f"it speaks of {operand}, and there {'is' if count == 1 else 'are'} {count}", "separate operands by commas")
    for index, letter in enumerate(result):
        if letter not in operands:
            raise malformed(f"no operand has the `{letter}` of the result", "the result is made of the operands' letters")
        if letter in result[:index]:
            raise malformed(f"the result has `{letter}` twice", "name each axis of the result once")
    return terms, result


def _measure(term: str, node: Node, at: Form, sizes: dict[str, tuple[int, str]]) -> None:
    """Enter the sizes of an operand's letters, each with the term that gave it."""
    if len(term) != len(node.shape):
        axes = f"{len(node.shape)} ax{'is' if len(node.shape) == 1 else 'es'}"
        message = f"`einsum` gives this operand the letters `{term}`, and {bracketed(node.shape)} has {axes}"
        raise Fault(rules.SHAPE_OPERATOR, at, message, "write one letter for every axis")
    for letter, extent in zip(term, node.shape, strict=True):
        known, where = sizes.setdefault(letter, (extent, term))
        if known != extent:
            message = f"`einsum`: `{letter}` is {known} in `{where}` and {extent} in `{term}`, here {bracketed(node.shape)}"
            raise Fault(rules.SHAPE_OPERATOR, at, message, "a letter has one size: use another letter, or another tensor")


def _vectors(call: Call) -> tuple[Node, Node]:
    x, y = call.join("x", "y")
    for name, node in (("x", x), ("y", y)):
        if len(node.shape) != 1:
            help = "`matmul` multiplies tensors of more axes" if node.shape else "write (* x y)"
            raise call.fault(rules.SHAPE_OPERATOR, name, f"`{call.name}` takes vectors, and this is {bracketed(node.shape)}", help)
    return x, y


@op("dot", "x y", "linear", "The inner product of two vectors: a scalar.", "(dot (ones [3]) (ones [3]))")
def dot(call: Call) -> Value:
    x, y = _vectors(call)
    if x.shape != y.shape:
        message = f"`dot` of a vector of {x.shape[0]} and one of {y.shape[0]}"
        raise call.fault(rules.SHAPE_OPERATOR, "y", message, "both must be of one length")
    return call.emit([x, y], (), x.dtype)


@op("outer", "x y", "linear", "All products of two vectors: element `[i j]` is x[i] · y[j].", "(outer (ones [3]) (ones [4]))")
def outer(call: Call) -> Value:
    x, y = _vectors(call)
    return call.emit([x, y], (x.shape[0], y.shape[0]), x.dtype)
