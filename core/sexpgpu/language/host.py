"""The table of host functions: what works on host values while the file is evaluated. A row is a rule function under `@host`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, cast

from sexpgpu.language.signature import Signature, parse
from sexpgpu.language.values import Value

if TYPE_CHECKING:
    from sexpgpu.language.evaluator import Evaluator
    from sexpgpu.ops.call import Call


class HostRow(NamedTuple):
    """A host function: how it is called, what it gives, and how that is shown. `family` groups it in the reference.

    A `strict` one is unknown as soon as one of its arguments is.
    """

    name: str
    signature: Signature
    family: str
    doc: str
    example: str
    rule: Callable[[Call], Value]
    strict: bool


HOST: dict[str, HostRow] = {}


def host(
    name: str, signature: str, family: str, doc: str, example: str, *, strict: bool = True
) -> Callable[[Callable[[Call], Value]], Callable[[Call], Value]]:
    """Put a rule function into the table under `name`."""

    def enter(rule: Callable[[Call], Value]) -> Callable[[Call], Value]:
        assert name not in HOST, f"two host functions are called {name}"
        HOST[name] = HostRow(name, parse(signature), family, doc, example, rule, strict)
        return rule

    return enter


def evaluator_of(call: Call) -> Evaluator:
    """The evaluator that a call is evaluated by: host functions call back into it."""
    return cast("Evaluator", call.tracer)
