"""Effects: what the evaluation of a form does beside giving a value and adding nodes to the graph.

All of it goes through `Evaluator.do`, which performs an effect and keeps it, so that a call whose evaluation would be the same as
before can be replayed (`kept_calls.py`). `holds` asks whether an effect would come out as it did; `moved` puts present values in
the place of earlier ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sexpgpu.diagnostics.finding import Finding
from sexpgpu.graph.nodes import Node, Report
from sexpgpu.language.values import Absent, List, Made, Model, Plist, Value
from sexpgpu.reader.forms import Form

if TYPE_CHECKING:
    from sexpgpu.language.evaluator import Evaluator
    from sexpgpu.language.frames import Draw, Frame, ModelRun
    from sexpgpu.language.replacing import Replacing
    from sexpgpu.program.model import Parameter


class Effect:
    """One effect. Most can always be had again, and hold no value that could be another one."""

    __slots__ = ()

    @property
    def differs_in_a_pass(self) -> bool:
        """Whether it may be another one in the graph of a pass than it is in training's."""
        return False

    def apply(self, evaluator: Evaluator) -> None:
        """Perform it."""
        raise TypeError(f"{type(self).__name__} does nothing")

    def holds(self, evaluator: Evaluator, replacing: Replacing) -> bool:
        """Whether it would come out as it did. What a call takes from its surroundings, besides arguments, is matched here."""
        return True

    def moved(self, replacing: Replacing) -> None:
        """Refer to present values."""


class Told(Effect):
    """A finding, told once for a key: its code or text, and the form that shows it."""

    __slots__ = ("finding", "key")

    def __init__(self, key: tuple[str, Form], finding: Finding) -> None:
        self.key = key
        self.finding = finding

    @property
    def differs_in_a_pass(self) -> bool:
        return True

    def apply(self, evaluator: Evaluator) -> None:
        evaluator.tell_once(self.key, self.finding)


class CtxRead(Effect):
    """A read of an entry of ctx: `at` shows it, a part of the call of `by` where the prelude wrote it."""

    __slots__ = ("at", "by", "name")

    def __init__(self, name: str, at: Form, by: Frame | None) -> None:
        self.name = name
        self.at = at
        self.by = by

    def apply(self, evaluator: Evaluator) -> None:
        evaluator.trace.ctx_reads.append((self.name, self.at))

    def moved(self, replacing: Replacing) -> None:
        self.at = replacing.form(self.at, self.by)


class Missed(Effect):
    """A `getf` that found nothing; `ctx` tells that it looked in ctx."""

    __slots__ = ("absent", "ctx")

    def __init__(self, absent: Absent, ctx: bool) -> None:
        self.absent = absent
        self.ctx = ctx

    def apply(self, evaluator: Evaluator) -> None:
        self.absent.used = False
        self.absent.uses = evaluator.uses
        if self.ctx:
            evaluator.trace.ctx_missing.append(self.absent)


class EntryRead(Effect):
    """A read of one entry of a plist that the runtime hands over."""

    __slots__ = ("at", "name", "plist")

    def __init__(self, plist: Plist, name: str, at: Form) -> None:
        self.plist = plist
        self.name = name
        self.at = at

    def apply(self, evaluator: Evaluator) -> None:
        self.plist.read.setdefault(self.name, self.at)

    def moved(self, replacing: Replacing) -> None:
        self.plist = replacing.plist(self.plist)


class UsedWhole(Effect):
    """A use of such a plist other than entry by entry."""

    __slots__ = ("plist",)

    def __init__(self, plist: Plist) -> None:
        self.plist = plist

    def apply(self, evaluator: Evaluator) -> None:
        self.plist.whole = True

    def moved(self, replacing: Replacing) -> None:
        self.plist = replacing.plist(self.plist)


class ModelCalled(Effect):
    __slots__ = ("caller", "head", "model")

    def __init__(self, model: Model, caller: Model | None, head: Form) -> None:
        self.model = model
        self.caller = caller
        self.head = head

    def apply(self, evaluator: Evaluator) -> None:
        evaluator.trace.model_calls.append((self.model, self.caller, self.head))

    def moved(self, replacing: Replacing) -> None:
        before, now = replacing.run_before, replacing.run
        if before is not None and now is not None and self.caller is before.model:
            self.caller = now.model


class Drawn(Effect):
    """A draw, shown by a part of the call of `by` where the prelude wrote it."""

    __slots__ = ("by", "draw")

    def __init__(self, draw: Draw, by: Frame | None) -> None:
        self.draw = draw
        self.by = by

    def apply(self, evaluator: Evaluator) -> None:
        evaluator.trace.draws.append(self.draw)

    def moved(self, replacing: Replacing) -> None:
        self.draw.form = replacing.form(self.draw.form, self.by)


class Took(Effect):
    """The part of a conditional of a contract function's own that gave its value."""

    __slots__ = ("form", "part")

    def __init__(self, form: Form, part: Form) -> None:
        self.form = form
        self.part = part

    def apply(self, evaluator: Evaluator) -> None:
        evaluator.trace.taken[self.form] = self.part


# Reports


class Joined(Effect):
    """A tensor that is reported as it is: an input of the graph that nothing has read joins the graph here."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node

    def apply(self, evaluator: Evaluator) -> None:
        evaluator.entered(self.node)

    def holds(self, evaluator: Evaluator, replacing: Replacing) -> bool:
        return replacing.node(self.node).index >= 0  # where among the nodes it would join is not kept

    def moved(self, replacing: Replacing) -> None:
        self.node = replacing.node(self.node)


class Dropped(Effect):
    """A diagnostic in a pass, which does not sample it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def apply(self, evaluator: Evaluator) -> None:
        evaluator.trace.dropped.add(self.name)


