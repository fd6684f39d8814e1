"""What stands where, as the text alone tells: which forms are expressions, and what a name would be elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sexpgpu.fixes.spots import Spot
from sexpgpu.ide.places import children
from sexpgpu.ide.roles import place_of
from sexpgpu.language.marks import Local
from sexpgpu.language.special import WORDS
from sexpgpu.program.unit import Definition
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, QuoteForm, StringForm, SymbolForm

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis


def captured(analysis: Analysis, value: Form, path: list[Form], gone: SymbolForm) -> bool:
    """Whether a name that a value reads stands for something else at the end of a path, once the binding of `gone` is away."""
    there = place_of(path).locals
    for symbol in _names_in(value):
        found = analysis.marks.references.get(symbol)
        here = found.name_form if isinstance(found, Local) else None
        if here is not None and value.start <= here.start < value.end:
            continue  # bound in the value, it goes with it
        if there.get(symbol.name) is not here and there.get(symbol.name) is not gone:
            return True
    return False


def _names_in(form: Form) -> Iterator[SymbolForm]:
    """The symbols in a form that are no data."""
    waiting = [form]
    while waiting:
        each = waiting.pop()
        if isinstance(each, SymbolForm):
            yield each
        elif not isinstance(each, QuoteForm) and not (isinstance(each, ListForm) and each.head == "quote"):
            waiting.extend(children(each))


def why_no_expression(spot: Spot) -> str:
    """Why the form is not one that is evaluated, whether anything calls for it or not; empty where it is."""
    marks, parent = spot.analysis.marks, spot.parent
    if any(each in marks.broken and isinstance(each, ListForm) and each.head in WORDS for each in spot.path[:-1]):
        return "a form around it has an error"
    named = isinstance(spot.form, SymbolForm) and marks.references.get(spot.form)
    declared = isinstance(named, Definition) and named.kind in ("defloader", "defpass")
    documents = parent is spot.path[0] and parent is not None and isinstance(spot.form, StringForm) and parent.head in _DOCUMENTED
    if isinstance(spot.form, KeywordForm) or declared or (documents and spot.place() == 3) or place_of(spot.path).role != "value":
        return "what is selected is no expression"
    return ""


_DOCUMENTED = ("defun", "defmodel")
