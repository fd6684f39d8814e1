"""One call of a function as it is kept: what its evaluation gave, added and did, taken down while it goes on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sexpgpu.graph.nodes import Node
from sexpgpu.language.dtypes import DType
from sexpgpu.language.effects import Constant, Effect, Missed, Told
from sexpgpu.language.frames import Frame
from sexpgpu.language.replacing import DEEPEST, captures
from sexpgpu.language.values import Absent, Closure, List, Plist, Value
from sexpgpu.reader.forms import Form, TopForm

if TYPE_CHECKING:
    from sexpgpu.language.evaluator import Evaluator

Records = list[tuple[Form, Value]]

_SPECIAL = (Constant, Missed, Told)
"""The effects for which more is asked of a call that is to be replayed."""


class KeptCall:
    """One call: while it is evaluated, where it began; from then on, all that it did."""

    __slots__ = (
        "_outer_nodes",
        "arguments",
        "around",
        "callers",
        "calls",
        "captures",
        "context",
        "definitions",
        "effects",
        "emitted",
        "forms",
        "frame",
        "function",
        "gone",
        "incomplete",
        "nodes",
        "outer_records",
        "parts",
        "reach",
        "result",
        "shown",
        "spoiled",
        "steps",
        "used",
        "uses",
        "whole",
    )

    def __init__(self, frame: Frame, function: Closure | None, forms: Sequence[Form], arguments: dict[str, Value]) -> None:
        self.frame = frame
        self.function = function
        self.forms = tuple(forms)
        self.arguments = dict(arguments)
        self.around: KeptCall | None = None
        self.parts: list[Records | KeptCall] = []
        """What was recorded, in order, and the calls within."""
        self.calls: list[KeptCall] = []
        """The calls within alone."""
        self.definitions: dict[TopForm, object] = {}
        """What the definitions behind it stand for, by their forms."""
        self.nodes: list[Node] = []
        """Those that it added, but for the inputs of the graph, which anything may read."""
        self.effects: list[Effect] = []
        self.outer_records: list[tuple[Records, int]] = []
        """The records of its own that hold what comes from outside."""
        self._outer_nodes: list[Node] | None = None
        self.uses: list[Absent] = []
        """The absent entries that it used, each use."""
        self.result: Value = False
        self.callers: tuple[Form | None, ...] | None = None
        """The calls that led to it, where what it tells may speak of them."""
        self.shown: Form | None = None
        self.context: tuple[DType, bool | None] | None = None
        self.steps = self.emitted = self.reach = 0
        self.whole = True
        self.incomplete = self.captures = self.gone = self.spoiled = False
        self.used = 0

    @classmethod
    def of_file(cls, frame: Frame) -> KeptCall:
        """What stands around all calls of an analysis."""
        return cls(frame, None, (), {})

    @property
    def outer_nodes(self) -> list[Node]:
        """Its nodes that read what is not its own."""
        if self._outer_nodes is None:
            own = set(self.nodes)
            self._outer_nodes = [node for node in self.nodes if not own.issuperset(node.inputs)]
        return self._outer_nodes

    def records(self, into: Records) -> None:
        """Add what its forms, and those of the calls within, evaluated to, in order."""
        for part in self.parts:
            if isinstance(part, KeptCall):
                part.records(into)
            else:
                into += part


def callers_of(frame: Frame) -> tuple[Form | None, ...]:
    """The forms of the calls that led to a frame, its own first."""
    forms: list[Form | None] = []
    inner: Frame | None = frame
    while inner is not None:
        forms.append(inner.form)
        inner = inner.parent
    return tuple(forms)


def context_of(evaluator: Evaluator) -> tuple[DType, bool | None]:
    """What `defrun` decides about every call."""
    return evaluator.precision, evaluator.ema_set


class Evaluation:
    """The evaluation of a call that is to be kept: made before the body is evaluated, at its `end` the call is kept."""

    __slots__ = ("_absents", "_call", "_depth", "_effects", "_emitted", "_nodes", "_steps", "_trace", "_whole")

    def __init__(self, evaluator: Evaluator, call: KeptCall) -> None:
        trace = evaluator.trace
        self._call = call
        self._trace = trace
        self._nodes = len(trace.graph.nodes)
        self._effects = len(evaluator.effects)
        self._absents = len(evaluator.uses)
        steps, nodes = evaluator.apart
        self._steps = evaluator.steps - steps
        self._emitted = evaluator.nodes - nodes
        self._depth = evaluator.depth
        self._whole = trace.graph.whole, trace.incomplete, evaluator.deepest
        trace.graph.whole, trace.incomplete, evaluator.deepest = True, False, evaluator.depth
        _enter(evaluator, call)

    def end(self, evaluator: Evaluator, result: Value) -> None:
        """Take down what the call gave and did, and keep it if it can be replayed."""
        call, trace = self._call, self._trace
        call.result = result
        call.nodes = [node for node in trace.graph.nodes[self._nodes :] if node.op != "input"]
        call.effects = evaluator.effects[self._effects :]
        call.uses = evaluator.uses[self._absents :]
        steps, nodes = evaluator.apart
        call.steps = evaluator.steps - steps - self._steps
        call.emitted = evaluator.nodes - nodes - self._emitted
        call.reach = evaluator.deepest - self._depth
        call.whole, call.incomplete = trace.graph.whole, trace.incomplete
        special = [effect for effect in call.effects if isinstance(effect, _SPECIAL)]
        call.captures = captures(result, *(effect.value for effect in special if isinstance(effect, Constant) and effect.made))
        call.context = context_of(evaluator)
        if any(isinstance(effect, Told) for effect in special):
            call.callers, call.shown = callers_of(call.frame), trace.shown
        whole, incomplete, deepest = self._whole
        trace.graph.whole = whole and call.whole
        trace.incomplete = incomplete or call.incomplete
        evaluator.deepest = max(deepest, evaluator.deepest)
        _leave(evaluator)
        outer = _Outer(self._nodes, call.arguments.values())
        own = [part for part in call.parts if not isinstance(part, KeptCall)]
        call.outer_records = [(part, index) for part in own for index, (_, value) in enumerate(part) if outer.holds(value)]
        known = {effect.absent for effect in special if isinstance(effect, Missed)}
        if not call.spoiled and known.issuperset(call.uses):  # what is said of an absent entry depends on its uses before
            evaluator.kept.keep(evaluator, call)


class _Outer:
    """Tells the values that may hold what was there before the first node of a call, or are among its arguments."""

    def __init__(self, first: int, arguments: Iterable[Value]) -> None:
        self._first = first
        self._known: dict[List, bool] = {}
        self._given(arguments)

    def _given(self, values: Iterable[Value], depth: int = 0) -> None:
        for value in values:
            if isinstance(value, List) and value not in self._known and depth < DEEPEST:
                self._known[value] = True
                self._given(value.items, depth + 1)

    def holds(self, value: Value, depth: int = 0) -> bool:
        if isinstance(value, Node):
            return value.index < self._first or value.op == "input"
        if not isinstance(value, List):
            return False
        known = self._known.get(value)
        if known is None:
            known = isinstance(value, Plist) or depth >= DEEPEST or any(self.holds(item, depth + 1) for item in value.items)
            self._known[value] = known
        return known


def _enter(evaluator: Evaluator, call: KeptCall) -> None:
    """The evaluation of a call begins."""
    call.around = evaluator.call
    if evaluator.records is not None:
        evaluator.call.parts.append(evaluator.records)
        evaluator.records = []
    evaluator.call = call


def _leave(evaluator: Evaluator) -> None:
    """It ends: the call is one of the parts of the one around it."""
    call = evaluator.call
    assert call.around is not None
    if evaluator.records is not None:
        call.parts.append(evaluator.records)
        evaluator.records = []
    evaluator.call = call.around
    adopt(evaluator, call)


def adopt(evaluator: Evaluator, call: KeptCall) -> None:
    """A call is part of the present one."""
    around = evaluator.call
    if evaluator.records:
        around.parts.append(evaluator.records)
        evaluator.records = []
    call.around = around
    around.parts.append(call)
    around.calls.append(call)
    around.definitions.update(call.definitions)
    around.spoiled = around.spoiled or call.spoiled
