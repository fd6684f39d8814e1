"""Draws, and what keeps a run unstacked."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.fixes.edits import key_removed, put_behind, removed, replaced
from sexpgpu.fixes.proposal import Proposal
from sexpgpu.fixes.spots import Spot, declared, definition_of, input_parameter, plist_parameter
from sexpgpu.fixes.table import Case, proposes
from sexpgpu.graph.nodes import Node
from sexpgpu.language.dtypes import I64
from sexpgpu.language.shapes import declared_pairs
from sexpgpu.language.signature import Signature
from sexpgpu.language.values import Function
from sexpgpu.program.draws import function_in, written_salt
from sexpgpu.program.unit import provided
from sexpgpu.reader.forms import Form, KeywordForm

_APART = 65536
"""How far the salts of two steps are apart: as many trips or microbatches have salts of their own."""
_WORD = re.compile(r"[^\s()]+")


def salted(spot: Spot, text: str) -> tuple[TextEdit, ...]:
    """Another salt for the draw at a spot: in its call, or in a function around it where `mapcar` calls it; nothing elsewhere."""
    call = spot.parent
    if call is None or call.items[0] is not spot.form:
        return ()
    if _takes_salt(spot, spot.form) is not None:
        written = written_salt(call)
        return (put_behind(call.items[-1], f" :salt {text}") if written is None else replaced(written, text),)
    called = provided("mapcar")
    if called is None or definition_of(spot.analysis, spot.form) is not called or len(call.items) < 3:
        return ()
    signature = _takes_salt(spot, call.items[1])
    if signature is None or len(signature.required) != len(call.items) - 2 or set(signature.required) & set(_WORD.findall(text)):
        return ()
    names = " ".join(signature.required)
    return (replaced(call.items[1], f"(lambda ({names}) ({call.items[1].text} {names} :salt {text}))"),)


def _takes_salt(spot: Spot, form: Form) -> Signature | None:
    """The signature of what a form stands for, where that is a function with a keyword `:salt`."""
    definition = definition_of(spot.analysis, form)
    if definition is not None and definition.signature is not None:
        found = [definition.signature]
    else:
        found = [value.signature for value in spot.known(form) if isinstance(value, Function)]
    return found[0] if found and all("salt" in signature.keys for signature in found) else None


def moving_salt(spot: Spot) -> str:
    """A salt of what is seen at a spot that is new in each record, or in each step and trip; empty where there is none."""
    index = input_parameter(spot, "index")
    ctx, trip = plist_parameter(spot, "ctx"), input_parameter(spot, "trip")
    if index or not ctx:
        return index
    if trip:
        return f"(+ (* (getf {ctx} :step) {_APART}) {trip})"
    return "" if _in_trips(spot) else f"(getf {ctx} :step)"


def _in_trips(spot: Spot) -> bool:
    """Whether the function around a spot runs in `:step` of the generator, where a salt without the trip is the same in each."""
    generator, top = spot.analysis.program.generator, spot.path[0]
    if generator is None or generator.step is None or function_in(top) is None:
        return False
    return any(node.form.top is top.top for node in generator.step.nodes)


@proposes("W-GEN-001")
def a_salt(case: Case) -> Iterable[Proposal]:
    """A salt that moves: with the record, the step, the trip, the microbatch."""
    spot = case.spot
    index, ctx, trip = input_parameter(spot, "index"), plist_parameter(spot, "ctx"), input_parameter(spot, "trip")
    step = f"(* (getf {ctx} :step) {_APART})"
    if index:
        salts = {"salt with the record's index": index}
    elif not ctx:
        return
    elif trip:
        salts = {"salt with the step and the trip": f"(+ {step} {trip})"}
    else:
        salts = {"salt with the step": f"(getf {ctx} :step)"}
        run = declared(case.analysis, "defrun")
        if run is None or all(key.name != "stack" for key, _ in declared_pairs(run)):
            salts["salt with the step and the microbatch"] = f"(+ {step} (getf {ctx} :microbatch))"
    for title, text in salts.items():
        edits = salted(spot, text)
        yield from [Proposal(title, edits)] if edits else []


@proposes("W-GEN-005")
def a_salt_for_each_trip(case: Case) -> Iterable[Proposal]:
    """The trip in the salt."""
    call = case.spot.parent
    found = written_salt(call) if call is not None else None
    trip = input_parameter(case.spot, "trip")
    if found is None or not trip:
        return
    values = case.spot.known(found)
    salt = found.text
    if not all(isinstance(value, int) or (isinstance(value, Node) and value.dtype is I64) for value in values):
        salt = f"(cast {salt} :i64)"
    yield Proposal("add the trip to the salt", (replaced(found, f"(+ (* {salt} {_APART}) {trip})"),))


@proposes("W-GEN-002")
def stacked(case: Case) -> Iterable[Proposal]:
    """A key that does not move within a call; or a run that does not ask for what it cannot have."""
    if isinstance(case.spot.form, KeywordForm):
        yield Proposal("write :step", (replaced(case.spot.form, ":step"),))
    run = declared(case.analysis, "defrun")
    if run is not None:
        for key, _ in declared_pairs(run):
            if key.name == "stack":
                edit = key_removed(run, key)
                yield from [Proposal("drop :stack from defrun", (edit,))] if edit is not None else []


@proposes("W-GEN-003")
def what_it_is(case: Case) -> Iterable[Proposal]:
    """The default, which a counter's entry always is in a generator."""
    call = case.spot.parent
    if call is not None and call.head == "getf" and len(call.items) == 4 and call.items[2] is case.spot.form:
        yield Proposal(f"write {call.items[3].text}", (replaced(call, call.items[3].text),))
    elif call is not None and call.head == "getf" and len(call.items) == 3:
        yield Proposal("write nil", (replaced(call, "nil"),))


@proposes("E-CONTRACT-011")
def another_counter(case: Case) -> Iterable[Proposal]:
    """A name that a counter can have."""
    form, message, call = case.spot.form, case.diagnostic.message, case.spot.parent
    if not isinstance(form, KeywordForm) or call is None:
        return
    if "does not begin with stage-" in message:
        name = form.name.removeprefix("stage-")
        if name and name not in case.analysis.program.counters:
            yield Proposal(f"write :{name}", (replaced(form, f":{name}"),))
    elif "is declared twice" in message or "is a key of ctx" in message:
        yield Proposal(f"write :{form.name}-2", (replaced(form, f":{form.name}-2"),))
        parent = case.spot.above(2)
        if parent is not None and parent.items[-1] is not call and call in parent.items:
            yield Proposal("remove the counter", (removed(parent, call),))
