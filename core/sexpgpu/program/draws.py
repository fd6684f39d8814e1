"""Draws that come out alike where they hardly should, and what to salt them with where they stand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sexpgpu.diagnostics import rules
from sexpgpu.graph.nodes import Node
from sexpgpu.language.frames import GENERATOR_ROLES, Draw, Trace
from sexpgpu.language.marks import Local
from sexpgpu.language.parameters import parse_parameters
from sexpgpu.program.builder import Builder
from sexpgpu.program.unit import Definition
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, SymbolForm

STEP_ROLES = GENERATOR_ROLES | {"prepare", "objective"}


def step_traces(builder: Builder) -> Iterator[Trace]:
    """The graphs of the step: the generator's, `prepare`, `objective`."""
    for trace in builder.traces:
        if trace.role in STEP_ROLES and trace.owner is None:
            yield trace


def check_draws(builder: Builder) -> None:
    """Draws that come out alike where they hardly should: at every step (W-GEN-001), in every trip (W-GEN-005)."""
    for trace in builder.traces:
        if trace.role == "record":
            for draw in trace.draws:
                if draw.salt is None:
                    message = "this draw has no salt: it is the same in every record"
                    help = _carried(builder, draw, "index", "index") or "write :salt index"
                    builder.evaluator.report(rules.DRAW_CONSTANT, draw.form, message, help)
    for trace in step_traces(builder):
        generates = trace.role in GENERATOR_ROLES
        for draw in trace.draws:
            made_from = leaves(draw.salt) if draw.salt is not None else set[str]()
            if made_from <= ({"trip"} if generates else set()):
                message = "this draw is the same at every step and microbatch"
                help = "write :salt (getf ctx :step), or (+ (* (getf ctx :step) 65536) (getf ctx :microbatch))"
                help = _carried(builder, draw, "ctx", "(getf ctx :step)") or help
                builder.evaluator.report(rules.DRAW_CONSTANT, draw.form, message, help)
            elif trace.role == "generate.step" and not made_from & {"trip", "state"}:
                message = "this draw is the same in every trip: its salt does not read the trip"
                builder.evaluator.report(rules.DRAW_SAME_TRIP, draw.form, message, "add the trip to the salt")


def leaves(node: Node) -> set[str]:
    """What a node is made from: the kinds of the inputs that it depends on, `parameter` for parameters. `:steps` is a constant."""
    found: set[str] = set()
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.index in seen:
            continue
        seen.add(one.index)
        if one.op == "input":
            if (one.attrs["kind"], one.attrs["name"]) != ("ctx", "steps"):
                found.add(str(one.attrs["kind"]))
        elif one.op == "parameter":
            found.add("parameter")
        else:
            waiting.extend(one.inputs)
    return found


# Where a salt comes from


def _carried(builder: Builder, draw: Draw, source: str, salt: str) -> str:
    """How a salt gets to a draw whose function does not see what it is made from, `ctx` or a record's `index`: as an argument.
    Empty where that is seen, or no function of the file holds the draw."""
    top = draw.form.top.form
    function = function_in(top)
    if not isinstance(top, ListForm) or function is None or _is_entry(draw) or _sees(builder, draw.form, source):
        return ""
    name = top.items[1].text
    given = _salt_parameter(builder.evaluator.marks.references, draw.node.form, function)
    if given:
        return f"give {given} {salt} where `{name}` is called"
    return f"take it as an argument: add &key (salt 0) to `{name}`, write :salt salt here, and give :salt {salt} where it is called"


def _is_entry(draw: Draw) -> bool:
    """Whether a draw stands in the form that holds what the runtime calls: there all is seen that the runtime hands over."""
    calls = draw.node.calls
    while calls is not None and calls.parent is not None:
        calls = calls.parent
    return calls is None or calls.form.top is draw.form.top


def _sees(builder: Builder, form: Form, name: str) -> bool:
    """Whether a local variable of that name is seen at a form."""
    return any(
        local.name == name and local.form.top is form.top and local.form.start <= form.start < local.form.end
        for local in builder.evaluator.marks.locals
    )


def function_in(top: Form | None) -> ListForm | None:
    """The function that a form of the top level defines: itself, or the `lambda` of a `def`."""
    if isinstance(top, ListForm) and len(top.items) > 2:
        if top.head in ("defun", "defmodel"):
            return top
        value = top.items[2]
        if top.head == "def" and isinstance(value, ListForm) and value.head == "lambda" and len(value.items) > 2:
            return value
    return None


def written_salt(call: Form) -> Form | None:
    """What a call writes behind `:salt`."""
    items = call.items if isinstance(call, ListForm) else ()
    for key, value in pairwise(items):
        if isinstance(key, KeywordForm) and key.name == "salt":
            return value
    return None


def _salt_parameter(references: dict[SymbolForm, Definition | Local], call: Form, function: ListForm) -> str:
    """The parameter of a function that a draw in it is salted with, as a call names it: `:salt`, or `salt` for one by place."""
    salt = written_salt(call)
    found = references.get(salt) if isinstance(salt, SymbolForm) else None
    if not isinstance(found, Local) or found.form is not function:
        return ""
    parameters = parse_parameters(function.items[1 if function.head == "lambda" else 2])
    keyed = any(symbol is found.name_form for symbol, _ in parameters.keys)
    return f":{found.name}" if keyed else f"`{found.name}`"
