"""`defoptimizer`: one of Optax's by name with its schedule, or a file's own, traced for every parameter that is trained."""

from __future__ import annotations

from sexpgpu.diagnostics import rules
from sexpgpu.graph.nodes import Node, typed
from sexpgpu.language.dtypes import F32
from sexpgpu.language.frames import Trace
from sexpgpu.language.values import (
    NIL,
    Function,
    List,
    Made,
    Nil,
    Plist,
    Unknown,
    Value,
    is_number,
    kind_of,
)
from sexpgpu.program.builder import Builder
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.program.keys import Read, pairs, plist_entry, read_declaration
from sexpgpu.program.model import Optimizer, Parameter
from sexpgpu.program.results import accepts, last_expression, output, returned_tensors, spent
from sexpgpu.reader.forms import Form, ListForm


def build_optimizer(builder: Builder) -> None:
    """Read the file's `defoptimizer` and trace what it runs."""
    entries = builder.entries("defoptimizer")
    if not entries:
        return
    form = entries[0].form
    assert isinstance(form, ListForm)
    environment = builder.environment(entries[0])
    if len(form.items) == 2 and not pairs(form, False):
        expression = form.items[1]
        trace = Trace("", "host")
        value = builder.evaluator.traced(trace, lambda: builder.evaluator.evaluate(expression, environment))
        _library(builder, value, expression)
        return
    read = read_declaration(builder.evaluator, DECLARATIONS["defoptimizer"], form, environment)
    _custom(builder, read)


def trained(builder: Builder) -> list[Parameter]:
    """The parameters that the optimizer updates, by path."""
    return [parameter for parameter in builder.program.parameters.values() if not parameter.frozen]


# The library's


def _library(builder: Builder, value: Value, at: Form) -> None:
    if isinstance(value, Unknown):
        return
    if not isinstance(value, Made) or value.group != "optimizer":
        message = f"`defoptimizer` wants an optimizer, and this is {kind_of(value)}"
        builder.evaluator.report(rules.DECLARATION_KEY, at, message, "write (adamw :lr 0.001)")
        return
    optimizer = builder.program.optimizer = Optimizer(value.name, value.arguments, value.form)
    for name, argument in value.arguments.items():
        _argument(builder, optimizer, value, name, argument)


def _argument(builder: Builder, optimizer: Optimizer, made: Made, name: str, value: Value) -> None:
    at = made.forms.get(name, made.form)
    if isinstance(value, Unknown):
        return
    if name == "lr":
        if isinstance(value, Function):
            _schedule(builder, optimizer, value, at)
        elif not is_number(value):
            _wrong(builder, made, name, at, "a number, or a function of ctx", value)
    elif name == "mask":
        if isinstance(value, Function):
            _mask(builder, optimizer, value, at)
        elif not isinstance(value, Nil):
            _wrong(builder, made, name, at, "a function of a path and a shape", value)
    elif name == "nesterov":
        if not isinstance(value, bool):
            _wrong(builder, made, name, at, "true or false", value)
    elif name == "ns-steps":
        if type(value) is not int or value < 1:
            _wrong(builder, made, name, at, "an integer of 1 or more", value)
    elif not is_number(value):
        _wrong(builder, made, name, at, "a number", value)


def _wrong(builder: Builder, made: Made, name: str, at: Form, wanted: str, value: Value) -> None:
    rule = rules.STAGE_TENSOR if isinstance(value, Node) else rules.TYPE_KIND
    builder.evaluator.report(rule, at, f":{name} of `{made.name}` wants {wanted}, and this is {kind_of(value)}")


