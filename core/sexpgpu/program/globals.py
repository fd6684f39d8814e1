"""The values of names that are no locals: definitions of the file and its loads, the prelude's, the language's own."""

from __future__ import annotations

from sexpgpu.diagnostics import rules
from sexpgpu.language.builtins import builtin
from sexpgpu.language.control import pretrained_file
from sexpgpu.language.evaluator import Evaluator
from sexpgpu.language.frames import Environment, Trace
from sexpgpu.language.guards import GUARDS
from sexpgpu.language.parameters import parse_parameters
from sexpgpu.language.shapes import key_parts
from sexpgpu.language.values import UNKNOWN, Closure, Model, Unknown, Value
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.program.keys import read_keys
from sexpgpu.program.unit import Definition, Module, Unit
from sexpgpu.reader.forms import Form, ListForm, StringForm, SymbolForm


class Globals:
    """Gives each global name its value, once: functions and models are closed over their module, a `def` is evaluated.

    A `def` that builds tensors is built anew in each graph that reads it. `settings` are the forms that stand in for the values of
    `def`s by name.
    """

    def __init__(self, evaluator: Evaluator, unit: Unit, settings: dict[str, Form]) -> None:
        self.evaluator = evaluator
        self.unit = unit
        self.settings = settings
        self._values: dict[Definition, Value] = {}
        self._tensors: set[Definition] = set()
        self._evaluating: set[Definition] = set()
        evaluator.resolve = self.resolve

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
        parameters, environment = form.items[2], self._environment(definition)
        signature = parse_parameters(parameters).signature
        if definition.kind == "defun":
            body = form.items[3:]
            if len(body) > 1 and isinstance(body[0], StringForm):
                body = body[1:]
            return Closure(definition.name, signature, parameters, body, environment, form)
        settings, body = self._model_keys(form, environment)
        return Model(definition.name, signature, parameters, body, environment, form, settings)

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
            return trace.constants[definition.name]
        if definition in self._evaluating:
            return evaluator.unknown()
        self._evaluating.add(definition)
        value = evaluator.in_def(lambda: evaluator.evaluate(self._written(definition), self._environment(definition)))
        self._evaluating.discard(definition)
        trace.constants[definition.name] = value
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
