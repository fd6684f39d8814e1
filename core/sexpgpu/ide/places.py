"""What stands at an offset of a file: forms, from the outermost in, and comments."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sexpgpu.reader.forms import Form, ListForm, QuoteForm, TopForm, VectorForm
from sexpgpu.source import Source, Span

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.program.unit import Module


def module_of(analysis: Analysis, source: Source) -> Module | None:
    """The module that was read from a source."""
    return next((module for module in analysis.unit.modules if module.source is source), None)


def forms_at(module: Module, offset: int) -> list[Form]:
    """The forms that hold an offset, the outermost first. Right behind an atom is still at it, unless another form begins there."""
    top = _top_at(module.reading.forms, offset)
    if top is None or top.form is None:
        return []
    at = offset - top.origin
    path: list[Form] = []
    form = _holder((top.form,), at)
    while form is not None:
        path.append(form)
        form = _holder(children(form), at)
    return path


def on_edge(form: Form, offset: int) -> bool:
    """Whether an offset stands at an atom, or at a list's bracket or a quote's sign: at what is written of the form itself."""
    at = offset - form.top.origin
    match form:
        case ListForm() | VectorForm():
            return at in (form.start, form.end - 1)
        case QuoteForm():
            return at < form.form.start
        case _:
            return True


def comment_at(module: Module, offset: int) -> Span | None:
    """The comment that holds an offset."""
    for comment in module.reading.comments:
        if comment.start <= offset <= comment.end:
            return Span(module.source, comment.start, comment.end)
    top = _top_at(module.reading.forms, offset)
    if top is not None:
        for comment in top.comments:
            if comment.start <= offset - top.origin <= comment.end:
                return Span(module.source, top.origin + comment.start, top.origin + comment.end)
    return None


def comments_in(module: Module) -> list[tuple[int, int]]:
    """Where the comments of a file begin and end, those inside forms too, in text order."""
    between = [(comment.start, comment.end) for comment in module.reading.comments]
    within = [(top.origin + each.start, top.origin + each.end) for top in module.reading.forms for each in top.comments]
    return sorted([*between, *within])


def children(form: Form) -> Sequence[Form]:
    """The forms right inside a form."""
    match form:
        case ListForm() | VectorForm():
            return form.items
        case QuoteForm():
            return (form.form,)
        case _:
            return ()


def lists_in(form: Form) -> Iterator[ListForm]:
    """The lists anywhere inside a form, itself included."""
    waiting = [form]
    while waiting:
        form = waiting.pop()
        if isinstance(form, ListForm):
            yield form
        waiting.extend(reversed(children(form)))


def _top_at(forms: list[TopForm], offset: int) -> TopForm | None:
    index = bisect_right(forms, offset, key=lambda top: top.origin) - 1
    if index < 0:
        return None
    top = forms[index]
    # Right behind one form is where the next may begin, but what stands behind both is neither's.
    return top if offset <= top.origin + len(top.text) else None


def _holder(forms: Sequence[Form], at: int) -> Form | None:
    """The form, of several in a row, that holds an offset."""
    index = bisect_right(forms, at, key=lambda form: form.start) - 1
    if index < 0:
        return None
    form = forms[index]
    closed = isinstance(form, (ListForm, VectorForm))
    return form if at < form.end or (at == form.end and not closed) else None
