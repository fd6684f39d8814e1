"""What formatting changes, as edits of white space."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.format.layout import laid_out
from sexpgpu.format.pieces import Piece, has_line_end, is_joined, start_of
from sexpgpu.reader import Reading, read
from sexpgpu.reader.tokens import LINE_COMMENT
from sexpgpu.source import BYTE_ORDER_MARK, LINE_END, Source, Span


def formatted(source: Source, reading: Reading | None = None) -> str:
    """The text as it should be; unchanged if it does not read."""
    return apply_edits(source.text, format_edits(source, reading=reading))


def format_edits(source: Source, span: Span | None = None, reading: Reading | None = None) -> list[TextEdit]:
    """The edits that format a source, in order and without overlap; none if anything in it does not read.

    Each is as small as it can be and changes white space alone (and the place of closers in front of a comment), on one line or at
    line ends. With a `span`, only those on its lines, and on those of the top-level forms that stand there. `reading` is what is
    known of the source as it is now, if anything is.
    """
    reading = read(source) if reading is None else reading
    if reading.findings:
        return []
    edits = _differences(source, laid_out(reading))
    if span is None:
        return list(edits)
    start, end = _lines(reading, span)
    return [edit for edit in edits if start <= edit.span.start and edit.span.end <= end]


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with the edits made, which are in order."""
    parts: list[str] = []
    position = 0
    for edit in edits:
        parts += (text[position : edit.span.start], edit.text)
        position = edit.span.end
    return "".join((*parts, text[position:]))


def _differences(source: Source, pieces: list[Piece]) -> Iterator[TextEdit]:
    text = source.text
    position = start_of(source)
    pulled = ""
    for piece in pieces:
        if piece.pulled:
            pulled += piece.text
            continue
        old = text[position : piece.start]
        new = pulled + _gap(source, piece, old)
        if old != new:
            yield from _edits(source, position, old, new)
        pulled = ""
        position = piece.end
    old = text[position:]
    new = _line_ends(source, position, old, 1) if pieces else ""
    yield from _edits(source, position, old, new)


def _gap(source: Source, piece: Piece, old: str) -> str:
    """What stands before a piece; `old` stood there."""
    if piece.lines:
        return _line_ends(source, piece.start, old, piece.lines) + " " * piece.column
    if piece.before is None:
        return old if piece.text.startswith(BYTE_ORDER_MARK) else ""  # in front it would be no part of the text any more
    if is_joined(piece, piece.before):
        return ""
    if piece.kind == LINE_COMMENT and not old.strip(" "):
        return old or " "
    return " "


def _line_ends(source: Source, offset: int, old: str, count: int) -> str:
    """So many line ends: those that there are first, else one of the kind that the line of `offset` has."""
    written = ""
    for end in LINE_END.findall(old)[:count] or [_line_end(source, offset)]:
        written += "\r" if written.endswith("\r") and end == "\n" else end  # two line ends must not become one
    return written


def _line_end(source: Source, offset: int) -> str:
    """How the line of an offset ends, or the line above the last one."""
    starts = source.line_starts
    line = min(source.line_at(offset), len(starts) - 2)
    if line < 0:
        return "\n"
    return source.text[starts[line] + len(source.line(line)) : starts[line + 1]]


def _edits(source: Source, position: int, old: str, new: str) -> Iterator[TextEdit]:
    """From `old`, which stands at `position`, to `new`: one edit up to the last line end, and one behind it."""
    cut, new_cut = _behind_last_line_end(old), _behind_last_line_end(new)
    if not cut or not new_cut:
        cut = new_cut = 0
    for start, before, after in ((position, old[:cut], new[:new_cut]), (position + cut, old[cut:], new[new_cut:])):
        if before != after:
            yield _smallest(source, start, before, after)


def _behind_last_line_end(text: str) -> int:
    return max(text.rfind("\n"), text.rfind("\r")) + 1 if has_line_end(text) else 0


def _smallest(source: Source, start: int, old: str, new: str) -> TextEdit:
    """The edit without what stays at its start and end."""
    same = 0
    shorter = min(len(old), len(new))
    while same < shorter and old[same] == new[same]:
        same += 1
    tail = 0
    while tail < shorter - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return TextEdit(Span(source, start + same, start + len(old) - tail), new[same : len(new) - tail])


def _lines(reading: Reading, span: Span) -> tuple[int, int]:
    """From the start of the first line to the end of the last one that a span touches, with the top-level forms there."""
    source = reading.source
    start = _line_start(source, span.start)
    end = _end_of_line(source, max(span.start, span.end - 1))
    for forms in (reading.forms, reading.forms[::-1]):
        for top in forms:
            last = top.origin + len(top.text)
            if top.origin <= end and last >= start:
                start = min(start, _line_start(source, top.origin))
                end = max(end, _end_of_line(source, last))
    return start, end


def _line_start(source: Source, offset: int) -> int:
    return source.line_starts[source.line_at(offset)]


def _end_of_line(source: Source, offset: int) -> int:
    line = source.line_at(min(offset, len(source.text)))
    return source.line_starts[line] + len(source.line(line))
