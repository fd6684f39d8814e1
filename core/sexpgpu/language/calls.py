"""Calls: of functions and models written in the language, and of builtins, through the one binder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Edit, Fix
from sexpgpu.graph.nodes import Node
from sexpgpu.language.attribution import head_of
from sexpgpu.language.dtypes import BF16, F32, DType
from sexpgpu.language.effects import ModelCalled, UsedWhole
from sexpgpu.language.fault import Fault, HostFault, LimitPassed, UnknownArgument
from sexpgpu.language.frames import Environment, Frame, ModelRun, Scope
from sexpgpu.language.kept_call import Evaluation, KeptCall, Records
from sexpgpu.language.kept_calls import MOST_DEEP
from sexpgpu.language.parameters import parse_parameters
from sexpgpu.language.signature import Bound, Mismatch, bind
from sexpgpu.language.values import (
    NIL,
    UNKNOWN,
    Builtin,
    Closure,
    Keyword,
    List,
    Made,
    Model,
    Plist,
    Unknown,
    Value,
    kind_of,
)
from sexpgpu.ops.call import Call
from sexpgpu.reader.forms import Form

if TYPE_CHECKING:
    from sexpgpu.language.evaluator import Evaluator

MOST_CALLS = 2_000


def apply(
    evaluator: Evaluator, function: Value, arguments: list[Value], forms: Sequence[Form], form: Form, *, entry: bool = False
) -> Value:
    """What `function` gives for `arguments`, each written at its form; `form` is the call. `entry` marks the runtime's own call."""
    match function:
        case Model():
            return _call_model(evaluator, function, arguments, forms, form, entry)
        case Closure():
            return _call_closure(evaluator, function, arguments, forms, form, entry, evaluator.frame.run, evaluator.frame.scope)
        case Builtin():
            return _call_builtin(evaluator, function, arguments, forms, form)
        case Unknown():
            evaluator.trace.incomplete = True
            return evaluator.unknown()
        case _:
            evaluator.trace.incomplete = True
            message = f"this is {kind_of(function)}, which cannot be called"
            return evaluator.report(
                rules.CALL_NO_FUNCTION,
                head_of(form),
                message,
                "the first item of a list is what is called; values are listed by (list …) or […]",
            )


def keyword_name(value: Value) -> str | None:
    """The name of a keyword value, for the binder."""
    return value.name if isinstance(value, Keyword) else None


def _bound(
    evaluator: Evaluator, function: Builtin | Closure, arguments: Sequence[Value], forms: Sequence[Form], form: Form
) -> Bound[Value] | None:
    try:
        return bind(function.name, function.signature, arguments, keyword_name)
    except Mismatch as mismatch:
        at = head_of(form) if mismatch.argument is None else forms[mismatch.argument]
        fixes: tuple[Fix, ...] = ()
        if mismatch.replacement is not None:
            fixes = (Fix(f"write :{mismatch.replacement}", (Edit(at, f":{mismatch.replacement}"),)),)
        message, help = mismatch.message, mismatch.help
        if isinstance(function, Closure) and function.name == "lambda":
            message = message.replace("`lambda`", "this function", 1)
            help = f"its parameters are {function.parameters.text}" if mismatch.argument is None else help
        evaluator.trace.incomplete = True
        evaluator.report(rules.CALL_ARGUMENTS, at, message, help, (), fixes)
        return None


# Functions and models


def _call_closure(
    evaluator: Evaluator,
    function: Closure,
    arguments: Sequence[Value],
    forms: Sequence[Form],
    form: Form,
    entry: bool,
    run: ModelRun | None,
    scope: Scope,
) -> Value:
    if evaluator.calls >= MOST_CALLS:
        raise LimitPassed(f"calls nest more than {MOST_CALLS:,} deep")
    bound = _bound(evaluator, function, arguments, forms, form)
    if bound is None:
        return UNKNOWN
    caller = evaluator.frame
    place = caller.place if entry else caller.link(function.name)
    frame = Frame(function.name, caller, form, place, run, scope)
    if entry:
        frame.calls = None
    frame.arguments = {name: forms[index] for name, index in bound.at.items()}
    variables = bound.values
    if function.signature.rest is not None:
        variables[function.signature.rest] = List(bound.rest)
    outer = function.environment
    assert isinstance(outer, Environment)
    if evaluator.calls >= MOST_DEEP:
        return evaluator.unrecorded(lambda: _body(evaluator, function, frame, outer.inner(variables)))
    if not evaluator.kept.keeps(function, form):
        return _body(evaluator, function, frame, outer.inner(variables))
    replayed = evaluator.kept.replayed(evaluator, frame, function, forms, variables)
    if replayed is not None:
        return replayed.result
    evaluation = Evaluation(evaluator, KeptCall(frame, function, forms, variables))
    value = _body(evaluator, function, frame, outer.inner(variables))
    evaluation.end(evaluator, value)
    return value


