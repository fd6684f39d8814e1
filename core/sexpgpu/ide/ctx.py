"""ctx in a reader's words: what each key holds, where a counter's comes from, and where it is nil."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sexpgpu.ide.bindings import values_of
from sexpgpu.ide.markup import Code, Part, Prose, inline
from sexpgpu.ide.places import lists_in
from sexpgpu.language.ctx import CTX, counter_keys
from sexpgpu.language.dtypes import I64
from sexpgpu.language.values import Nil, Plist
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, SymbolForm

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

READERS = ("getf", "field")

_STAGE = "It is 0 again whenever the stage changes."
_MOVES = "A graph of the step that reads it keeps the run from stacking its microbatches."
_NOTES = {
    "step": "Schedules and the optimizer see it as it was before the update that they are part of.",
    "microbatch": "In schedules, the optimizer and `curriculum` it is 0; in a pass it is the batch's index.",
}
_EVERYWHERE = "The runtime keeps it: every function that is handed ctx has it, and it is never nil."
_WHERE_COUNTED = (
    "`prepare`, `objective`, schedules, the optimizer, `curriculum` and `:stop-when` have it. In a generator it is nil, because "
    "`prepare`, which counts, is traced after it."
)


class Counter(NamedTuple):
    """Where a counter is declared: the call, and the symbol of the definition around it (None: there is none)."""

    call: ListForm
    within: str | None


def reads(analysis: Analysis, path: list[Form]) -> bool:
    """Whether the last form of a path is the key that a call reads out of ctx."""
    call = reader(path)
    if call is None:
        return False
    plist = call.items[1]
    if any(isinstance(value, Plist) and value.role == "ctx" for value in values_of(analysis, plist)):
        return True
    reached = plist in analysis.values
    return not reached and isinstance(plist, SymbolForm) and plist.name == "ctx"


def reader(path: list[Form]) -> ListForm | None:
    """The call of `getf` or `field` whose key is the last form of a path."""
    call = path[-2] if len(path) > 1 else None
    if isinstance(call, ListForm) and call.head in READERS and len(call.items) > 2 and call.items[2] is path[-1]:
        return call
    return None


def declares(path: list[Form]) -> bool:
    """Whether the last form of a path is the name that a call of `counter` gives."""
    call = path[-2] if len(path) > 1 else None
    return isinstance(call, ListForm) and call.head == "counter" and len(call.items) > 1 and call.items[1] is path[-1]


def explain(analysis: Analysis, name: str, call: ListForm | None) -> list[Part]:
    """A ctx key: dtype, meaning, where it comes from, where it is nil. `call` is what reads it, if something does."""
    key = CTX.get(name)
    if key is not None:
        parts: list[Part] = [Code(f"(getf ctx :{name}) : {key.dtype.name}[]"), Prose(f"{inline(f':{name}')}: {key.doc}.")]
        notes = [_NOTES[name]] if name in _NOTES else []
        notes += [_STAGE] if name.startswith("stage-") else []
        notes += [_MOVES] if key.moves else []
        parts += [Prose(" ".join([*notes, _EVERYWHERE]))]
        return parts
    counter = name.removeprefix("stage-")
    if counter in analysis.program.counters:
        return _counted(analysis, name, counter, call)
    known = [*CTX, *(each for counter in analysis.program.counters for each in counter_keys(counter))]
    says = "ctx has no such key in this file, so it is nil. A call of `counter` in `prepare` would make one. There are "
    return [Code(f"(getf ctx :{name}) : nil"), Prose(says + ", ".join(inline(f":{each}") for each in known) + ".")]


def counters(analysis: Analysis, name: str) -> list[Counter]:
    """The calls of `counter` that declare a name, in text order."""
    found: list[Counter] = []
    for entry in analysis.unit.entries:
        for call in lists_in(entry.form):
            given = call.items[1] if call.head == "counter" and len(call.items) > 1 else None
            if isinstance(given, KeywordForm) and given.name == name:
                found.append(Counter(call, entry.definition.name if entry.definition is not None else None))
    return found


def _counted(analysis: Analysis, name: str, counter: str, call: ListForm | None) -> list[Part]:
    since = "since the stage began" if name != counter else "in the whole run"
    parts: list[Part] = [
        Code(f"(getf ctx :{name}) : {I64.name}[]"),
        *_here(analysis, call),
        Prose(f"{inline(f':{name}')}: what the counter {inline(f':{counter}')} has added up {since}, over all microbatches."),
    ]
    declared = counters(analysis, counter)
    if declared:
        call, within = declared[0]
        source = call.top.source
        line = source.line_at(call.span.start) + 1
        place = f"in {inline(within)}, line {line}" if within else f"in line {line}"
        parts += [Prose(f"It is declared {place}:"), Code(call.text)]
    notes = [_STAGE] if name != counter else []
    return [*parts, Prose(" ".join([*notes, _WHERE_COUNTED, _MOVES]))]


def _here(analysis: Analysis, call: ListForm | None) -> list[Part]:
    """Whether the key is nil for the call that reads it."""
    values = [] if call is None else values_of(analysis, call)
    absent = sum(isinstance(value, Nil) for value in values)
    if not absent:
        return []
    return [Prose("**Here it is nil.**" if absent == len(values) else "**Here it is nil on some of the paths that lead here.**")]
