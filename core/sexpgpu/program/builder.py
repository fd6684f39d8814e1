"""What the building of a program shares: the evaluator, the unit, the program so far, and every trace for the checks at the end."""

from __future__ import annotations

from collections.abc import Container, Sequence

from sexpgpu.diagnostics import rules
from sexpgpu.files import Files
from sexpgpu.graph.nodes import InputKind, Node, Shape
from sexpgpu.language.ctx import CTX, counter_keys
from sexpgpu.language.dtypes import I64, DType
from sexpgpu.language.evaluator import Evaluator
from sexpgpu.language.frames import GENERATOR_ROLES, Environment, Role, Trace
from sexpgpu.language.kept_call import KeptCall
from sexpgpu.language.signature import counted
from sexpgpu.language.values import UNKNOWN, Closure, Function, Plist, Unknown, Value, keyword, kind_of
from sexpgpu.program.cache import Cache
from sexpgpu.program.globals import Globals
from sexpgpu.program.keys import Read
from sexpgpu.program.model import Program
from sexpgpu.program.results import accepts
from sexpgpu.program.unit import Entry, Unit
from sexpgpu.reader.forms import Form

Typed = tuple[Shape, DType]


class Builder:
    """The state that the parts of the pipeline hand on.

    `counters` are those of the training graph's `prepare`, by the form of their name; None where not all are known. `runs` tells
    that the file has a `defrun`.
    """

    def __init__(self, evaluator: Evaluator, unit: Unit, names: Globals, files: Files, cache: Cache) -> None:
        self.evaluator = evaluator
        self.unit = unit
        self.names = names
        self.files = files
        self.cache = cache
        self._inputs: set[tuple[str, str, str]] = set()
        self.program = Program()
        self.traces: list[Trace] = []
        self.declared: dict[str, Read] = {}
        self.counters: dict[str, Form] = {}
        self.counters_open = False
        self.runs = False

    def entries(self, head: str) -> list[Entry]:
        """The well-formed declarations that begin with `head`, in text order."""
        return [entry for entry in self.unit.entries if entry.row is not None and entry.row.name == head and entry.fault is None]

    def environment(self, entry: Entry) -> Environment:
        return Environment({}, None, entry.module)

    # Traces

    def trace(self, name: str, role: Role, owner: str | None = None) -> Trace:
        """A new trace whose graph joins the program."""
        trace = Trace(name, role, owner)
        if owner is not None and role in ("prepare", "objective"):
            trace.shown = self.program.passes[owner].form
        self.traces.append(trace)
        self.program.graphs[name] = trace.graph
        return trace

    def input(self, trace: Trace, kind: InputKind, name: str, shape: Shape, dtype: DType, at: Form) -> Node:
        """An input of the graph. It joins the nodes once something reads it."""
        key = (trace.graph.name, kind, name)
        known = self.cache.inputs.get(key) if key not in self._inputs else None
        if known is not None and known.shape == shape and known.dtype is dtype:
            known.form, known.index = at, -1
        else:
            known = Node("input", (), {"kind": kind, "name": name}, shape, dtype, at)
            if key not in self._inputs:
                self.cache.inputs[key] = known
        self._inputs.add(key)
        return known

    def ctx(self, trace: Trace, at: Form) -> Plist:
        """ctx as the graph's role sees it: in a generator without counters (language §4)."""
        items: list[Value] = []
        for key in CTX.values():
            items += [keyword(key.name), self.input(trace, "ctx", key.name, (), key.dtype, at)]
        generates = trace.role in GENERATOR_ROLES
        for counter in () if generates else self.counters:
            for name in counter_keys(counter):
                items += [keyword(name), self.input(trace, "ctx", name, (), I64, at)]
        return self.known(trace, Plist("ctx", items, open=self.counters_open and not generates))

    def plist(
        self,
        trace: Trace,
        role: str,
        kind: InputKind,
        entries: dict[str, Typed | None],
        at: Form,
        *,
        open: bool = False,
        strings: Container[str] = (),
        names: dict[str, Form] | None = None,
        owner: str = "",
        withheld: tuple[frozenset[str], Form] | None = None,
    ) -> Plist:
        """A plist of inputs; an entry whose type is not known is unknown. Its keys are keywords, but for the `strings`."""
        items: list[Value] = []
        for name, typed in entries.items():
            key: Value = name if name in strings else keyword(name)
            items += [key, UNKNOWN if typed is None else self.input(trace, kind, name, typed[0], typed[1], at)]
        if open or None in entries.values():
            trace.graph.whole = False
        plist = Plist(role, items, open=open)  # pyright: ignore[reportArgumentType]
        plist.names, plist.owner, plist.withheld = names, owner, withheld
        return self.known(trace, plist)

    def known(self, trace: Trace, plist: Plist) -> Plist:
        """A plist that is handed to a graph's function; it is made once in a graph."""
        return self.cache.same_plist(trace.graph.name, plist)

    def call(self, trace: Trace, function: Value | None, arguments: Sequence[Value], at: Form, who: str, *more: int) -> Value:
        """What a contract function gives for the runtime's arguments. `more` are other numbers of arguments that it may take."""
        if function is None or isinstance(function, Unknown):
            trace.graph.whole = False
            trace.incomplete = True
            return UNKNOWN
        if not accepts(function, len(arguments)):
            self.wrong_parameters(function, (len(arguments), *more), at, who)
            trace.graph.whole = False
            trace.incomplete = True
            return UNKNOWN
        return self.evaluator.call_contract(function, arguments, at, trace)

    def shared(self, trace: Trace, other: Trace | None, function: Value | None, arguments: Sequence[Value]) -> Value | None:
        """What a function gave in another graph, if the new graph comes out as that one; both have its nodes then."""
        if other is None or function is None or isinstance(function, Unknown):
            return None
        found: list[KeptCall] = []

        def work() -> Value:
            call = self.evaluator.kept.shared(self.evaluator, other, function, arguments)
            found.extend([] if call is None else [call])
            return UNKNOWN

        self.evaluator.traced(trace, work)
        return found[0].result if found else None

    def wrong_parameters(self, function: Value, counts: Sequence[int], at: Form, who: str) -> None:
        """Report a contract function that does not take the runtime's arguments, at its parameter list."""
        place = parameter_list(function, at)
        wanted = " or ".join(map(str, sorted(counts)))
        message = f"the runtime calls {_who(who)} with {wanted} argument{'s' * (wanted != '1')}, and "
        message += f"it takes {counted(function.signature)}" if isinstance(function, Function) else f"this is {kind_of(function)}"
        rule = rules.GENERATOR_SHAPE if who.startswith("generate") else rules.CONTRACT_PARAMETERS
        self.evaluator.report(rule, place, message, _WRITTEN.get(who, ""))


