"""Checks of shapes that several families of operators share."""

from __future__ import annotations

from sexpgpu.diagnostics import rules
from sexpgpu.graph.nodes import Node, Shape, typed
from sexpgpu.ops.call import Call, bracketed, broadcast_shapes


def one_an_axis(call: Call, name: str, given: int, x: Node, example: str) -> None:
    """A fault E-SHAPE-002 at the argument unless it has one entry for each axis of `x`; `example` is such an entry."""
    rank = len(x.shape)
    if given != rank:
        axes = f"the {rank} ax{'i' if rank == 1 else 'e'}s of {typed(x.shape, x.dtype)}" if rank else "a scalar, which has no axes,"
        message = f"`{call.name}` needs one entry for each of {axes}" if rank else f"`{call.name}` needs no entries for {axes}"
        help = f"write [{' '.join([example] * rank)}]"
        raise call.fault(rules.SHAPE_OPERATOR, name, f"{message} and has {given} here", help)


def broadcasts_to(call: Call, what: str, shape: Shape, target: Shape) -> None:
    """A fault E-SHAPE-001 at the call unless `shape`, that of `what`, broadcasts to `target` as it is."""
    if broadcast_shapes(shape, target) != target:
        message = f"`{call.name}` cannot broadcast {what} of shape {bracketed(shape)} to {bracketed(target)}"
        help = "axes are matched from the last; each must be equal to the wanted one, or 1"
        raise call.fault(rules.SHAPE_BROADCAST, None, message, help)
