"""A program as the checker understood it and the backend runs it: typed declarations and their graphs.

A part that could not be understood is None; a program is only run when the analysis found no error, and then every part is whole.
"""

from __future__ import annotations

from sexpgpu.graph.nodes import Graph, Shape
from sexpgpu.language.dtypes import DType
from sexpgpu.language.values import Keyword, Made, Model, Value
from sexpgpu.reader.forms import Form


class Field:
    """One field of a loader: a record's `shape` and `dtype`. In a batch it has shape `(batch, *shape)`."""

    __slots__ = ("dtype", "form", "shape")

    def __init__(self, shape: Shape, dtype: DType, form: Form) -> None:
        self.shape = shape
        self.dtype = dtype
        self.form = form


class Loader:
    """Records. `sources` holds one source a stage (None: not understood); `records` the record graph of each `synthetic` source,
    also of those inside a `mix`. A record graph has one input, `index` (an `i64` scalar), and an output for each field.

    `disputed` are the entries on which `fields` and a record graph, or a file, disagree: either may be wrong."""

    __slots__ = ("batch", "disputed", "fields", "form", "name", "records", "repeat", "shuffle", "sources")

    def __init__(self, name: str, form: Form) -> None:
        self.name = name
        self.form = form
        self.batch: int | None = None
        self.fields: dict[str, Field] | None = None
        self.disputed: set[str] = set()
        self.sources: list[Made | None] | None = None
        self.records: dict[Made, Graph] = {}
        self.shuffle = True
        self.repeat = True


class Parameter:
    """A parameter by its path (`model/h/weight`). `init` is an initializer; `pretrained` the file it is loaded from, with the path
    of its entry in that file. `shown` is the symbol of the file that speaks for it. The first registration stands."""

    __slots__ = ("dtype", "entry", "form", "frozen", "init", "model", "path", "pretrained", "shape", "shown")

    def __init__(
        self,
        path: str,
        shape: Shape,
        dtype: DType,
        init: Made,
        frozen: bool,
        pretrained: Made | None,
        entry: str,
        form: Form,
        shown: Form,
        model: str,
    ) -> None:
        self.path = path
        self.shape = shape
        self.dtype = dtype
        self.init = init
        self.frozen = frozen
        self.pretrained = pretrained
        self.entry = entry
        self.form = form
        self.shown = shown
        self.model = model


class Generator:
    """`defgenerate`, traced for the training loader or for a pass that runs it.

    `init` reads inputs of kinds `batch` and `ctx`; `step` of `state`, `trip`, `ctx`; `finish` of `state`, `ctx`. `init` and `step`
    give the state's entries as outputs, `finish` the generated ones.
    """

    __slots__ = ("finish", "init", "step", "trips")

    def __init__(self, trips: int | None, init: Graph | None, step: Graph | None, finish: Graph | None) -> None:
        self.trips = trips
        self.init = init
        self.step = step
        self.finish = finish


class Pass:
    """An evaluation pass. `batches` is None for one epoch. `prepare` reads `batch` and `ctx` (and `generated` entries as `batch`),
    `objective` reads `inputs` and `ctx`; `curriculum` reads `stage`, `ctx` and `observations`, `stop_when` the last two."""

    __slots__ = ("batches", "curriculum", "every", "form", "generator", "loader", "name", "objective", "prepare", "stop_when")

    def __init__(self, name: str, form: Form) -> None:
        self.name = name
        self.form = form
        self.loader: Loader | None = None
        self.every: int | None = None
        self.batches: int | None = None
        self.prepare: Graph | None = None
        self.objective: Graph | None = None
        self.generator: Generator | None = None
        self.curriculum: Graph | None = None
        self.stop_when: Graph | None = None


class Optimizer:
    """An optimizer of Optax by `name`, its `settings` (host values by keyword, defaults filled in) and its schedule; or `custom`.

    `schedule` is the graph of `:lr` as a function of ctx (output `""`), `schedules` those by parameter path where `:lr` takes one;
    `decayed` says by path whether `:mask` allows weight decay (None: no mask). A custom one has `init` and `update` graphs by path:
    `init` reads `value`, `update` reads `value`, `gradient`, `optimizer` (state entries) and `ctx`; outputs of `update` are `param`
    and `state/NAME`.
    """

    __slots__ = ("decayed", "form", "init", "name", "schedule", "schedules", "settings", "update")

    def __init__(self, name: str, settings: dict[str, Value], form: Form) -> None:
        self.name = name
        self.settings = settings
        self.form = form
        self.schedule: Graph | None = None
        self.schedules: dict[str, Graph] = {}
        self.decayed: dict[str, bool] | None = None
        self.init: dict[str, Graph] = {}
        self.update: dict[str, Graph] = {}


class Run:
    """`defrun`: its keys by name, checked and with defaults filled in (host values; a key that was not understood is absent)."""

    __slots__ = ("form", "keys", "name", "settings")

    def __init__(self, name: str, form: Form, settings: dict[str, Value], keys: dict[str, Form]) -> None:
        self.name = name
        self.form = form
        self.settings = settings
        self.keys = keys

    def integer(self, key: str) -> int:
        """A setting that is an integer in a correct program."""
        value = self.settings[key]
        assert isinstance(value, int)
        return value

    def keyword(self, key: str) -> str:
        """The name of a setting that is a keyword in a correct program."""
        value = self.settings[key]
        assert isinstance(value, Keyword)
        return value.name


class Program:
    """Everything that one run file declares.

    `graphs` holds every graph by name, in the order of tracing (language §5): `LOADER.record`, `generate.init`, `generate.step`,
    `generate.finish`, `prepare`, `objective`, `PASS.prepare`, `PASS.objective`, `curriculum@PASS`, `stop-when@PASS`, `optimizer`.
    There is always a `prepare` where there is an `objective`; where the file has none, it hands the batch on.
    """

    __slots__ = (
        "counters",
        "generator",
        "graphs",
        "loaders",
        "models",
        "objective",
        "optimizer",
        "parameters",
        "passes",
        "prepare",
        "run",
        "training",
        "unstacked",
    )

    def __init__(self) -> None:
        self.loaders: dict[str, Loader] = {}
        self.training: Loader | None = None
        self.passes: dict[str, Pass] = {}
        self.generator: Generator | None = None
        self.prepare: Graph | None = None
        self.objective: Graph | None = None
        self.optimizer: Optimizer | None = None
        self.run: Run | None = None
        self.models: dict[str, Model] = {}
        self.parameters: dict[str, Parameter] = {}
        self.counters: list[str] = []
        self.graphs: dict[str, Graph] = {}
        self.unstacked: tuple[str, ...] = ()
        """The ctx keys whose reads keep the run unstacked."""
