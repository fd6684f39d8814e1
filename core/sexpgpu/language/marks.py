"""What the static pass leaves on forms, for the evaluator and for editors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sexpgpu.reader.forms import Form, ListForm, SymbolForm, TopForm

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
    `checked` is what was found in each form of the top level.
    """

    __slots__ = ("broken", "checked", "definitions_used", "locals", "ordinary", "references")

    def __init__(self) -> None:
        self.checked: dict[TopForm, Checked] = {}
        self.broken: set[Form] = set()
        self.ordinary: set[Form] = set()
        self.references: dict[SymbolForm, Definition | Local] = {}
        self.definitions_used: set[Definition] = set()
        self.locals: list[Local] = []

    def add(self, other: Marks) -> None:
        """Take in the marks of another form."""
        self.broken |= other.broken
        self.ordinary |= other.ordinary
        self.references.update(other.references)
        self.definitions_used |= other.definitions_used
        self.locals += other.locals


class Checked:
    """What the static pass found in one form of the top level: the same object as before, if it found the same.

    `names` are those that the form looked up, by namespace and name. Of a `clean`
    form there is nothing to report, whatever the rest of the file holds, as long as those names stand for what they did.
    """

    __slots__ = ("clean", "given", "idle", "marks", "names")

    def __init__(self, marks: Marks, names: frozenset[tuple[str, str]], idle: list[Local], given: list[Form], clean: bool) -> None:
        self.marks = marks
        self.names = names
        self.idle = idle
        self.given = given
        self.clean = clean

    def like(self, other: Checked) -> bool:
        """Whether evaluating the form comes out alike."""
        return self.marks.broken == other.marks.broken and self.marks.ordinary == other.marks.ordinary
