"""Where a change is made: the forms around a diagnostic, and what can be seen from there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sexpgpu.graph.nodes import Node
from sexpgpu.ide.bindings import values_of
from sexpgpu.ide.places import children, forms_at, module_of
from sexpgpu.language.special import SPECIAL_FORMS
from sexpgpu.language.values import Plist, Value
from sexpgpu.program.unit import Definition
from sexpgpu.reader.forms import Form, ListForm, SymbolForm
from sexpgpu.source import Source, Span

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.diagnostics.finding import Diagnostic
    from sexpgpu.program.unit import Module

_BODIES = {
    "let": 2,
    "let*": 2,
    "lambda": 2,
    "defun": 3,
    "defmodel": 3,
    "progn": 1,
    "scope": 2,
    "dotimes": 2,
    "dolist": 2,
    "when": 2,
    "unless": 2,
}
_TAIL = ("let", "let*", "progn", "scope")


class Spot:
    """A span of a file, and the forms that stand there: `path` is from the outermost to `form`, the one that the span covers."""

    __slots__ = ("analysis", "form", "module", "path", "source", "span")

    def __init__(self, analysis: Analysis, module: Module, span: Span, path: list[Form]) -> None:
        self.analysis = analysis
        self.module = module
        self.source: Source = span.source
        self.span = span
        self.path = path
        self.form = path[-1]

    @property
    def parent(self) -> ListForm | None:
        """The list right around the form."""
        return self.above(1)

    def above(self, steps: int) -> ListForm | None:
        """The list that many steps around the form."""
        found = self.path[-1 - steps] if len(self.path) > steps else None
        return found if isinstance(found, ListForm) else None

    def place(self) -> int:
        """Which part of the list around it the form is; -1 where there is none."""
        parent = self.parent
        return parent.items.index(self.form) if parent is not None else -1

    @property
    def call(self) -> ListForm | None:
        """The call that the form is, or is the head of."""
        if isinstance(self.form, ListForm):
            return self.form
        parent = self.parent
        return parent if parent is not None and parent.items[0] is self.form else None

    def known(self, form: Form) -> list[Value]:
        """What a form evaluated to."""
        return values_of(self.analysis, form)


def spot_at(analysis: Analysis, span: Span) -> Spot | None:
    """The spot that a span covers to the character; None where no form does that reads."""
    module = module_of(analysis, span.source)
    if module is None:
        return None
    path = forms_at(module, span.start)
    while path and path[-1].span != span:
        path.pop()
    return Spot(analysis, module, span, path) if path and not path[0].top.broken else None


def spot_of(analysis: Analysis, diagnostic: Diagnostic) -> Spot | None:
    """The spot of a diagnostic."""
    return spot_at(analysis, diagnostic.span)


# What can be seen


def definition_of(analysis: Analysis, symbol: Form) -> Definition | None:
    """The definition that a symbol stands for."""
    found = analysis.marks.references.get(symbol) if isinstance(symbol, SymbolForm) else None
    return found if isinstance(found, Definition) else None


def plist_parameter(spot: Spot, role: str) -> str:
    """The name under which a plist of the runtime (`ctx`, `state`, …) is seen at a spot; empty where it is not."""
    for local in reversed(spot.analysis.marks.locals):
        if local.form in spot.path and any(
            isinstance(value, Plist) and value.role == role for value in spot.known(local.name_form)
        ):
            return local.name if _is_seen(spot, local.name, local.form) else ""
    return ""


def input_parameter(spot: Spot, kind: str) -> str:
    """The name under which an input of the runtime that is no plist (`trip`, `index`, `stage`) is seen at a spot."""
    for local in reversed(spot.analysis.marks.locals):
        if local.form in spot.path:
            for value in spot.known(local.name_form):
                if isinstance(value, Node) and value.op == "input" and value.attrs.get("kind") == kind:
                    return local.name if _is_seen(spot, local.name, local.form) else ""
    return ""


def _is_seen(spot: Spot, name: str, form: ListForm) -> bool:
    """Whether no other variable of the name is bound between a form and the spot."""
    return not any(
        local.name == name and local.form in spot.path and local.form is not form and local.form.start > form.start
        for local in spot.analysis.marks.locals
    )


# The shape of functions


def body_start(form: Form) -> int | None:
    """Where the body of a form with one begins; None for one without."""
    return _BODIES.get(form.head or "") if isinstance(form, ListForm) else None


def last_list(function: Form) -> ListForm | None:
    """The `list` that a function returns, where one in tail position writes it, with a value behind each key."""
    form = function
    if isinstance(form, ListForm) and form.head in ("lambda", "defun"):
        form = form.items[-1]
    while isinstance(form, ListForm) and form.head in _TAIL and len(form.items) > 2:
        form = form.items[-1]
    return form if isinstance(form, ListForm) and form.head == "list" and len(form.items) % 2 and len(form.items) > 1 else None


def in_statement(spot_path: list[Form]) -> bool:
    """Whether the last form of a path stands in a body, in front of other forms, so that its value is dropped."""
    if len(spot_path) < 2:
        return False
    form, parent = spot_path[-1], spot_path[-2]
    start = body_start(parent)
    if start is None or not isinstance(parent, ListForm) or parent.head in ("dotimes", "dolist"):
        return False
    return parent.items.index(form) >= start and form is not parent.items[-1]


def is_special(form: Form) -> bool:
    return isinstance(form, ListForm) and form.head in SPECIAL_FORMS


def enclosing(spot: Spot, *heads: str) -> ListForm | None:
    """The innermost form around a spot that begins with one of these."""
    for form in reversed(spot.path):
        if isinstance(form, ListForm) and form.head in heads:
            return form
    return None


def declared(analysis: Analysis, head: str, name: str | None = None) -> ListForm | None:
    """The first well-formed declaration of a kind, of a name if one is given."""
    for entry in analysis.unit.entries:
        form = entry.form
        if isinstance(form, ListForm) and form.head == head and entry.fault is None:
            if name is None or (len(form.items) > 1 and form.items[1].text == name):
                return form
    return None


def function_of(analysis: Analysis, name: str) -> ListForm | None:
    """The `defun` of a name in the file or what it loads."""
    definition = analysis.unit.main.scope.get(name)
    form = definition.form if definition is not None else None
    if form is None or form.head != "defun" or len(form.items) < 4 or definition is None or definition.unknown:
        return None
    return None if form.top.source.builtin else form


def symbols_in(form: Form) -> Iterator[SymbolForm]:
    """The symbols anywhere inside a form, in no order."""
    waiting = [form]
    while waiting:
        each = waiting.pop()
        if isinstance(each, SymbolForm):
            yield each
        waiting.extend(children(each))
