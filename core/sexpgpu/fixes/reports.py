"""A `metric` in a generator or in `prepare`, and a `counter` outside of it, moved to where they are read: a metric's value goes
through the state and the batch, and `objective` reports it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.fixes.contracts import prepare_entry_text
from sexpgpu.fixes.dtypes import tensors
from sexpgpu.fixes.edits import around, entry_added, put_before, removed, replaced, statement_added
from sexpgpu.fixes.generation import keys_of
from sexpgpu.fixes.proposal import BREAK, Proposal
from sexpgpu.fixes.spots import declared, function_of, in_statement, last_list, symbols_in
from sexpgpu.fixes.table import Case, proposes
from sexpgpu.language.dtypes import F32, I64
from sexpgpu.language.marks import Local
from sexpgpu.language.shapes import declared_pairs
from sexpgpu.language.values import is_number
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, NumberForm, StringForm, SymbolForm, VectorForm

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

TITLE = "move the metric into the state and report it from objective"


class Stuck(Exception):
    """Why a metric cannot be moved."""


@proposes("E-GEN-004")
def moved(case: Case) -> Iterable[Proposal]:
    """The metric's value as an entry of the state, and the metric in `objective`."""
    try:
        edits = _moved(case)
    except Stuck as stuck:
        yield Proposal(TITLE, (), disabled=str(stuck))
        return
    yield Proposal(TITLE, edits)


@proposes("E-CONTRACT-020")
def returned(case: Case) -> Iterable[Proposal]:
    """The value of a metric in `prepare` as an entry of what that returns, and the metric in `objective`."""
    call, prepare = case.spot.parent, function_of(case.analysis, "prepare")
    written = last_list(prepare) if prepare is not None else None
    objective = function_of(case.analysis, "objective")
    if call is None or case.spot.form.text != "metric" or prepare is None or case.spot.path[0] is not prepare:
        return
    passes = case.analysis.program.passes.values()
    if written is None or objective is None or any({"prepare"} == _keys(each.form) & {"prepare", "objective"} for each in passes):
        return
    try:
        report = _report(call)
        if not _sees(case.spot.path, written, call):
            raise Stuck("its value is not seen where `prepare` returns")
        edits, entries = _taken(case, report, written, {key.text.strip(':"') for key in written.items[1::2]})
    except Stuck:
        return
    edits = (_entries_added(written, [(each.name, each.text) for each in entries]), *edits)
    reported = _metric_in(case.analysis, objective, report, entries, "prepared")
    yield Proposal("return the value and report it from objective", (*edits, reported))


@proposes("E-CONTRACT-010")
def counted_in_prepare(case: Case) -> Iterable[Proposal]:
    """A counter of what is known everywhere in the file, in `prepare`; one that is there already is not counted twice."""
    call, prepare = case.spot.parent, function_of(case.analysis, "prepare")
    if call is None or prepare is None or len(call.items) != 3 or not in_statement(case.spot.path[:-1]):
        return
    if any(isinstance(case.analysis.marks.references.get(each), Local) for each in symbols_in(call)):
        return
    if call.items[1].text.lstrip(":") not in case.analysis.program.counters:
        body = 4 if len(prepare.items) > 4 and isinstance(prepare.items[3], StringForm) else 3
        parent = case.spot.above(2)
        assert parent is not None
        yield Proposal("move the counter into prepare", (removed(parent, call), statement_added(prepare, call.text, body)))


def _keys(pass_: Form) -> set[str]:
    """The keys that a pass is declared with, by the form of its name."""
    declaration = pass_.top.form
    return {key.name for key, _ in declared_pairs(declaration)} if isinstance(declaration, ListForm) else set()


def _moved(case: Case) -> tuple[TextEdit, ...]:
    analysis, call = case.analysis, case.spot.parent
    generate = declared(analysis, "defgenerate")
    if generate is None or case.spot.path[0] is not generate or call is None:
        raise Stuck("it is reported by a function or model that the generator calls")
    report = _report(call)
    keys = keys_of(analysis, "defgenerate")
    function = next((value for value in keys.values() if value in case.spot.path), None)
    role = next((name for name, value in keys.items() if value is function), "")
    written = last_list(function) if function is not None else None
    if function is None or written is None:
        raise Stuck("the function does not end with the (list …) that it returns")
    if not _sees(case.spot.path, written, call):
        raise Stuck("its value is not seen where the function returns the state")
    edits, entries = _taken(case, report, written, _names(case))
    added = _entries_added(written, [(each.name, each.text) for each in entries])
    return (added, *edits, *_carried(keys, role, entries), *_reported(case, report, entries))


class Report(NamedTuple):
    """A call of `metric` by its parts: a weight of its own has an entry of its own."""

    call: ListForm
    name: StringForm
    value: Form
    reduce: KeywordForm | None
    weight: Form | None


class Entry(NamedTuple):
    """An entry of the state or the batch, what it is where it is made, and its dtype."""

    name: str
    text: str
    dtype: str


