"""Draws, and what keeps a run unstacked."""

from __future__ import annotations

from collections.abc import Iterable

from sexpgpu.fixes.edits import key_removed, put_behind, removed, replaced
from sexpgpu.fixes.proposal import Proposal
from sexpgpu.fixes.spots import declared, input_parameter, plist_parameter
from sexpgpu.fixes.table import Case, proposes
from sexpgpu.graph.nodes import Node
from sexpgpu.language.dtypes import I64
from sexpgpu.language.shapes import declared_pairs
from sexpgpu.reader.forms import Form, KeywordForm, ListForm

_APART = 65536
"""How far the salts of two steps are apart: as many trips or microbatches have salts of their own."""


def _salt(call: ListForm) -> tuple[KeywordForm, Form] | None:
    for place, key in enumerate(call.items[1:-1], 1):
        if isinstance(key, KeywordForm) and key.name == "salt":
            return key, call.items[place + 1]
    return None


def _salted(case: Case, text: str, title: str) -> Iterable[Proposal]:
    call = case.spot.parent
    assert call is not None
    found = _salt(call)
    if found is None:
        yield Proposal(title, (put_behind(call.items[-1], f" :salt {text}"),))
    else:
        yield Proposal(title, (replaced(found[1], text),))


@proposes("W-GEN-001")
def a_salt(case: Case) -> Iterable[Proposal]:
    """A salt that moves: with the record, the step, the trip, the microbatch."""
    call = case.spot.parent
    if call is None or call.items[0] is not case.spot.form:
        return
    index = input_parameter(case.spot, "index")
    if index:
        yield from _salted(case, index, "salt with the record's index")
        return
    ctx, trip = plist_parameter(case.spot, "ctx"), input_parameter(case.spot, "trip")
    if not ctx:
        return
    step = f"(* (getf {ctx} :step) {_APART})"
    if trip:
        yield from _salted(case, f"(+ {step} {trip})", "salt with the step and the trip")
        return
    yield from _salted(case, f"(getf {ctx} :step)", "salt with the step")
    run = declared(case.analysis, "defrun")
    if run is None or all(key.name != "stack" for key, _ in declared_pairs(run)):
        yield from _salted(case, f"(+ {step} (getf {ctx} :microbatch))", "salt with the step and the microbatch")


@proposes("W-GEN-005")
def a_salt_for_each_trip(case: Case) -> Iterable[Proposal]:
    """The trip in the salt."""
    call = case.spot.parent
    found = _salt(call) if call is not None else None
    trip = input_parameter(case.spot, "trip")
    if found is None or not trip:
        return
    values = case.spot.known(found[1])
    salt = found[1].text
    if not all(isinstance(value, int) or (isinstance(value, Node) and value.dtype is I64) for value in values):
        salt = f"(cast {salt} :i64)"
    yield from _salted(case, f"(+ (* {salt} {_APART}) {trip})", "add the trip to the salt")


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
