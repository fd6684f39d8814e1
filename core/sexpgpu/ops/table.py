"""The table of operators. A row is a rule function under `@op`: its signature, and from typed arguments to a typed node.

Hover, completion, docs, checking and lowering read this table; the backend has one lowering for each row that makes a node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from sexpgpu.language.signature import Signature, parse

if TYPE_CHECKING:
    from sexpgpu.language.values import Value
    from sexpgpu.ops.call import Call

HostFunction = Callable[..., "Value"]
"""Takes host numbers and booleans by position. Raises HostFault at an argument's index, LimitPassed."""


class Op(NamedTuple):
    """An operator: how it is called, what it gives, and how that is shown.

    `host` computes it where all arguments are host numbers or booleans; without one such a call makes tensors of them. `node` is
    the operation of the nodes that it makes ("" for one that only answers on the host, as `shape` does). A `draw` takes its key
    from its place.
    `residuals` says what the backward pass keeps of it: `none`, `inputs`, `output` or `both`; or `indices`, the inputs that are
    integers or booleans (the gradient of `take` reads where, not what).
    """

    name: str
    signature: Signature
    family: str
    doc: str
    example: str
    rule: Callable[[Call], Value]
    host: HostFunction | None = None
    node: str = ""
    draw: bool = False
    residuals: str = "inputs"


OPS: dict[str, Op] = {}


def op(
    name: str,
    signature: str,
    family: str,
    doc: str,
    example: str,
    *,
    host: HostFunction | None = None,
    node: str | None = None,
    draw: bool = False,
    residuals: str = "inputs",
) -> Callable[[Callable[[Call], Value]], Callable[[Call], Value]]:
    """Put a rule function into the table under `name`. A rule raises `Fault` for what it does not accept."""

    def enter(rule: Callable[[Call], Value]) -> Callable[[Call], Value]:
        assert name not in OPS, f"two operators are called {name}"
        OPS[name] = Op(name, parse(signature), family, doc, example, rule, host, name if node is None else node, draw, residuals)
        return rule

    return enter