def _schedule(builder: Builder, optimizer: Optimizer, function: Function, at: Form) -> None:
    """`:lr` as a function of ctx, or of ctx and a parameter's path."""
    if accepts(function, 1):
        trace = builder.trace("optimizer", "optimizer")
        optimizer.schedule = trace.graph
        _rate(builder, trace, function, builder.call(trace, function, [builder.ctx(trace, at)], at, ":lr"), at)
    elif accepts(function, 2):
        for parameter in trained(builder):
            trace = builder.trace(f"optimizer[{parameter.path}]", "optimizer")
            optimizer.schedules[parameter.path] = trace.graph
            arguments: list[Value] = [builder.ctx(trace, at), parameter.path]
            _rate(builder, trace, function, builder.call(trace, function, arguments, at, ":lr"), at)
    else:
        builder.wrong_parameters(function, (1, 2), at, ":lr")


def _rate(builder: Builder, trace: Trace, function: Value, value: Value, at: Form) -> None:
    last = last_expression(builder.evaluator, trace, function, at)
    if isinstance(value, Unknown) or spent(value):
        return
    if isinstance(value, (int, float)) and is_number(value):
        number = float(value)
        value = builder.evaluator.traced(trace, lambda: builder.evaluator.emit("constant", (), (), F32, {"value": number}, last))
    if not isinstance(value, Node) or value.shape != () or not value.dtype.is_float:
        help = (
            "write (cast … :f32)"
            if isinstance(value, Node) and value.shape == ()
            else "return a number, or a scalar of a float dtype"
        )
        builder.evaluator.report(
            rules.OPTIMIZER_RESULT, last, f"a schedule returns a float scalar, and this is {kind_of(value)}", help
        )
        return
    output(trace, "", value)


def _mask(builder: Builder, optimizer: Optimizer, function: Function, at: Form) -> None:
    """`:mask` says by path and shape, on the host, where weights decay."""
    if not accepts(function, 2):
        builder.wrong_parameters(function, (2,), at, ":mask")
        return
    optimizer.decayed = {}
    for parameter in trained(builder):
        trace = Trace("", "optimizer")
        arguments: list[Value] = [parameter.path, List(parameter.shape, vector=True)]
        value = builder.call(trace, function, arguments, at, ":mask")
        if isinstance(value, bool):
            optimizer.decayed[parameter.path] = value
        elif not isinstance(value, Unknown):
            last = last_expression(builder.evaluator, trace, function, at)
            rule = rules.STAGE_TENSOR if isinstance(value, Node) else rules.TYPE_KIND
            builder.evaluator.report(rule, last, f"`:mask` returns true or false, and this is {kind_of(value)}")


# A file's own


def _custom(builder: Builder, read: Read) -> None:
    init, update = read.values.get("init"), read.values.get("update")
    optimizer = builder.program.optimizer = Optimizer("custom", {}, read.form)
    if isinstance(init, Function) and not accepts(init, 1):
        builder.wrong_parameters(init, (1,), read.written["init"], ":init")
        init = None
    paths = False
    if isinstance(update, Function) and not accepts(update, 4):
        paths = accepts(update, 5)
        if not paths:
            builder.wrong_parameters(update, (4, 5), read.written["update"], ":update")
            update = None
    for parameter in trained(builder):
        state = _state(builder, optimizer, parameter, init, read)
        if isinstance(update, Function):
            _update(builder, optimizer, parameter, state, update, read.written["update"], paths)


def _state(builder: Builder, optimizer: Optimizer, parameter: Parameter, init: Value | None, read: Read) -> dict[str, Node] | None:
    """The state of one parameter, as `:init` makes it; None where it is not known."""
    if not isinstance(init, Function):
        return None
    at = read.written["init"]
    trace = builder.trace(f"optimizer.init[{parameter.path}]", "optimizer")
    optimizer.init[parameter.path] = trace.graph
    value = builder.call(trace, init, [_value(builder, trace, parameter, at)], at, ":init")
    made = returned_tensors(builder.evaluator, trace, init, value, at, rules.OPTIMIZER_RESULT, "`:init`", empty=True)
    if made.open or any(not isinstance(entry.value, Node) for entry in made.entries.values()):
        return None
    state: dict[str, Node] = {}
    for entry in made.entries.values():
        assert isinstance(entry.value, Node)
        output(trace, entry.name, entry.value)
        state[entry.name] = entry.value
    return state


