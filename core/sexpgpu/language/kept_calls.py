"""Calls of a file's functions that are kept from one analysis to the next, so that what an edit does not reach is not traced anew.

A kept call holds what its evaluation gave, added and did. It is replayed where the evaluation would go the same way: the same
function, with arguments that match (tensors by their types), in a place that looks the same, with the same definitions behind it.
Then its own nodes join the graph again, present values stand in the place of earlier ones, and its effects are had again.

Kept nodes move from graph to graph, as kept forms move from reading to reading: the earlier graphs must not be used any more. A
call within a replayed call belongs to it; once it is replayed by itself, the kept calls around it are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sexpgpu.graph.nodes import Node
from sexpgpu.language.dtypes import DType
from sexpgpu.language.effects import Effect, Told
from sexpgpu.language.frames import Environment, Frame, Trace
from sexpgpu.language.replacing import DEEPEST, Replacing, captures, same_function, same_run, same_scope
from sexpgpu.language.values import Absent, Closure, List, Plist, Value
from sexpgpu.reader.forms import Form, TopForm

if TYPE_CHECKING:
    from sexpgpu.language.evaluator import Evaluator

Records = list[tuple[Form, Value]]

_MOST_AT_A_PLACE = 3
_MOST_UNUSED = 60
"""How many analyses a call is kept that none of them replays: as long as a word is being typed."""


class KeptCall:
    """One call: while it is evaluated, where it began; from then on, all that it did."""

    __slots__ = (
        "_outer_nodes",
        "arguments",
        "around",
        "callers",
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
        "nested",
        "nodes",
        "outer_records",
        "parts",
        "reach",
        "result",
        "shown",
        "spoiled",
        "steps",
        "used",
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
        self.definitions: dict[TopForm, object] = {}
        """What the definitions behind it stand for, by their forms."""
        self.nodes: list[Node] = []
        self.effects: list[Effect] = []
        self.outer_records: list[tuple[Records, int]] = []
        """The records of its own that hold what comes from outside."""
        self._outer_nodes: list[Node] | None = None
        self.nested: list[Absent] = []
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
            own = {node for node in self.nodes if node.op != "input"}
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


def keeps(function: Closure) -> bool:
    """Whether calls of a function are kept: the file wrote it, and it is closed over no local variables."""
    environment = function.environment
    return isinstance(environment, Environment) and environment.parent is None and not function.form.top.source.builtin


class KeptCalls:
    """The kept calls by graph and place, which tell a call from every other one of an analysis."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str, str], list[KeptCall]] = {}
        self._analysis = 0

    def begin(self) -> None:
        """An analysis begins: what has not been used for long is let go."""
        self._analysis += 1
        oldest = self._analysis - _MOST_UNUSED
        for key, calls in list(self._calls.items()):
            left = [call for call in calls if not call.gone and call.used > oldest]
            if left:
                self._calls[key] = left
            else:
                del self._calls[key]

    def replayed(
        self, evaluator: Evaluator, frame: Frame, function: Closure, forms: Sequence[Form], arguments: dict[str, Value]
    ) -> KeptCall | None:
        """The kept call that this one comes out as, replayed in its place; None without one."""
        calls = self._calls.get(_key(evaluator.trace, frame))
        if calls is None or evaluator.exhausted:
            return None
        for call in calls:
            if call.gone or call.used == self._analysis:
                continue
            replacing = _fits(evaluator, call, frame, function, forms, arguments)
            if replacing is not None:
                call.used = self._analysis
                _replay(evaluator, call, frame, forms, arguments, replacing)
                return call
        return None

    def keep(self, evaluator: Evaluator, call: KeptCall) -> None:
        """Keep a call that has been evaluated."""
        if any(isinstance(value, Absent) for value in call.arguments.values()):
            return  # whether its use is reported depends on what came before
        call.used = self._analysis
        calls = self._calls.setdefault(_key(evaluator.trace, call.frame), [])
        calls.insert(0, call)
        del calls[_MOST_AT_A_PLACE:]


def _key(trace: Trace, frame: Frame) -> tuple[str, str, str]:
    return trace.graph.name, trace.role, frame.place


# Whether a call may be replayed


def _fits(
    evaluator: Evaluator, call: KeptCall, frame: Frame, function: Closure, forms: Sequence[Form], arguments: dict[str, Value]
) -> Replacing | None:
    if call.function is None or not same_function(call.function, function) or len(call.forms) != len(forms):
        return None
    if call.context != evaluator.context or not _same_place(call.frame, frame):
        return None
    if not evaluator.has_room(call.steps, call.emitted, call.reach):
        return None
    if call.callers is not None and (call.shown is not evaluator.trace.shown or not _same_way(call, frame, forms)):
        return None
    if call.arguments.keys() != arguments.keys():
        return None
    replacing = Replacing(call.frame.run, frame.run)
    if not all(replacing.match(value, arguments[name]) for name, value in call.arguments.items()):
        return None
    if not all(evaluator.stands_for(top) is value for top, value in call.definitions.items()):
        return None
    if not all(effect.holds(evaluator, replacing) for effect in call.effects):
        return None
    return None if call.captures and replacing.nodes else replacing


def _same_place(kept: Frame, frame: Frame) -> bool:
    return same_scope(kept.scope, frame.scope) and same_run(kept.run, frame.run) and (kept.calls is None) is (frame.calls is None)


