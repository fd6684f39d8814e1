"""The values of names that are no locals: definitions of the file and its loads, the prelude's, the language's own."""

from __future__ import annotations

from sexpgpu.diagnostics import rules
from sexpgpu.language.builtins import builtin
from sexpgpu.language.control import pretrained_file
from sexpgpu.language.effects import Constant
from sexpgpu.language.evaluator import Evaluator
from sexpgpu.language.frames import Environment, Trace
from sexpgpu.language.guards import GUARDS
from sexpgpu.language.parameters import parse_parameters
from sexpgpu.language.replacing import same_value
from sexpgpu.language.shapes import key_parts
from sexpgpu.language.values import UNKNOWN, Closure, Model, Unknown, Value
from sexpgpu.program.cache import Cache
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.program.keys import read_keys
from sexpgpu.program.unit import Definition, Module, Unit
from sexpgpu.reader.forms import Form, ListForm, StringForm, SymbolForm, TopForm


class Globals:
    """Gives each global name its value, once: functions and models are closed over their module, a `def` is evaluated.

    A `def` that builds tensors is built anew in each graph that reads it. `settings` are the forms that stand in for the values of
    `def`s by name.
    """

    def __init__(self, evaluator: Evaluator, unit: Unit, settings: dict[str, Form], cache: Cache) -> None:
        self.evaluator = evaluator
        self.cache = cache
        self.unit = unit
        self.settings = settings
        self._values: dict[Definition, Value] = {}
        self._tensors: set[Definition] = set()
        self._evaluating: set[Definition] = set()
        self._by_top = {definition.top: definition for definition in unit.definitions if definition.form is not None}
        evaluator.resolve = self.resolve
        evaluator.stands_for = self._stands_for
        evaluator.known_closure = self._known_closure

    def resolve(self, symbol: SymbolForm, module: Module) -> Value:
        """The value of a symbol that a form of `module` reads."""
        definition = module.lookup(symbol.name)
        if definition is None and module.source.builtin:
            return GUARDS[symbol.name]
        if definition is None or definition.unknown:
            return self.evaluator.unknown()
        if definition.form is None:
            return builtin(symbol.name) or UNKNOWN
        return self.value(definition, symbol)

    def named(self, name: str) -> Value | None:
        """The value of a contract name in the file itself, None where nothing defines it."""
        definition = self.unit.main.scope.get(name)
        if definition is None:
            return None
        return UNKNOWN if definition.unknown else self.value(definition, None)

    def value(self, definition: Definition, reader: Form | None) -> Value:
        """The value of a definition; `reader` is the symbol that reads it (None: nothing does, so that tensors are not built)."""
        value = self._value(definition, reader)
        if definition.top is not None and not definition.top.source.builtin:
            self.evaluator.call.definitions[definition.top] = self._stands_for(definition.top)
        return value

    def _stands_for(self, top: TopForm) -> object:
        definition = self._by_top.get(top)
        if definition is None or definition in self._tensors:
            return self.evaluator.marks.checked.get(top)
        known = self._values.get(definition)
        if known is None and definition.kind in ("defun", "defmodel"):
            known = self._values[definition] = self._function(definition)
        return known

    def _value(self, definition: Definition, reader: Form | None) -> Value:
        if definition in self._tensors:
            return UNKNOWN if reader is None else self._in_graph(definition)
        known = self._values.get(definition)
        if known is None:
            if definition.kind == "def":
                return self._def(definition, reader)
            known = self._values[definition] = self._function(definition)
        elif isinstance(known, Unknown):
            return self.evaluator.unknown()
        return known

    def _environment(self, definition: Definition) -> Environment:
        assert definition.module is not None
        return Environment({}, None, definition.module)

    def _function(self, definition: Definition) -> Value:
        form = definition.form
        assert form is not None
        if definition.kind not in ("defun", "defmodel") or len(form.items) < 4 or definition.parameters is None:
            return UNKNOWN
        checked = self.evaluator.marks.checked.get(form.top)  # None in the prelude, which never changes
        before, known = self.cache.functions.get(form.top, (None, None))
        if known is not None and before is checked and definition.kind == "defun":
            return _at_home(known, definition.module)
        parameters, environment = form.items[2], self._environment(definition)
        signature = parse_parameters(parameters).signature
        if definition.kind == "defun":
            body = form.items[3:]
            if len(body) > 1 and isinstance(body[0], StringForm):
                body = body[1:]
            made = Closure(definition.name, signature, parameters, body, environment, form)
        else:
            settings, body = self._model_keys(form, environment)
            if isinstance(known, Model) and before is checked and _same_settings(known.settings, settings):
                return _at_home(known, definition.module)
            made = Model(definition.name, signature, parameters, body, environment, form, settings)
        if checked is not None or form.top.source.builtin:
            self.cache.functions[form.top] = checked, made
        return made

    def _known_closure(self, made: Closure) -> Closure:
        """What the last analysis made of a `lambda` outside of all others, in place of what this one made."""
        checked, (before, known) = self.evaluator.marks.checked.get(made.form.top), self.cache.lambdas.get(made.form, (None, None))
        if known is not None and before is checked:
            assert isinstance(made.environment, Environment)
            return _at_home(known, made.environment.module)
        if checked is not None:
            self.cache.lambdas[made.form] = checked, made
        return made

    def _model_keys(self, form: ListForm, environment: Environment) -> tuple[dict[str, Value], tuple[Form, ...]]:
        written, body = key_parts(form, 3)
        read = read_keys(self.evaluator, DECLARATIONS["defmodel"], form, written, environment)
        file = read.values.get("pretrained")
        if not read.known:
            read.values["frozen"] = UNKNOWN
        made = pretrained_file(file, read.written["pretrained"]) if file is not None and "pretrained" in read.written else None
        return read.values | ({"pretrained": made} if made is not None else {}), body

    def _def(self, definition: Definition, reader: Form | None) -> Value:
        """Evaluate a `def` on the host; if it builds tensors, it belongs to the graph that reads it instead."""
        evaluator = self.evaluator
        if definition in self._evaluating:
            evaluator.spoil()
            evaluator.report(
                rules.LIMIT_PASSED, reader or self._written(definition), f"`{definition.name}` reads itself, without end"
            )
            return UNKNOWN
        self._evaluating.add(definition)
        trace = Trace(definition.name, "host")
        value = evaluator.traced(trace, lambda: evaluator.evaluate(self._written(definition), self._environment(definition)))
        self._evaluating.discard(definition)
        if trace.graph.nodes:
            self._tensors.add(definition)
            return UNKNOWN if reader is None else self._in_graph(definition)
        if definition.top is not None:
            value = self.cache.same_value(definition.top, value)
        self._values[definition] = value
        return evaluator.unknown() if isinstance(value, Unknown) else value

    def _written(self, definition: Definition) -> Form:
        assert definition.form is not None
        if definition.name in self.settings:
            return self.settings[definition.name]
        return definition.form.items[2]

    def _in_graph(self, definition: Definition) -> Value:
        """The value of a `def` that builds tensors, built once in the graph being traced."""
        evaluator = self.evaluator
        trace = evaluator.trace
        if definition.name in trace.constants:
            value = trace.constants[definition.name]
            evaluator.do(Constant(definition.name, value, made=False))
            return value
        if definition in self._evaluating:
            evaluator.spoil()
            return evaluator.unknown()
        self._evaluating.add(definition)
        value = evaluator.in_def(lambda: evaluator.evaluate(self._written(definition), self._environment(definition)))
        self._evaluating.discard(definition)
        evaluator.do(Constant(definition.name, value, made=True))
        return value

    def _stands(self, definition: Definition) -> bool:
        """Whether its name stands for a definition: of several, the first."""
        module = definition.module
        return not definition.duplicated or (module is not None and module.scope.get(definition.name) is definition)

    def evaluate_definitions(self) -> None:
        """Evaluate every `def` and the keys of every model, reached or not; then the `assert`s and `print`s of the top level."""
        for definition in self.unit.definitions:
            evaluated = definition.kind in ("def", "defmodel") and definition.form is not None
            if evaluated and not definition.unknown and self._stands(definition):
                self.value(definition, None)
        for entry in self.unit.entries:
            if entry.row is None and entry.fault is None:
                environment = Environment({}, None, entry.module)
                self.evaluator.traced(
                    Trace("", "host"), lambda form=entry.form, where=environment: self.evaluator.evaluate(form, where)
                )


def _same_settings(known: dict[str, Value], made: dict[str, Value]) -> bool:
    """Whether a model's keys have the values that they had."""
    return known.keys() == made.keys() and all(same_value(known[key], value) for key, value in made.items())


def _at_home(known: Closure, module: Module | None) -> Closure:
    """A function of an earlier analysis, closed over the module of the present one."""
    assert isinstance(known.environment, Environment) and module is not None
    known.environment.module = module
    return known