def _value(builder: Builder, trace: Trace, parameter: Parameter, at: Form) -> Node:
    return builder.input(trace, "value", parameter.path, parameter.shape, parameter.dtype, at)


def _update(
    builder: Builder,
    optimizer: Optimizer,
    parameter: Parameter,
    state: dict[str, Node] | None,
    update: Function,
    at: Form,
    paths: bool,
) -> None:
    trace = builder.trace(f"optimizer.update[{parameter.path}]", "optimizer")
    optimizer.update[parameter.path] = trace.graph
    gradient = builder.input(trace, "gradient", parameter.path, parameter.shape, parameter.dtype, at)
    entries = None if state is None else {name: (node.shape, node.dtype) for name, node in state.items()}
    plist = builder.plist(trace, "state", "optimizer", dict(entries or {}), at, open=entries is None)
    if state == {}:
        plist = Plist("state", ())
    arguments: list[Value] = [_value(builder, trace, parameter, at), gradient, plist, builder.ctx(trace, at)]
    value = builder.call(trace, update, [*arguments, parameter.path] if paths else arguments, at, ":update")
    if isinstance(value, Unknown):
        return
    problem = _problem(value, parameter, state)
    if problem:
        last = last_expression(builder.evaluator, trace, update, at)
        builder.evaluator.report(rules.OPTIMIZER_RESULT, last, problem, "return (list :param new-param :state (list …))")
        return
    new = plist_entry(value, "param")
    if isinstance(new, Node):
        output(trace, "param", new)
    after = plist_entry(value, "state")
    for name in state or {}:
        entry = plist_entry(after or NIL, name)
        if isinstance(entry, Node):
            output(trace, f"state/{name}", entry)


def _problem(value: Value, parameter: Parameter, state: dict[str, Node] | None) -> str:
    """What is wrong with what `:update` returned; empty if nothing is."""
    if not isinstance(value, List):
        return f"`:update` returns a plist of :param and :state, and this is {kind_of(value)}"
    if any(isinstance(key, Unknown) for key in value.items[::2]):
        return ""
    new, after = plist_entry(value, "param"), plist_entry(value, "state")
    if new is None or (after is None and state):
        return f"`:update` returns a plist of :param and :state, and {':param' if new is None else ':state'} is missing"
    wanted = typed(parameter.shape, parameter.dtype)
    if isinstance(new, Node) and typed(new.shape, new.dtype) != wanted:
        return f"`:update` is given {wanted} for `{parameter.path}` and returns {typed(new.shape, new.dtype)} as :param"
    if not isinstance(new, (Node, Unknown)):
        return f"`:update` returns a tensor as :param, and this is {kind_of(new)}"
    if state is None or isinstance(after, Unknown):
        return ""
    return _state_problem(after or NIL, state)


def _state_problem(after: Value, state: dict[str, Node]) -> str:
    items = after.items if isinstance(after, List) else ()
    if not isinstance(after, (List, Nil)):
        return f"`:update` returns a plist of tensors as :state, and this is {kind_of(after)}"
    names = [getattr(key, "name", key) for key in items[::2]]
    for name, node in state.items():
        entry = plist_entry(after, name)
        if entry is None:
            return f"the state entry :{name} is missing from what `:update` returns"
        if isinstance(entry, Node) and (entry.shape != node.shape or entry.dtype is not node.dtype):
            return f"the state entry :{name} was {typed(node.shape, node.dtype)} and becomes {typed(entry.shape, entry.dtype)}"
        if not isinstance(entry, (Node, Unknown)):
            return f"the state entry :{name} is a tensor, and this is {kind_of(entry)}"
    extra = [name for name in names if name not in state]
    return f"the state entry :{extra[0]} is not in what `:init` makes" if extra else ""
