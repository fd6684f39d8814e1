"""The static pass: names, the shapes of forms and the arguments of direct calls, in every form of a file, reached or not.

What it finds wrong it marks as broken, so that the evaluator has nothing to say there. It is one walk over the forms of each
module: here the top level, in `static_walk` expressions. `static_calls` judges the arguments of a call, `static_unused` the locals
that nothing used.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sexpgpu.diagnostics.finding import Finding
from sexpgpu.language.marks import Local, Marks
from sexpgpu.language.parameters import Malformed, parse_parameters
from sexpgpu.language.shapes import Shape, declared_pairs, key_parts
from sexpgpu.language.static_parts import symbols_in
from sexpgpu.language.static_unused import Given, unused
from sexpgpu.language.static_walk import Walker
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.program.unit import Entry, Module, Unit
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, StringForm, SymbolForm

_PYTHON_FRAMES = 5 * 600


def check_static(unit: Unit, marks: Marks) -> list[Finding]:
    """Check every form of a unit and fill in `marks`."""
    room = sys.getrecursionlimit()
    sys.setrecursionlimit(max(room, _PYTHON_FRAMES))
    try:
        return _check(unit, marks)
    finally:
        sys.setrecursionlimit(room)


def _check(unit: Unit, marks: Marks) -> list[Finding]:
    findings: list[Finding] = []
    missing: list[Finding] = []
    given = Given(marks)
    lost: set[str] = set()
    open_: set[Module] = set()
    idle: list[Local] = []
    for module in unit.modules:
        walker = _TopLevel(module, marks, given)
        for entry in module.entries:
            walker.entry(entry)
        findings += walker.findings
        lost |= walker.lost
        idle += walker.idle
        if module.open or walker.lost_load:
            open_.add(module)
        if open_.isdisjoint(module.seen) and not walker.explains():
            missing += walker.missing
    findings += [finding for finding in missing if finding.at.text not in lost]
    return findings + unused(idle, given)


class _TopLevel(Walker):
    """The walk over the forms of one module."""

    loose = -1  # the line that was last told to hold something outside all brackets
    nameless = 0  # definitions that give no name, or a constant's

    def explains(self) -> bool:
        """Whether the names that are missed may all be those that definitions without a name would give."""
        return 0 < len({finding.at.text for finding in self.missing} - self.lost) <= self.nameless

    def entry(self, entry: Entry) -> None:
        form, row, definition = entry.form, entry.row, entry.definition
        if definition is not None:
            if isinstance(definition.name_form, SymbolForm):
                self.marks.references[definition.name_form] = definition
            self.given.definition(definition)
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
