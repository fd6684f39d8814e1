"""What a generator hands from trip to trip, and to the batch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sexpgpu.fixes.edits import entry_added, key_added, removed, replaced
from sexpgpu.fixes.proposal import BREAK, Proposal
from sexpgpu.fixes.spots import declared, last_list, plist_parameter
from sexpgpu.fixes.table import Case, proposes
from sexpgpu.language.shapes import declared_pairs
from sexpgpu.reader.forms import Form, KeywordForm, ListForm

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis


def keys_of(analysis: Analysis, head: str) -> dict[str, Form]:
    """The values of a declaration's keys, by name; empty where there is no such declaration."""
    form = declared(analysis, head)
    return {key.name: value for key, value in declared_pairs(form)} if form is not None else {}


@proposes("E-GEN-002")
def the_state_as_it_was(case: Case) -> Iterable[Proposal]:
    """An entry that is missing, handed on; one that is misspelt, as `:init` has it."""
    form, help = case.spot.form, case.diagnostic.help
    missing = re.findall(r":(\S+) is missing", case.diagnostic.message)
    if missing and isinstance(form, ListForm) and form.head == "list" and len(form.items) % 2:
        state = plist_parameter(case.spot, "state")
        if state:
            edits = tuple(entry_added(form, f":{name}", f"(getf {state} :{name})") for name in missing)
            names = ", ".join(f":{name}" for name in missing)
            yield Proposal(f"hand {names} on", edits)
    found = re.match(r"write :(\S+), as `:init` does", help)
    written = case.spot.parent
    if found is not None and written is not None and written.head == "list":
        key = written.items[case.spot.place() - 1]
        if isinstance(key, KeywordForm):
            yield Proposal(f"write :{found[1]}", (replaced(key, f":{found[1]}"),))
    extra = re.search(r":(\S+) is not in the state", case.diagnostic.message)
    if extra is not None and written is not None and written.head == "list" and len(written.items) > 3:
        index = case.spot.place()
        yield Proposal(f"leave :{extra[1]} out", (removed(written, written.items[index - 1], form),))


@proposes("E-GEN-003")
def another_name(case: Case) -> Iterable[Proposal]:
    """Another name for what joins the batch: in `:finish`, or in one that is put in, while the state keeps it."""
    key = case.spot.form
    if not isinstance(key, KeywordForm):
        return
    training = case.analysis.program.training
    if training is None or key.name not in (training.fields or {}):
        return  # what reads the name means the generated entry
    generate = declared(case.analysis, "defgenerate")
    keys = keys_of(case.analysis, "defgenerate")
    name = f"generated-{key.name}"
    if generate is None or case.spot.path[0] is not generate:
        return
    if "finish" in keys:
        written = last_list(keys["finish"])
        if written is not None and key in written.items[1::2]:
            yield Proposal(f"write :{name}", (replaced(key, f":{name}"),))
        return
    text = finish_text(case.analysis, {key.name: name})
    if text:
        yield Proposal(f"add a :finish that returns :{name}", (key_added(generate, text),))


def finish_text(analysis: Analysis, renamed: dict[str, str]) -> str:
    """A `:finish` that hands the state on, with other names for some entries; empty where the state is not known."""
    generator = analysis.program.generator
    if generator is None or generator.init is None or not generator.init.outputs:
        return ""
    entries = f"{BREAK}".join(f":{renamed.get(name, name)} (getf state :{name})" for name in generator.init.outputs)
    return f":finish (lambda (state ctx){BREAK}(list {entries}))"


@proposes("W-CONTRACT-002")
def not_returned(case: Case) -> Iterable[Proposal]:
    """A generated name that nothing reads, not made: left out of `:finish`, or of one that is put in."""
    key, written = case.spot.form, case.spot.parent
    generate = declared(case.analysis, "defgenerate")
    keys = keys_of(case.analysis, "defgenerate")
    if not isinstance(key, KeywordForm) or generate is None or written is None:
        return
    finish = last_list(keys["finish"]) if "finish" in keys else None
    if finish is not None and finish is written and len(finish.items) > 3:
        index = written.items.index(key)
        yield Proposal(f"leave :{key.name} out", (removed(written, key, written.items[index + 1]),))
    elif "finish" not in keys:
        generator = case.analysis.program.generator
        names = list(generator.init.outputs) if generator is not None and generator.init is not None else []
        rest = [name for name in names if name != key.name]
        if key.name in names and rest:
            entries = f"{BREAK}".join(f":{name} (getf state :{name})" for name in rest)
            text = f":finish (lambda (state ctx){BREAK}(list {entries}))"
            yield Proposal(f"add a :finish without :{key.name}", (key_added(generate, text),))
