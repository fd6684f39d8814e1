"""The static pass: names, the shapes of forms and the arguments of direct calls, in every form of a file, reached or not.

What it finds wrong it marks as broken, so that the evaluator has nothing to say there. It is one walk over the forms of each
module; `static_calls` judges the arguments of a call, `static_unused` the locals that nothing used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Edit, Finding, Fix, Rule
from sexpgpu.language.marks import Local, Marks
from sexpgpu.language.nearest import nearest
from sexpgpu.language.parameters import Malformed, ParameterList, parse_parameters
from sexpgpu.language.shapes import Shape, check_shape, declared_pairs, key_parts
from sexpgpu.language.special import SPECIAL_FORMS, TOP_LEVEL, WORDS
from sexpgpu.language.static_calls import mismatch_of
from sexpgpu.language.static_unused import Given, unused
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.program.unit import Definition, Entry, Module, Unit, provided, provided_names
from sexpgpu.reader.forms import BadForm, Form, ListForm, QuoteForm, SymbolForm, VectorForm

_PYTHON_FRAMES = 5 * 600


def check_static(unit: Unit, marks: Marks) -> list[Finding]:
    """Check every form of a unit and fill in `marks`."""
    if sys.getrecursionlimit() < _PYTHON_FRAMES:
        sys.setrecursionlimit(_PYTHON_FRAMES)
    findings: list[Finding] = []
    missing: list[Finding] = []
    given = Given(marks)
    lost: set[str] = set()
    idle: list[Local] = []
    for module in unit.modules:
        walker = _Walker(module, marks, given)
        for entry in module.entries:
            walker.entry(entry)
        findings += walker.findings
        lost |= walker.lost
        idle += walker.idle
        if not module.open and not walker.lost_load:
            missing += walker.missing
    findings += [finding for finding in missing if finding.at.text not in lost]
    return findings + unused(idle, given)


class _Walker:
    """The walk over one module.

    `damage` counts what went wrong so far: a local is only called unused if nothing went wrong where it is seen. While `quiet`,
    undefined names are no news. `lost` holds names that a definition in the wrong place would have defined.
    """

    def __init__(self, module: Module, marks: Marks, given: Given) -> None:
        self.module = module
        self.marks = marks
        self.given = given
        self.findings: list[Finding] = []
        self.missing: list[Finding] = []
        self.idle: list[Local] = []
        self.lost: set[str] = set()
        self.lost_load = False
        self.damage = 0
        self.quiet = 0
        self.locals: dict[str, Local] = {}
        self.known: dict[str, Definition | None] = dict(module.scope)
        self.near: dict[str, list[str]] = {}
        self.special: dict[str, Callable[[ListForm], None]] = {
            "quote": self._quote,
            "cond": self._cond,
            "let": self._let,
            "let*": self._let_star,
            "lambda": self._lambda,
            "dotimes": self._loop,
            "dolist": self._loop,
            "scope": self._scope,
        }

    def report(self, rule: Rule, at: Form, message: str, help: str = "", fixes: tuple[Fix, ...] = ()) -> None:
        self.damage += 1
        self.findings.append(Finding(rule, at, message, help, (), fixes))

    def malformed(self, form: Form, fault: Malformed) -> None:
        """A malformed form; where a token that does not read is to blame, that has been reported already."""
        self.marks.broken.add(form)
        self.damage += 1
        if not isinstance(fault.at, BadForm):
            self.report(rules.FORM_MALFORMED, fault.at, fault.message, fault.help)

    # The top level

    def entry(self, entry: Entry) -> None:
        form, row = entry.form, entry.row
        if row is None:
            if entry.fault is not None:
                self.malformed(form, entry.fault)
            else:
                self.expression(form)
            return
        assert isinstance(form, ListForm)
        definition = entry.definition
        if definition is not None:
            self.given.definition(definition)
            if isinstance(definition.name_form, SymbolForm):
                self.marks.references[definition.name_form] = definition
        if entry.fault is not None:
            self.malformed(form, entry.fault)
            self._salvage(row, form)
        elif row.namespace == "value":
            self._definition(row, form)
        elif row.name != "load":
            self._declaration(row, form)

    def _definition(self, row: Shape, form: ListForm) -> None:
        if row.name == "def":
            self.expression(form.items[2])
            return
        body: Sequence[Form] = form.items[3:]
        if row.name == "defmodel":
            pairs, body = key_parts(form, 3)
            for _, value in pairs:
                self.expression(value)
        self._function(form, parse_parameters(form.items[2]), body)

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
                    self._refer(value, loader)
                continue
            if kind == "function":
                self.given.form(value)
            # What stands behind a key that should be another one may be no value at all.
            doubtful = not kind or written.count(key.name) > 1
            self.quiet += doubtful
            self.expression(value)
            self.quiet -= doubtful

    def _salvage(self, row: Shape, form: ListForm) -> None:
        """Go on inside a malformed form with what is certainly an expression; no name in it is missed."""
        self.quiet += 1
        start = 3 if row.namespace == "value" and row.binds else 2
        if row.name == "cond":
            for clause in form.items[1:]:
                self.expressions(clause.items if isinstance(clause, ListForm) else (clause,))
        elif row.binds and len(form.items) >= start:
            part = form.items[start - 1]
            if row.name in ("let", "let*") and isinstance(part, ListForm):
                for item in part.items:
                    if isinstance(item, ListForm) and len(item.items) > 1:
                        self.expression(item.items[1])
            before = self._enter([Local(symbol, form) for symbol in _symbols_in(part)])
            self.expressions(form.items[start:])
            self._restore(before)
        elif row.name != "quote":
            self.expressions(form.items[1:] if row.name in SPECIAL_FORMS else form.items[2:])
        self.quiet -= 1

    # Expressions

    def expression(self, form: Form) -> None:
        kind = type(form)
        if kind is SymbolForm:
            self._symbol(form)  # pyright: ignore[reportArgumentType]
        elif kind is ListForm:
            if form.items:  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
                self._list(form)  # pyright: ignore[reportArgumentType]
        elif isinstance(form, VectorForm):
            for item in form.items:
                self.expression(item)
        elif kind is BadForm:
            self.damage += 1

    def expressions(self, forms: Iterable[Form]) -> None:
        for form in forms:
            self.expression(form)

    def _symbol(self, form: SymbolForm) -> None:
        name = form.name
        local = self.locals.get(name)
        if local is not None:
            local.used = True
            self.marks.references[form] = local
            return
        definition = self._find(name)
        if definition is not None:
            self._refer(form, definition)
        elif name in WORDS:
            self.marks.broken.add(form)
            self.damage += 1
            if not self.quiet:
                self.report(rules.FORM_MALFORMED, form, f"`{name}` begins a form and is no value", f"write {WORDS[name].shape}")
        else:
            self._undefined(form, ())

    def _find(self, name: str) -> Definition | None:
        if name not in self.known:
            self.known[name] = provided(name)
        return self.known[name]

    def _refer(self, form: SymbolForm, definition: Definition) -> None:
        self.marks.references[form] = definition
        self.marks.definitions_used.add(definition)

    def _list(self, form: ListForm) -> None:
        items = form.items
        head = items[0]
        definition: Definition | None = None
        if type(head) is SymbolForm:
            name = head.name
            local = self.locals.get(name)
            if local is not None:
                local.used = True
                self.marks.references[head] = local
                if name in SPECIAL_FORMS:
                    self.marks.ordinary.add(form)
            elif name in SPECIAL_FORMS:
                self._special(SPECIAL_FORMS[name], form)
                return
            else:
                definition = self._find(name)
                if definition is None:
                    self._unknown_call(form, head)
                    return
                self._refer(head, definition)
                self.given.call(name, definition, form)
        else:
            self.expression(head)
        for item in items[1:]:
            self.expression(item)
        if definition is not None and definition.signature is not None and not definition.duplicated and not definition.unknown:
            mismatch = mismatch_of(definition.name, definition.signature, items[1:])
            if mismatch is not None:
                self.marks.broken.add(form)
                at = head if mismatch.argument is None else items[1 + mismatch.argument]
                write = f":{mismatch.replacement}"
                fixes = (Fix(f"write {write}", (Edit(at, write),)),) if mismatch.replacement is not None else ()
                self.report(rules.CALL_ARGUMENTS, at, mismatch.message, mismatch.help, fixes)

    def _unknown_call(self, form: ListForm, head: SymbolForm) -> None:
        self.marks.broken.add(form)
        if head.name in TOP_LEVEL:
            self.report(rules.FORM_MALFORMED, head, f"`{head.name}` stands at the top level of a file, not inside a form")
            if head.name == "load":
                self.lost_load = True
            elif len(form.items) > 1 and isinstance(form.items[1], SymbolForm):
                self.lost.add(form.items[1].name)
            return
        self._undefined(head, SPECIAL_FORMS)
        if not nearest(head.name, SPECIAL_FORMS):
            # What looks like a special form may bind names where an argument would stand.
            self.quiet += 1
            self.expressions(form.items[1:])
            self.quiet -= 1

    def _undefined(self, form: SymbolForm, words: Iterable[str]) -> None:
        self.marks.broken.add(form)
        self.damage += 1
        name = form.name
        if self.quiet or self.module.may_define(name):
            return
        if name not in self.near:
            self.near[name] = nearest(name, dict.fromkeys([*self.module.scope, *provided_names()]))
        near = nearest(name, dict.fromkeys([*self.locals, *self.near[name], *words]))
        help = f"write {' or '.join(near)}" if near else ""
        for kind, names in (("loader", self.module.loaders), ("pass", self.module.passes)):
            if name in names:
                help = f"`{name}` is a {kind}, and no value"
        fixes = tuple(Fix(f"write {other}", (Edit(form, other),), safe=False) for other in near)
        self.missing.append(Finding(rules.NAME_UNDEFINED, form, f"`{name}` is not defined", help, (), fixes))

    # Special forms

    def _special(self, row: Shape, form: ListForm) -> None:
        try:
            check_shape(row, form)
        except Malformed as fault:
            self.malformed(form, fault)
            self._salvage(row, form)
            return
        walk = self.special.get(row.name)
        if walk is not None:
            walk(form)
        else:
            for item in form.items[1:]:
                self.expression(item)

    def _quote(self, form: ListForm) -> None:
        """Nothing in a quoted form is a name or a call."""

    def _cond(self, form: ListForm) -> None:
        for clause in form.items[1:]:
            assert isinstance(clause, ListForm)
            self.expressions(clause.items)

    def _scope(self, form: ListForm) -> None:
        pairs, body = key_parts(form, 2)
        self.expression(form.items[1])
        for _, value in pairs:
            self.expression(value)
        self.expressions(body)

    def _let(self, form: ListForm) -> None:
        damage = self.damage
        fresh: list[Local] = []
        for name, value in _bindings(form):
            self.expression(value)
            fresh.append(Local(name, form, value))
        self._body(form.items[2:], fresh, damage)

    def _let_star(self, form: ListForm) -> None:
        damage = self.damage
        fresh: list[Local] = []
        before: list[tuple[str, Local | None]] = []
        for name, value in _bindings(form):
            self.expression(value)
            fresh.append(Local(name, form, value))
            before += self._enter(fresh[-1:])
        self.expressions(form.items[2:])
        self._restore(before)
        self._leave(fresh, damage)

    def _loop(self, form: ListForm) -> None:
        damage = self.damage
        spec = form.items[1]
        assert isinstance(spec, ListForm)
        self.expression(spec.items[1])
        assert isinstance(spec.items[0], SymbolForm)
        self._body(form.items[2:], [Local(spec.items[0], form)], damage)

    def _lambda(self, form: ListForm) -> None:
        self._function(form, parse_parameters(form.items[1]), form.items[2:])

    def _function(self, form: ListForm, parameters: ParameterList, body: Sequence[Form]) -> None:
        damage = self.damage
        fresh = [Local(symbol, form) for symbol in parameters.required]
        before = self._enter(fresh)
        for symbol, default in parameters.optional:
            before += self._parameter(symbol, default, form, fresh)
        if parameters.rest is not None:
            before += self._parameter(parameters.rest, None, form, fresh)
        for symbol, default in parameters.keys:
            before += self._parameter(symbol, default, form, fresh)
        self.expressions(body)
        self._restore(before)
        self._leave(fresh, damage)

    def _parameter(
        self, symbol: SymbolForm, default: Form | None, form: ListForm, fresh: list[Local]
    ) -> list[tuple[str, Local | None]]:
        """A parameter whose default sees those before it."""
        if default is not None:
            self.expression(default)
        fresh.append(Local(symbol, form))
        return self._enter(fresh[-1:])

    # Local variables

    def _body(self, body: Sequence[Form], fresh: list[Local], damage: int) -> None:
        before = self._enter(fresh)
        for form in body:
            self.expression(form)
        self._restore(before)
        self._leave(fresh, damage)

    def _enter(self, fresh: Iterable[Local]) -> list[tuple[str, Local | None]]:
        before: list[tuple[str, Local | None]] = []
        for local in fresh:
            name = local.name
            before.append((name, self.locals.get(name)))
            self.locals[name] = local
            self.marks.references[local.name_form] = local
            self.marks.locals.append(local)
        return before

    def _restore(self, before: list[tuple[str, Local | None]]) -> None:
        for name, local in reversed(before):
            if local is None:
                del self.locals[name]
            else:
                self.locals[name] = local

    def _leave(self, fresh: Iterable[Local], damage: int) -> None:
        if damage == self.damage and not self.quiet:
            self.idle += [local for local in fresh if not local.used and not local.name.startswith("_")]


def _bindings(form: ListForm) -> list[tuple[SymbolForm, Form]]:
    bindings = form.items[1]
    assert isinstance(bindings, ListForm)
    pairs: list[tuple[SymbolForm, Form]] = []
    for binding in bindings.items:
        assert isinstance(binding, ListForm)
        name = binding.items[0]
        assert isinstance(name, SymbolForm)
        pairs.append((name, binding.items[1]))
    return pairs


def _symbols_in(form: Form) -> list[SymbolForm]:
    """The symbols anywhere inside a form, each name once."""
    found: dict[str, SymbolForm] = {}
    waiting = [form]
    while waiting:
        form = waiting.pop()
        if isinstance(form, SymbolForm):
            found[form.name] = form
        elif isinstance(form, (ListForm, VectorForm)):
            waiting.extend(form.items)
        elif isinstance(form, QuoteForm):
            waiting.append(form.form)
    return list(found.values())


__all__ = ["Local", "Marks", "check_static"]