def _report(call: ListForm) -> Report:
    if len(call.items) < 3 or not isinstance(call.items[1], StringForm):
        raise Stuck("its name is computed")
    given = {key.text: value for key, value in zip(call.items[3::2], call.items[4::2], strict=False)}
    reduce = given.pop(":reduce", None)
    weight = given.pop(":weight", None)
    if given or len(call.items) % 2 == 0 or not (reduce is None or isinstance(reduce, KeywordForm)):
        raise Stuck("its keywords are computed")
    return Report(call, call.items[1], call.items[2], reduce, weight)


def _metric_in(analysis: Analysis, objective: ListForm, report: Report, entries: list[Entry], word: str) -> TextEdit:
    """A metric of entries of the inputs, at the beginning of `objective`; where its name is taken, a word stands before it."""
    parameters = objective.items[2]
    inputs = parameters.items[0].text if isinstance(parameters, ListForm) and parameters.items else "inputs"
    body = 4 if len(objective.items) > 4 and isinstance(objective.items[3], StringForm) else 3
    passes = [each.objective for each in analysis.program.passes.values() if "objective" not in _keys(each.form)]
    graphs = [graph for graph in (analysis.program.objective, *passes) if graph is not None]
    taken = {metric.name for graph in graphs for metric in graph.metrics}
    before, behind, count = "", "", 1
    while f"{before}{report.name.value}{behind}" in taken:
        before, behind = f"{word} ", f" {count}" if count > 1 else ""
        count += 1
    parts = [f'"{before}{report.name.text[1:-1]}{behind}"', f"(field {inputs} :{entries[0].name})"]
    if report.reduce is not None:
        parts.append(f":reduce {report.reduce.text}")
    if report.weight is not None:
        parts.append(f":weight (field {inputs} :{entries[1].name})")
    return statement_added(objective, f"(metric {' '.join(parts)})", body)


# The value, where it is made


def _taken(case: Case, report: Report, written: ListForm, taken: set[str]) -> tuple[tuple[TextEdit, ...], list[Entry]]:
    """A report taken away, and entries of its value and its weight for the list that its function returns."""
    name = _entry_name(report.name.value, taken)
    edits, text = _once(case, report, written, name)
    entries = [_entry(case, name, report.value, text)]
    if report.weight is not None:
        weight = _entry_name(f"{report.name.value}-weight", {*taken, name})
        entries.append(_entry(case, weight, report.weight, report.weight.text))
    return edits, entries


def _once(case: Case, report: Report, written: ListForm, entry: str) -> tuple[tuple[TextEdit, ...], str]:
    """A report without its call, and its value as `written` can have it, which is not computed a second time: in front of other
    forms nothing is left, elsewhere a name for it."""
    path, call, value = case.spot.path[:-1], report.call, report.value
    parent = path[-2] if len(path) > 1 else None
    if isinstance(parent, ListForm) and in_statement(path):
        return (removed(parent, call),), value.text
    holder = next((form for form in reversed(path) if form.start <= written.start < form.end), None)
    inside = path[path.index(holder) + 1 :] if holder is not None else []
    if isinstance(value, (SymbolForm, NumberForm)) or not isinstance(holder, ListForm):
        return (replaced(call, value.text),), value.text
    binds = holder is not written and holder.head in ("let", "let*") and inside[:1] == [holder.items[1]]
    bound = inside[1] if binds and len(inside) > 2 else None
    if isinstance(bound, ListForm) and bound.items[1] is call and _is_bound_once(case, bound.items[0].text, holder, written):
        return (replaced(call, value.text),), bound.items[0].text
    name = _free(case, entry)
    if bound is not None and holder.head == "let*":
        return (put_before(bound, f"({name} {value.text}){BREAK}"), replaced(call, name)), name
    if bound is not None or holder is written:
        return (*around(holder, f"(let (({name} {value.text})){BREAK}", ")"), replaced(call, name)), name
    return (replaced(call, value.text),), value.text


def _is_bound_once(case: Case, name: str, form: ListForm, written: ListForm) -> bool:
    """Whether a variable that a form binds is still seen where a list stands in it."""
    bound = [local for local in case.analysis.marks.locals if local.name == name and local.form.top is form.top]
    return sum(form.start <= local.form.start <= written.start < local.form.end for local in bound) == 1


def _free(case: Case, name: str) -> str:
    """A variable like this one that nothing is called."""
    taken = {local.name for local in case.analysis.marks.locals if local.form.top is case.spot.path[0].top}
    free, count = name, 1
    while free in taken or case.spot.module.lookup(free) is not None:
        free = f"{name}-value" if count == 1 else f"{name}-value-{count}"
        count += 1
    return free


