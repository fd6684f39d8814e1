"""The keys of declarations, and parts of a run that are missing or stand twice."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.fixes.edits import around, form_before, key_added, key_removed, put_behind, removed, removed_top, replaced
from sexpgpu.fixes.proposal import BREAK, Proposal
from sexpgpu.fixes.spots import declared, function_of, in_statement, last_list
from sexpgpu.fixes.table import Case, proposes
from sexpgpu.fixes.templates import one_form
from sexpgpu.language.nearest import nearest
from sexpgpu.language.shapes import declared_pairs
from sexpgpu.language.values import Made, is_number
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, StringForm, SymbolForm

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

_MOST_OFFERED = 4
_EVERY = 100
# A required key whose value nobody can derive gets one that the declaration takes: which, is for people to say.
FIRST_VALUES = {
    ("defrun", "steps"): "1000",
    ("defpass", "every"): str(_EVERY),
    ("defloader", "batch"): "16",
    ("defgenerate", "trips"): "1",
    ("defgenerate", "step"): "(lambda (state trip ctx) state)",
}
OPTIMIZER = "(defoptimizer (adamw :lr 0.001))"


@proposes("E-CONTRACT-013", "E-GEN-006")
def a_missing_key(case: Case) -> Iterable[Proposal]:
    """A required key with a value; a loader's name, for each loader that there is."""
    declaration = case.spot.parent
    if declaration is None or case.spot.form is not declaration.items[0]:
        return
    head, message = declaration.head or "", case.diagnostic.message
    found = re.match(r"`\S+` needs :(\S+),", message)
    key = found[1] if found else "loader" if "names none" in message else ""
    if key == "loader":
        for name in list(case.analysis.program.loaders)[:_MOST_OFFERED]:
            yield Proposal(f"add :loader {name}", (key_added(declaration, f":loader {name}"),))
    elif (head, key) in FIRST_VALUES:
        yield Proposal(f"add :{key}", (key_added(declaration, f":{key} {FIRST_VALUES[head, key]}"),))


@proposes("E-CONTRACT-013", "E-GEN-005")
def a_value_that_fits(case: Case) -> Iterable[Proposal]:
    """An integer where one is wanted, a name that is known, or the default."""
    form, message, help = case.spot.form, case.diagnostic.message, case.diagnostic.help
    parent = case.spot.parent
    if parent is None:
        return
    index = case.spot.place()
    key = parent.items[index - 1] if index > 1 else None
    if isinstance(form, ListForm) and form.head == "/" and "floor-div" in help:
        values = [value for value in case.spot.known(form) if isinstance(value, float)]
        whole = bool(values) and all(value.is_integer() for value in values)
        yield Proposal("write floor-div", (replaced(form.items[0], "floor-div"),), safe=whole)
    elif " wants an integer" in message:
        yield from _integer(case, form)
    elif found := re.match(r"write (\d+), or leave :(\S+) out", help):
        yield Proposal(f"write {found[1]}", (replaced(form, found[1]),))
        if isinstance(key, KeywordForm):
            edit = key_removed(parent, key)
            yield from [Proposal(f"leave :{key.name} out", (edit,))] if edit else []
    elif help.endswith("or :auto"):
        yield Proposal("write :auto", (replaced(form, ":auto"),))
        if isinstance(key, KeywordForm):
            edit = key_removed(parent, key)
            yield from [Proposal(f"leave :{key.name} out", (edit,))] if edit else []
    elif found := re.match(r'write ("[^"]+")$', help):
        wrong = re.search(r'("[^"]+")$', message)
        if wrong is not None and form.text.count(wrong[1]) == 1 and form.text != wrong[1]:
            yield Proposal(f"write {found[1]}", (replaced(form, form.text.replace(wrong[1], found[1])),))
    elif "either :source or :stages" in message and isinstance(form, KeywordForm):
        edit = key_removed(parent, form)
        yield from [Proposal(f"leave :{form.name} out", (edit,))] if edit else []


def _integer(case: Case, form: Form) -> Iterable[Proposal]:
    values = [value for value in case.spot.known(form) if is_number(value)]
    written = form.value if isinstance(form, StringForm) else ""
    if re.fullmatch(r"[1-9]\d*", written):
        yield Proposal(f"write {written}", (replaced(form, written),), safe=True)
    elif len(values) == 1 and isinstance(values[0], float) and 1 <= values[0] < 1 << 53:
        if values[0].is_integer():
            yield Proposal(f"write {int(values[0])}", (replaced(form, str(int(values[0]))),), safe=True)
    elif len(values) == 1:
        yield Proposal("write 1", (replaced(form, "1"),))