def parameter_list(function: Value, at: Form) -> Form:
    """The parameter list of a function that the file writes; `at` for any other."""
    if isinstance(function, Closure) and not function.form.top.source.builtin:
        return function.parameters
    return at


def _who(who: str) -> str:
    if who == "synthetic":
        return "a record function"
    return f"`:{who.removeprefix('generate.')}`" if who.startswith("generate") else f"`{who}`"


_WRITTEN = {
    "generate.init": "write (lambda (batch ctx) …)",
    "generate.step": "write (lambda (state trip ctx) …)",
    "generate.finish": "write (lambda (state ctx) …)",
    "prepare": "write (defun prepare (batch ctx) …)",
    "objective": "write (defun objective (inputs ctx) …)",
    "curriculum": "write (defun curriculum (stage ctx observations) …)",
    ":prepare": "write (lambda (batch ctx) …)",
    ":objective": "write (lambda (inputs ctx) …)",
    ":stop-when": "write (lambda (ctx observations) …)",
    ":lr": "write (lambda (ctx) …), or (lambda (ctx path) …)",
    ":mask": "write (lambda (path shape) …)",
    ":init": "write (lambda (param) …)",
    ":update": "write (lambda (param grad state ctx) …), with path as a fifth if you need it",
    "synthetic": "write (lambda (index) …)",
}
