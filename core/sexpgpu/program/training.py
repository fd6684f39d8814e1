"""`prepare` and `objective`, for training and for every pass, and what runs after a pass: `curriculum` and `:stop-when`."""

from __future__ import annotations

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Related
from sexpgpu.graph.nodes import Node
from sexpgpu.language.dtypes import BOOL, F32, I64
from sexpgpu.language.frames import Trace
from sexpgpu.language.values import UNKNOWN, Absent, Function, Nil, Plist, Unknown, Value, kind_of
from sexpgpu.ops.operands import absent_fault
from sexpgpu.program.builder import Builder, Typed
from sexpgpu.program.generator import Generated, batch_types, runs_generator, unknown_generator
from sexpgpu.program.model import Loader, Pass
from sexpgpu.program.results import Entry, Returned, accepts, last_expression, output, returned_tensors, spent
from sexpgpu.reader.forms import Form, TopForm


class Stage:
    """A batch on its way through `prepare` and `objective`.

    `reads` are the plists whose reads count for generated names, `traces` the graphs that could read one.
    """

    def __init__(self) -> None:
        self.reads: list[Plist] = []
        self.traces: list[Trace] = []
        self.objective: Trace | None = None
        """Training's."""


def contract(builder: Builder, name: str) -> tuple[Value | None, Form]:
    """A contract function of the file, with the form that defines it: None without one, unknown where it may be unreadable."""
    definition = builder.unit.main.scope.get(name)
    value = builder.names.named(name)
    if value is None and builder.unit.may_hold("defun"):
        value = UNKNOWN
    at = definition.name_form if definition is not None and definition.name_form is not None else _anchor(builder)
    return value, at


def _anchor(builder: Builder) -> Form:
    """A form to hang inputs on where the file defines no function for them: the training loader's name, or the file's beginning."""
    loader = builder.program.training
    if loader is not None:
        return loader.form
    return next(iter(builder.unit.forms), Form(TopForm(builder.unit.main.source, 0, ""), 0, 0))


# Prepare and objective


def build_training(builder: Builder, generated: Generated) -> Stage:
    """Trace the training graphs. `prepare` is traced twice: it may read counters that it declares further down."""
    stage = Stage()
    fields, open_batch = batch_types(builder.program.training)
    fields.update(generated.entries)
    function, at = contract(builder, "prepare")
    if function is not None:
        _find_counters(builder, function, fields, at, open=open_batch or generated.open)
    objective, objective_at = contract(builder, "objective")
    if function is None and objective is None:
        return stage
    prepared, trace = _prepare(builder, "prepare", None, function, fields, at, stage, open=open_batch or generated.open)
    builder.program.prepare = trace.graph
    builder.program.counters = list(builder.counters)
    if objective is not None:
        trace, value = _objective(builder, "objective", None, objective, prepared, objective_at, stage, function is None)
        stage.objective = trace
        builder.program.objective = trace.graph
        _check_loss(builder, trace, objective, value, objective_at)
    return stage


def _find_counters(builder: Builder, function: Value, fields: dict[str, Typed | None], at: Form, *, open: bool) -> None:
    trace = Trace("counters", "prepare")

    def work() -> Value:
        batch = builder.plist(trace, "batch", "batch", fields, at, open=open)
        return builder.call(trace, function, [batch, builder.ctx(trace, at)], at, "prepare")

    builder.evaluator.silently(work)
    builder.counters = trace.counters
    builder.counters_open = trace.incomplete


def _prepare(
    builder: Builder,
    name: str,
    owner: Pass | None,
    function: Value | None,
    fields: dict[str, Typed | None],
    at: Form,
    stage: Stage,
    *,
    open: bool,
    who: str = "prepare",
    withheld: tuple[frozenset[str], Form] | None = None,
) -> tuple[Returned, Trace]:
    """Trace `prepare` (or the handing on of the batch, where the file has none) and give what the objective reads."""
    trace = builder.trace(name, "prepare", owner.name if owner else None)
    if withheld is None:
        stage.traces.append(trace)
    of = owner.name if owner else ""
    batch = builder.plist(trace, "batch", "batch", fields, at, open=open, owner=of, withheld=withheld)
    if function is None:
        returned = _handed_on(batch, at)
    else:
        stage.reads.append(batch)
        value = builder.call(trace, function, [batch, builder.ctx(trace, at)], at, who)
        returned = returned_tensors(builder.evaluator, trace, function, value, at, rules.PREPARE_RESULT, "`prepare`", strings=True)
        if returned.whole is batch:
            batch.whole = True
    for entry in returned.entries.values():
        if isinstance(entry.value, Node):
            output(trace, entry.name, entry.value)
    return returned, trace


def _handed_on(batch: Plist, at: Form) -> Returned:
    entries: list[Entry] = []
    for index in range(0, len(batch.items), 2):
        name = batch.items[index]
        entries.append(Entry(getattr(name, "name", ""), batch.items[index + 1], at, at, False))
    return Returned(entries, open=batch.open)