def _body(evaluator: Evaluator, function: Closure, frame: Frame, environment: Environment) -> Value:
    caller = evaluator.frame
    evaluator.frame = frame
    evaluator.calls += 1
    evaluator.deepest = max(evaluator.deepest, evaluator.depth)
    variables, signature = environment.variables, function.signature
    if len(variables) < len(signature.required) + len(signature.optional) + len(signature.keys):
        _defaults(evaluator, function, environment)
    if evaluator.records is not None and not function.form.top.source.builtin:
        _record(evaluator.records, function, variables)
    value = evaluator.body(function.body, environment)
    evaluator.calls -= 1
    evaluator.frame = caller
    return value


def _defaults(evaluator: Evaluator, function: Closure, environment: Environment) -> None:
    """Give the parameters that got no argument their defaults, left to right, each seeing those before it."""
    parameters = parse_parameters(function.parameters)
    variables = environment.variables
    for symbol, default in (*parameters.optional, *parameters.keys):
        if symbol.name not in variables:
            variables[symbol.name] = NIL if default is None else evaluator.evaluate(default, environment)


def _record(records: Records, function: Closure, variables: dict[str, Value]) -> None:
    """Keep what each parameter was given, for editors."""
    parameters = parse_parameters(function.parameters)
    symbols = [*parameters.required, *(symbol for symbol, _ in (*parameters.optional, *parameters.keys))]
    for symbol in (*symbols, parameters.rest):
        if symbol is not None and symbol.name in variables:
            records.append((symbol, variables[symbol.name]))


def _call_model(
    evaluator: Evaluator, model: Model, arguments: list[Value], forms: Sequence[Form], form: Form, entry: bool
) -> Value:
    trace, outer = evaluator.trace, evaluator.frame.run
    if trace.role in ("record", "host"):
        where = "in a record function" if trace.role == "record" else "outside every graph"
        message = f"the model `{model.name}` runs {where}, where there are no parameters"
        return evaluator.report(rules.OUT_OF_PLACE, head_of(form), message, "call models in prepare, objective or a generator")
    variant = outer.variant if outer is not None and model.variant == "current" else model.variant
    evaluator.do(ModelCalled(model, outer.model if outer else None, head_of(form)))
    run = ModelRun(model, variant, outer)
    scope = Scope((model.name,), model.settings.get("frozen") is True, evaluator.frame.scope.remat, _pretrained(model))
    mixed = evaluator.precision is BF16 and outer is None
    if mixed:
        arguments = [_floats(evaluator, value, BF16, form) for value in arguments]
    try:
        value = _call_closure(evaluator, model, arguments, forms, form, entry, run, scope)
    finally:
        run.seen.clear()  # the call is over, and what it found holds the frames that hold it
    return _floats(evaluator, value, F32, form) if mixed else value


def _pretrained(model: Model) -> Made | None:
    value = model.settings.get("pretrained")
    return value if isinstance(value, Made) else None


def _floats(evaluator: Evaluator, value: Value, dtype: DType, form: Form) -> Value:
    """Float tensors cast to `dtype`, those inside lists too: a model's inputs and results under `:bf16` (language §8)."""
    if isinstance(value, Node):
        if value.dtype.is_float and value.dtype is not dtype:
            return evaluator.emit("cast", [value], value.shape, dtype, {}, form)
        return value
    if isinstance(value, List):
        evaluator.tick(len(value.items))
        items = [_floats(evaluator, item, dtype, form) for item in value.items]
        if isinstance(value, Plist):
            evaluator.do(UsedWhole(value))
        return List(items, vector=value.vector, made_by=value.made_by)
    return value


# Builtins


def _call_builtin(evaluator: Evaluator, function: Builtin, arguments: list[Value], forms: Sequence[Form], form: Form) -> Value:
    host = function.host
    if function.strict:
        for argument in arguments:
            if argument is UNKNOWN:
                return evaluator.unknown()
            if type(argument) not in _HOST:
                host = None
        if host is not None and function.signature.takes(len(arguments)):
            return _on_host(evaluator, host, arguments, forms, form)
    bound = _bound(evaluator, function, arguments, forms, form)
    if bound is None:
        return UNKNOWN
    before = evaluator.head
    evaluator.head = head_of(form)
    try:
        return function.rule(Call(function.name, bound, forms, form, evaluator))
    except Fault as fault:
        return evaluator.report_fault(fault)
    except UnknownArgument:
        return evaluator.unknown()
    finally:
        evaluator.head = before


_HOST = frozenset({int, float, bool})


def _on_host(
    evaluator: Evaluator, compute: Callable[..., Value], arguments: list[Value], forms: Sequence[Form], form: Form
) -> Value:
    try:
        return compute(*arguments)
    except HostFault as fault:
        at = forms[fault.argument] if fault.argument < len(forms) else head_of(form)
        return evaluator.report(rules.TYPE_KIND, at, fault.message, fault.help)
    except Fault as fault:
        return evaluator.report_fault(fault)
