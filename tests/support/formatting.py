"""What tests of the formatter share: what must not change, and texts whose layout has been shaken."""

from __future__ import annotations

import random
import re

from sexpgpu.format import apply_edits, format_edits, formatted
from sexpgpu.reader import read
from sexpgpu.reader.forms import Form, ListForm, QuoteForm, VectorForm
from sexpgpu.source import Source
from support.reading import every

_TOKEN = re.compile(r';[^\r\n]*|#\|(?s:.)*?\|#|"(?:[^"\\]|\\.)*"|#;|[()\[\]]|[^\s()\[\]";]+')
_ENDS = ["\n", "\n", "\n\n", "\n\n\n\n", "\r\n", "\r"]
_COMMENTS = [" ; why\n ", " ; sexpgpu: ignore[W-NAME-001]\n ", "\n   ; alone\n ", " #| inside |# ", " #;(gone) ", " #;\n  gone "]


def form(text: str) -> str:
    """The text as the formatter would have it."""
    return formatted(Source("test.sx", text))


def substance(text: str) -> tuple[list[object], list[str]]:
    """What formatting must keep: the forms, token for token, with their documentation, and the comments."""
    reading = read(Source("test.sx", text))
    assert not reading.findings
    forms: list[object] = []
    comments = [text[comment.start : comment.end] for comment in reading.comments]
    for top in reading.forms:
        forms.append(top.documentation)
        forms += [(type(each).__name__, _written(each)) for each in every(top.form)]
        comments += [top.text[comment.start : comment.end] for comment in top.comments]
    return forms, sorted(comments)


def _written(each: Form) -> str:
    """An atom as it is written; what stands inside others speaks for itself."""
    return "" if isinstance(each, ListForm | VectorForm | QuoteForm) else each.text


def check_formatting(text: str) -> str:
    """Assert what holds of every text, and give it formatted."""
    source = Source("test.sx", text)
    edits = format_edits(source)
    result = apply_edits(text, edits)
    assert result == form(text)
    if read(source).findings:
        assert not edits
        return result
    assert substance(result) == substance(text)
    assert format_edits(Source("test.sx", result)) == [], "formatting is done after once"
    position = 0
    for edit in edits:
        assert position <= edit.span.start <= edit.span.end
        assert text[edit.span.start : edit.span.end] != edit.text
        assert edit.span.start < edit.span.end or edit.text
        position = edit.span.end
    return result


def shaken(text: str, seed: int) -> str:
    """A text that reads, with its tokens in another layout and some comments more. Blocks of comments stay what they are."""
    source = random.Random(seed)
    breaks, spaces = source.random() * 0.3, source.random() * 0.2
    out: list[str] = []
    depth = 0
    for token in _TOKEN.findall(text):
        if depth == 0 and token in "([" and out and not out[-1].endswith(("'", ";")):
            out.append("\n")
        out.append(token)
        depth += (token in "([") - (token in ")]")
        draw = source.random()
        if token.startswith(";"):
            out.append("\n" + " " * source.randrange(4))
        elif depth == 0:
            out.append("\n" * source.randrange(1, 6))
        elif draw < breaks:
            out.append(source.choice(_ENDS) + " " * source.randrange(1, 12))
        elif draw < breaks + 0.05 and not token.startswith("#"):
            out.append(source.choice(_COMMENTS))
        else:
            out.append(" " if draw > spaces else "  \t ")
    return "".join(out)