def _objective(
    builder: Builder,
    name: str,
    owner: Pass | None,
    function: Value,
    prepared: Returned,
    at: Form,
    stage: Stage,
    counts: bool,
    who: str = "objective",
) -> tuple[Trace, Value]:
    """Trace an objective on what `prepare` gave; `counts` says that its reads are those of the batch itself."""
    trace = builder.trace(name, "objective", owner.name if owner else None)
    types: dict[str, Typed | None] = {
        entry.name: (entry.value.shape, entry.value.dtype) if isinstance(entry.value, Node) else None
        for entry in prepared.entries.values()
    }
    strings = {entry.name for entry in prepared.entries.values() if entry.string}
    inputs = builder.plist(trace, "inputs", "inputs", types, at, open=prepared.open, strings=strings)
    if counts:
        stage.traces.append(trace)
        stage.reads.append(inputs)
    arguments: list[Value] = [inputs, builder.ctx(trace, at)]
    value = builder.shared(trace, stage.objective, function, arguments) if owner is not None else None
    if value is None:
        value = builder.call(trace, function, arguments, at, who)
    if isinstance(value, Node):
        output(trace, "", value)
    return trace, value


def _check_loss(builder: Builder, trace: Trace, function: Value, value: Value, at: Form) -> None:
    if isinstance(value, Unknown) or (isinstance(value, Node) and value.shape == () and value.dtype.is_float) or spent(value):
        return
    trace.graph.whole = False
    help = "reduce it: (mean …)" if isinstance(value, Node) and value.shape else "return the loss, a scalar of a float dtype"
    last = last_expression(builder.evaluator, trace, function, at)
    builder.evaluator.report(
        rules.OBJECTIVE_RESULT, last, f"`objective` returns a scalar float tensor, and this is {kind_of(value)}", help
    )


# Passes


def build_passes(builder: Builder, generated: Generated, stage: Stage) -> None:
    """Trace every pass, and after each what runs on its observations."""
    for pass_ in builder.program.passes.values():
        _pass(builder, pass_, generated, stage)
    observed = {pass_.name: _reported(builder, pass_) for pass_ in builder.program.passes.values()}
    curriculum, at = contract(builder, "curriculum")
    run = builder.program.run
    stop = run.settings.get("stop-when") if run is not None else None
    stop_at = run.keys["stop-when"] if run is not None and isinstance(stop, Function) else at
    for pass_ in builder.program.passes.values():
        if curriculum is not None:
            _curriculum(builder, pass_, curriculum, at, observed)
        if stop is not None and not isinstance(stop, Nil):
            _stop_when(builder, pass_, stop, stop_at, observed)
    if not builder.program.passes:
        for function, place, count, who in ((curriculum, at, 3, "curriculum"), (stop, stop_at, 2, ":stop-when")):
            if isinstance(function, Function) and not accepts(function, count):
                builder.wrong_parameters(function, (count,), place, who)


def _pass(builder: Builder, pass_: Pass, generated: Generated, stage: Stage) -> None:
    read = builder.declared[f"pass {pass_.name}"]
    program = builder.program
    fields, open_batch = batch_types(pass_.loader)
    open_batch = open_batch or "loader" not in read.keys
    withheld: tuple[frozenset[str], Form] | None = None
    if generated.exists or generated.open:
        known = not unknown_generator(program.training, pass_.loader)
        open_batch = open_batch or generated.open or not known
        if known and runs_generator(program.training, pass_.loader):
            fields.update(generated.entries)
            pass_.generator = program.generator
        elif known:
            withheld = (frozenset(generated.entries) - set(fields), pass_.form)
    function, at = _own(builder, pass_, "prepare")
    prepared, trace = _prepare(
        builder,
        f"{pass_.name}.prepare",
        pass_,
        function,
        fields,
        at,
        stage,
        open=open_batch,
        who=":prepare" if "prepare" in read.keys else "prepare",
        withheld=withheld,
    )
    pass_.prepare = trace.graph
    objective, at = _own(builder, pass_, "objective")
    if objective is not None:
        who = ":objective" if "objective" in read.keys else "objective"
        trace, _ = _objective(builder, f"{pass_.name}.objective", pass_, objective, prepared, at, stage, function is None, who)
        pass_.objective = trace.graph


def _own(builder: Builder, pass_: Pass, key: str) -> tuple[Value | None, Form]:
    """A pass's own function, or the file's. One that was written and is unfit, or that a wrong key may mean, is unknown."""
    read = builder.declared[f"pass {pass_.name}"]
    if key in read.keys:
        value = read.values.get(key)
        if isinstance(value, Nil):
            return contract(builder, key)
        return (builder.evaluator.unknown() if value is None else value), read.written[key]
    return (UNKNOWN, read.form) if read.confused else contract(builder, key)


# After a pass


class Observed:
    """What a pass reports: metric names, names of diagnostics (which are never offered), and whether there may be others."""

    def __init__(self, metrics: list[str], diagnostics: set[str], *, open: bool) -> None:
        self.metrics = metrics
        self.diagnostics = diagnostics
        self.open = open


