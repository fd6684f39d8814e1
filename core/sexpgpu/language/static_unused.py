"""Which local names nothing uses, and which of those must stand there all the same, because the runtime gives the arguments."""

from __future__ import annotations

from collections.abc import Iterable

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Finding
from sexpgpu.language.marks import Local, Marks
from sexpgpu.program.unit import Definition
from sexpgpu.reader.forms import Form, ListForm, SymbolForm

CONTRACTS = ("prepare", "objective", "curriculum")
_TAKERS = frozenset({"synthetic", "sgd", "adam", "adamw", "lion", "adafactor", "muon"})
_TAILS = {
    "if": 2,
    "when": -1,
    "unless": -1,
    "progn": -1,
    "let": -1,
    "let*": -1,
    "scope": -1,
    "and": 1,
    "or": 1,
}


class Given:
    """The functions that are handed to the runtime: their parameters are what the contract says, used or not."""

    def __init__(self, marks: Marks) -> None:
        self.marks = marks
        self.forms: list[Form] = []
        self.named: list[Definition] = []

    def definition(self, definition: Definition) -> None:
        """A definition, which may be one that the runtime looks for by its name.

        So may one whose name is wrong; and text that does not read may give it to the runtime.
        """
        module, name = definition.module, definition.name
        assert module is not None
        if name in CONTRACTS or module.scope.get(name) is not definition or module.reading.may_define(name):
            self.function(definition)

    def function(self, definition: Definition) -> None:
        """The runtime calls what is defined here."""
        self.named.append(definition)

    def form(self, form: Form) -> None:
        """The value of this form goes to the runtime."""
        self.forms.append(form)

    def call(self, name: str, definition: Definition, form: ListForm) -> None:
        """A call, which may be of a constructor that takes functions for the runtime: an optimizer's, or `synthetic`."""
        if definition.kind == "host" and name in _TAKERS:
            self.forms += form.items[1:]

    def functions(self) -> set[Form]:
        """The `lambda` and `defun` forms that the given forms may evaluate to, as far as the text tells."""
        found: set[Form] = set()
        seen: set[Form] = set()
        waiting = list(self.forms)
        for definition in self.named:
            waiting += _defined(definition, found)
        while waiting:
            form = waiting.pop()
            if form in seen:
                continue
            seen.add(form)
            if isinstance(form, SymbolForm):
                waiting += self._named(form, found)
            elif isinstance(form, ListForm) and form.items:
                waiting += self._made(form, found)
        return found

    def _named(self, form: SymbolForm, found: set[Form]) -> list[Form]:
        named = self.marks.references.get(form)
        if isinstance(named, Local):
            return [named.value] if named.value is not None else []
        return [] if named is None else _defined(named, found)

    def _made(self, form: ListForm, found: set[Form]) -> list[Form]:
        head = form.items[0]
        if not isinstance(head, SymbolForm):
            return []
        called = self.marks.references.get(head)
        if isinstance(called, Definition) and called.kind == "defun" and called.form is not None:
            return [called.form.items[-1]]
        if called is not None:
            return []
        if head.name == "lambda":
            found.add(form)
        elif head.name == "cond":
            return [clause.items[-1] for clause in form.items[1:] if isinstance(clause, ListForm) and clause.items]
        elif head.name in _TAILS:
            return list(form.items[_TAILS[head.name] :])
        return []


def _defined(definition: Definition, found: set[Form]) -> list[Form]:
    form = definition.form
    if form is not None and not definition.unknown:
        if definition.kind == "defun":
            found.add(form)
        elif definition.kind == "def":
            return [form.items[2]]
    return []


def unused(idle: Iterable[Local], given: Given) -> list[Finding]:
    """A hint at each local that nothing uses, but for the parameters of functions that the runtime calls."""
    idle = list(idle)
    exempt = given.functions() if idle else set[Form]()
    return [
        Finding(rules.UNUSED, local.name_form, f"`{local.name}` is not used", f"leave it out, or write _{local.name}")
        for local in idle
        if local.form not in exempt
    ]
