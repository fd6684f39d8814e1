"""Where evaluation stands: environments, the frames of the functions being evaluated, and the trace of one graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sexpgpu.graph.nodes import CallPath, Graph, Node
from sexpgpu.language.values import Absent, Made, Model, Value
from sexpgpu.reader.forms import Form

if TYPE_CHECKING:
    from sexpgpu.program.unit import Module


class Environment:
    """Local variables, and what encloses them: another environment, or the module whose names are seen at the root.

    `module` is that of the root when it was made. A root that is kept between analyses gets the module of the present one, so
    whoever looks up a name asks the root.
    """

    __slots__ = ("module", "parent", "variables")

    def __init__(self, variables: dict[str, Value], parent: Environment | None, module: Module) -> None:
        self.variables = variables
        self.parent = parent
        self.module = module

    def inner(self, variables: dict[str, Value]) -> Environment:
        """An environment inside this one."""
        return Environment(variables, self, self.module)


class ModelRun:
    """One call of a model: whose parameters it runs at, and which paths its `param` forms found so far, each where first."""

    __slots__ = ("model", "outer", "seen", "variant")

    def __init__(self, model: Model, variant: str, outer: ModelRun | None) -> None:
        self.model = model
        self.variant = variant
        self.outer = outer
        self.seen: dict[tuple[str, Form], Frame] = {}


class Scope:
    """What encloses a `param`: the names before its own, and what the enclosing `scope`s say of it."""

    __slots__ = ("entry", "frozen", "names", "pretrained", "remat")

    def __init__(
        self,
        names: tuple[str, ...] = (),
        frozen: bool = False,
        remat: int = 0,
        pretrained: Made | None = None,
        entry: tuple[str, ...] = (),
    ) -> None:
        self.names = names
        self.frozen = frozen
        self.remat = remat
        self.pretrained = pretrained
        self.entry = entry

    def in_region(self, remat: int) -> Scope:
        """The scope in another region that is computed again."""
        return Scope(self.names, self.frozen, remat, self.pretrained, self.entry)


class Place:
    """Where a body stands in a graph: the calls that lead there, each with its number among those to the same callee (language §5).

    The text is put together when it is asked for. In a recursion that is seldom, and each text is longer than the last.
    """

    __slots__ = ("_around", "_step", "_text")

    def __init__(self, step: str, around: Place | None = None) -> None:
        self._step = step
        self._around = around
        self._text: str | None = None

    @property
    def text(self) -> str:
        """`objective/model:0/block:1`"""
        if self._text is None:
            steps: list[str] = []
            place: Place | None = self
            while place is not None and place._text is None:
                steps.append(place._step)
                place = place._around
            if place is not None and place._text is not None:
                steps.append(place._text)
            self._text = "/".join(reversed(steps))
        return self._text


class Frame:
    """One evaluation of a function's body.

    `form` is the call, `arguments` where each parameter's argument was written; `counts` how many calls to each callee have been
    evaluated in this body, which with `place` makes the places of draws.
    """

    __slots__ = ("arguments", "calls", "counts", "form", "name", "parent", "place", "run", "scope")

    def __init__(
        self, name: str, parent: Frame | None, form: Form | None, place: Place, run: ModelRun | None, scope: Scope
    ) -> None:
        self.name = name
        self.parent = parent
        self.form = form
        self.place = place
        self.run = run
        self.scope = scope
        self.counts: dict[str, int] = {}
        self.arguments: dict[str, Form] = {}
        before = parent.calls if parent else None
        self.calls = CallPath(form, before) if form is not None else before

    def link(self, callee: str) -> Place:
        """The place of the next call to `callee` in this body; counts it."""
        count = self.counts.get(callee, 0)
        self.counts[callee] = count + 1
        return Place(f"{callee}:{count}", self.place)

    def stand_for(self, other: Frame) -> None:
        """Take the place of another frame, with all that was said of this one."""
        self.parent, self.form, self.run, self.scope = other.parent, other.form, other.run, other.scope
        self.arguments = other.arguments
        if self.calls is not None and other.calls is not None:
            self.calls.form, self.calls.parent = other.calls.form, other.calls.parent


Role = Literal[
    "host",
    "record",
    "generate.init",
    "generate.step",
    "generate.finish",
    "prepare",
    "objective",
    "curriculum",
    "stop-when",
    "optimizer",
]

GENERATOR_ROLES = frozenset({"generate.init", "generate.step", "generate.finish"})


class Draw:
    """A draw that was traced: its node, and the form that is its head."""

    __slots__ = ("form", "node")

    def __init__(self, node: Node, form: Form) -> None:
        self.node = node
        self.form = form

    @property
    def salt(self) -> Node | None:
        """What salts it; None where the call gives no salt."""
        salt = self.node.inputs[-1]
        return None if salt.op == "constant" and salt.form is self.node.form else salt


class Trace:
    """The tracing of one graph, and what the checks after all traces need to know of it.

    `incomplete` turns true when code was skipped behind an unknown condition, so that what it would have declared is not known.
    `taken` tells which part of a conditional gave its value.
    """

    __slots__ = (
        "constants",
        "counters",
        "ctx_missing",
        "ctx_reads",
        "draws",
        "dropped",
        "graph",
        "incomplete",
        "model_calls",
        "names",
        "owner",
        "parameters",
        "role",
        "shown",
        "taken",
    )

    def __init__(self, name: str, role: Role, owner: str | None = None) -> None:
        self.graph = Graph(name, role)
        self.role: Role = role
        self.owner = owner
        """The pass that the graph belongs to."""
        self.shown: Form | None = None
        """Its name, where the graph is the pass's as training's is."""
        self.incomplete = False
        self.taken: dict[Form, Form] = {}
        self.ctx_reads: list[tuple[str, Form]] = []
        self.ctx_missing: list[Absent] = []
        self.counters: dict[str, Form] = {}
        self.names: dict[tuple[str, str], Form] = {}
        self.draws: list[Draw] = []
        self.dropped: set[str] = set()
        """Names of diagnostics that a pass does not sample."""
        self.model_calls: list[tuple[Model, Model | None, Form]] = []
        self.parameters: dict[tuple[str, str], Node] = {}
        self.constants: dict[str, Value] = {}
        """What `def`s that build tensors are in this graph, by name."""
