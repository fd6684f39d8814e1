"""Parameters that layers share, and parameters that get no update."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sexpgpu.fixes.edits import around, put_behind, replaced
from sexpgpu.fixes.proposal import BREAK, Proposal
from sexpgpu.fixes.spots import Spot, spot_at
from sexpgpu.fixes.table import Case, proposes
from sexpgpu.language.marks import Local
from sexpgpu.language.shapes import declared_pairs
from sexpgpu.language.values import Keyword
from sexpgpu.program.checks import fed_into
from sexpgpu.reader.forms import ListForm, StringForm

_IDLE = re.compile(r"the loss does not depend on the parameter `([^`]+)`")


@proposes("W-MODEL-001")
def a_scope_for_each(case: Case) -> Iterable[Proposal]:
    """A scope for each turn of the loop around the layers, or around the call that finds them again."""
    spots = [spot_at(case.analysis, note.span) for note in case.diagnostic.related]
    for spot in [case.spot, *(each for each in spots if each is not None)]:
        turn, call = _turn(spot), spot.call
        if turn is not None and call is not None:
            name = turn.name.lstrip("_") or "i"
            if name != turn.name and (_is_taken(spot, name) or not _is_unread(spot, turn)):
                name = turn.name
            renamed = () if name == turn.name else (replaced(turn.name_form, name),)
            yield Proposal(f"write (scope {name} …)", (*renamed, *around(call, f"(scope {name} ", ")")))
            return


def _turn(spot: Spot) -> Local | None:
    """The innermost variable around a spot that tells turns apart: of `dotimes`, or bound to several names or numbers."""
    bound = [local for local in spot.analysis.marks.locals if local.form in spot.path and local.name_form not in spot.path]
    for local in sorted(bound, key=lambda each: (each.form.start, each.name_form.start), reverse=True):
        values = spot.known(local.name_form)
        differ = all(isinstance(value, (int, str, Keyword)) for value in values) and len(set(values)) > 1
        if differ or local.form.head == "dotimes":
            hidden = any(each.name == local.name and each.form.start > local.form.start for each in bound)
            return None if hidden else local
    return None


def _is_unread(spot: Spot, local: Local) -> bool:
    """Whether a variable stands where it is bound alone, so that it can get another name."""
    return all(found is not local or form is local.name_form for form, found in spot.analysis.marks.references.items())


def _is_taken(spot: Spot, name: str) -> bool:
    """Whether something in the form of the top level, or in its file, has a name."""
    top = spot.path[0].top
    return spot.module.lookup(name) is not None or any(
        local.name == name and local.form.top is top for local in spot.analysis.marks.locals
    )


@proposes("W-CONTRACT-004")
def frozen(case: Case) -> Iterable[Proposal]:
    """`:frozen true` for what gets no update: the model, the parameter, or the layer, if the loss depends on nothing of that."""
    form, parent = case.spot.form, case.spot.parent
    if not isinstance(parent, ListForm):
        return
    program = case.analysis.program
    if parent.head == "defmodel" and parent.items[1] is form:
        written = [value for key, value in declared_pairs(parent) if key.name == "frozen"]
        documented = len(parent.items) > 4 and isinstance(parent.items[3], StringForm)
        added = put_behind(parent.items[3 if documented else 2], f"{BREAK}:frozen true")
        yield Proposal("freeze the model", (replaced(written[0], "true") if written else added,))
    elif parent.items[0] is form and _IDLE.match(case.diagnostic.message) and program.objective is not None:
        own = {each.path for each in program.parameters.values() if each.shown is form}
        if own & fed_into(program.objective.outputs[""]):
            return  # a part of the layer learns
        if parent.head == "param":
            if all(item.text != ":frozen" for item in parent.items):
                yield Proposal("freeze the parameter", (put_behind(parent.items[-1], " :frozen true"),))
        else:
            yield Proposal("freeze the layer", around(parent, "(scope :fixed :frozen true ", ")"))
