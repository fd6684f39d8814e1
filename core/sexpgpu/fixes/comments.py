"""Comments around what is changed: none gets lost with a form that stays, and none comes to speak of something else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.diagnostics.ignore import ignored
from sexpgpu.fixes.proposal import BREAK
from sexpgpu.ide.places import comments_in
from sexpgpu.reader.documentation import documentation
from sexpgpu.reader.forms import Comment, Form
from sexpgpu.source import Source, Span

if TYPE_CHECKING:
    from sexpgpu.program.unit import Module

_SILENCES = re.compile(r";+\s*sexpgpu:\s*ignore\b")


def loses_comments(module: Module, edits: Iterable[TextEdit]) -> bool:
    """Whether edits take a comment out of a file that none of them writes again."""
    edits = list(edits)
    text = module.source.text
    taken = [edit.span for edit in edits if edit.span.source is module.source and edit.span.start < edit.span.end]
    gone = Counter(
        text[start:end] for start, end in comments_in(module) if any(span.start < end and start < span.end for span in taken)
    )
    written = "\n".join(edit.text for edit in edits)
    return any(written.count(comment) < count for comment, count in gone.items())


def silences(module: Module, start: int, end: int) -> bool:
    """Whether a comment silences something on the lines from one offset to another: what is moved from there would be heard."""
    source = module.source
    lines = ignored(source, comments_in(module))
    return any(line in lines for line in range(source.line_at(start), source.line_at(end) + 1))


def unwrapped(module: Module, around: Form, body: Form, gone: Span) -> tuple[TextEdit, ...] | None:
    """A form replaced by its last part: all around that is taken out, but for the comments that do not stand in what is `gone`.
    None where one of them silences something, since what that is moves."""
    source, start, end = around.span
    inside = body.span
    if silences(module, start, inside.start) or silences(module, inside.end, end):
        return None
    text = source.text
    before = ""
    kept = inside.end
    for first, last in comments_in(module):
        if start <= first and last <= inside.start and not gone.start <= first < gone.end:
            before += text[first:last] + (BREAK if text[first] == ";" else " ")
        elif inside.end <= first and last <= end:
            kept = last
    tail = text[inside.end : kept]
    if kept > inside.end and text[end : end + 1] not in ("", "\r", "\n"):
        tail += BREAK  # whatever follows would be part of the comment
    return TextEdit(Span(source, start, inside.start), before), TextEdit(Span(source, inside.end, end), tail)


# What belongs to a form of the top level


def block_above(form: Form) -> int:
    """Where the comments begin that stand right above a form of the top level and are its own: those that silence something on its
    line, and, where a blank line or nothing stands in front of them, the whole block. The form's own place where there are none."""
    source, start, _ = form.span
    line = first = source.line_at(start)
    if source.text[source.line_starts[line] : start].strip():
        return start
    while first > 0 and source.line(first - 1).lstrip().startswith(";"):
        first -= 1
    if first == line or not _documents(form, first, line):
        return start
    if first > 0 and source.line(first - 1).strip():
        first = line
        while _SILENCES.match(source.line(first - 1).lstrip()):
            first -= 1
    return source.line_starts[first] if first < line else start


def _documents(form: Form, first: int, line: int) -> bool:
    """Whether the reader took lines for the comments of a form, which they are not in a string or a longer comment."""
    source, start, _ = form.span
    lines = [(source.line_starts[each], source.line(each)) for each in range(first, line)]
    comments = [Comment(at + len(text) - len(text.lstrip()), at + len(text)) for at, text in lines]
    return documentation(source.text, comments, 0, start) == form.top.documentation


def end_of_line(source: Source, start: int, end: int) -> int:
    """Where what stands behind a form of the top level ends on its line: the comment there belongs to a form that has the line for
    itself."""
    line = source.line_at(end)
    behind = source.text[end : source.line_starts[line] + len(source.line(line))]
    alone = not source.text[source.line_starts[source.line_at(start)] : start].strip()
    return end + len(behind) if alone and behind.lstrip(" \t").startswith(";") else end
