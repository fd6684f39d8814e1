"""What the runtime calls, hands over and is given: parameters, batches, observations, models and their parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.fixes.edits import around, entry_added, key_added, put_behind, replaced
from sexpgpu.fixes.proposal import BREAK, Proposal
from sexpgpu.fixes.spots import declared, function_of, input_parameter, last_list, spot_at
from sexpgpu.fixes.table import Case, proposes
from sexpgpu.ide.reports import named
from sexpgpu.language.shapes import declared_pairs
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, NumberForm, StringForm, SymbolForm

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.program.model import Pass

_MARKED = re.compile(r"write \((?:lambda|defun \S+) \(([^()]*)\)")


@proposes("E-CONTRACT-002", "E-GEN-006")
def parameters(case: Case) -> Iterable[Proposal]:
    """The parameters that the runtime has arguments for; those that are named after one keep their place."""
    form = case.spot.form
    wanted = _MARKED.search(case.diagnostic.help)
    if wanted is None or not isinstance(form, ListForm):
        return
    expected = wanted[1].split()
    written = [item.text for item in form.items]
    if any(not isinstance(item, SymbolForm) or item.text.startswith("&") for item in form.items):
        return
    if len(written) > len(expected):
        text = " ".join(written[: len(expected)])
        sure = False
    else:
        sure = _is_part(written, expected)
        kept = expected if sure else [*written, *[name for name in expected[len(written) :] if name not in written]]
        text = " ".join(kept)
        if len(kept) != len(expected):
            return
    yield Proposal(f"write ({text})", (replaced(form, f"({text})"),), safe=sure)


def _is_part(some: list[str], of: list[str]) -> bool:
    """Whether some words stand among others in the same order."""
    rest = iter(of)
    return all(word in rest for word in some)


# Batches


@proposes("E-CONTRACT-004", "E-GEN-001")
def a_plist(case: Case) -> Iterable[Proposal]:
    """A tensor under its own name."""
    form = case.spot.form
    if isinstance(form, SymbolForm) and " is a tensor" in case.diagnostic.message:
        yield Proposal(f"write (list :{form.name} {form.name})", (replaced(form, f"(list :{form.name} {form.name})"),))


@proposes("E-CONTRACT-005")
def a_prepare_of_its_own(case: Case) -> Iterable[Proposal]:
    """A `:prepare` for the pass, of the fields of its loader, where those are all that `objective` gets from the file's."""
    pass_ = _pass_of(case)
    program = case.analysis.program
    if pass_ is None or program.prepare is None:
        return
    declaration = pass_.form.top.form
    loader = pass_.loader
    if loader is None or not loader.fields or not isinstance(declaration, ListForm):
        return
    if any(key.name == "prepare" for key, _ in declared_pairs(declaration)):
        return
    names = list(program.prepare.outputs)
    if names and all(name in loader.fields for name in names):
        entries = f"{BREAK}".join(f":{name} (field batch :{name})" for name in names)
        text = f":prepare (lambda (batch ctx){BREAK}(list {entries}))"
        yield Proposal(f"add a :prepare to {pass_.name}", (key_added(declaration, text),))


def _pass_of(case: Case) -> Pass | None:
    """The pass that a diagnostic points to."""
    for note in case.diagnostic.related:
        spot = spot_at(case.analysis, note.span)
        if spot is not None and isinstance(spot.form, SymbolForm):
            return case.analysis.program.passes.get(spot.form.name)
    return None


@proposes("E-CONTRACT-006", "E-TYPE-001")
def handed_on(case: Case) -> Iterable[Proposal]:
    """A name that the generator makes, or the loader has, handed on by `prepare` to the `objective` that asks for it."""
    key = case.spot.form
    if isinstance(key, ListForm) and len(key.items) > 2:
        key = key.items[2]
    message = case.diagnostic.message
    if not isinstance(key, KeywordForm) or "the inputs" not in message:
        return
    edit = prepare_entry(case.analysis, key.name)
    if edit is not None:
        yield Proposal(f"hand :{key.name} on in prepare", (edit,))


@proposes("W-CONTRACT-002")
def read_in_prepare(case: Case) -> Iterable[Proposal]:
    """A generated name that nothing reads, handed on by `prepare`."""
    key = case.spot.form
    if isinstance(key, KeywordForm):
        edit = prepare_entry(case.analysis, key.name)
        if edit is not None:
            yield Proposal(f"hand :{key.name} on in prepare", (edit,))


def prepare_entry(analysis: Analysis, name: str) -> TextEdit | None:
    """An entry for a name of the batch in what `prepare` returns; None where `prepare` writes no list, or some pass that it is
    traced for has no entry of that name in its batch."""
    program = analysis.program
    function = function_of(analysis, "prepare")
    written = last_list(function) if function is not None else None
    training = program.training
    if (
        function is None
        or written is None
        or training is None
        or len(function.items[2].items if isinstance(function.items[2], ListForm) else ()) != 2
    ):
        return None
    if any(isinstance(key, (KeywordForm, StringForm)) and key.text.strip(':"') == name for key in written.items[1::2]):
        return None
    fields = training.fields or {}
    if name not in generated_names(analysis) and name not in fields:
        return None
    for pass_ in program.passes.values():
        own = any(key.name == "prepare" for key, _ in declared_pairs(_declaration(pass_.form)))
        if not own and pass_.generator is None and name not in ((pass_.loader.fields if pass_.loader else None) or {}):
            return None
    return prepare_entry_text(function, written, name)


