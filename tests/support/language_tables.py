"""The tables of `docs/language.md`, each made from the table that the program itself reads."""

from __future__ import annotations

import re
from collections.abc import Callable

from sexpgpu import analysis  # noqa: F401 (fills the table of host functions)
from sexpgpu.ide.bindings import described
from sexpgpu.language.ctx import CTX, counter_keys
from sexpgpu.language.host import HOST
from sexpgpu.language.shapes import Shape
from sexpgpu.language.special import SPECIAL_FORMS, TOP_LEVEL
from sexpgpu.program.declarations import DECLARATIONS, Declaration, Key
from support.pages import call, table

_PLACE = re.compile(r"^(<!-- made by `make update`: ([^>]+) -->\n)(?:\|[^\n]*\n)*", re.MULTILINE)


def filled(markdown: str) -> str:
    """The page with each table as it is made now, below the comment that names it."""
    return _PLACE.sub(lambda found: found[1] + TABLES[found[2]](), markdown)


def named(markdown: str) -> list[str]:
    """The tables that a page asks for."""
    return [found[2] for found in _PLACE.finditer(markdown)]


def _declaration(declaration: Declaration) -> str:
    return table(("key", "default", "meaning"), ((f"`:{key.name}`", _default(key), key.doc) for key in declaration.keys.values()))


def _default(key: Key) -> str:
    if key.required:
        return "required"
    return "" if key.default is None else f"`{described(key.default)}`"


def _forms(shapes: dict[str, Shape]) -> str:
    return table(("form", "says"), ((f"`{shape.shape}`", shape.doc) for shape in shapes.values()))


def _sources() -> str:
    rows = ((row.name, row.signature, row.doc) for row in HOST.values() if row.family == "source")
    return table(("source", "records"), ((f"`{call(name, signature)}`", doc) for name, signature, doc in rows))


def _ctx() -> str:
    whole, since = counter_keys("NAME")
    rows = [(f"`:{key.name}`", f"`{key.dtype.name}`", key.doc) for key in CTX.values()]
    rows += [
        (f"`:{whole}`", "`i64`", "a counter of that name, for the whole run; not in the generator"),
        (f"`:{since}`", "`i64`", "the same, since the stage began"),
    ]
    return table(("key", "dtype", "meaning"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "special forms": lambda: _forms(SPECIAL_FORMS),
    "the top level": lambda: _forms(TOP_LEVEL),
    "sources": _sources,
    "ctx": _ctx,
    **{head: (lambda declaration=declaration: _declaration(declaration)) for head, declaration in DECLARATIONS.items()},
}
