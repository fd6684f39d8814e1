"""Calls that are kept from one analysis to the next, so that what an edit does not reach is not traced anew.

A kept call holds what its evaluation gave, added and did. It is replayed where the evaluation would go the same way: the same
function, with arguments that match (tensors by their types), in a place that looks the same, with the same definitions behind it.
Then its own nodes join the graph again, present values stand in the place of earlier ones, and its effects are had again.

Kept nodes move from graph to graph, as kept forms move from reading to reading: the earlier graphs must not be used any more. A
call within a replayed call belongs to it; once it is replayed by itself, the kept calls around it are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import TYPE_CHECKING

from sexpgpu.language.frames import Environment, Frame, Trace
from sexpgpu.language.kept_call import KeptCall, adopt, callers_of, context_of
from sexpgpu.language.replacing import Replacing, same_function, same_run, same_scope
from sexpgpu.language.values import Absent, Closure, Value
from sexpgpu.reader.forms import Form

if TYPE_CHECKING:
    from sexpgpu.language.evaluator import Evaluator

_MOST_AT_A_PLACE = 3
"""What is kept of one place: as it is, as it was, and as it is with what does not read yet."""

MOST_DEEP = 64
"""Calls inside each other. What is deeper, in a recursion, is neither kept nor recorded."""

_MOST_MADE = 5_000
"""New calls of one analysis that are kept."""

_MOST_UNUSED = 60
"""How many analyses a call is kept that none of them replays: as long as a word is being typed."""


class KeptCalls:
    """The kept calls by graph and place, which tell a call from every other one of an analysis."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str, str], list[KeptCall]] = {}
        self._analysis = 0
        self._made = 0

    def begin(self) -> None:
        """An analysis begins: what has not been used for long is let go."""
        self._analysis += 1
        self._made = 0
        if self._analysis % _MOST_UNUSED:
            return
        oldest = self._analysis - _MOST_UNUSED
        for key, calls in list(self._calls.items()):
            left = [call for call in calls if not call.gone and call.used > oldest]
            if left:
                self._calls[key] = left
            else:
                del self._calls[key]

    def keeps(self, function: Closure, form: Form) -> bool:
        """Whether a call of a function is kept: the file wrote the one or the other, and the function is closed over no local
        variables. Of a long loop, only so much is.
        """
        environment = function.environment
        alone = isinstance(environment, Environment) and environment.parent is None
        written = not function.form.top.source.builtin or not form.top.source.builtin
        return alone and written and self._made < _MOST_MADE

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

    def shared(self, evaluator: Evaluator, other: Trace, function: Value, arguments: Sequence[Value]) -> KeptCall | None:
        """The call that made the graph of another trace, if the present trace's comes out as that one: then they are of the same
        nodes, and what the call did is done for the present trace, too. None where it does not, or where that is not certain.
        """
        for call in self._calls.get((other.graph.name, other.role, other.role), ()):
            whole = len(call.nodes) == sum(node.op != "input" for node in other.graph.nodes)
            fits = call.used == self._analysis and call.function is function and whole
            if not fits or call.context != context_of(evaluator) or not evaluator.has_room(call.steps, call.emitted, call.reach):
                continue
            replacing = Replacing()
            if not all(map(replacing.match, call.arguments.values(), arguments)) or len(call.arguments) != len(arguments):
                continue
            if any(effect.differs_in_a_pass for effect in call.effects):
                continue
            trace = evaluator.trace
            trace.graph.nodes = other.graph.nodes
            _perform(evaluator, call)
            trace.graph.whole = trace.graph.whole and call.whole
            trace.incomplete = call.incomplete
            evaluator.call.parts.append(call)
            return call
        return None

    def keep(self, evaluator: Evaluator, call: KeptCall) -> None:
        """Keep a call that has been evaluated."""
        self._made += 1
        if any(isinstance(value, Absent) for value in call.arguments.values()):
            return  # whether its use is reported depends on what came before
        call.used = self._analysis
        calls = self._calls.setdefault(_key(evaluator.trace, call.frame), [])
        calls.insert(0, call)
        del calls[_MOST_AT_A_PLACE:]