def _same_way(call: KeptCall, frame: Frame, forms: Sequence[Form]) -> bool:
    """Whether the very same calls led there, with the same arguments."""
    return call.callers == callers_of(frame) and all(map(_is, call.forms, forms))


def _is(a: object, b: object) -> bool:
    return a is b


# Replaying


def _replay(
    evaluator: Evaluator,
    call: KeptCall,
    frame: Frame,
    forms: Sequence[Form],
    arguments: dict[str, Value],
    replacing: Replacing,
) -> None:
    around = call.around
    while around is not None and not around.gone:
        around.gone = True
        around = around.around
    remat, now = call.frame.scope.remat, frame.scope.remat
    _move(call, replacing)
    call.arguments = dict(arguments)
    call.forms = tuple(forms)
    call.frame.stand_for(frame)
    if replacing.nodes:
        for node in call.outer_nodes:
            node.inputs = tuple(map(replacing.node, node.inputs))
    if remat != now:
        for node in call.nodes:
            if node.remat == remat:
                node.remat = now
    for effect in call.effects:
        effect.moved(replacing)
    _join(evaluator.trace, call.nodes, replacing)
    evaluator.steps += call.steps
    evaluator.nodes += call.emitted
    for effect in call.effects:
        effect.apply(evaluator)
    for absent in call.nested:
        absent.used = True
        evaluator.uses.append(absent)
    evaluator.effects += call.effects
    trace = evaluator.trace
    trace.graph.whole = trace.graph.whole and call.whole
    trace.incomplete = trace.incomplete or call.incomplete
    evaluator.deepest = max(evaluator.deepest, evaluator.depth + call.reach)
    _adopt(evaluator, call)


def _move(call: KeptCall, replacing: Replacing) -> None:
    """Put present values into what a call and those within hold of earlier ones."""
    call.result = replacing.value(call.result)
    if call.frame.run is replacing.run_before:
        call.frame.run = replacing.run
    for part in call.parts:
        if isinstance(part, KeptCall):
            part.arguments = {name: replacing.value(value) for name, value in part.arguments.items()}
            _move(part, replacing)
    if replacing.changed:
        for records, index in call.outer_records:
            form, value = records[index]
            records[index] = form, replacing.value(value)


def _join(trace: Trace, kept: list[Node], replacing: Replacing) -> None:
    """Add the nodes of a call to the graph, each input of the graph with its first reader."""
    graph = trace.graph
    nodes = graph.nodes
    for index, node in enumerate(kept):
        if node.op == "input":
            present = kept[index] = replacing.node(node)
            if present.index < 0:
                graph.add(present)
            continue
        for read in node.inputs:
            if read.index < 0:
                graph.add(read)
        node.index = len(nodes)
        nodes.append(node)


# Keeping


class Evaluation:
    """The evaluation of a call that is to be kept: `begin` it, evaluate the body, and `end` it."""

    __slots__ = ("_absents", "_call", "_depth", "_effects", "_emitted", "_nodes", "_steps", "_trace", "_whole")

    def __init__(self, evaluator: Evaluator, call: KeptCall) -> None:
        trace = evaluator.trace
        self._call = call
        self._trace = trace
        self._nodes = len(trace.graph.nodes)
        self._effects = len(evaluator.effects)
        self._absents = len(evaluator.uses)
        self._steps = evaluator.steps
        self._emitted = evaluator.nodes
        self._depth = evaluator.depth
        self._whole = trace.graph.whole, trace.incomplete, evaluator.deepest
        trace.graph.whole, trace.incomplete, evaluator.deepest = True, False, evaluator.depth
        _enter(evaluator, call)

    def end(self, evaluator: Evaluator, kept: KeptCalls, result: Value) -> None:
        """Take down what the call gave and did, and keep it if it can be replayed."""
        call, trace = self._call, self._trace
        call.result = result
        call.nodes = trace.graph.nodes[self._nodes :]
        call.effects = evaluator.effects[self._effects :]
        call.nested = evaluator.uses[self._absents :]
        call.steps = evaluator.steps - self._steps
        call.emitted = evaluator.nodes - self._emitted
        call.reach = evaluator.deepest - self._depth
        call.whole, call.incomplete = trace.graph.whole, trace.incomplete
        call.captures = captures(result)
        call.context = evaluator.context
        if any(isinstance(effect, Told) for effect in call.effects):
            call.callers, call.shown = callers_of(call.frame), trace.shown
        whole, incomplete, deepest = self._whole
        trace.graph.whole = whole and call.whole
        trace.incomplete = incomplete or call.incomplete
        evaluator.deepest = max(deepest, evaluator.deepest)
        _leave(evaluator)
        outer = _Outer(self._nodes)
        own = [part for part in call.parts if not isinstance(part, KeptCall)]
        call.outer_records = [(part, index) for part in own for index, (_, value) in enumerate(part) if outer.holds(value)]
        if not call.spoiled:
            kept.keep(evaluator, call)


class _Outer:
    """Tells the values that may hold what was there before the first node of a call."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._known: dict[List, bool] = {}

    def holds(self, value: Value, depth: int = 0) -> bool:
        if isinstance(value, Node):
            return value.index < self._first
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
    _adopt(evaluator, call)


def _adopt(evaluator: Evaluator, call: KeptCall) -> None:
    """A call is part of the present one."""
    around = evaluator.call
    if evaluator.records:
        around.parts.append(evaluator.records)
        evaluator.records = []
    call.around = around
    around.parts.append(call)
    around.definitions.update(call.definitions)
    around.spoiled = around.spoiled or call.spoiled
