"""Names: undefined, defined twice, hidden, unused."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.fixes.comments import loses_comments, unwrapped
from sexpgpu.fixes.edits import put_before, put_behind, removed, removed_top, replaced
from sexpgpu.fixes.proposal import Proposal
from sexpgpu.fixes.spots import symbols_in
from sexpgpu.fixes.table import Case, proposes
from sexpgpu.ide.occurrences import Seen, occurrences, parameters_of, subject
from sexpgpu.ide.places import comments_in
from sexpgpu.ide.rename import Refused, check_name, check_subject
from sexpgpu.language.marks import Local
from sexpgpu.language.special import SPECIAL_FORMS, TOP_LEVEL
from sexpgpu.program.unit import Definition
from sexpgpu.reader.forms import ConstantForm, Form, KeywordForm, ListForm, NumberForm, StringForm, SymbolForm, VectorForm

_ELSEWHERE = re.compile(r"^write ([^\s,]+)(?:,| of a list| for a value|\Z)")


@proposes("E-NAME-001")
def what_it_is_called_here(case: Case) -> Iterable[Proposal]:
    """The word of this language for one of another."""
    found = _ELSEWHERE.match(case.diagnostic.help)
    if found is not None and not case.diagnostic.fixes:
        name = found[1]
        if case.spot.module.lookup(name) or name in SPECIAL_FORMS or name in ("true", "false", "nil") or name.startswith(":"):
            yield Proposal(f"write {name}", (replaced(case.spot.form, name),))


@proposes("E-NAME-002")
def one_definition(case: Case) -> Iterable[Proposal]:
    """Without the second definition; with the first's text said again, nothing is lost."""
    top = case.spot.path[0]
    first = case.spot.module.scope.get(case.spot.form.text)
    if isinstance(top, ListForm) and first is not None and first.form is not None and first.form is not top:
        same = " ".join(first.form.text.split()) == " ".join(top.text.split())
        edit = removed_top(top)
        yield Proposal("remove this definition", (edit,), safe=same and _said_again(case, edit))
    if isinstance(top, ListForm) and isinstance(case.spot.form, SymbolForm):
        free = _free(case, f"{case.spot.form.name}-2")
        yield Proposal(f"rename to {free}", (replaced(case.spot.form, free),))


def _said_again(case: Case, edit: TextEdit) -> bool:
    """Whether the comments that go are written elsewhere, too."""
    text = case.spot.source.text
    gone = (text[start:end] for start, end in comments_in(case.spot.module) if edit.span.start <= start < edit.span.end)
    return all(text.count(comment) > 1 for comment in gone)


def _free(case: Case, name: str) -> str:
    """A name like this one that nothing has."""
    count = 2
    while case.spot.module.lookup(name) is not None:
        count += 1
        name = f"{name.rpartition('-')[0]}-{count}"
    return name


@proposes("W-NAME-001")
def a_name_of_its_own(case: Case) -> Iterable[Proposal]:
    """Another name for a definition that hides one of the language, wherever it stands: in files that load this one, too."""
    analysis, spot = case.analysis, case.spot
    found = subject(analysis, spot.module, spot.span.start)
    if found is None:
        return
    seen = Seen(analysis, found, occurrences(analysis, found))
    name = f"own-{found.name}"
    try:
        check_subject(seen)
        name = check_name(seen, name)
    except Refused:
        return
    yield Proposal(f"rename to {name}", tuple(TextEdit(place.part, name) for place in seen.places), rename=name)


@proposes("H-NAME-001")
def unused(case: Case) -> Iterable[Proposal]:
    """A name that says it is not used, or no binding at all."""
    form = case.spot.form
    local = case.analysis.marks.references.get(form) if isinstance(form, SymbolForm) else None
    if not isinstance(local, Local):
        return
    parameters = parameters_of(local.form)
    if parameters is None or all(symbol is not form for symbol, _ in parameters.keys):
        name = f"_{local.name}"
        taken = any(other.name == name and other.form is local.form for other in case.analysis.marks.locals)
        if not taken:
            yield Proposal(f"write {name}", (replaced(form, name),))
    binding = case.spot.parent
    bindings = case.spot.above(2)
    around = case.spot.above(3)
    if (
        around is not None
        and around is local.form
        and around.head in ("let", "let*")
        and binding is not None
        and bindings is not None
    ):
        title = f"remove the binding of {local.name}{_dropped(case, binding)}"
        if len(bindings.items) > 1:
            yield Proposal(title, (removed(bindings, binding),))
        elif len(around.items) == 3:
            edits = unwrapped(case.spot.module, around, around.items[2], binding.span)
            yield from [Proposal(title, edits)] if edits is not None else []


_DROPPED = {
    "metric": "the metric that it reports",
    "diagnostic": "the diagnostic that it reports",
    "counter": "the counter that it counts",
    "print": "what it prints",
}


