"""Text that does not read: brackets, tokens, ends of strings. A fix is proposed only if the text reads better with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.fixes.proposal import Proposal
from sexpgpu.fixes.table import proposes_for_text
from sexpgpu.reader import read
from sexpgpu.source import Source, Span

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.diagnostics.finding import Diagnostic

_LONGEST = 1_000_000
_CODES = ("E-READ-001", "E-READ-002", "E-READ-003", "E-READ-004")


@proposes_for_text(*_CODES)
def better(_: Analysis, diagnostic: Diagnostic) -> Iterable[Proposal]:
    """The likely changes that leave fewer things which do not read, and not this one."""
    source = diagnostic.span.source
    if len(source.text) > _LONGEST:
        return
    before = len(read(Source("", source.text)).findings)
    for title, edits in _likely(source, diagnostic):
        text = source.text
        for edit in sorted(edits, key=lambda edit: edit.span.start, reverse=True):
            text = text[: edit.span.start] + edit.text + text[edit.span.end :]
        if len(read(Source("", text)).findings) < before:
            yield Proposal(title, edits)


def _likely(source: Source, diagnostic: Diagnostic) -> Iterator[tuple[str, tuple[TextEdit, ...]]]:
    span, message, help = diagnostic.span, diagnostic.message, diagnostic.help
    written = source.text[span.start : span.end]
    if message.endswith("is never closed"):
        yield from _closed(source, diagnostic)
    elif found := re.match(r"write `([)\]])` here", help):
        yield f"write {found[1]}", (TextEdit(span, found[1]),)
        yield f"remove {written}", (TextEdit(span, ""),)
    elif message.endswith("closes nothing"):
        yield f"remove {written}", (TextEdit(span, ""),)
    elif message.startswith("a control character"):
        yield "remove the character", (TextEdit(span, ""),)
    elif message.startswith(("a colon without", "this quote has", "this `#;` has")):
        yield f"remove {written.strip()}", (TextEdit(span, ""),)
    elif message.startswith("this string"):
        yield from _ended(source, span)
    elif message.startswith("this comment"):
        end = len(source.text.rstrip())
        yield "end the comment at the end of the file", (_put(source, end, " |#"),)
        yield "end the comment on its line", (_put(source, _line_end(source, span.start), " |#"),)


def _put(source: Source, at: int, text: str) -> TextEdit:
    return TextEdit(Span(source, at, at), text)


def _line_end(source: Source, offset: int) -> int:
    line = source.line_at(offset)
    return source.line_starts[line] + len(source.line(line).rstrip())


def _closed(source: Source, diagnostic: Diagnostic) -> Iterator[tuple[str, tuple[TextEdit, ...]]]:
    """The closers that are missing: where indentation says so, or behind the last form before the next one in column 0."""
    help = diagnostic.help
    if found := re.search(r"a `([)\]])` is missing before line (\d+)", help):
        line = int(found[2]) - 1
        yield f"write {found[1]} before line {line + 1}", (_put(source, _behind_code(source, line), found[1]),)
        return
    found = re.search(r"write `([)\]]+)` (?:before line (\d+)|at the end)", help)
    if found is None:
        return
    line = int(found[2]) - 1 if found[2] else len(source.line_starts)
    where = f"before line {line + 1}" if found[2] else "at the end of the file"
    yield f"write {found[1]} {where}", (_put(source, _behind_code(source, line, source.line_at(diagnostic.span.start)), found[1]),)


def _behind_code(source: Source, before: int, first: int = 0) -> int:
    """Where the code ends above a line: comments and blank lines are passed over."""
    for line in range(min(before, len(source.line_starts)) - 1, first - 1, -1):
        text = source.line(line)
        code = re.match(r'((?:"(?:[^"\\]|\\.)*"|[^";])*)', text)
        kept = code[1].rstrip() if code else text.rstrip()
        if kept:
            return source.line_starts[line] + len(kept)
    return source.line_starts[max(before - 1, 0)]


def _ended(source: Source, span: Span) -> Iterator[tuple[str, tuple[TextEdit, ...]]]:
    """A quotation mark at the end of the line, in front of what closes the lists around the string."""
    end = _line_end(source, span.start)
    inside = source.text[span.start : end]
    closers = len(inside) - len(inside.rstrip(")]"))
    depth = _open_before(source, span.start)
    yield 'write " on this line', (_put(source, end - min(closers, depth), '"'),)


def _open_before(source: Source, offset: int) -> int:
    """How many lists are open at an offset, counted from the start of the line of the last opener in column 0."""
    line = source.line_at(offset)
    while line > 0 and source.text[source.line_starts[line] : source.line_starts[line] + 1] not in ("(", "["):
        line -= 1
    part = re.sub(r'"(?:[^"\\]|\\.)*"|;[^\r\n]*', "", source.text[source.line_starts[line] : offset])
    return max(0, len(re.findall(r"[(\[]", part)) - len(re.findall(r"[)\]]", part)))


@proposes_for_text("E-LOAD-001", "W-DATA-001")
def a_file_that_there_is(_: Analysis, diagnostic: Diagnostic) -> Iterable[Proposal]:
    """The name of a file in the same folder, where one is nearly that."""
    import os

    from sexpgpu.language.nearest import nearest

    source, start, end = diagnostic.span
    written = source.text[start:end]
    if not (written.startswith('"') and written.endswith('"')) or "\\" in written or source.builtin:
        return
    folder, name = os.path.split(written[1:-1])
    path = os.path.join(os.path.dirname(os.path.abspath(source.name)), folder)
    try:
        ending = os.path.splitext(name)[1]
        names = [each for each in os.listdir(path) if os.path.splitext(each)[1] == ending] if ending else []
    except OSError:
        return
    for near in nearest(name, names):
        text = f'"{written[1:-1][: len(written) - 2 - len(name)]}{near}"'
        yield Proposal(f"write {text}", (TextEdit(diagnostic.span, text),))