def _reported(builder: Builder, pass_: Pass) -> Observed:
    for trace in builder.traces:
        if trace.graph is pass_.objective:
            metrics = [name for kind, name in trace.names if kind == "metric"]
            return Observed(metrics, set(trace.dropped), open=trace.incomplete)
    return Observed([], set(), open=True)


def _observations(builder: Builder, trace: Trace, pass_: Pass, observed: dict[str, Observed], at: Form) -> Plist:
    mine = observed[pass_.name]
    items: list[Value] = []
    for name in mine.metrics:
        key = f"{pass_.name}/{name}"
        items += [key, builder.input(trace, "observations", key, (), F32, at)]
    plist = Plist("observations", items, open=mine.open)
    plist.owner = pass_.name
    for name in mine.diagnostics:
        plist.elsewhere[f"{pass_.name}/{name}"] = (
            f'"{name}" is a diagnostic, and passes do not sample diagnostics: report it with `metric`'
        )
    for other, theirs in observed.items():
        if other != pass_.name:
            for name in theirs.metrics:
                message = f"the pass `{other}` reports this, and here the pass `{pass_.name}` has just run; ask (null …) first"
                plist.elsewhere[f"{other}/{name}"] = message
    return builder.known(trace, plist)


def _curriculum(builder: Builder, pass_: Pass, function: Value, at: Form, observed: dict[str, Observed]) -> None:
    trace = builder.trace(f"curriculum@{pass_.name}", "curriculum", pass_.name)
    pass_.curriculum = trace.graph
    stage = builder.input(trace, "stage", "stage", (), I64, at)
    arguments: list[Value] = [stage, builder.ctx(trace, at), _observations(builder, trace, pass_, observed, at)]
    value = builder.call(trace, function, arguments, at, "curriculum")
    last = last_expression(builder.evaluator, trace, function, at)
    if isinstance(value, Unknown):
        return
    if isinstance(value, Absent) and (_absent_observation(builder, value, last) or spent(value)):
        return
    if type(value) is int:
        value = builder.evaluator.traced(trace, lambda: builder.evaluator.emit("constant", (), (), I64, {"value": value}, last))
    if not isinstance(value, Node) or value.shape != () or value.dtype is not I64:
        help = "return the stage, or (+ stage 1)"
        if isinstance(value, Node) and value.shape == ():
            help = "write (where … 1 stage), which names the stages" if value.dtype is BOOL else "write (cast … :i64)"
        builder.evaluator.report(
            rules.CURRICULUM_RESULT, last, f"`curriculum` returns an i64 scalar, and this is {kind_of(value)}", help
        )
        return
    output(trace, "", value)
    _check_stages(builder, value)


def _absent_observation(builder: Builder, value: Absent, last: Form) -> bool:
    """Report an observation that is not there and is returned; False where another plist lacks the entry."""
    if not isinstance(value.plist, Plist) or value.plist.role != "observations":
        return False
    if not value.used:
        builder.evaluator.report_fault(absent_fault(value, last, "the result"))
    return True


def _check_stages(builder: Builder, value: Node) -> None:
    """A constant that `curriculum` returns, itself or on a branch of `where`, is a stage of the loader (E-CONTRACT-017)."""
    loader: Loader | None = builder.program.training
    if loader is None or loader.sources is None:
        return
    count = len(loader.sources)
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if node.op == "where":
            waiting.extend(node.inputs[1:])
        elif node.op in ("constant", "full"):
            stage = node.attrs["value"]
            if isinstance(stage, int) and not 0 <= stage < count:
                have = "only stage 0" if count == 1 else f"stages 0 to {count - 1}"
                related = (Related(loader.form, "the training loader"),)
                message = f"there is no stage {stage}: the loader `{loader.name}` has {have}"
                help = "write one of these, or add a source to :stages"
                builder.evaluator.report(rules.STAGE_MISSING, node.form, message, help, related)


def _stop_when(builder: Builder, pass_: Pass, function: Value, at: Form, observed: dict[str, Observed]) -> None:
    trace = builder.trace(f"stop-when@{pass_.name}", "stop-when", pass_.name)
    pass_.stop_when = trace.graph
    arguments: list[Value] = [builder.ctx(trace, at), _observations(builder, trace, pass_, observed, at)]
    value = builder.call(trace, function, arguments, at, ":stop-when")
    last = last_expression(builder.evaluator, trace, function, at)
    if isinstance(value, Unknown) or (isinstance(value, Absent) and _absent_observation(builder, value, last)):
        return
    if isinstance(value, bool):
        value = builder.evaluator.traced(trace, lambda: builder.evaluator.emit("constant", (), (), BOOL, {"value": value}, last))
    if not isinstance(value, Node) or value.shape != () or value.dtype is not BOOL:
        builder.evaluator.report(
            rules.OPTIMIZER_RESULT,
            last,
            f"`:stop-when` returns a :bool scalar or a boolean, and this is {kind_of(value)}",
            "compare: (< a b)",
        )
        return
    output(trace, "", value)
