"""Every name that the language itself provides, found by name: operators, host functions, constructors, contract forms."""

from __future__ import annotations

from collections.abc import Iterator

from sexpgpu.language import contracts, lists, makers, plists, texts
from sexpgpu.language.host import HOST
from sexpgpu.language.values import Builtin
from sexpgpu.ops import OPS

_found: dict[str, Builtin] = {}


def builtin(name: str) -> Builtin | None:
    """The operator or host function of that name."""
    known = _found.get(name)
    if known is None:
        if name in OPS:
            op = OPS[name]
            known = Builtin(name, op.signature, op.rule, op.host)
        elif name in HOST:
            row = HOST[name]
            known = Builtin(name, row.signature, row.rule, strict=row.strict)
        else:
            return None
        _found[name] = known
    return known


def names() -> Iterator[str]:
    """The names of all operators and host functions."""
    yield from OPS
    yield from HOST


__all__ = ["builtin", "contracts", "lists", "makers", "names", "plists", "texts"]
