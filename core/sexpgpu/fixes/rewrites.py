"""Changes that mend nothing and are of use: another way to write a form, or a part that a declaration may have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.fixes.comments import loses_comments, silences, unwrapped
from sexpgpu.fixes.contracts import added_pass_is_possible, generated_names, prepare_entry
from sexpgpu.fixes.declarations import pass_text
from sexpgpu.fixes.dtypes import tensors
from sexpgpu.fixes.edits import around, form_before, key_added, put_before, removed, replaced
from sexpgpu.fixes.generation import finish_text
from sexpgpu.fixes.proposal import BREAK, Proposal
from sexpgpu.fixes.scopes import captured, why_no_expression
from sexpgpu.fixes.spots import Spot, body_start, enclosing, spot_at, symbols_in
from sexpgpu.graph.nodes import Node
from sexpgpu.ide.places import forms_at, module_of, on_edge
from sexpgpu.language.shapes import declared_pairs
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, SymbolForm
from sexpgpu.source import Source, Span

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

REWRITE = "refactor.rewrite"
EXTRACT = "refactor.extract"
INLINE = "refactor.inline"


def rewrites_at(analysis: Analysis, source: Source, start: int, end: int) -> list[Proposal]:
    """What can be rewritten at a place, or, where a range covers an expression, with that."""
    module = module_of(analysis, source)
    if module is None or source.builtin:
        return []
    path = forms_at(module, start)
    if not path or path[0].top.broken:
        return []
    found: list[Proposal] = []
    here = Spot(analysis, module, path[-1].span, path)
    if start < end:
        spot = _selected(analysis, source, start, end)
        if spot is not None and spot.form not in analysis.marks.broken:
            found += [*_extracted(spot), *_cast(spot)]
    found += [*_inlined(here), *_let(here), *_declared(here)]
    return [each for each in found if not loses_comments(module, each.edits)]


def _selected(analysis: Analysis, source: Source, start: int, end: int) -> Spot | None:
    """The expression that a range covers, white space at its ends aside."""
    text = source.text[start:end]
    return spot_at(analysis, Span(source, start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())))


# An expression and its name


def _extracted(spot: Spot) -> Iterator[Proposal]:
    """The expression under a name, bound around the nearest part that is evaluated whenever it is."""
    title = "extract into a let binding"
    host = _host(spot)
    reason = why_no_expression(spot)
    if reason:
        yield Proposal(title, (), kind=EXTRACT, disabled=reason)
    elif host is None:
        yield Proposal(title, (), kind=EXTRACT, disabled="there is no body around it in which it could be bound")
    else:
        name = _fresh_name(spot, host)
        edits: tuple[TextEdit, ...]
        if _is_binding(spot, host):
            edits = (put_before(host, f"({name} {spot.form.text}){BREAK}"), replaced(spot.form, name))
        elif host is spot.form:
            edits = (replaced(host, f"(let (({name} {host.text})){BREAK}{name})"),)
        else:
            before, behind = around(host, f"(let (({name} {spot.form.text})){BREAK}", ")")
            edits = (before, replaced(spot.form, name), behind)
        yield Proposal(title, edits, kind=EXTRACT)


def _host(spot: Spot) -> Form | None:
    """The outermost form around an expression that is evaluated when it is, under the same names; a binding of `let*`, which sees
    those before it, stands for itself."""
    for index in range(len(spot.path) - 1, 0, -1):
        form, parent = spot.path[index], spot.path[index - 1]
        if _is_binding(spot, form):
            return form
        if not isinstance(parent, ListForm):
            continue
        start = body_start(parent)
        place = parent.items.index(form)
        if start is not None and place >= start:
            return form
        if parent.head == "if" and place > 1:
            return form
        if parent.head in ("lambda", "defun", "defmodel") and isinstance(form, ListForm) and place < (start or 0):
            return None  # a default, which sees the parameters before it
        if parent.head in ("cond", "and", "or", "quote") or (index > 1 and getattr(spot.path[index - 2], "head", "") == "cond"):
            return None
        if parent.head == "def" and place == 2:
            return form
    return None


def _is_binding(spot: Spot, form: Form) -> bool:
    """Whether a form is a binding of a `let*`."""
    index = spot.path.index(form)
    let = spot.path[index - 2] if index > 1 else None
    return isinstance(let, ListForm) and let.head == "let*" and len(let.items) > 1 and let.items[1] is spot.path[index - 1]


def _fresh_name(spot: Spot, host: Form) -> str:
    """A name after the expression's head that nothing in the host is called."""
    form = spot.form
    head = form.head if isinstance(form, ListForm) and form.head and re.fullmatch(r"[a-z][\w-]*", form.head) else "value"
    if head in ("field", "getf") and isinstance(form, ListForm) and len(form.items) > 2 and isinstance(form.items[2], KeywordForm):
        head = form.items[2].name
    used = {each.name for each in symbols_in(host)} | {
        local.name for local in spot.analysis.marks.locals if local.form in spot.path
    }
    name = f"{head}-value" if head in used or spot.module.lookup(head) is not None else head
    count = 2
    while name in used or spot.module.lookup(name) is not None:
        name = f"{head}-value-{count}"
        count += 1
    return name


