"""What the static pass leaves on forms, for the evaluator and for editors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sexpgpu.reader.forms import Form, ListForm, SymbolForm

if TYPE_CHECKING:
    from sexpgpu.program.unit import Definition


class Local:
    """A local variable or parameter: the symbol that names it, and the form in which it is seen.

    `value` is the form that gives its value, where one does: of a `let` binding alone.
    """

    __slots__ = ("form", "name", "name_form", "used", "value")

    def __init__(self, name_form: SymbolForm, form: ListForm, value: Form | None = None) -> None:
        self.name = name_form.name
        self.name_form = name_form
        self.form = form
        self.value = value
        self.used = False

    def __repr__(self) -> str:
        return f"<local {self.name}>"


class Marks:
    """`broken` forms evaluate to unknown without another word: malformed forms, calls with wrong arguments, undefined names.

    `ordinary` are calls whose head is the name of a special form, bound locally. `references` tells what each symbol stands for,
    also where it is defined or bound; `definitions_used` what the forms of the file refer to; `locals` every local variable.
    """

    __slots__ = ("broken", "definitions_used", "locals", "ordinary", "references")

    def __init__(self) -> None:
        self.broken: set[Form] = set()
        self.ordinary: set[Form] = set()
        self.references: dict[SymbolForm, Definition | Local] = {}
        self.definitions_used: set[Definition] = set()
        self.locals: list[Local] = []