class Reported(Effect):
    """A metric or diagnostic; `report` is None where its value is not known."""

    __slots__ = ("at", "kind", "name", "report")

    def __init__(self, kind: Literal["metric", "diagnostic"], name: str, at: Form, report: Report | None) -> None:
        self.kind: Literal["metric", "diagnostic"] = kind
        self.name = name
        self.at = at
        self.report = report

    @property
    def differs_in_a_pass(self) -> bool:
        return self.kind == "diagnostic"

    def apply(self, evaluator: Evaluator) -> None:
        trace = evaluator.trace
        trace.names[self.kind, self.name] = self.at
        if self.report is not None:
            (trace.graph.metrics if self.kind == "metric" else trace.graph.diagnostics).append(self.report)

    def holds(self, evaluator: Evaluator, replacing: Replacing) -> bool:
        return (self.kind, self.name) not in evaluator.trace.names

    def moved(self, replacing: Replacing) -> None:
        if self.report is not None:
            self.report.node = replacing.node(self.report.node)
            if self.report.weight is not None:
                self.report.weight = replacing.node(self.report.weight)


class Counted(Effect):
    """A counter; `node` is None where what it counts with is not known."""

    __slots__ = ("at", "name", "node")

    def __init__(self, name: str, at: Form, node: Node | None) -> None:
        self.name = name
        self.at = at
        self.node = node

    def apply(self, evaluator: Evaluator) -> None:
        evaluator.trace.counters[self.name] = self.at
        if self.node is not None:
            evaluator.trace.graph.counters[self.name] = self.node

    def holds(self, evaluator: Evaluator, replacing: Replacing) -> bool:
        return self.name not in evaluator.trace.counters

    def moved(self, replacing: Replacing) -> None:
        if self.node is not None:
            self.node = replacing.node(self.node)


# Parameters


class Registered(Effect):
    """A parameter by its path. The first one stands; another must be like it. It is shown by a part of the call of `by` where the
    prelude wrote it."""

    __slots__ = ("by", "parameter")

    def __init__(self, parameter: Parameter, by: Frame | None) -> None:
        self.parameter = parameter
        self.by = by

    def apply(self, evaluator: Evaluator) -> None:
        evaluator.parameters.setdefault(self.parameter.path, self.parameter)

    def holds(self, evaluator: Evaluator, replacing: Replacing) -> bool:
        known = evaluator.parameters.get(self.parameter.path)
        return known is None or same_parameter(known, self.parameter)

    def moved(self, replacing: Replacing) -> None:
        self.parameter.shown = replacing.form(self.parameter.shown, self.by)


class Found(Effect):
    """A `param` form that found a path within one call of its model, by the frame that it stands in."""

    __slots__ = ("form", "frame", "path", "run")

    def __init__(self, run: ModelRun, path: str, form: Form, frame: Frame) -> None:
        self.run = run
        self.path = path
        self.form = form
        self.frame = frame

    def apply(self, evaluator: Evaluator) -> None:
        self.run.seen[self.path, self.form] = self.frame

    def holds(self, evaluator: Evaluator, replacing: Replacing) -> bool:
        run = replacing.run if self.run is replacing.run_before else None
        return run is None or (self.path, self.form) not in run.seen

    def moved(self, replacing: Replacing) -> None:
        if self.run is replacing.run_before and replacing.run is not None:
            self.run = replacing.run


class Entered(Effect):
    """A parameter's node, by its path and variant: the first reader in a graph makes it (`made`), the others take it."""

    __slots__ = ("key", "made", "node")

    def __init__(self, key: tuple[str, str], node: Node, made: bool) -> None:
        self.key = key
        self.node = node
        self.made = made

    def apply(self, evaluator: Evaluator) -> None:
        if self.made:
            evaluator.trace.parameters[self.key] = self.node

    def holds(self, evaluator: Evaluator, replacing: Replacing) -> bool:
        present = evaluator.trace.parameters.get(self.key)
        if self.made:
            replacing.made.add(self.node)
            return present is None
        if self.node in replacing.made:
            return True
        return present is not None and replacing.match(self.node, present)

    def moved(self, replacing: Replacing) -> None:
        self.node = replacing.node(self.node)


class Constant(Effect):
    """What a `def` that builds tensors is in a graph, by its name: the first reader makes it, the others take it."""

    __slots__ = ("made", "name", "value")

    def __init__(self, name: str, value: Value, made: bool) -> None:
        self.name = name
        self.value = value
        self.made = made

    def apply(self, evaluator: Evaluator) -> None:
        if self.made:
            evaluator.trace.constants[self.name] = self.value

    def holds(self, evaluator: Evaluator, replacing: Replacing) -> bool:
        if self.made:
            replacing.constants.add(self.name)
            return self.name not in evaluator.trace.constants
        if self.name in replacing.constants:
            return True
        present = evaluator.trace.constants.get(self.name)
        return present is not None and replacing.match(self.value, present)

    def moved(self, replacing: Replacing) -> None:
        self.value = replacing.value(self.value)


def same_parameter(known: Parameter, parameter: Parameter) -> bool:
    """Whether two parameters of one path have one shape, dtype and initializer."""
    return known.shape == parameter.shape and known.dtype is parameter.dtype and _alike(known.init, parameter.init)


def _alike(a: Made, b: Made) -> bool:
    def plain(value: Value) -> object:
        return tuple(map(plain, value.items)) if isinstance(value, List) else value

    return a.name == b.name and {k: plain(v) for k, v in a.arguments.items()} == {k: plain(v) for k, v in b.arguments.items()}
