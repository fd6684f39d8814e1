"""Edits at forms: replace, put in, take out."""

from __future__ import annotations

import re

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.fixes.comments import block_above, end_of_line
from sexpgpu.fixes.proposal import BREAK
from sexpgpu.language.shapes import declared_pairs
from sexpgpu.reader.forms import Form, KeywordForm, ListForm
from sexpgpu.source import Source, Span

_WHITE = " \t\r\n\f\v"
_COMMENT_BEFORE = re.compile(r";[^\r\n]*\Z")


def replaced(form: Form, text: str) -> TextEdit:
    """Another text in a form's place."""
    return TextEdit(form.span, text)


def put_behind(form: Form, text: str) -> TextEdit:
    """A text right behind a form."""
    source, _, end = form.span
    return TextEdit(Span(source, end, end), text)


def put_before(form: Form, text: str) -> TextEdit:
    """A text right in front of a form."""
    source, start, _ = form.span
    return TextEdit(Span(source, start, start), text)


def around(form: Form, before: str, behind: str) -> tuple[TextEdit, TextEdit]:
    """A text in front of a form, and one behind it."""
    return put_before(form, before), put_behind(form, behind)


def removed(parent: ListForm, first: Form, last: Form | None = None) -> TextEdit:
    """Take parts out of a list, from `first` to `last`, with the white space in front of them; comments stay."""
    source, start, end = Span(first.span.source, first.span.start, (last or first).span.end)
    text = source.text
    before = start
    while before and text[before - 1] in _WHITE:
        before -= 1
    line = source.line_starts[source.line_at(max(before - 1, 0))]
    broken = "\n" in text[before:start] or "\r" in text[before:start]
    # A line end in front of which a comment may stand has to stay, unless another follows.
    commented = broken and text[end : end + 1] not in ("\r", "\n") and _ends_in_comment(source, line, before)
    if parent.items and parent.items[0] is first:
        while text[end : end + 1] and text[end] in _WHITE:
            end += 1
        return TextEdit(Span(source, start, end), "")
    return TextEdit(Span(source, start if commented else before, end), "")


def _ends_in_comment(source: Source, line: int, end: int) -> bool:
    """Whether what stands in front of an offset on its line may be a comment."""
    return _COMMENT_BEFORE.search(source.text[line:end]) is not None


def removed_top(form: Form) -> TextEdit:
    """Take a form of the top level out, with the comments that are its own, the line end behind it and the blank lines that this
    leaves."""
    source, start, end = form.span
    text = source.text
    end = end_of_line(source, start, end)
    start = block_above(form)
    while end < len(text) and text[end] in " \t":
        end += 1
    while end < len(text) and text[end] in "\r\n":
        end += 1
    if end == len(text):  # the last form: the line end in front of the blank lines before it is the file's last
        kept = len(text[:start].rstrip())
        line = source.line_at(kept)
        start = source.line_starts[line + 1] if line + 1 < len(source.line_starts) else start
    return TextEdit(Span(source, start, end), "")


def entry_added(plist: ListForm, key: str, value: str) -> TextEdit:
    """Another entry at the end of a `list` that writes a plist: on a line of its own where the entries have theirs."""
    source, _, _ = plist.span
    keys = plist.items[1::2]
    lines = {source.line_at(each.span.start) for each in keys}
    apart = len(keys) > 1 and len(lines) == len(keys)
    return put_behind(plist.items[-1], f"{BREAK if apart else ' '}{key} {value}")


def key_added(declaration: ListForm, text: str) -> TextEdit:
    """A key with its value at the end of a declaration: on a line of its own where the others have theirs, or it has breaks."""
    source, start, end = declaration.span
    pairs = declared_pairs(declaration)
    own = source.line_at(start) != source.line_at(end) if pairs else BREAK in text
    return put_behind(declaration.items[-1], f"{BREAK if own else ' '}{text}")


def key_removed(declaration: ListForm, key: KeywordForm) -> TextEdit | None:
    """A key and its value taken out of a list."""
    place = declaration.items.index(key)
    if place + 1 >= len(declaration.items):
        return removed(declaration, key)
    return removed(declaration, key, declaration.items[place + 1])


def form_before(top: Form, text: str) -> TextEdit:
    """A form of the top level in front of another, and in front of the comments right above that."""
    source, start, _ = top.span
    line = source.line_at(start)
    while line > 0 and source.line(line - 1).lstrip().startswith(";"):
        line -= 1
    at = source.line_starts[line] if not source.text[source.line_starts[source.line_at(start)] : start].strip() else start
    return TextEdit(Span(source, at, at), f"{text}{BREAK}{BREAK}")


def statement_added(function: ListForm, text: str, body: int) -> TextEdit:
    """A form in front of the others in a function's body."""
    return put_before(function.items[body], f"{text}{BREAK}")