def _cast(spot: Spot) -> Iterator[Proposal]:
    """A tensor in another dtype."""
    if not isinstance(spot.form, (ListForm, SymbolForm)) or why_no_expression(spot):
        return
    nodes: list[Node] = tensors(spot, spot.form)
    for dtype in (":f32", ":i32") if nodes else ():
        if any(repr(node.dtype) != dtype for node in nodes):
            yield Proposal(f"wrap in (cast … {dtype})", around(spot.form, "(cast ", f" {dtype})"), kind=REWRITE)


def _inlined(spot: Spot) -> Iterator[Proposal]:
    """A binding that is read once, written where it is read."""
    form, binding = spot.form, spot.parent
    bindings, let = spot.above(2), spot.above(3)
    if binding is None or bindings is None or let is None or let.head not in ("let", "let*") or let.items[1] is not bindings:
        return
    if binding.items[0] is not form or len(binding.items) != 2 or not isinstance(form, SymbolForm):
        return
    references, value = spot.analysis.marks.references, binding.items[1]
    local = references.get(form)
    alike = [each for each in symbols_in(let) if each.name == form.name and each is not form]
    named = [each for each in alike if references.get(each, local) is local]
    if len(named) != 1 or named[0] not in references or not _may_move(spot, let, form, named[0], value):
        return
    edits: tuple[TextEdit, ...] | None = None
    if len(bindings.items) > 1:
        edits = (removed(bindings, binding), replaced(named[0], value.text))
    elif len(let.items) == 3:
        rest = unwrapped(spot.module, let, let.items[2], value.span)
        edits = (rest[0], replaced(named[0], value.text), rest[1]) if rest is not None else None
    if edits is not None:
        yield Proposal(f"inline {form.name}", edits, kind=INLINE)


_NOT_ONCE = ("lambda", "dotimes", "dolist", "scope", "if", "when", "unless", "cond", "and", "or")
"""What evaluates its parts later, not at all, again, or under other paths."""


def _may_move(spot: Spot, let: ListForm, name: SymbolForm, use: SymbolForm, value: Form) -> bool:
    """Whether the value means the same where its name is read: it is evaluated once, and what it reads is what it was."""
    path = forms_at(spot.module, use.span.start)
    inner = path[path.index(let) + 1 :] if let in path else []
    if not inner or any(isinstance(form, ListForm) and form.head in _NOT_ONCE for form in inner):
        return False
    return not captured(spot.analysis, value, path, name) and not silences(spot.module, name.span.start, value.span.end)


def _let(spot: Spot) -> Iterator[Proposal]:
    """`let` for `let*`, where no value reads a name beside it, and the other way round."""
    let = spot.call
    if (
        let is None
        or let.head not in ("let", "let*")
        or not on_edge(spot.form, spot.span.start)
        or let in spot.analysis.marks.broken
    ):
        return
    bindings, word = next(iter(let.items[1:]), None), next(iter(let.items), None)
    if word is None or not isinstance(bindings, ListForm) or len(bindings.items) < 2:
        return
    pairs = [each.items for each in bindings.items if isinstance(each, ListForm) and len(each.items) == 2]
    names = [pair[0].text for pair in pairs]
    read = {each.name for pair in pairs for each in symbols_in(pair[1])}
    if len(set(names)) == len(names) == len(bindings.items) and not read & set(names):
        other = "let*" if let.head == "let" else "let"
        yield Proposal(f"turn into {other}", (replaced(word, other),), kind=REWRITE)


# Declarations


def _declared(spot: Spot) -> Iterator[Proposal]:
    """What a run, a generator or `prepare` may have and does not."""
    top, analysis = spot.path[0], spot.analysis
    if not isinstance(top, ListForm) or not analysis.ok:
        return
    keys = {key.name for key, _ in declared_pairs(top)}
    if top.head == "defrun" and added_pass_is_possible(analysis):
        text = pass_text(analysis, top)
        if text:
            yield Proposal("add a pass", (form_before(top, text),), kind=REWRITE)
    if top.head == "defgenerate" and "finish" not in keys and (spot.form is top or spot.parent is top):
        text = finish_text(analysis, {})
        if text:
            yield Proposal("add a :finish", (key_added(top, text),), kind=REWRITE)
    if top.head == "defun" and len(top.items) > 3 and top.items[1].text == "prepare" and enclosing(spot, "defun") is top:
        for name in generated_names(analysis)[:4]:
            edit = prepare_entry(analysis, name)
            if edit is not None:
                yield Proposal(f"hand :{name} on", (edit,), kind=REWRITE)
