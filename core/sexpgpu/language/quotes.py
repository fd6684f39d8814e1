"""What a quoted form is."""

from __future__ import annotations

from sexpgpu.language.values import NIL, UNKNOWN, List, Symbol, Value, keyword
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


def quoted(form: Form) -> Value:
    """The form as data: symbols, keywords, numbers, lists, without evaluation."""
    match form:
        case SymbolForm():
            return Symbol(form.name)
        case KeywordForm():
            return keyword(form.name)
        case NumberForm() | StringForm():
            return form.value
        case ConstantForm():
            return NIL if form.value is None else form.value
        case ListForm():
            return List([quoted(item) for item in form.items]) if form.items else NIL
        case VectorForm():
            return List([quoted(item) for item in form.items], vector=True)
        case QuoteForm():
            return List([Symbol("quote"), quoted(form.form)])
        case _:
            return UNKNOWN
