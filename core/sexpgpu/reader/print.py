"""Writing forms as text: what is written reads as forms with the same values."""

from __future__ import annotations

import re

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

_CONSTANTS = {None: "nil", True: "true", False: "false"}
_ESCAPES = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_NEEDS_ESCAPE = r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029]'
# Python refuses to write integers of many digits in decimal.
_DECIMAL_BITS = 1024


def write(form: Form) -> str:
    """The form on one line, without comments: one space between forms, numbers and strings in one spelling.

    What did not read is written as it stands.
    """
    written: list[str] = []
    rest: list[Form | str] = [form]
    while rest:
        part = rest.pop()
        if isinstance(part, str):
            written.append(part)
        elif isinstance(part, ListForm | VectorForm):
            opener, closer = "()" if isinstance(part, ListForm) else "[]"
            written.append(opener)
            rest.append(closer)
            for item in reversed(part.items):
                rest += (item, " ")
            if part.items:
                rest.pop()
        elif isinstance(part, QuoteForm):
            written.append("'")
            rest.append(part.form)
        else:
            written.append(_atom(part))
    return "".join(written)


def write_string(value: str) -> str:
    """A string as it is written: with quotation marks and escapes, on one line."""
    return f'"{re.sub(_NEEDS_ESCAPE, _escape, value)}"'


def write_number(value: int | float) -> str:
    """A number as it is written."""
    if isinstance(value, int) and value.bit_length() > _DECIMAL_BITS:
        return hex(value)
    return repr(value)


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{{{ord(match[0]):x}}}"


def _atom(form: Form) -> str:
    match form:
        case SymbolForm():
            return form.name
        case KeywordForm():
            return f":{form.name}"
        case NumberForm():
            return write_number(form.value)
        case StringForm():
            return write_string(form.value)
        case ConstantForm():
            return _CONSTANTS[form.value]
        case _:
            return form.text
