"""What a place in a form is for: a head, a value, a key, a name to be given; and which local variables it sees.

All of it is said by the forms in front of the place, so that it holds while the rest is not written yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from sexpgpu.language.parameters import MARKERS
from sexpgpu.language.special import SPECIAL_FORMS
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, QuoteForm, SymbolForm, VectorForm

Role = Literal["top", "head of top", "head", "value", "key", "define", "parameters", "file", "nothing"]
_Inside = Role | Literal["list of top", "bindings", "bindings in order", "binding", "parameter", "clause", "quoted"]

SCOPE_KEYS = ("frozen", "remat", "pretrained")


class Place(NamedTuple):
    """A place: the list or vector around it (None at the top level), the index `at` which it stands there, and the forms of the
    local names that it sees, the innermost of each name. `key` is the key whose value a place in a declaration is."""

    role: Role
    around: ListForm | VectorForm | None
    at: int
    locals: dict[str, SymbolForm]
    key: str = ""

    @property
    def head(self) -> str:
        """The symbol that heads the list around the place; empty where that is none, or a local variable."""
        name = self.around.head if isinstance(self.around, ListForm) else None
        return name if name is not None and name not in self.locals else ""


def place_of(path: Sequence[Form]) -> Place:
    """The place that the last form of a path stands at."""
    seen: dict[str, SymbolForm] = {}
    role: _Inside = "list of top" if isinstance(path[0], ListForm) else "top"
    around: ListForm | VectorForm | None = None
    index = 0
    for outer, inner in pairwise(path):
        around, index = None, 0
        if isinstance(outer, (ListForm, VectorForm)):
            around = outer
            index = len(outer.items) - 1 if outer.items[-1] is inner else outer.items.index(inner)
        role = _inside(role, outer, index, seen)
    key = ""
    if role == "value" and isinstance(around, ListForm) and index and isinstance(around.items[index - 1], KeywordForm):
        head = around.head or ""
        if (head in DECLARATIONS and len(path) == 2) or head == "scope":
            key = around.items[index - 1].text[1:]
    match role:
        case "top" | "head of top" | "head" | "value" | "key" | "define" | "parameters" | "file":
            return Place(role, around, index, seen, key)
        case _:
            return Place("nothing", around, index, seen)


def _inside(role: _Inside, form: Form, index: int, seen: dict[str, SymbolForm]) -> _Inside:
    """The role of an item of a form in that role. Adds the local names that the item sees."""
    if isinstance(form, QuoteForm) or role == "quoted":
        return "quoted"
    if not isinstance(form, ListForm):
        return "value"
    items = form.items
    match role:
        case "list of top" if index == 0:
            return "head of top"
        case "list of top":
            return _of_top(form, index, seen)
        case "parameters":
            _bind(_parameters(items[:index]), seen)
            return "parameter" if isinstance(items[index], ListForm) else "parameters"
        case "bindings in order" | "bindings":
            if role == "bindings in order":
                _bind(_names(items[:index]), seen)
            return "binding"
        case "binding" | "parameter":
            return "nothing" if index == 0 else "value"
        case "clause":
            return "value"
        case _ if index == 0:
            return "head"
        case _:
            return _of_call(form, index, seen)


def _of_top(form: ListForm, index: int, seen: dict[str, SymbolForm]) -> _Inside:
    head, items = form.head or "", form.items
    match head:
        case "def":
            return "define" if index == 1 else "value"
        case "defun" | "defmodel" if index < 3:
            return "define" if index == 1 else "parameters"
        case "defun" | "defmodel":
            _bind(_parameters(_items(items[2])), seen)
            return _keyed(items, 3, index) if head == "defmodel" else "value"
        case "load":
            return "file"
        case "defoptimizer" if index == 1 or not isinstance(items[1], KeywordForm):
            return "value"
        case _ if head in DECLARATIONS:
            named = DECLARATIONS[head].named
            start = 2 if named or (named is None and index > 1 and isinstance(items[1], SymbolForm)) else 1
            if index < start:
                return "define"
            return "key" if (index - start) % 2 == 0 else "value"
        case _:
            return "value"


def _of_call(form: ListForm, index: int, seen: dict[str, SymbolForm]) -> _Inside:
    items = form.items
    head = form.head if form.head in SPECIAL_FORMS and form.head not in seen else None
    match head:
        case "let" | "let*" if index == 1:
            return "bindings in order" if head == "let*" else "bindings"
        case "let" | "let*":
            _bind(_names(_items(items[1])), seen)
        case "lambda" if index == 1:
            return "parameters"
        case "lambda":
            _bind(_parameters(_items(items[1])), seen)
        case "dotimes" | "dolist" if index == 1:
            return "binding"
        case "dotimes" | "dolist":
            _bind(_items(items[1])[:1], seen)
        case "cond":
            return "clause"
        case "quote":
            return "quoted"
        case "scope" if index > 1:
            return _keyed(items, 2, index)
        case _:
            pass
    return "value"


def _keyed(items: Sequence[Form], start: int, index: int) -> _Inside:
    """A key, its value, or the body behind them, in a form whose keys stand from `start` on."""
    while start + 1 < index and isinstance(items[start], KeywordForm):
        start += 2
    if start == index:
        return "key"
    return "value"


def _items(form: Form) -> Sequence[Form]:
    return form.items if isinstance(form, ListForm) else ()


def _names(bindings: Iterable[Form]) -> Iterable[Form]:
    return (binding.items[0] for binding in bindings if isinstance(binding, ListForm) and binding.items)


def _parameters(items: Iterable[Form]) -> Iterable[Form]:
    for item in items:
        name = item.items[0] if isinstance(item, ListForm) and item.items else item
        if not (isinstance(name, SymbolForm) and name.name in MARKERS):
            yield name


def _bind(names: Iterable[Form], seen: dict[str, SymbolForm]) -> None:
    for name in names:
        if isinstance(name, SymbolForm):
            seen[name.name] = name
