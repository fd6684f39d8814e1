"""Matching the values of an earlier evaluation with present ones, and putting the present ones in their place."""

from __future__ import annotations

from sexpgpu.graph.nodes import Node
from sexpgpu.language.attribution import head_of
from sexpgpu.language.frames import Frame, ModelRun, Scope
from sexpgpu.language.values import Absent, Closure, Function, Keyword, List, Made, Model, Plist, Value
from sexpgpu.reader.forms import Form, ListForm, VectorForm

DEEPEST = 100
"""Lists deeper than this are not looked through: no two of them match, and they are taken to hold anything."""


class Replacing:
    """What stands for what: values that come from outside a call, as they were when it was evaluated and as they are now.

    `made` and `constants` are what the call makes by itself; `run_before` and `run` the model's call that it is part of.
    """

    __slots__ = ("_forms", "_frame", "_now", "changed", "constants", "made", "nodes", "run", "run_before", "written")

    def __init__(self, run_before: ModelRun | None = None, run: ModelRun | None = None) -> None:
        self._now: dict[Node | List, Node | List] = {}
        self._frame: Frame | None = None
        self._forms: dict[Form, Form] = {}
        """The call that made the frame, its head and its arguments, as they are written now."""
        self.changed = self.nodes = False
        """Something stands for another thing; some node does."""
        self.written: set[Form] = set()
        """Where the items of lists were written that are written elsewhere now."""
        self.made: set[Node] = set()
        self.constants: set[str] = set()
        self.run_before = run_before
        self.run = run

    # Matching

    def match(self, before: Value, now: Value, depth: int = 0) -> bool:
        """Whether an evaluation goes the same way with `now` as it did with `before`: values are equal, tensors have one type."""
        if isinstance(before, Node):
            return isinstance(now, Node) and before.dtype is now.dtype and before.shape == now.shape and self._stands(before, now)
        if isinstance(before, List):
            return isinstance(now, List) and depth < DEEPEST and self._list(before, now, depth + 1)
        if before is now:
            return not isinstance(before, Absent)
        if isinstance(before, float):
            return isinstance(now, float) and repr(before) == repr(now)
        if isinstance(before, (int, str)):
            return type(before) is type(now) and before == now
        if isinstance(before, Function):
            return isinstance(now, Function) and same_function(before, now)
        return isinstance(before, Made) and isinstance(now, Made) and before.form is now.form and self._made(before, now)

    def _stands(self, before: Node | List, now: Node | List) -> bool:
        if before is not now:
            self.changed = True
            self.nodes = self.nodes or isinstance(before, Node)
        return self._now.setdefault(before, now) is now

    def _list(self, before: List, now: List, depth: int) -> bool:
        if before in self._now:
            return self._now[before] is now
        if (
            len(before.items) != len(now.items)
            or type(before) is not type(now)
            or before.vector is not now.vector
            or before.names != now.names
        ):
            return False
        if before.made_by is not now.made_by:
            if any(isinstance(item, (Keyword, str, Plist)) for item in before.items):
                return False  # where a plist is written is said of what becomes of it, and where another is named, of its reads
            if isinstance(before.made_by, (ListForm, VectorForm)):
                self.written.update(before.made_by.items)
        if isinstance(before, Plist) and isinstance(now, Plist) and before is not now and not same_plist(before, now):
            return False
        items = zip(before.items, now.items, strict=True)
        return self._stands(before, now) and all(self.match(item, other, depth) for item, other in items)

    def _made(self, before: Made, now: Made) -> bool:
        same = before.group == now.group and before.name == now.name and before.forms == now.forms
        same = same and before.arguments.keys() == now.arguments.keys()
        return same and all(self.match(value, now.arguments[name]) for name, value in before.arguments.items())

    # Replacing

    def node(self, node: Node) -> Node:
        """What a node is now."""
        now = self._now.get(node, node)
        assert isinstance(now, Node)
        return now

    def plist(self, plist: Plist) -> Plist:
        """What a plist of the runtime's is now."""
        now = self._now.get(plist, plist)
        assert isinstance(now, Plist)
        return now

    def call(self, before: Frame, now: Frame) -> None:
        """The call that made one frame makes the other now, and may be written elsewhere."""
        if before.form is None or now.form is None or before.form is now.form:
            return
        self._frame = before
        self._forms = {before.form: now.form, head_of(before.form): head_of(now.form)}
        self._forms.update((form, now.arguments[name]) for name, form in before.arguments.items())

    def form(self, form: Form, by: Frame | None) -> Form:
        """What shows something that the prelude did, part of the call that made the frame `by`: as it is written now."""
        return self._forms.get(form, form) if by is not None and by is self._frame else form

    def value(self, value: Value, depth: int = 0) -> Value:
        """The value with present tensors, lists and plists in it."""
        if isinstance(value, Node):
            return self._now.get(value, value)
        if isinstance(value, List):
            now = self._now.get(value)
            if now is None and depth < DEEPEST:
                now = self._now[value] = self._items(value, depth + 1)
            return value if now is None else now
        return value

    def _items(self, before: List, depth: int) -> List:
        items = [self.value(item, depth) for item in before.items]
        if all(item is now for item, now in zip(before.items, items, strict=True)):
            return before
        if isinstance(before, Plist):
            plist = Plist(before.role, items, open=before.open)
            plist.names = before.names
            return plist
        made = List(items, vector=before.vector, made_by=before.made_by)
        made.names = before.names
        return made


def same_value(before: Value, now: Value) -> bool:
    """Whether nothing tells one value from another, nor where they were written."""
    replacing = Replacing()
    return replacing.match(before, now) and not replacing.written


def same_plist(before: Plist, now: Plist) -> bool:
    """Whether two plists of the runtime's answer alike where they have no entry."""
    withheld = before.withheld is now.withheld or (
        before.withheld is not None
        and now.withheld is not None
        and before.withheld[0] == now.withheld[0]
        and before.withheld[1] is now.withheld[1]
    )
    same = before.role == now.role and before.open is now.open and before.owner == now.owner
    return same and withheld and before.elsewhere == now.elsewhere


def same_function(before: Function, now: Function) -> bool:
    """Whether two functions are one; each `(ema model)` makes another object of one."""
    if before is now:
        return True
    if not isinstance(before, Model) or not isinstance(now, Model):
        return False
    return before.form is now.form and before.settings is now.settings and before.variant == now.variant


def same_run(before: ModelRun | None, now: ModelRun | None) -> bool:
    """Whether models of the same names run, at the same parameters: what stands in them does not matter to what they call."""
    while before is not None and now is not None:
        if before.variant != now.variant or before.model.name != now.model.name:
            return False
        before, now = before.outer, now.outer
    return before is now


def same_scope(before: Scope, now: Scope) -> bool:
    """Whether parameters get the same paths and settings. Regions that are computed again differ in their numbers."""
    same = before.names == now.names and before.frozen is now.frozen and before.entry == now.entry
    files = before.pretrained is now.pretrained or (
        before.pretrained is not None and now.pretrained is not None and same_value(before.pretrained, now.pretrained)
    )
    return same and files and (before.remat != 0) is (now.remat != 0)


def captures(*values: Value) -> bool:
    """Whether a value holds a function that is closed over local variables, which may be tensors."""
    seen: set[Value] = set()  # a list may hold another many times, and that a third
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, Closure):
            if getattr(value.environment, "parent", None) is not None:
                return True
        elif isinstance(value, (List, Made)) and value not in seen:
            seen.add(value)
            waiting.extend(value.items if isinstance(value, List) else value.arguments.values())
    return False