@proposes("E-CONTRACT-013", "E-GEN-006")
def an_unknown_key(case: Case) -> Iterable[Proposal]:
    """A key that there is not, left out with its value."""
    form, parent = case.spot.form, case.spot.parent
    if isinstance(form, KeywordForm) and parent is not None and "has no key" in case.diagnostic.message:
        declaration = DECLARATIONS.get(parent.head or "")
        written = {key.name for key, _ in declared_pairs(parent)}
        if (
            case.diagnostic.fixes
            or declaration is None
            or any(k.required and k.name not in written for k in declaration.keys.values())
        ):
            return  # it most likely stands for another
        edit = key_removed(parent, form)
        yield from [Proposal(f"leave :{form.name} out", (edit,))] if edit else []


@proposes("E-CONTRACT-008")
def once(case: Case) -> Iterable[Proposal]:
    """What stands twice, once; a name that is taken, another."""
    form, parent = case.spot.form, case.spot.parent
    if parent is None:
        return
    if isinstance(form, KeywordForm):
        edit = key_removed(parent, form)
        yield from [Proposal(f"remove the second :{form.name}", (edit,))] if edit else []
    elif isinstance(form, StringForm):
        if form.text.endswith('"') and len(form.text) > 2:
            yield Proposal(f'write {form.text[:-1]}-2"', (put_inside(form, "-2"),))
    elif isinstance(form, SymbolForm) and parent is case.spot.path[0]:
        yield Proposal(f"remove this {form.name}", (removed_top(parent),))


def put_inside(form: StringForm, text: str) -> TextEdit:
    """A text at the end of a string."""
    return replaced(form, f'{form.text[:-1]}{text}"')


@proposes("E-CONTRACT-015")
def a_loader_that_there_is(case: Case) -> Iterable[Proposal]:
    """The names of the loaders, where they are few."""
    if case.diagnostic.help.startswith("there is"):
        for name in list(case.analysis.program.loaders)[:_MOST_OFFERED]:
            yield Proposal(f"write {name}", (replaced(case.spot.form, name),))


# Parts of a run


@proposes("E-CONTRACT-001")
def a_missing_part(case: Case) -> Iterable[Proposal]:
    """An optimizer, or a `model` where one model stands under another name: what can be known of the parts."""
    message, top = case.diagnostic.message, case.spot.path[0]
    if message == "this run lacks an optimizer":
        yield Proposal("add an optimizer", (form_before(top, OPTIMIZER),))
    elif message == "this run lacks `model`":
        for name in list(case.analysis.program.models)[:_MOST_OFFERED]:
            yield Proposal(f"add (def model {name})", (form_before(top, f"(def model {name})"),))


@proposes("E-CONTRACT-013", "E-CONTRACT-014")
def a_pass(case: Case) -> Iterable[Proposal]:
    """A pass on the training loader, under the name by which `curriculum` asks for observations, or `:keep-best` for a metric."""
    analysis, top, message = case.analysis, case.spot.path[0], case.diagnostic.message
    asked = re.search(r'"([^"/\s]+)/([^"]*)"', top.text if case.diagnostic.code == "E-CONTRACT-014" else message)
    report = _loss_reported(analysis) if asked is not None and asked[2] == "loss" else ()
    if case.diagnostic.code == "E-CONTRACT-013":
        if asked is None or not message.startswith("no pass reports") or asked[1] in analysis.unit.main.passes:
            return
        graph = analysis.program.objective
        if not report and (graph is None or all(each.name != asked[2] for each in graph.metrics)):
            return  # nor would the pass
    pass_ = _pass_text(analysis, asked[1] if asked else "eval")
    if pass_:
        title = "add a pass, and report the loss" if report else "add a pass"
        yield Proposal(title, (form_before(top, pass_), *report))


def _loss_reported(analysis: Analysis) -> tuple[TextEdit, ...]:
    """What `objective` returns, as the metric "loss"; nothing where that is reported."""
    objective, graph = function_of(analysis, "objective"), analysis.program.objective
    if objective is None or graph is None or any(each.name == "loss" for each in graph.metrics):
        return ()
    return around(_returned(objective), '(metric "loss" ', ")")


def _returned(function: ListForm) -> Form:
    """The form whose value a function returns."""
    form = function.items[-1]
    while isinstance(form, ListForm) and form.head in ("let", "let*", "progn") and len(form.items) > 2:
        form = form.items[-1]
    return form