def prepare_entry_text(function: ListForm, written: ListForm, name: str) -> TextEdit:
    """An entry of the batch handed on in the list that `prepare` returns."""
    parameters_ = function.items[2]
    batch = parameters_.items[0].text if isinstance(parameters_, ListForm) and parameters_.items else "batch"
    return entry_added(written, f":{name}", f"(field {batch} :{name})")


def generated_names(analysis: Analysis) -> list[str]:
    """The names that the generator adds to the batch."""
    generator = analysis.program.generator
    if generator is None:
        return []
    graph = generator.finish or generator.init
    return list(graph.outputs) if graph is not None else []


def _declaration(form: Form) -> ListForm:
    top = form.top.form
    assert isinstance(top, ListForm)
    return top


# Observations and stages


@proposes("E-CONTRACT-016")
def an_observation(case: Case) -> Iterable[Proposal]:
    """An observation that there is; a diagnostic as a metric; a question which pass has just run."""
    form, message = case.spot.form, case.diagnostic.message
    if not isinstance(form, StringForm):
        return
    if "is a diagnostic" in message:
        name = form.value.partition("/")[2]
        for each in named(case.analysis, name):
            spot = spot_at(case.analysis, each.form.span)
            call = spot.parent if spot is not None else None
            if each.gives and each.kind == "diagnostic" and each.name == name and call is not None:
                yield Proposal(f'report "{name}" with metric', (replaced(call.items[0], "metric"),))
                break
    elif "has just run" in message:
        yield from _ask_first(case, form)
        return
    for key in re.findall(r'"[^"]*"', case.diagnostic.help.partition("there is ")[2])[:4]:
        if key != form.text and not case.diagnostic.fixes:
            yield Proposal(f"write {key}", (replaced(form, key),))


def _ask_first(case: Case, form: StringForm) -> Iterable[Proposal]:
    function, call = case.spot.path[0], case.spot.parent
    stage = input_parameter(case.spot, "stage")
    if isinstance(function, ListForm) and function.head == "defun" and stage and call is not None and len(function.items) > 3:
        body = function.items[-1]
        plist = call.items[1]
        if isinstance(plist, SymbolForm) and plist.name not in ("stage", "ctx") and body.start <= form.start < body.end:
            edits = around(body, f"(if (null (getf {plist.name} {form.text})){BREAK}{stage}{BREAK}", ")")
            yield Proposal(f"keep the stage after passes without {form.text}", edits)


@proposes("E-CONTRACT-017")
def a_stage_that_there_is(case: Case) -> Iterable[Proposal]:
    """The nearest stage of the loader."""
    form = case.spot.form
    loader = case.analysis.program.training
    if isinstance(form, NumberForm) and loader is not None and loader.sources:
        last = len(loader.sources) - 1
        stage = 0 if form.value < 0 else last
        yield Proposal(f"write {stage}", (replaced(form, str(stage)),))


# Models and parameters


@proposes("E-CONTRACT-018")
def bound(case: Case) -> Iterable[Proposal]:
    """The model in what `model` binds."""
    definition = case.analysis.unit.main.scope.get("model")
    form = definition.form if definition is not None else None
    found = re.match(r"`(\S+)` is not reachable", case.diagnostic.message)
    if form is None or form.head != "def" or len(form.items) != 3 or found is None:
        return
    name, value = found[1], form.items[2]
    if isinstance(value, SymbolForm):
        text = f"(list :{value.name} {value.name} :{name} {name})"
        yield Proposal(f"bind {name} in model", (replaced(value, text),))
    elif isinstance(value, ListForm) and value.head == "list" and len(value.items) % 2:
        yield Proposal(f"bind {name} in model", (put_behind(value.items[-1], f" :{name} {name}"),))


@proposes("E-CONTRACT-019")
def another_path(case: Case) -> Iterable[Proposal]:
    """Another name for the second of two parameters."""
    call = case.spot.parent
    if call is not None and case.spot.place() == 0 and len(call.items) > 1 and case.diagnostic.related:
        name = call.items[1]
        if isinstance(name, (KeywordForm, StringForm)):
            text = f":{name.name}-2" if isinstance(name, KeywordForm) else f'{name.text[:-1]}-2"'
            yield Proposal(f"write {text}", (replaced(name, text),))


def added_pass_is_possible(analysis: Analysis) -> bool:
    """Whether a file has a run and no pass."""
    return declared(analysis, "defrun") is not None and not analysis.unit.of_kind("defpass")