def _dropped(case: Case, binding: Form) -> str:
    """What a binding does besides giving a value, in the words of a title: it, or a function of the file that it names."""
    references = case.analysis.marks.references
    found: dict[str, None] = {}
    waiting, seen = [binding], {binding}
    while waiting:
        for symbol in symbols_in(waiting.pop()):
            named = references.get(symbol)
            if isinstance(named, Definition) and named.form is None and named.name in _DROPPED:
                found[_DROPPED[named.name]] = None
            elif isinstance(named, Definition) and named.form is not None and named.form not in seen:
                seen.add(named.form)
                waiting.append(named.form)
    said = list(found) if len(found) < 2 else ["all that it reports"]
    return f", and {said[0]}" if said else ""


# Forms


@proposes("E-FORM-001")
def in_their_brackets(case: Case) -> Iterable[Proposal]:
    """Bindings and parameters in the brackets that they need."""
    form, message = case.spot.form, case.diagnostic.message
    parent, around = case.spot.parent, case.spot.above(2)
    if message.startswith("a binding is") and parent is not None and around is not None and around.head in ("let", "let*"):
        items = parent.items
        pairs = list(zip(items[::2], items[1::2], strict=False))
        if len(items) % 2 == 0 and all(isinstance(name, SymbolForm) for name in items[::2]) and around.items[1] is parent:
            edits = [edit for name, value in pairs for edit in (put_before(name, "("), put_behind(value, ")"))]
            yield Proposal("put the bindings in brackets", tuple(edits), safe=len(items) == 2)
    elif message.startswith("a parameter list stands") and not isinstance(form, (ListForm, KeywordForm, StringForm, NumberForm)):
        twice = next((each for each in parent.items[1:3] if each.text == parent.head), None) if parent is not None else None
        if twice is not None and parent is not None:
            yield Proposal(f"remove the second {twice.text}", (removed(parent, twice),))
            return
        inside = form.text[1:-1] if form.text.startswith("[") else form.text
        if not isinstance(form, ConstantForm):
            yield Proposal(
                f"write ({inside})" if len(inside) < 30 else "write round brackets",
                (replaced(form, f"({inside})"),),
                safe=isinstance(form, VectorForm),
            )
    elif message.startswith("the bindings of") and parent is not None and isinstance(form, SymbolForm) and len(parent.items) > 3:
        name, value = form, parent.items[2]
        yield Proposal("put the binding in brackets", (put_before(name, "(("), put_behind(value, "))")))
    elif message.startswith("`let` binds"):
        yield from _let_star(case.spot.above(3), around)


def _let_star(*lists: ListForm | None) -> Iterable[Proposal]:
    for each in lists:
        if each is not None and each.head == "let":
            yield Proposal("write let*", (replaced(each.items[0], "let*"),))


_DEFINES = {"define": "def", "defvar": "def", "defparameter": "def", "defconstant": "def"}


@proposes("E-FORM-001")
def a_definition(case: Case) -> Iterable[Proposal]:
    """`def` or `defun` for the words that other languages have, and for a misspelt one."""
    head, top = case.spot.form, case.spot.path[0]
    if not (
        isinstance(top, ListForm)
        and isinstance(head, SymbolForm)
        and top.items[0] is head
        and "form of the top level" in case.diagnostic.message
    ):
        return
    items = top.items
    if head.name in _DEFINES and len(items) == 3 and isinstance(items[1], SymbolForm):
        yield Proposal("write def", (replaced(head, "def"),), safe=True)
    elif head.name == "define" and len(items) > 2 and isinstance(items[1], ListForm) and items[1].items:
        name, *parameters = (each.text for each in items[1].items)
        edits = (replaced(head, "defun"), replaced(items[1], f"{name} ({' '.join(parameters)})"))
        if not loses_comments(case.spot.module, edits):
            yield Proposal("write defun", edits, safe=True)
    else:
        from sexpgpu.language.nearest import nearest

        for name in nearest(head.name, TOP_LEVEL):
            yield Proposal(f"write {name}", (replaced(head, name),))


@proposes("E-FORM-001")
def without_the_rest(case: Case) -> Iterable[Proposal]:
    """One part too many, left out."""
    parent = case.spot.parent
    if parent is None or not case.diagnostic.message.endswith("has too many parts"):
        return
    index = case.spot.place()
    rest: tuple[Form, ...] = parent.items[index:]
    if parent.head == "if" and index == 3:
        return
    if parent.head == "if" and rest:
        edits = (put_before(parent.items[index - 1], "(progn "), put_behind(rest[-1], ")"))
        yield Proposal("wrap the last parts in progn", edits)
    yield Proposal("leave out what is too much", (removed(parent, rest[0], rest[-1]),))