def _is_short(source: Made | None, batch: int | None) -> bool:
    """Whether one epoch of a source is known to fill no batch: a pass over it would be none."""
    count = source.arguments.get("count") if source is not None and source.name == "synthetic" else None
    return isinstance(count, int) and batch is not None and count < batch


def pass_text(analysis: Analysis, top: Form) -> str:
    """A pass on the training loader, under the name by which a form asks for one; empty where there is no such loader."""
    asked = re.search(r'"([^"/\s]+)/[^"]*"', top.text)
    return _pass_text(analysis, asked[1] if asked else "eval")


def _pass_text(analysis: Analysis, name: str) -> str:
    loader = analysis.program.training
    if loader is None or any(_is_short(source, loader.batch) for source in loader.sources or ()):
        return ""
    return f"(defpass {name}{BREAK}:loader {loader.name}{BREAK}:every {_EVERY})" if one_form(name) is not None else ""


@proposes("E-CONTRACT-021")
def an_average(case: Case) -> Iterable[Proposal]:
    """A run that keeps the average, or the parameters as they are."""
    run = declared(case.analysis, "defrun")
    call = case.spot.parent
    if case.diagnostic.help.startswith("write :ema") and run is not None:
        yield Proposal("add :ema 0.999 to defrun", (key_added(run, ":ema 0.999"),))
    if call is not None and len(call.items) == 2:
        yield Proposal("read the parameters themselves", (replaced(call, call.items[1].text),))


@proposes("W-CONTRACT-003")
def no_curriculum(case: Case) -> Iterable[Proposal]:
    """Without a curriculum there is nowhere to go either."""
    top = case.spot.path[0]
    if isinstance(top, ListForm) and top.head == "defun":
        yield Proposal("remove curriculum", (removed_top(top),))


# Fields


@proposes("E-DATA-002")
def a_field(case: Case) -> Iterable[Proposal]:
    """An entry that no field stands for: left out, or with a field for it."""
    from sexpgpu.fixes.dtypes import tensors

    form, record = case.spot.form, case.spot.parent
    found = re.match(r"the loader `(\S+)` declares no field :(\S+)", case.diagnostic.message)
    if found is None or record is None or record.head != "list":
        return
    index = record.items.index(form)
    lacking = [name for name in _fields(case, found[1]) if f":{name}" not in [key.text for key in record.items[1::2]]]
    near = nearest(found[2], lacking)
    if near:
        yield Proposal(f"write :{near[0]}", (replaced(record.items[index - 1], f":{near[0]}"),))
        return
    loader = declared(case.analysis, "defloader", found[1])
    fields = None
    if loader is not None:
        fields = next((value for key, value in declared_pairs(loader) if key.name == "fields"), None)
    types = {(node.shape, node.dtype) for node in tensors(case.spot, form)}
    written = last_list(fields) if fields is not None else None
    if written is not None and len(types) == 1:
        shape, dtype = next(iter(types))
        spec = f"(spec [{' '.join(map(str, shape))}] {dtype!r})"
        yield Proposal(f"declare the field :{found[2]}", (put_behind(written.items[-1], f" :{found[2]} {spec}"),))
    if len(record.items) > 3:
        yield Proposal(f"leave :{found[2]} out", (removed(record, record.items[index - 1], form),))


def _fields(case: Case, loader: str) -> list[str]:
    known = case.analysis.program.loaders.get(loader)
    return list(known.fields or {}) if known is not None else []


# Reports that stand where none are read


@proposes("E-CONTRACT-010", "E-CONTRACT-020", "W-CONTRACT-001", "W-GEN-004", "E-GEN-004")
def left_out(case: Case) -> Iterable[Proposal]:
    """A report without a reader, left out: in front of other forms all of it, elsewhere all but its value."""
    head, call = case.spot.form, case.spot.parent
    if call is None or call.items[0] is not head or head.text not in ("metric", "diagnostic", "counter"):
        return
    parent = case.spot.above(2)
    if parent is not None and in_statement(case.spot.path[:-1]):
        yield Proposal(f"remove the {head.text}", (removed(parent, call),))
    elif len(call.items) > 2 and head.text != "counter":
        yield Proposal(f"keep the value without the {head.text}", (replaced(call, call.items[2].text),))


@proposes("I-PRINT-001")
def without_print(case: Case) -> Iterable[Proposal]:
    """The value alone; at the top level, nothing."""
    call = case.spot.form
    if not isinstance(call, ListForm) or call.head != "print" or len(call.items) < 2:
        return
    if len(case.spot.path) == 1:
        yield Proposal("remove the print", (removed_top(call),))
    else:
        yield Proposal("remove the print", (replaced(call, call.items[-1].text),))
