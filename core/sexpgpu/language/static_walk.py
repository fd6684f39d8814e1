"""The walk over expressions: what each symbol stands for, whether special forms have their shape, whether calls fit.

Local variables are scoped as the evaluator scopes them; `static.py` walks the forms of the top level on top of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Edit, Finding, Fix, Rule
from sexpgpu.language.dtypes import DTYPES
from sexpgpu.language.marks import Local, Marks
from sexpgpu.language.nearest import elsewhere, nearest
from sexpgpu.language.parameters import Malformed, ParameterList, parse_parameters
from sexpgpu.language.shapes import Shape, check_shape, key_parts
from sexpgpu.language.special import SPECIAL_FORMS, TOP_LEVEL, WORDS
from sexpgpu.language.static_calls import misleads, mismatch_of
from sexpgpu.language.static_parts import bindings, may_bind, symbols_in
from sexpgpu.language.static_unused import Given
from sexpgpu.program.unit import Definition, Module, provided, provided_names
from sexpgpu.reader.forms import (
    BadForm,
    ConstantForm,
    Form,
    KeywordForm,
    ListForm,
    NumberForm,
    StringForm,
    SymbolForm,
    VectorForm,
)

_MOST_SOUGHT = 50
_NO_FUNCTION = (BadForm, NumberForm, StringForm, KeywordForm, ConstantForm)


class Walker:
    """The walk over one module.

    `damage` counts what went wrong so far: a local is only called unused if nothing went wrong where it is seen. While `quiet`,
    undefined names are no news. `lost` holds names that a definition in the wrong place would have defined, `beside` those that the
    `let` around the present value binds in front of it, which that value does not see. `looked` are the names that were looked up,
    with their namespace.
    """

    def __init__(self, module: Module, given: Given, marks: Marks | None = None) -> None:
        self.module = module
        self.marks = Marks() if marks is None else marks
        self.given = given
        self.findings: list[Finding] = []
        self.missing: list[Finding] = []
        self.idle: list[Local] = []
        self.looked: set[tuple[str, str]] = set()
        self.lost: set[str] = set()
        self.lost_load = False
        self.damage = 0
        self.quiet = 0
        self.locals: dict[str, Local] = {}
        self.beside: dict[str, ListForm] = {}
        self.known: dict[str, Definition | None] = dict(module.scope)
        self.near: dict[str, list[str]] = {}
        # What is not here, a literal or a quote, holds no names.
        self.walk: dict[type[Form], Callable[[Any], None]] = {
            SymbolForm: self._symbol,
            ListForm: self._list,
            VectorForm: self._vector,
            BadForm: self._bad,
        }
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

    def salvage(self, row: Shape, form: ListForm) -> None:
        """Go on inside a malformed form with what is certainly an expression; no name in it is missed."""
        self.quiet += 1
        start = 3 if row.namespace == "value" and row.binds else 2
        if row.name == "cond":
            for clause in form.items[1:]:
                self.expressions(clause.items if isinstance(clause, ListForm) else (clause,))
        elif row.binds and len(form.items) >= start:
            parts = form.items[start - 1 : start]
            if not isinstance(parts[0], ListForm):
                # What should stand here may stand behind it.
                parts = form.items[start - 1 : start + 1]
            elif row.name in ("let", "let*"):
                for item in parts[0].items:
                    if isinstance(item, ListForm) and len(item.items) > 1:
                        self.expression(item.items[1])
            before = self._enter([Local(symbol, form) for part in parts for symbol in symbols_in(part)])
            self.expressions(form.items[start - 1 + len(parts) :])
            self._restore(before)
        elif row.name != "quote":
            self.expressions(form.items[1:] if row.name in SPECIAL_FORMS else form.items[2:])
        self.quiet -= 1

    # Expressions

    def expression(self, form: Form) -> None:
        walk = self.walk.get(type(form))
        if walk is not None:
            walk(form)

    def expressions(self, forms: Iterable[Form]) -> None:
        walks = self.walk
        for form in forms:
            walk = walks.get(type(form))
            if walk is not None:
                walk(form)

    def _vector(self, form: VectorForm) -> None:
        self.expressions(form.items)

    def _bad(self, _form: BadForm) -> None:
        self.damage += 1

    def _symbol(self, form: SymbolForm) -> None:
        name = form.name
        local = self.locals.get(name)
        if local is not None:
            local.used = True
            self.marks.references[form] = local
            return
        definition = self._find(name)
        if definition is not None:
            self.refer(form, definition)
        elif name in WORDS:
            self.marks.broken.add(form)
            self.damage += 1
            if not self.quiet:
                self.report(rules.FORM_MALFORMED, form, f"`{name}` begins a form and is no value", f"write {WORDS[name].shape}")
        else:
            self._undefined(form, ())

    def _find(self, name: str) -> Definition | None:
        self.looked.add(("value", name))
        if name not in self.known:
            self.known[name] = provided(name)
        return self.known[name]

    def refer(self, form: SymbolForm, definition: Definition) -> None:
        self.marks.references[form] = definition
        self.marks.definitions_used.add(definition)

    def _list(self, form: ListForm) -> None:
        items = form.items
        if not items:
            return
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
                self.refer(head, definition)
                self.given.call(name, definition, form)
        elif isinstance(head, _NO_FUNCTION):
            # Most likely a slip for the head of a special form, so that names may be bound in here.
            if isinstance(head, BadForm):
                self.damage += 1
                self.marks.broken.add(form)
            self._quietly(items[1:])
            return
        else:
            damage, missing = self.damage, len(self.missing)
            self.expression(head)
            if damage != self.damage:
                self.marks.broken.add(form)
                if may_bind(head):
                    # Parameters whose `lambda` is gone: that is one thing.
                    del self.missing[missing + 1 :]
                self._quietly(items[1:])
                return
        damage = self.damage
        self.expressions(items[1:])
        if definition is not None and definition.signature is not None and not definition.duplicated and not definition.unknown:
            mismatch = mismatch_of(definition.name, definition.signature, items[1:])
            if damage != self.damage and misleads(definition.signature, items[1:], self.marks.broken):
                self.marks.broken.add(form)
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
            self._quietly(form.items[1:])

    def _quietly(self, arguments: Sequence[Form]) -> None:
        """The arguments of a call whose head says nothing: what looks like parameters or bindings may be just that."""
        self.quiet += 1
        self.expressions(arguments[len(arguments) > 1 and may_bind(arguments[0]) :])
        self.quiet -= 1

    def _undefined(self, form: SymbolForm, words: Iterable[str]) -> None:
        self.marks.broken.add(form)
        self.damage += 1
        name = form.name
        if self.quiet or self.module.may_define(name):
            return
        dtype = [f":{name}"] if name in DTYPES else []
        near = [] if elsewhere(name) else dtype or self._nearest(name, words)
        help = elsewhere(name) or (f"write {' or '.join(near)}" if near else "")
        fixes = tuple(Fix(f"write {other}", (Edit(form, other),), safe=False) for other in near)
        if name in self.beside:
            help = "write let*, in which a value sees the names in front of it"
            fixes = (Fix("write let*", (Edit(self.beside[name].items[0], "let*"),), safe=False),)
        for kind, names in (("loader", self.module.loaders), ("pass", self.module.passes)):
            if name in names:
                help = f"`{name}` is a {kind}, and no value"
        self.missing.append(Finding(rules.NAME_UNDEFINED, form, f"`{name}` is not defined", help, (), fixes))

    def _nearest(self, name: str, words: Iterable[str]) -> list[str]:
        """The names nearest to one that is undefined, while a file has not too many of these to look for them."""
        if name not in self.near:
            if len(self.near) == _MOST_SOUGHT:
                return []
            self.near[name] = nearest(name, dict.fromkeys([*self.module.scope, *provided_names()]))
        return nearest(name, dict.fromkeys([*self.locals, *self.near[name], *words]))

    # Special forms

    def _special(self, row: Shape, form: ListForm) -> None:
        try:
            check_shape(row, form)
        except Malformed as fault:
            self.malformed(form, fault)
            self.salvage(row, form)
            return
        walk = self.special.get(row.name)
        if walk is not None:
            walk(form)
        else:
            self.expressions(form.items[1:])

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
        around = self.beside
        for name, value in bindings(form):
            self.expression(value)
            fresh.append(Local(name, form, value))
            self.beside = {**self.beside, name.name: form}
        self.beside = around
        self._body(form.items[2:], fresh, damage)

    def _let_star(self, form: ListForm) -> None:
        damage = self.damage
        fresh: list[Local] = []
        before: list[tuple[str, Local | None]] = []
        for name, value in bindings(form):
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
        self.function(form, parse_parameters(form.items[1]), form.items[2:])

    def function(self, form: ListForm, parameters: ParameterList, body: Sequence[Form]) -> None:
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
        self.expressions(body)
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
