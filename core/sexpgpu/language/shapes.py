"""The shapes of special and top-level forms: which parts stand behind a head, and whether a form has them.

A shape counts the parts; what else it asks of them is a check of its own. All raise Malformed at the first part that is wrong: too
few parts show at the head, too many at the first extra.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sexpgpu.language.parameters import Malformed, parse_parameters
from sexpgpu.reader.forms import BadForm, ConstantForm, Form, KeywordForm, ListForm, StringForm, SymbolForm

Check = Callable[["Shape", ListForm], None]
CONSTANTS = ("nil", "true", "false")


class Shape(NamedTuple):
    """A special or top-level form, written as `shape`, with `least` to `most` parts behind its head (None: any number).

    `binds` marks a form whose first part (a definition's second) names local variables. At the top level, `namespace` says what
    the form defines: a `value`, a `loader`, a `pass`, or nothing with a name.
    """

    name: str
    shape: str
    least: int
    most: int | None
    doc: str
    example: str
    check: Check | None = None
    binds: bool = False
    namespace: str = ""


def check_shape(row: Shape, form: ListForm) -> None:
    """Raise Malformed at the smallest part of the form, the first in the text, that is not as `row` says."""
    count = len(form.items) - 1
    if count < row.least:
        raise Malformed(form.items[0], f"`{row.name}` has too few parts", f"write {row.shape}")
    if row.check is not None:
        row.check(row, form)
    if row.most is not None and count > row.most:
        raise Malformed(form.items[row.most + 1], f"`{row.name}` has too many parts", f"write {row.shape}")


# Parts


def bindings(row: Shape, form: ListForm) -> None:
    bindings = form.items[1]
    if not isinstance(bindings, ListForm):
        raise Malformed(bindings, f"the bindings of `{row.name}` stand in a list", f"write {row.shape}")
    seen: set[str] = set()
    for binding in bindings.items:
        name = _pair(binding, "a binding is a name and a value", "write (name value)")
        if row.name == "let" and name.name in seen:
            raise Malformed(name, f"`let` binds `{name.name}` twice", "write let*, where the second sees the first")
        seen.add(name.name)


def loop(row: Shape, form: ListForm) -> None:
    of = "n" if row.name == "dotimes" else "list"
    _pair(form.items[1], f"`{row.name}` takes a name and what it runs over", f"write (name {of})")


def _pair(form: Form, message: str, help: str) -> SymbolForm:
    """The name of a `(name expression)` pair."""
    if not isinstance(form, ListForm) or not form.items:
        raise Malformed(form, message, help)
    name = form.items[0]
    if not isinstance(name, SymbolForm):
        raise Malformed(name, message, help)
    if len(form.items) < 2:
        raise Malformed(form, message, help)
    if len(form.items) > 2:
        raise Malformed(form.items[2], message, help)
    return name


def parameters(_row: Shape, form: ListForm) -> None:
    parse_parameters(form.items[1])


def clauses(row: Shape, form: ListForm) -> None:
    for clause in form.items[1:]:
        if not isinstance(clause, ListForm) or not clause.items:
            raise Malformed(clause, "a clause of `cond` is a list that begins with its condition", f"write {row.shape}")


def key_parts(form: ListForm, start: int) -> tuple[list[tuple[KeywordForm, Form]], tuple[Form, ...]]:
    """The keys with their values that stand in a `scope` or `defmodel` from item `start` on, and the body behind them."""
    pairs: list[tuple[KeywordForm, Form]] = []
    items = form.items
    if form.head == "defmodel" and start + 1 < len(items) and isinstance(items[start], StringForm):
        start += 1  # a model's documentation, as a function's
    while start + 1 < len(items) and isinstance(key := items[start], KeywordForm):
        pairs.append((key, items[start + 1]))
        start += 2
    return pairs, items[start:]


def _keyed_body(row: Shape, form: ListForm, start: int) -> list[tuple[KeywordForm, Form]]:
    pairs, body = key_parts(form, start)
    if not body or (len(body) == 1 and isinstance(body[0], KeywordForm)):
        raise Malformed(form.items[0], f"`{row.name}` has no body behind its keys", f"write {row.shape}")
    return pairs


_SCOPE_KEYS = ("frozen", "remat", "pretrained")


def scoped(row: Shape, form: ListForm) -> None:
    seen: set[str] = set()
    for key, _ in _keyed_body(row, form, 2):
        if key.name not in _SCOPE_KEYS:
            from sexpgpu.language.nearest import nearest

            near = nearest(key.name, _SCOPE_KEYS)
            known = " ".join(f":{name}" for name in _SCOPE_KEYS)
            raise Malformed(key, f"`scope` has no key :{key.name}", f"write :{near[0]}" if near else f"it has {known}")
        if key.name in seen:
            raise Malformed(key, f"the key :{key.name} is given twice", "keep one of the two")
        seen.add(key.name)


# The top level


def named(row: Shape, form: ListForm) -> None:
    name = form.items[1]
    redefines = row.namespace == "value" and isinstance(name, ConstantForm) and name.text in CONSTANTS
    if not isinstance(name, SymbolForm) and not redefines:
        raise Malformed(name, f"`{row.name}` needs a name here", f"write {row.shape}")


def function(row: Shape, form: ListForm) -> None:
    named(row, form)
    parse_parameters(form.items[2])


def model(row: Shape, form: ListForm) -> None:
    _keyed_body(row, form, 3)
    function(row, form)


def declaration(row: Shape, form: ListForm) -> None:
    named(row, form)
    _pairs(row, form, 2)


def run(row: Shape, form: ListForm) -> None:
    _pairs(row, form, 2 if len(form.items) > 1 and isinstance(form.items[1], SymbolForm) else 1)


def pairs(row: Shape, form: ListForm) -> None:
    _pairs(row, form, 1)


def optimizer(row: Shape, form: ListForm) -> None:
    if isinstance(form.items[1], KeywordForm):
        _pairs(row, form, 1)
    elif len(form.items) > 2:
        if isinstance(form.items[1], BadForm):
            raise Malformed(form.items[1], "not a token")
        raise Malformed(form.items[2], "`defoptimizer` takes one optimizer, or keys", f"write {row.shape}")


def _pairs(row: Shape, form: ListForm, start: int) -> None:
    items = form.items
    for index in range(start, len(items), 2):
        key = items[index]
        if not isinstance(key, KeywordForm):
            raise Malformed(key, f"`{row.name}` expects a key here", f"write {row.shape}")
        if index + 1 == len(items):
            raise Malformed(key, f"the key :{key.name} has no value", f"write a value behind :{key.name}")


def declared_pairs(form: ListForm) -> list[tuple[KeywordForm, Form]]:
    """The keys of a well-formed declaration with their values, in the order of the text."""
    items = form.items
    start = 1
    while start < len(items) and not isinstance(items[start], KeywordForm):
        start += 1
    pairs = zip(items[start::2], items[start + 1 :: 2], strict=False)
    return [(key, value) for key, value in pairs if isinstance(key, KeywordForm)]


def path(row: Shape, form: ListForm) -> None:
    if not isinstance(form.items[1], StringForm):
        raise Malformed(form.items[1], "`load` takes the path of a file as a string", f"write {row.shape}")
