"""A `metric` in a generator or in `prepare`, and a `counter` outside of it, moved to where they are read: a metric's value goes
through the state and the batch, and `objective` reports it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.fixes.contracts import prepare_entry_text
from sexpgpu.fixes.dtypes import tensors
from sexpgpu.fixes.edits import entry_added, removed, replaced, statement_added
from sexpgpu.fixes.generation import keys_of
from sexpgpu.fixes.proposal import Proposal
from sexpgpu.fixes.spots import declared, function_of, in_statement, last_list, symbols_in
from sexpgpu.fixes.table import Case, proposes
from sexpgpu.language.marks import Local
from sexpgpu.language.shapes import declared_pairs
from sexpgpu.language.values import is_number
from sexpgpu.reader.forms import Form, ListForm, StringForm, SymbolForm, VectorForm

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
    if written is None or objective is None or len(call.items) != 3 or not isinstance(call.items[1], StringForm):
        return
    passes = case.analysis.program.passes.values()
    if any("prepare" in _keys(each.form) and "objective" not in _keys(each.form) for each in passes):
        return
    name = re.sub(r"[^\w-]+", "-", call.items[1].value).strip("-") or "value"
    if not _sees(case.spot.path, written, call) or any(key.text == f":{name}" for key in written.items[1::2]):
        return
    try:
        text = _tensor_text(case, call.items[2])
    except Stuck:
        return
    report = _metric_in(objective, call.items[1], name)
    yield Proposal(
        "return the value and report it from objective", (entry_added(written, f":{name}", text), _taken_out(case, call), report)
    )


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
        yield Proposal("move the counter into prepare", (_taken_out(case, call), statement_added(prepare, call.text, body)))


def _taken_out(case: Case, call: ListForm) -> TextEdit:
    """A report without its call: nothing in front of other forms, elsewhere its value."""
    parent = case.spot.above(2)
    return removed(parent, call) if parent is not None and in_statement(case.spot.path[:-1]) else replaced(call, call.items[2].text)


def _metric_in(objective: ListForm, name: Form, entry: str) -> TextEdit:
    """A metric of an entry of the inputs, at the beginning of `objective`."""
    parameters = objective.items[2]
    inputs = parameters.items[0].text if isinstance(parameters, ListForm) and parameters.items else "inputs"
    body = 4 if len(objective.items) > 4 and isinstance(objective.items[3], StringForm) else 3
    return statement_added(objective, f"(metric {name.text} (field {inputs} :{entry}))", body)


def _keys(pass_: Form) -> set[str]:
    """The keys that a pass is declared with, by the form of its name."""
    declaration = pass_.top.form
    return {key.name for key, _ in declared_pairs(declaration)} if isinstance(declaration, ListForm) else set()


def _moved(case: Case) -> tuple[TextEdit, ...]:
    analysis, call = case.analysis, case.spot.parent
    generate = declared(analysis, "defgenerate")
    if generate is None or case.spot.path[0] is not generate or call is None:
        raise Stuck("it is reported by a function or model that the generator calls")
    if len(call.items) != 3 or not isinstance(call.items[1], StringForm):
        raise Stuck("its name is computed, or it has keywords")
    keys = keys_of(analysis, "defgenerate")
    function = next((value for value in keys.values() if value in case.spot.path), None)
    role = next((name for name, value in keys.items() if value is function), "")
    written = last_list(function) if function is not None else None
    if function is None or written is None:
        raise Stuck("the function does not end with the (list …) that it returns")
    value = call.items[2]
    if not _sees(case.spot.path, written, call):
        raise Stuck("its value is not seen where the function returns the state")
    entry = _entry_name(case, call.items[1].value, role)
    text = _tensor_text(case, value)
    edits = (entry_added(written, f":{entry}", text), _taken_out(case, call))
    return (*edits, *_carried(case, keys, role, entry, value), *_reported(case, entry, call.items[1]))


def _sees(path: list[Form], written: ListForm, call: ListForm) -> bool:
    """Whether what is bound around a call is bound around the returned list, too."""
    for form in path[: path.index(call)]:
        if isinstance(form, ListForm) and form.head in ("let", "let*", "lambda", "dotimes", "dolist"):
            if not form.start <= written.start < form.end:
                return False
    return True


def _entry_name(case: Case, metric: str, role: str) -> str:
    """A key for the entry, after the metric's name, that neither the state nor the batch has."""
    name = re.sub(r"[^\w-]+", "-", metric).strip("-") or "value"
    if name[0].isdigit():
        name = f"metric-{name}"
    program = case.analysis.program
    generator = program.generator
    taken = set((program.training.fields or {}) if program.training is not None else {})
    for pass_ in program.passes.values():
        taken |= set((pass_.loader.fields or {}) if pass_.loader is not None else {})
    for graph in (generator.init, generator.step, generator.finish) if generator is not None else ():
        taken |= set(graph.outputs) if graph is not None else set()
    free = name
    count = 2
    while free in taken:
        free = f"{name}-{count}"
        count += 1
    return free


def _tensor_text(case: Case, value: Form) -> str:
    known = case.spot.known(value)
    if known and all(is_number(each) for each in known):
        return f"(full [] {value.text})"
    nodes = tensors(case.spot, value)
    if not nodes or any(node.shape != () or node.dtype is not nodes[0].dtype for node in nodes):
        raise Stuck("its value is no scalar of one dtype")
    return value.text


def _carried(case: Case, keys: dict[str, Form], role: str, entry: str, value: Form) -> list[TextEdit]:
    """The entry in the other functions of the generator: a state keeps its keys from `:init` on, and `:finish` hands it on."""
    edits: list[TextEdit] = []
    nodes = tensors(case.spot, value)
    dtype = repr(nodes[0].dtype) if nodes else ":i64"
    if role in ("init", "step"):
        other = "step" if role == "init" else "init"
        written = last_list(keys[other]) if other in keys else None
        if role == "init" and _hands_on(keys.get("step")):
            pass
        elif written is None:
            raise Stuck(f"`:{other}` does not end with the (list …) that it returns")
        elif role == "step":
            edits.append(entry_added(written, f":{entry}", f"(zeros [] {dtype})"))
        else:
            edits.append(entry_added(written, f":{entry}", f"(getf {_first_parameter(keys['step'])} :{entry})"))
        if "finish" in keys and not _hands_on(keys["finish"]):
            finish = last_list(keys["finish"])
            if finish is None:
                raise Stuck("`:finish` does not end with the (list …) that it returns")
            edits.append(entry_added(finish, f":{entry}", f"(getf {_first_parameter(keys['finish'])} :{entry})"))
    return edits


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


def _reported(case: Case, entry: str, name: Form) -> list[TextEdit]:
    """The entry through `prepare`, where there is one, and the metric at the beginning of `objective`."""
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
            edits.append(prepare_entry_text(prepare, written, entry))
        elif not _hands_on(prepare):
            raise Stuck("`prepare` does not end with the (list …) that it returns")
    elif "prepare" in analysis.unit.main.scope:
        raise Stuck("`prepare` is not written as a function")
    return [*edits, _metric_in(objective, name, entry)]
