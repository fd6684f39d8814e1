"""The static pass: names, the shapes of forms and the arguments of direct calls, in every form of a file, reached or not.

What it finds wrong it marks as broken, so that the evaluator has nothing to say there. It is one walk over the forms of each
module: here the top level, in `static_walk` expressions. `static_calls` judges the arguments of a call, `static_unused` the locals
that nothing used.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sexpgpu.diagnostics.finding import Finding
from sexpgpu.language.marks import Checked, Local, Marks
from sexpgpu.language.parameters import Malformed, parse_parameters
from sexpgpu.language.shapes import Shape, declared_pairs, key_parts
from sexpgpu.language.static_parts import symbols_in
from sexpgpu.language.static_unused import Given, unused
from sexpgpu.language.static_walk import Walker
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.program.unit import Entry, Module, Unit
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, StringForm, SymbolForm, TopForm

_PYTHON_FRAMES = 5 * 600

Names = dict[tuple[str, str], object]
"""What names stand for, by namespace and name, as far as it matters to those who read them."""


def names_of(module: Module) -> Names:
    """The names that a module defines or loads."""
    names: Names = {}
    for space in ("value", "loader"):
        for name, definition in module.namespace(space).items():
            known = (definition.top, definition.kind, definition.duplicated)
            names[space, name] = definition if definition.unknown else known
    return names


def changed_names(before: Names, now: Names) -> frozenset[tuple[str, str]]:
    """The names that stand for something else."""
    return frozenset(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


class Before:
    """What the static pass of the last analysis found, and what names stood for then, by module."""

    def __init__(self) -> None:
        self.checked: dict[TopForm, Checked] = {}
        self.names: dict[str, Names] = {}


def check_static(unit: Unit, marks: Marks, before: Before | None = None) -> list[Finding]:
    """Check every form of a unit and fill in `marks`. Brings `before` up to date; what holds still is taken from there."""
    before = Before() if before is None else before
    room = sys.getrecursionlimit()
    sys.setrecursionlimit(max(room, _PYTHON_FRAMES))
    try:
        return _check(unit, marks, before)
    finally:
        sys.setrecursionlimit(room)


def _check(unit: Unit, marks: Marks, before: Before) -> list[Finding]:
    findings: list[Finding] = []
    missing: list[Finding] = []
    given = Given(marks)
    lost: set[str] = set()
    open_: set[Module] = set()
    idle: list[Local] = []
    names: dict[str, Names] = {}
    for module in unit.modules:
        names[module.path] = names_of(module)
        changed = changed_names(before.names.get(module.path, {}), names[module.path])
        walker = _TopLevel(module, given)
        for entry in module.entries:
            checked = marks.checked[entry.top] = walker.checked(entry, before.checked.get(entry.top), changed)
            marks.add(checked.marks)
        findings += walker.findings
        lost |= walker.lost
        idle += walker.idle
        if module.open or walker.lost_load:
            open_.add(module)
        if open_.isdisjoint(module.seen) and not walker.explains():
            missing += walker.missing
    before.checked, before.names = marks.checked, names
    findings += [finding for finding in missing if finding.at.text not in lost]
    return findings + unused(idle, given)


class _TopLevel(Walker):
    """The walk over the forms of one module."""

    loose = -1  # the line that was last told to hold something outside all brackets
    nameless = 0  # definitions that give no name, or a constant's

    def explains(self) -> bool:
        """Whether the names that are missed may all be those that definitions without a name would give."""
        return 0 < len({finding.at.text for finding in self.missing} - self.lost) <= self.nameless

    def checked(self, entry: Entry, before: Checked | None, changed: frozenset[tuple[str, str]]) -> Checked:
        """What there is in an entry: what there was, where that holds still."""
        if entry.definition is not None:
            self.given.definition(entry.definition)
        holds = before is not None and before.names.isdisjoint(changed)
        if before is not None and holds and before.clean:
            self.idle += before.idle
            self.given.forms += before.given
            checked = before
        else:
            checked = self._anew(entry)
            if before is not None and holds and before.like(checked):
                before.marks = checked.marks
                checked = before
        if entry.definition is not None and isinstance(entry.definition.name_form, SymbolForm):
            checked.marks.references[entry.definition.name_form] = entry.definition
        return checked

    def _anew(self, entry: Entry) -> Checked:
        self.marks, self.looked = Marks(), set[tuple[str, str]]()
        idle, given = len(self.idle), len(self.given.forms)
        said = self._said()
        self.entry(entry)
        clean = entry.fault is None and self._said() == said and not self.marks.broken
        return Checked(self.marks, frozenset(self.looked), self.idle[idle:], self.given.forms[given:], clean)

    def _said(self) -> tuple[object, ...]:
        return (
            len(self.findings),
            len(self.missing),
            len(self.lost),
            self.lost_load,
            self.loose,
            self.nameless,
            len(self.given.named),
        )

    def entry(self, entry: Entry) -> None:
        form, row, definition = entry.form, entry.row, entry.definition
        if definition is not None:
            self.nameless += row is not None and row.namespace == "value" and not isinstance(definition.name_form, SymbolForm)
        if entry.fault is not None:
            if isinstance(form, ListForm):
                self.malformed(form, entry.fault)
            else:
                self._loose(form, entry.fault)
            if isinstance(form, ListForm):
                self._spoilt(row, form)
        elif row is None:
            self.expression(form)
        elif row.name != "load":
            assert isinstance(form, ListForm)
            if row.namespace == "value":
                self._definition(row, form)
            else:
                self._declaration(row, form)

    def _loose(self, form: Form, fault: Malformed) -> None:
        """Something outside all brackets. Several on a line, as in `width = 64`, are one thing, which may define what it names."""
        line = form.span.source.position(form.span.start).line
        if line != self.loose:
            self.malformed(form, fault)
        self.loose = line
        if isinstance(form, SymbolForm):
            self.lost.add(form.name)

    def _spoilt(self, row: Shape | None, form: ListForm) -> None:
        """A malformed form: its names may be those of the definition that was meant, or of functions given to the runtime."""
        for symbol in symbols_in(form):
            named = self.module.scope.get(symbol.name)
            if named is not None:
                self.given.function(named)
        self.lost.update(item.name for item in form.items[:3] if isinstance(item, SymbolForm))
        self.lost.update(_meant(form.items[1:2]))
        if row is not None:
            self.salvage(row, form)

    def _definition(self, row: Shape, form: ListForm) -> None:
        if row.name == "def":
            self.expression(form.items[2])
            return
        body: Sequence[Form] = form.items[3:]
        if row.name == "defmodel":
            pairs, body = key_parts(form, 3)
            for _, value in pairs:
                self.expression(value)
        self.function(form, parse_parameters(form.items[2]), body)

    def _declaration(self, row: Shape, form: ListForm) -> None:
        pairs = declared_pairs(form)
        if row.name == "defoptimizer" and not pairs:
            self.expression(form.items[1])
        keys = DECLARATIONS[row.name].keys
        written = [key.name for key, _ in pairs]
        for key, value in pairs:
            kind = keys[key.name].kind if key.name in keys else ""
            if kind == "loader":
                if isinstance(value, SymbolForm):
                    self.looked.add(("loader", value.name))
                loader = self.module.loaders.get(value.name) if isinstance(value, SymbolForm) else None
                if loader is not None and isinstance(value, SymbolForm):
                    self.refer(value, loader)
                continue
            if kind in ("function", ""):
                self.given.form(value)
            # What stands behind a key that should be another one may be no value at all.
            doubtful = not kind or written.count(key.name) > 1
            self.quiet += doubtful
            self.expression(value)
            self.quiet -= doubtful


def _meant(parts: Sequence[Form]) -> set[str]:
    """The names that stand where a definition's name should, written as something else: `(f x)`, `:f`, `"f"`, `'f`."""
    names = {symbol.name for part in parts for symbol in symbols_in(part)}
    names |= {part.name for part in parts if isinstance(part, KeywordForm)}
    return names | {part.value for part in parts if isinstance(part, StringForm)}


__all__ = ["Local", "Marks", "check_static"]
