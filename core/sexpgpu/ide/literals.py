"""Forms that say themselves what they are, and whether a value says more than the text that it is the value of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sexpgpu.ide.bindings import described
from sexpgpu.ide.ctx import READERS
from sexpgpu.ide.markup import Code, Part, Prose
from sexpgpu.ide.roles import place_of
from sexpgpu.language.quotes import quoted
from sexpgpu.language.special import SPECIAL_FORMS
from sexpgpu.language.values import Keyword, List, Nil, Value, kind_of
from sexpgpu.program.unit import Definition
from sexpgpu.reader.forms import (
    ConstantForm,
    Form,
    KeywordForm,
    ListForm,
    NumberForm,
    QuoteForm,
    StringForm,
    SymbolForm,
    VectorForm,
)

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

LITERALS = (NumberForm, StringForm, KeywordForm, ConstantForm, QuoteForm)

_BY_KEY = (*READERS, "plist-set")
_KEYED = ("scope", "param", "defmodel")


def says_more(form: Form, value: str) -> bool:
    """Whether a value, in words, tells a reader more than its form does."""
    text = " ".join(form.text.split())
    head = form.head if isinstance(form, ListForm) else None
    return bool(value) and not isinstance(form, LITERALS) and value not in (text, head) and f"({value})" != text


def literal(form: Form) -> list[Part]:
    """A literal, once, with its kind."""
    value = quoted(form.form if isinstance(form, QuoteForm) else form)
    match form:
        case QuoteForm():
            text = f"'{described(value)}"
        case VectorForm() | StringForm():
            text = described(value)
        case _:
            text = form.text
    return [Code(text), Prose(_kind(value))]


def _kind(value: Value) -> str:
    match value:
        case Nil():
            return "nothing: false, and the empty list"
        case bool():
            return "a truth value"
        case Keyword():
            return "a keyword"
        case List():
            count = len(value.items)
            return f"a {'vector' if value.vector else 'list'} of {count:,} item{'s' * (count != 1)}"
        case _:
            return kind_of(value)


def is_value(analysis: Analysis, path: Sequence[Form]) -> bool:
    """Whether the last form of a path, a string or a keyword, is a value by itself: not a key, a file, or the text that documents a
    function."""
    form, around = path[-1], path[-2] if len(path) > 1 else None
    place = place_of(path)
    if place.role in ("key", "file") or _documents(path):
        return False
    if not isinstance(form, KeywordForm) or not isinstance(around, ListForm):
        return True
    index = next(index for index, item in enumerate(around.items) if item is form)
    if any(isinstance(outer, QuoteForm) for outer in path):
        return not _in_plist(index + 1, len(around.items))
    if place.role != "value":
        return False
    if place_of(path[:-1]).role == "nothing":  # a binding, a default, a clause of `cond`
        return True
    return _is_argument(analysis, around, index)


def _is_argument(analysis: Analysis, call: ListForm, index: int) -> bool:
    head = call.items[0]
    found = analysis.marks.references.get(head) if isinstance(head, SymbolForm) else None
    if isinstance(found, Definition) and found.signature is not None:
        if found.name == "list" and found.kind == "host":
            return not _in_plist(index, len(call.items) - 1)
        if found.name in _BY_KEY and index > 1:
            return False
        behind = index - len(found.signature.positional)
        return behind <= 0 or behind % 2 == 0 or not found.signature.keys
    if found is None and isinstance(head, SymbolForm) and head.name in SPECIAL_FORMS:
        return head.name not in _KEYED
    # What is called is not known, so that a keyword with something behind it may belong to that.
    return index == len(call.items) - 1


def _in_plist(place: int, count: int) -> bool:
    """Whether the item at a place, counted from 1, is a key, should the list be a plist."""
    return count % 2 == 0 and place % 2 == 1


def _documents(path: Sequence[Form]) -> bool:
    top = path[0]
    if len(path) != 2 or not isinstance(top, ListForm) or top.head not in ("defun", "defmodel"):
        return False
    return isinstance(path[1], StringForm) and path[1] is not top.items[-1]
