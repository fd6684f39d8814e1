"""The contract forms: what a graph says to the runtime beside what it returns (language §4). Where each may stand is checked
here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Related, Rule
from sexpgpu.graph.nodes import Node, Reduce, Report, typed
from sexpgpu.language.attribution import entry_call, located
from sexpgpu.language.control import path_part
from sexpgpu.language.ctx import CTX
from sexpgpu.language.dtypes import BOOL, F32, DType
from sexpgpu.language.effects import Counted, Dropped, Entered, Found, Joined, Registered, Reported, same_parameter
from sexpgpu.language.fault import UnknownArgument
from sexpgpu.language.frames import GENERATOR_ROLES, Frame, Trace
from sexpgpu.language.host import evaluator_of, host
from sexpgpu.language.values import UNKNOWN, Absent, Keyword, List, Made, Model, Nil, Unknown, Value, is_number, kind_of
from sexpgpu.ops.call import Call
from sexpgpu.program.model import Parameter

if TYPE_CHECKING:
    from sexpgpu.language.evaluator import Evaluator
    from sexpgpu.reader.forms import Form


def _misplaced(call: Call, rule: Rule, message: str, help: str) -> None:
    """Report the form at its head; where a call led there, that call is related."""
    evaluator = evaluator_of(call)
    led = entry_call(evaluator.frame)
    related = (Related(led, "reached through this call"),) if led is not None else ()
    evaluator.report(rule, call.head, message, help, related)


# Parameters


@host(
    "param",
    "name shape &key init (dtype :float) (frozen false)",
    "models",
    "Makes or finds a parameter of the model that runs: its path is the model's name, the enclosing scopes and its own name.",
    "(param :weight [8 16] :init (init-lecun))",
)
def _param(call: Call) -> Value:
    evaluator = evaluator_of(call)
    run = evaluator.frame.run
    if run is None:
        raise call.fault(
            rules.OUT_OF_PLACE,
            call.head,
            "`param` stands outside a model",
            "write it in a defmodel, or in a function that one calls",
        )
    part = path_part(evaluator, call.value("name"), call.at("name"))
    if part is None:
        raise UnknownArgument
    scope = evaluator.frame.scope
    shape = call.shape("shape")
    init = call.value("init")
    if not isinstance(init, Made) or init.group != "initializer":
        raise call.wrong_kind(init, call.at("init"), "an initializer, such as (init-lecun),", staged=False)
    dtype, compute = _parameter_dtype(call)
    frozen = scope.frozen or call.boolean("frozen")
    path = "/".join((*scope.names, part))
    entry = "/".join((*scope.entry, part))
    shown, by = located(evaluator.frame, rules.PARAMETER_IDLE, call.head)
    parameter = Parameter(path, shape, dtype, init, frozen, scope.pretrained, entry, call.form, shown, run.model.name)
    evaluator.do(Registered(parameter, by))
    known = evaluator.parameters[path]
    if known is not parameter:
        _same(call, known, parameter)
    first = run.seen.get((path, call.form))
    if first is None:
        evaluator.do(Found(run, path, call.form, evaluator.frame))
    else:
        _shared(call, evaluator, path, first)
    node = evaluator.trace.parameters.get((path, run.variant))
    made = node is None
    if node is None:
        attrs: dict[str, object] = {"path": path, "variant": run.variant}
        node = evaluator.emit("parameter", (), known.shape, known.dtype, attrs, call.form)
        node.remat = 0
    evaluator.do(Entered((path, run.variant), node, made))
    if node.dtype is not compute and node.dtype.is_float and compute.is_float and dtype is F32:
        return evaluator.emit("cast", [node], node.shape, compute, {}, call.form)
    return node


def _parameter_dtype(call: Call) -> tuple[DType, DType]:
    """The dtype that the parameter is kept in, and the one it is read in: `:float` is kept in f32 (language §8)."""
    value = call.raw("dtype")
    if not call.given("dtype") or (isinstance(value, Keyword) and value.name == "float"):
        return F32, call.tracer.float
    dtype = call.dtype("dtype")
    return dtype, dtype


def _same(call: Call, known: Parameter, parameter: Parameter) -> None:
    """Report a parameter that is another one at the path of a known one."""

    def written(given: Parameter) -> str:
        return f"{typed(given.shape, given.dtype)} by {given.init.form.text}"

    if not same_parameter(known, parameter):
        message = f"the parameter `{known.path}` is {written(known)} elsewhere, and {written(parameter)} here"
        help = "give one of them another name, or put it in a (scope …) of its own"
        evaluator = evaluator_of(call)
        related = (Related(known.shown, "the first one"),) if known.shown is not parameter.shown else ()
        evaluator.report(rules.PARAMETER_CONFLICT, call.head, message, help, related)
        evaluator.withdraw(rules.PARAMETER_SHARED, parameter.shown)
        raise UnknownArgument


def _shared(call: Call, evaluator: Evaluator, path: str, first: Frame) -> None:
    """Report a parameter found again, with the call that led there another way than the `first` time."""
    evaluator.spoil()
    if evaluator.said(rules.PARAMETER_CONFLICT, call.head):
        return
    led = _parting(first, evaluator.frame) or next(iter(_calls(evaluator.frame)[::-1]), None)
    related = (Related(led, "the call that finds it again"),) if led is not None else ()
    message = f"the parameter `{path}` is found again within one call of its model: the layers share it"
    evaluator.report(
        rules.PARAMETER_SHARED, call.head, message, "write (scope i …) around each layer, or give it a name of its own", related
    )


def _parting(first: Frame, frame: Frame) -> Form | None:
    """The outermost call on the way to `frame` that is not on the way to `first`; None in a loop, where all are the same."""
    ways = [_calls(first), _calls(frame)]
    for before, now in zip(*ways, strict=False):
        if before is not now:
            return now
    return None


def _calls(frame: Frame) -> list[Form]:
    """The calls of the file that led to a frame, the outermost first."""
    calls: list[Form] = []
    inner: Frame | None = frame
    while inner is not None:
        if inner.form is not None and not inner.form.top.source.builtin:
            calls.append(inner.form)
        inner = inner.parent
    return calls[::-1]


# Metrics, diagnostics, counters


@host(
    "metric",
    "name value &key (reduce :mean) (weight nil)",
    "reports",
    "Reports a scalar under a name, and gives its value: `train/NAME` in training, `PASS/NAME` in a pass.",
    '(metric "loss" loss)',
    strict=False,
)
def _metric(call: Call) -> Value:
    role = evaluator_of(call).trace.role
    if role in GENERATOR_ROLES:
        _misplaced(
            call,
            rules.GENERATOR_METRIC,
            "`metric` stands in a generator, which reports nothing",
            "return the value in the state, and report it from `objective`",
        )
    elif role == "curriculum":
        evaluator_of(call).report(
            rules.CURRICULUM_METRIC, call.head, "a metric in `curriculum` is not read", "report it from the objective of a pass"
        )
    elif role != "objective":
        _misplaced(
            call, rules.OUT_OF_PLACE, f"`metric` stands outside an objective, in {_place(role)}", "report it from `objective`"
        )
    else:
        return _report(call, "metric")
    return call.raw("value")


@host(
    "diagnostic",
    "name value &key (reduce :mean) (weight nil)",
    "reports",
    "Reports a scalar like `metric`, but only on sampled steps of training, and only if `defrun :diagnostics` selects it.",
    '(diagnostic "norm" norm)',
    strict=False,
)
def _diagnostic(call: Call) -> Value:
    evaluator = evaluator_of(call)
    role = evaluator.trace.role
    if role in GENERATOR_ROLES:
        if evaluator.frame.run is None:
            evaluator.report(
                rules.GENERATOR_DIAGNOSTIC,
                call.head,
                "a diagnostic in a generator is dropped",
                "return the value in the state, and report it from `objective`",
            )
    elif role == "objective":
        return _report(call, "diagnostic")
    elif role != "curriculum":
        _misplaced(
            call, rules.OUT_OF_PLACE, f"`diagnostic` stands outside an objective, in {_place(role)}", "report it from `objective`"
        )
    return call.raw("value")


def _place(role: str) -> str:
    return {"host": "a value of the file", "record": "a record function"}.get(role, f"`{role}`")


def _report(call: Call, kind: Literal["metric", "diagnostic"]) -> Value:
    """Enter a metric or diagnostic into the graph, after the checks of its name, value, weight and reduction.

    Gives its value, which is unknown where it is none that can be reported.
    """
    evaluator = evaluator_of(call)
    trace = evaluator.trace
    name = call.raw("name")
    node = _scalar(call, "value")
    weight = None if not call.given("weight") else _scalar(call, "weight")
    reduce = _reduction(call)
    value = call.raw("value") if node is not None else UNKNOWN
    if isinstance(name, Unknown):
        trace.incomplete = True
        evaluator.unknown()
        return value
    if not isinstance(name, str):
        trace.incomplete = True
        message = f"`{kind}` needs a string as its name, and this is {kind_of(name)}"
        help = f'write "{name.name}"' if isinstance(name, Keyword) else ""
        raise call.fault(rules.METRIC_ARGUMENT, "name", message, help)
    if kind == "diagnostic" and trace.owner is not None:
        evaluator.do(Dropped(name))
        return value
    at = call.at("name")
    first = trace.names.get((kind, name))
    if first is not None:
        evaluator.spoil()
        message = f'the {kind} "{name}" is reported twice in one graph'
        evaluator.report(rules.DECLARED_TWICE, at, message, "give one of them another name", (Related(first, "the first one"),))
        return value
    evaluator.do(Reported(kind, name, at, None if node is None else Report(name, node, reduce, weight, call.form)))
    return value


def _scalar(call: Call, name: str) -> Node | None:
    """The value or weight as a numeric scalar; None where it is unknown."""
    value, at = call.raw(name), call.at(name)
    if isinstance(value, Unknown):
        evaluator_of(call).unknown()
        return None
    if isinstance(value, Absent) and not value.use():
        return None
    if is_number(value) or (isinstance(value, Node) and value.shape == () and value.dtype is not BOOL):
        return _joined(call, call.tensor_of(value, at))
    what = f"a scalar of numbers, and this is {kind_of(value)}"
    help = ""
    if isinstance(value, Node):
        number = "(cast … :f32)" if value.dtype is BOOL else "…"
        help = f"write (mean {number}), or another reduction" if value.shape else f"write {number}"
    evaluator_of(call).report(rules.METRIC_ARGUMENT, at, f"`{call.name}` needs {what}", help)
    return None


def _joined(call: Call, node: Node) -> Node:
    evaluator_of(call).do(Joined(node))
    return node


def _reduction(call: Call) -> Reduce:
    if not call.given("reduce"):
        return "mean"
    value = call.value("reduce")
    if isinstance(value, Keyword) and value.name in ("mean", "sum", "max", "min"):
        return value.name
    raise call.fault(rules.TYPE_KIND, "reduce", f"`:reduce` is :mean, :sum, :max or :min, and this is {kind_of(value)}")


@host(
    "counter",
    "name value",
    "reports",
    "Declares a counter in `prepare`: an integer scalar, added up over microbatches, that ctx holds as `:NAME` and `:stage-NAME`.",
    "(counter :tokens (* batch seq))",
    strict=False,
)
def _counter(call: Call) -> Value:
    evaluator = evaluator_of(call)
    trace = evaluator.trace
    if trace.role == "host":
        _misplaced(call, rules.OUT_OF_PLACE, "`counter` stands outside every graph", "declare counters in `prepare`")
    elif trace.role != "prepare":
        _misplaced(
            call,
            rules.COUNTER_PLACE,
            f"`counter` stands outside `prepare`, in {_place(trace.role)}",
            "declare counters in `prepare`",
        )
    else:
        _count(call, evaluator, trace)
    return call.raw("value")


def _count(call: Call, evaluator: Evaluator, trace: Trace) -> None:
    name, value = call.raw("name"), call.raw("value")
    node: Node | None = None
    if isinstance(value, Unknown):
        evaluator.unknown()
    elif type(value) is int or (isinstance(value, Node) and value.shape == () and value.dtype.is_integer):
        node = _joined(call, call.tensor_of(value, call.at("value")))
    else:
        message = f"a counter counts with an integer scalar, and this is {kind_of(value)}"
        scalar = isinstance(value, Node) and value.shape == ()
        help = "write (cast … :i64)" if scalar else "write (cast (sum …) :i64)" if isinstance(value, Node) else "write an integer"
        evaluator.report(rules.COUNTER_ARGUMENT, call.at("value"), message, help)
    if isinstance(name, Unknown):
        trace.incomplete = True
        evaluator.unknown()
        return
    problem = _counter_name(name, trace)
    if problem:
        evaluator.spoil()
        trace.incomplete |= not isinstance(name, Keyword) or (name.name not in CTX and name.name not in trace.counters)
        help = "give it another name" if isinstance(name, Keyword) else f"write :{name if isinstance(name, str) else 'name'}"
        raise call.fault(rules.COUNTER_ARGUMENT, "name", problem, help)
    assert isinstance(name, Keyword)
    evaluator.do(Counted(name.name, call.at("name"), node))


def _counter_name(name: Value, trace: Trace) -> str:
    if not isinstance(name, Keyword):
        return f"a counter's name is a keyword, and this is {kind_of(name)}"
    if name.name in CTX:
        return f":{name.name} is a key of ctx already"
    if name.name.startswith("stage-"):
        return "a counter's name does not begin with stage-: ctx gives each counter an entry of that name by itself"
    if name.name in trace.counters:
        return f"the counter :{name.name} is declared twice"
    return ""


# Models at other values


@host(
    "ema",
    "model",
    "models",
    "The model, or plist of models, at the running average of its parameters (`defrun :ema`).",
    "((ema model) tokens)",
)
def _ema(call: Call) -> Value:
    evaluator = evaluator_of(call)
    trace = evaluator.trace
    if trace.owner is None and trace.role not in GENERATOR_ROLES:
        raise call.fault(
            rules.EMA_PLACE, call.head, f"`ema` stands in {_place(trace.role)}", "use it in a pass, or in the generator"
        )
    if trace.role in ("curriculum", "stop-when"):
        raise call.fault(
            rules.EMA_PLACE, call.head, f"`ema` stands in {_place(trace.role)}", "use it in a pass, or in the generator"
        )
    if evaluator.ema_set is False:
        raise call.fault(rules.EMA_PLACE, call.head, "the run keeps no average of its parameters", "write :ema 0.999 in defrun")
    return _variant(call, call.value("model"), "ema")


@host(
    "initial",
    "model",
    "models",
    "The model, or plist of models, at the parameters that the run started from.",
    "((initial model) tokens)",
)
def _initial(call: Call) -> Value:
    return _variant(call, call.value("model"), "initial")


def _variant(call: Call, value: Value, variant: str) -> Value:
    if isinstance(value, Model):
        return Model(
            value.name, value.signature, value.parameters, value.body, value.environment, value.form, value.settings, variant
        )
    if isinstance(value, List) and value.items and len(value.items) % 2 == 0 and not isinstance(value.items[0], (Nil, Model)):
        call.tracer.tick(len(value.items))
        return List([_variant(call, item, variant) if index % 2 else item for index, item in enumerate(value.items)])
    if isinstance(value, Unknown):
        return value
    raise call.wrong_kind(value, call.at("model"), "a model, or a plist of models,", staged=False)