def _key(trace: Trace, frame: Frame) -> tuple[str, str, str]:
    return trace.graph.name, trace.role, frame.place.text


# Whether a call may be replayed


def _fits(
    evaluator: Evaluator, call: KeptCall, frame: Frame, function: Closure, forms: Sequence[Form], arguments: dict[str, Value]
) -> Replacing | None:
    if call.function is None or not same_function(call.function, function) or len(call.forms) != len(forms):
        return None
    if call.context != context_of(evaluator) or not _same_place(call.frame, frame):
        return None
    if not evaluator.has_room(call.steps, call.emitted, call.reach):
        return None
    if call.callers is not None and (call.shown is not evaluator.trace.shown or not _same_way(call, frame, forms)):
        return None
    if call.arguments.keys() != arguments.keys():
        return None
    replacing = Replacing(call.frame.run, frame.run)
    for name, value in call.arguments.items():
        if not replacing.match(value, arguments[name]):
            return None
    for top, value in call.definitions.items():
        if evaluator.stands_for(top) is not value:
            return None
    for effect in call.effects:
        if not effect.holds(evaluator, replacing):
            return None
    if replacing.written and (call.callers is not None or any(node.form in replacing.written for node in call.nodes)):
        return None
    return None if call.captures and replacing.changed else replacing


def _same_place(kept: Frame, frame: Frame) -> bool:
    return same_scope(kept.scope, frame.scope) and same_run(kept.run, frame.run) and (kept.calls is None) is (frame.calls is None)


def _same_way(call: KeptCall, frame: Frame, forms: Sequence[Form]) -> bool:
    """Whether the very same calls led there, with the same arguments."""
    return call.callers == callers_of(frame) and all(map(is_, call.forms, forms))


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
    replacing.call(call.frame, frame)
    remat, now = call.frame.scope.remat, frame.scope.remat
    _move(call, replacing, remat, now)
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
    _join(evaluator.trace, call)
    _perform(evaluator, call)
    evaluator.effects += call.effects
    trace = evaluator.trace
    trace.graph.whole = trace.graph.whole and call.whole
    trace.incomplete = trace.incomplete or call.incomplete
    evaluator.deepest = max(evaluator.deepest, evaluator.depth + call.reach)
    adopt(evaluator, call)


def _perform(evaluator: Evaluator, call: KeptCall) -> None:
    """Do again what a call did, and count what it took."""
    evaluator.steps += call.steps
    evaluator.nodes += call.emitted
    for effect in call.effects:
        effect.apply(evaluator)
    for absent in call.uses:
        absent.used = True
        evaluator.uses.append(absent)


def _move(call: KeptCall, replacing: Replacing, remat: int, now: int) -> None:
    """Put present values into what a call and those within hold of earlier ones, and the region `now` in the place of `remat`."""
    changed = replacing.changed
    if changed:
        call.result = replacing.value(call.result)
        for records, index in call.outer_records:
            form, value = records[index]
            records[index] = form, replacing.value(value)
    if call.frame.run is replacing.run_before:
        call.frame.run = replacing.run
    for part in call.calls:
        part.used = call.used
        if changed:
            part.arguments = {name: replacing.value(value) for name, value in part.arguments.items()}
        if remat != now and part.frame.scope.remat == remat:
            part.frame.scope = part.frame.scope.in_region(now)
        _move(part, replacing, remat, now)


def _join(trace: Trace, call: KeptCall) -> None:
    """Add the nodes of a call to the graph, each input of the graph with its first reader."""
    graph = trace.graph
    if any(read.index < 0 for node in call.outer_nodes for read in node.inputs):
        for node in call.nodes:
            for read in node.inputs:
                if read.index < 0:
                    graph.add(read)
            graph.add(node)
        return
    for index, node in enumerate(call.nodes, len(graph.nodes)):
        node.index = index
    graph.nodes += call.nodes
