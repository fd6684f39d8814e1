"""The evaluator: walks forms to values, and calls of operators to nodes of the graph being traced.

It evaluates a file as the runtime would, with tensors that have a shape and a dtype and no data. An error inside is reported, its
value is unknown, and the evaluation goes on. Everything is bounded (language §3): passing a bound abandons the graph.

Recursion goes from Python function to Python function only, which takes no C stack.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Finding, Fix, Related, Rule
from sexpgpu.graph.nodes import Attribute, Node, Shape
from sexpgpu.language.attribution import BY_VALUE, WHOLE, call_around, called, locate, located
from sexpgpu.language.calls import apply
from sexpgpu.language.control import SPECIAL
from sexpgpu.language.dtypes import BF16, F32, DType
from sexpgpu.language.effects import CtxRead, Drawn, Effect, Told
from sexpgpu.language.fault import Fault, LimitPassed
from sexpgpu.language.frames import Draw, Environment, Frame, Place, Scope, Trace
from sexpgpu.language.kept_call import KeptCall, Records
from sexpgpu.language.kept_calls import KeptCalls
from sexpgpu.language.marks import Marks
from sexpgpu.language.quotes import quoted
from sexpgpu.language.values import NIL, UNKNOWN, Absent, Closure, Function, List, Unknown, Value, keyword
from sexpgpu.reader.forms import (
    ConstantForm,
    Form,
    KeywordForm,
    ListForm,
    NumberForm,
    QuoteForm,
    StringForm,
    SymbolForm,
    TopForm,
    VectorForm,
)

if TYPE_CHECKING:
    from sexpgpu.program.model import Parameter
    from sexpgpu.program.unit import Module

MOST_STEPS = 500_000
MOST_CALLS = 2_000
MOST_NESTED = 50_000
MOST_NODES = 200_000
MOST_ITEMS = 100_000
MOST_BITS = 4_096
MOST_CHARACTERS = 100_000

_PYTHON_FRAMES_A_FORM = 8


class Evaluator:
    """The state of one file's evaluation: what was reported, how much was done, and the trace and frame it stands in."""

    def __init__(self, marks: Marks, kept: KeptCalls, *, recording: bool = False) -> None:
        self.marks = marks
        self.kept = kept
        """The calls that earlier analyses left, and those of this one for the next."""
        self.findings: list[Finding] = []
        self.effects: list[Effect] = []
        self.records: Records | None = [] if recording else None
        """What forms evaluated to, in order, since the last call that is kept."""
        self.precision: DType = F32
        self.exhausted = False
        self.steps: int = 0
        self.nodes: int = 0
        self.depth: int = 0
        self.calls: int = 0
        self.deepest: int = 0
        self.apart = 0, 0
        """How many steps and nodes of all were taken for traces that began within others: of `def`s, which are evaluated once."""
        self.head: Form | None = None
        self.parameters: dict[str, Parameter] = {}
        self.uses: list[Absent] = []
        self.ema_set: bool | None = None
        """Whether `defrun` sets `:ema`; None in a file without one."""
        self.resolve: Callable[[SymbolForm, Module], Value] = lambda form, module: UNKNOWN
        """The value of a symbol that is no local."""
        self.known_closure: Callable[[Closure], Closure] = lambda made: made
        """The function that an earlier analysis made of a `lambda` outside of all others, in place of the one just made."""
        self.stands_for: Callable[[TopForm], object] = lambda top: None
        """What the definition at a form of the top level stands for: a value, or another object if that is not what it was."""
        self._seen: set[tuple[str, Form]] = set()
        self.trace = Trace("", "host")
        self.frame = Frame("", None, None, Place("host"), None, Scope())
        self.call: KeptCall = KeptCall.of_file(self.frame)
        self._file = self.call

    # Tracing

    def traced(self, trace: Trace, work: Callable[[], Value]) -> Value:
        """Do `work` with `trace` as the graph that nodes go to. Passing a bound leaves the graph abandoned and the value
        unknown.
        """
        if self.exhausted:
            trace.graph.whole = False
            return UNKNOWN
        before = self.trace, self.frame, self.depth, self.calls, self.call, self.records, self.effects
        steps, nodes, apart = self.steps, self.nodes, self.apart
        self.call, self.effects = self._file, []
        self.records = None if self.records is None else []
        self.trace = trace
        self.frame = Frame("", None, None, Place(trace.role), None, Scope())
        room = sys.getrecursionlimit()
        sys.setrecursionlimit(max(room, MOST_NESTED * _PYTHON_FRAMES_A_FORM))
        try:
            return work()
        except LimitPassed:
            trace.graph.whole = False
            trace.incomplete = True
            return UNKNOWN
        finally:
            sys.setrecursionlimit(room)
            if self.records is not None:
                self._file.parts.append(self.records)
            self.trace, self.frame, self.depth, self.calls, self.call, self.records, self.effects = before
            self.apart = apart[0] + self.steps - steps, apart[1] + self.nodes - nodes

    def silently(self, work: Callable[[], Value]) -> Value:
        """Do `work` without a trace of what it reports or records; but when it takes the last step there is, that is said."""
        before, uses = (self.findings, self._seen, self.records), len(self.uses)
        self.findings, self._seen, self.records = [], set(), None
        try:
            return work()
        finally:
            limits = [finding for finding in self.findings if finding.rule is rules.LIMIT_PASSED] if self.exhausted else []
            self.findings, self._seen, self.records = before
            self.findings += limits
            for absent in self.uses[uses:]:
                absent.used = absent in self.uses[:uses]
            del self.uses[uses:]

    def unrecorded(self, work: Callable[[], Value]) -> Value:
        """Do `work` without a record of what its forms evaluate to."""
        records, self.records = self.records, None
        try:
            return work()
        finally:
            self.records = records

    def in_def(self, work: Callable[[], Value]) -> Value:
        """Do `work` under the rules of a `def`, its nodes going to the graph being traced: no frame of a function, `:float` is
        `:f32`.
        """
        before, role = self.frame, self.trace.role
        self.frame = Frame("", None, None, Place("host"), None, Scope())
        self.trace.role = "host"
        value = work()
        self.frame, self.trace.role = before, role
        return value

    def call_contract(self, function: Value, arguments: Sequence[Value], at: Form, trace: Trace) -> Value:
        """What a contract function gives for the runtime's arguments, traced into `trace`; `at` is the form that names it."""
        return self.traced(trace, lambda: apply(self, function, list(arguments), [at] * len(arguments), at, entry=True))

    # Reporting

    def report(
        self,
        rule: Rule,
        at: Form,
        message: str,
        help: str = "",
        related: tuple[Related, ...] = (),
        fixes: tuple[Fix, ...] = (),
    ) -> Unknown:
        """Report a finding, once for a rule and form; what it spoils is unknown."""
        place = locate(self.frame, rule, at)
        if place is not at:
            fixes = ()
            if rule not in WHOLE:
                message = f"in `{called(self.frame, at)}`, {message}"
        if not self.exhausted:
            shown = {note.at: note for note in (*self._led(rule, at, place), *related) if not note.at.top.source.builtin}
            related = tuple(sorted(shown.values(), key=lambda note: note not in related))
            self.do(Told((rule.code, place), Finding(rule, place, message, help, related, fixes)))
        return self.unknown() if rule.severity == "error" else UNKNOWN

    def tell_once(self, key: tuple[str, Form], finding: Finding) -> None:
        """Enter a finding, unless one was entered for that key."""
        if not self.exhausted and key not in self._seen:
            self._seen.add(key)
            self.findings.append(finding)

    def _led(self, rule: Rule, at: Form, place: Form) -> Iterator[Related]:
        """What led to a finding: the call whose values it depends on, and the pass that training's graphs do not show it for."""
        around = call_around(self.frame, at) if rule in BY_VALUE else None
        if around is not None and around.form is not None:
            yield Related(around.form, f"in this call of `{around.name}`")
        shown = self.trace.shown
        if shown is not None and rule.severity == "error" and place.top is not shown.top:
            yield Related(shown, "in the graphs of this pass")

    def said(self, rule: Rule, at: Form) -> bool:
        """Whether the rule has been reported there."""
        self.spoil()
        return (rule.code, locate(self.frame, rule, at)) in self._seen

    def withdraw(self, rule: Rule, place: Form) -> None:
        """Take back what the rule said at a form of the file: an error has the same cause."""
        self.spoil()
        self.findings = [finding for finding in self.findings if finding.rule is not rule or finding.at is not place]

    def report_fault(self, fault: Fault) -> Unknown:
        return self.report(fault.rule, fault.at, fault.message, fault.help, fault.related, fault.fixes)

    def unknown(self) -> Unknown:
        """An unknown value arises in this graph."""
        self.trace.graph.whole = False
        return UNKNOWN

    # Calls that are kept

    def do(self, effect: Effect) -> None:
        """Perform an effect, and keep it for the calls being evaluated."""
        effect.apply(self)
        self.effects.append(effect)

    def spoil(self) -> None:
        """What the present call does depends on more than is asked of a kept one: it cannot be replayed, nor those around it."""
        self.call.spoiled = True

    def has_room(self, steps: int, nodes: int, reach: int) -> bool:
        """Whether an evaluation of that many steps, nodes and forms inside each other stays clear of the bounds."""
        clear = self.steps + steps <= MOST_STEPS and self.nodes + nodes <= MOST_NODES
        return clear and self.calls + reach < MOST_CALLS and self.depth + reach < MOST_NESTED // 2

    # The tracer that operators build with

    @property
    def float(self) -> DType:
        """What `:float` names here: the run's precision inside a model, `:f32` outside (language §8)."""
        return self.precision if self.precision is BF16 and self.frame.run is not None else F32

    def emit(self, op: str, inputs: Sequence[Node], shape: Shape, dtype: DType, attrs: dict[str, Attribute], form: Form) -> Node:
        """Add a node to the graph; inputs of the graph that it is the first to read are added before it."""
        graph = self.trace.graph
        for node in inputs:
            self.entered(node)
        if self.nodes >= MOST_NODES:
            raise LimitPassed(f"the graphs of this file have more than {MOST_NODES:,} nodes")
        self.nodes += 1
        node = Node(op, tuple(inputs), attrs, tuple(shape), dtype, form, self.frame.calls, self.frame.scope.remat)
        if "place" in attrs:
            shown, by = located(self.frame, rules.DRAW_CONSTANT, self.head or form)
            self.do(Drawn(Draw(node, shown), by))
        return graph.add(node)

    def entered(self, node: Node) -> Node:
        """The node, which is in the graph from here on: an input of the graph joins it with its first use."""
        return self.trace.graph.add(node) if node.index < 0 else node

    def place(self, callee: str) -> str:
        """The place of a draw that is evaluated now; a fault where no draw may stand."""
        if self.trace.role == "host":
            assert self.head is not None
            raise Fault(
                rules.OUT_OF_PLACE,
                self.head,
                f"`{callee}` draws, and outside every graph there is nothing to draw for",
                "draw in a function that `prepare`, `objective` or a generator calls",
            )
        return self.frame.link(callee).text

    def tick(self, count: int = 1) -> None:
        """Count evaluation steps."""
        self.steps += count
        if self.steps > MOST_STEPS:
            raise LimitPassed(f"evaluating this file takes more than {MOST_STEPS:,} steps")

    def read_ctx(self, name: str, at: Form) -> None:
        """A ctx entry was read by the key at `at`."""
        self.do(CtxRead(name, *located(self.frame, rules.READ_UNSTACKS, at)))

    def tell(self, at: Form, text: str) -> None:
        """An information at a form: each text once."""
        place = locate(self.frame, rules.PRINTED, at)
        self.do(Told((text, place), Finding(rules.PRINTED, place, text)))

    # Evaluation

    def evaluate(self, form: Form, environment: Environment) -> Value:
        """The value of a form."""
        kind = type(form)
        if kind is ListForm:
            value = self._list(form, environment)  # pyright: ignore[reportArgumentType]
        elif kind is SymbolForm:
            value = self._symbol(form, environment)  # pyright: ignore[reportArgumentType]
        elif isinstance(form, VectorForm):
            value = List([self.evaluate(item, environment) for item in form.items], vector=True, made_by=form)
        else:
            return self._literal(form)
        if self.records is not None and not form.top.source.builtin:
            self.records.append((form, value))
        return value

    def recording(self) -> Records:
        """What each form evaluated to, once for each call path that led there, in order."""
        recording: Records = []
        self._file.records(recording)
        return recording

    def body(self, forms: Sequence[Form], environment: Environment) -> Value:
        """Evaluate forms in order; the last one's value."""
        value: Value = NIL
        for form in forms:
            value = self.evaluate(form, environment)
        return value

    def _literal(self, form: Form) -> Value:
        match form:
            case NumberForm():
                if isinstance(form.value, int) and form.value.bit_length() > MOST_BITS:
                    return self._too_big(form, f"an integer of more than {MOST_BITS:,} bits")
                return form.value
            case StringForm():
                if len(form.value) > MOST_CHARACTERS:
                    return self._too_big(form, f"a string of more than {MOST_CHARACTERS:,} characters")
                return form.value
            case KeywordForm():
                return keyword(form.name)
            case ConstantForm():
                return NIL if form.value is None else form.value
            case QuoteForm():
                return quoted(form.form)
            case _:
                return self.unknown()

    def _too_big(self, form: Form, what: str) -> Value:
        raise self._reported(LimitPassed(f"{what} passes a bound of the language"), form)

    def _symbol(self, form: SymbolForm, environment: Environment) -> Value:
        name = form.name
        scope = environment
        while True:
            variables = scope.variables
            if name in variables:
                return variables[name]
            if scope.parent is None:
                return self.resolve(form, scope.module)
            scope = scope.parent

    def _list(self, form: ListForm, environment: Environment) -> Value:
        items = form.items
        if not items:
            return NIL
        if form in self.marks.broken:
            self.trace.incomplete = True
            return self.unknown()
        head, written = items[0], items[1:]
        self.depth += 1
        self.steps += 1
        try:
            if self.steps > MOST_STEPS:
                self.tick(0)
            if self.depth > MOST_NESTED:
                raise LimitPassed(f"more than {MOST_NESTED:,} forms are evaluated inside each other")
            if type(head) is SymbolForm:
                special = SPECIAL.get(head.name)
                if special is not None and form not in self.marks.ordinary:
                    value = special(self, form, environment)
                    self.depth -= 1
                    return value
            function = self.evaluate(head, environment)
            if not isinstance(function, (Function, Unknown)):
                written = ()
            arguments: list[Value] = []
            for item in written:
                arguments.append(self.evaluate(item, environment))
            value = apply(self, function, arguments, written, form)
        except LimitPassed as limit:
            self._reported(limit, form)
            raise
        self.depth -= 1
        return value

    def _reported(self, limit: LimitPassed, form: Form) -> LimitPassed:
        """A bound that was passed, reported at the innermost call that passed it."""
        if not limit.reported:
            limit.reported = True
            self.report(rules.LIMIT_PASSED, form, limit.message)
            self.exhausted = self.steps > MOST_STEPS
        return limit