def _entry(case: Case, name: str, value: Form, text: str) -> Entry:
    """An entry of a value that is a scalar of one dtype."""
    known = case.spot.known(value)
    if known and all(is_number(each) for each in known):
        dtypes = {I64 if isinstance(each, int) else F32 for each in known}
        return Entry(name, f"(full [] {text})", repr(dtypes.pop() if len(dtypes) == 1 else F32))
    nodes = tensors(case.spot, value)
    if not nodes or any(node.shape != () or node.dtype is not nodes[0].dtype for node in nodes):
        raise Stuck("its value is no scalar of one dtype")
    return Entry(name, text, repr(nodes[0].dtype))


def _entries_added(plist: ListForm, entries: list[tuple[str, str]]) -> TextEdit:
    """Several entries at the end of a list, in one edit."""
    edits = [entry_added(plist, f":{name}", text) for name, text in entries]
    return edits[0]._replace(text="".join(edit.text for edit in edits))


def _sees(path: list[Form], written: ListForm, call: ListForm) -> bool:
    """Whether what is bound around a call is bound around the returned list, too."""
    for form in path[: path.index(call)]:
        if isinstance(form, ListForm) and form.head in ("let", "let*", "lambda", "dotimes", "dolist"):
            if not form.start <= written.start < form.end:
                return False
    return True


def _entry_name(metric: str, taken: set[str]) -> str:
    """A key for the entry, after the metric's name, that is not taken."""
    name = re.sub(r"[^\w-]+", "-", metric).strip("-") or "value"
    if name[0].isdigit():
        name = f"metric-{name}"
    free = name
    count = 2
    while free in taken:
        free = f"{name}-{count}"
        count += 1
    return free


def _names(case: Case) -> set[str]:
    """The names that the state and the batches have."""
    program = case.analysis.program
    generator = program.generator
    taken = set((program.training.fields or {}) if program.training is not None else {})
    for pass_ in program.passes.values():
        taken |= set((pass_.loader.fields or {}) if pass_.loader is not None else {})
    for graph in (generator.init, generator.step, generator.finish) if generator is not None else ():
        taken |= set(graph.outputs) if graph is not None else set()
    return taken


# Where it goes from there


def _carried(keys: dict[str, Form], role: str, entries: list[Entry]) -> list[TextEdit]:
    """The entries in the other functions of the generator: a state keeps its keys from `:init` on, and `:finish` hands them on."""
    edits: list[TextEdit] = []
    if role in ("init", "step"):
        other = "step" if role == "init" else "init"
        written = last_list(keys[other]) if other in keys else None
        if role == "init" and _hands_on(keys.get("step")):
            pass
        elif written is None:
            raise Stuck(f"`:{other}` does not end with the (list …) that it returns")
        elif role == "step":
            edits.append(_entries_added(written, [(each.name, f"(zeros [] {each.dtype})") for each in entries]))
        else:
            edits.append(_read(written, keys["step"], entries))
        if "finish" in keys and not _hands_on(keys["finish"]):
            finish = last_list(keys["finish"])
            if finish is None:
                raise Stuck("`:finish` does not end with the (list …) that it returns")
            edits.append(_read(finish, keys["finish"], entries))
    return edits


def _read(written: ListForm, function: Form, entries: list[Entry]) -> TextEdit:
    """The entries as the state has them, in the list that a function returns."""
    state = _first_parameter(function)
    return _entries_added(written, [(each.name, f"(getf {state} :{each.name})") for each in entries])


def _hands_on(function: Form | None) -> bool:
    """Whether a function returns its first argument whole."""
    if not isinstance(function, ListForm) or len(function.items) < 3:
        return False
    last = function.items[-1]
    return isinstance(last, SymbolForm) and last.name == _first_parameter(function)


def _first_parameter(function: Form) -> str:
    if isinstance(function, ListForm) and len(function.items) > 2:
        parameters = function.items[1 if function.head == "lambda" else 2]
        if isinstance(parameters, (ListForm, VectorForm)) and parameters.items:
            return parameters.items[0].text
    raise Stuck("a function of the generator is not written as one")


def _reported(case: Case, report: Report, entries: list[Entry]) -> list[TextEdit]:
    """The entries through `prepare`, where there is one, and the metric at the beginning of `objective`."""
    analysis = case.analysis
    objective = function_of(analysis, "objective")
    if objective is None:
        raise Stuck("there is no `objective` to report it from")
    for pass_ in analysis.program.passes.values():
        own = _keys(pass_.form)
        if "objective" not in own and (pass_.generator is None or "prepare" in own):
            raise Stuck(f"the pass `{pass_.name}` has the same `objective`, and no entry of that name")
    edits: list[TextEdit] = []
    prepare = function_of(analysis, "prepare")
    if prepare is not None:
        written = last_list(prepare)
        if written is not None:
            each = [prepare_entry_text(prepare, written, entry.name) for entry in entries]
            edits.append(each[0]._replace(text="".join(edit.text for edit in each)))
        elif not _hands_on(prepare):
            raise Stuck("`prepare` does not end with the (list …) that it returns")
    elif "prepare" in analysis.unit.main.scope:
        raise Stuck("`prepare` is not written as a function")
    return [*edits, _metric_in(analysis, objective, report, entries, "generated")]
