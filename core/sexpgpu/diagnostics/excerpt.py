"""Source lines with marks under them, as rows of styled text.

A mark within a line is underlined; one over several lines gets a bar of its own at the left. A label stands behind its underline
where there is room, otherwise below it, tied to it by a bar.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from sexpgpu.diagnostics.colour import Style, paint
from sexpgpu.diagnostics.columns import Columns, Window, visible
from sexpgpu.source import Source

_ALL_LINES = 6  # a mark over more lines than this shows its first three and last two
_HEAD, _TAIL = 3, 2


class Mark(NamedTuple):
    """Offsets to underline. The primary one uses `^`, the others `-`."""

    start: int
    end: int
    label: str
    style: Style
    primary: bool

    @property
    def sign(self) -> str:
        return "^" if self.primary else "-"


class Row(NamedTuple):
    """One row: a 0-based line number, or None for a row of marks; `gap` where lines are left out."""

    number: int | None
    pieces: list[tuple[str, Style]]
    gap: bool = False

    def text(self, gutter: int, colour: bool) -> str:
        """The row behind a gutter that holds line numbers of `gutter` digits."""
        number = "" if self.number is None else str(self.number + 1)
        margin = f"{'...':{gutter + 2}}" if self.gap else f"{number:>{gutter}} |"
        body = "".join(paint(text, style, colour) for text, style in self.pieces)
        return f"{paint(margin, 'frame', colour)} {body}".rstrip()


class _Place(NamedTuple):
    """A mark in lines and code points: from `(top, left)` to the exclusive `(bottom, right)`."""

    mark: Mark
    top: int
    left: int
    bottom: int
    right: int


class _Under(NamedTuple):
    """A mark within one line, in the cells that are shown."""

    mark: Mark
    left: int
    right: int


class _Canvas:
    """A row of single cells to write on."""

    __slots__ = ("cells",)

    def __init__(self) -> None:
        self.cells: list[tuple[str, Style]] = []

    def put(self, column: int, text: str, style: Style) -> None:
        while len(self.cells) < column + len(text):
            self.cells.append((" ", ""))
        for index, character in enumerate(text):
            self.cells[column + index] = (character, style)

    def pieces(self) -> list[tuple[str, Style]]:
        """The cells, neighbours of one style joined."""
        joined: list[tuple[str, Style]] = []
        for character, style in self.cells:
            if joined and joined[-1][1] == style:
                joined[-1] = (joined[-1][0] + character, style)
            else:
                joined.append((character, style))
        return joined


def excerpt(source: Source, marks: list[Mark], width: int) -> list[Row]:
    """The lines of a source that marks touch, with the marks, in at most `width` cells (labels may be longer)."""
    places = sorted((_place(source, mark) for mark in marks), key=lambda place: (place.top, -place.bottom, place.left))
    bars = _bars([place for place in places if place.top != place.bottom])
    indent = 2 * (max(bar for _, bar in bars) + 1) if bars else 0
    rows: list[Row] = []
    before = None
    for line in _lines(places):
        if before is not None and line > before + 1:
            gap = _Canvas()
            for place, bar in bars:
                if place.top < line <= place.bottom:
                    gap.put(2 * bar, "|", place.mark.style)
            rows.append(Row(None, gap.pieces(), gap=True))
        rows += _line_rows(source, line, places, bars, indent, max(width - indent, 1))
        before = line
    return rows


def _place(source: Source, mark: Mark) -> _Place:
    starts = source.line_starts
    size = len(source.text)
    start = max(0, min(mark.start, size))
    end = max(start, min(mark.end, size))
    top = bisect_right(starts, start) - 1
    bottom = bisect_right(starts, end) - 1
    if bottom > top and end == starts[bottom]:  # the line end belongs to the line before
        bottom -= 1
    return _Place(mark, top, start - starts[top], bottom, min(end - starts[bottom], len(source.line(bottom))))


def _bars(places: list[_Place]) -> list[tuple[_Place, int]]:
    """The column of each bar: the outermost that no other bar of the same lines has."""
    bars: list[tuple[_Place, int]] = []
    for place in places:
        taken = {bar for other, bar in bars if other.bottom >= place.top}
        bars.append((place, next(bar for bar in range(len(places)) if bar not in taken)))
    return bars


def _lines(places: list[_Place]) -> list[int]:
    """The lines to show, in order; a gap of one line is closed."""
    lines: set[int] = set()
    for place in places:
        if place.bottom - place.top < _ALL_LINES:
            lines.update(range(place.top, place.bottom + 1))
        else:
            lines.update(range(place.top, place.top + _HEAD))
            lines.update(range(place.bottom - _TAIL + 1, place.bottom + 1))
    lines.update(line + 1 for line in list(lines) if line + 2 in lines)
    return sorted(lines)


def _line_rows(
    source: Source, line: int, places: list[_Place], bars: list[tuple[_Place, int]], indent: int, room: int
) -> list[Row]:
    columns = Columns(source.line(line))
    inside = [place for place in places if place.top == place.bottom == line]
    ends: list[int] = []
    for place in places:
        if place.top == line:
            ends += [columns.column(place.left), columns.column(place.left) + 1]
        if place.bottom == line:
            ends += [max(columns.column(place.right) - 1, 0), columns.column(place.right)]
    window = Window(columns, room, min(ends, default=0), max(ends, default=0))

    open_bars = _Canvas()
    open_bars.put(0, " " * indent, "")
    opened = [(place, bar) for place, bar in bars if place.top == line]
    for place, bar in bars:
        if place.top < line <= place.bottom:
            open_bars.put(2 * bar, "|", place.mark.style)
    first = _Canvas()
    first.cells = list(open_bars.cells)
    below: list[tuple[_Place, int]] = []
    for place, bar in opened:
        if source.line(line)[: place.left].strip():
            below.append((place, bar))
        else:  # the form begins its line: no need to point at it from below
            first.put(2 * bar, "/", place.mark.style)
            open_bars.put(2 * bar, "|", place.mark.style)
    rows = [Row(line, [*first.pieces(), (window.text, "")])]

    unders = [_under(place, columns, window) for place in inside]
    rows += [Row(None, [*open_bars.pieces(), *canvas.pieces()]) for canvas in _underlines(unders)]
    for place, bar in below:
        at = indent + window.column(columns.column(place.left))
        rows.append(Row(None, _corner(open_bars, bar, at, place.mark)))
        open_bars.put(2 * bar, "|", place.mark.style)
    for place, bar in reversed(bars):
        if place.bottom == line:
            at = indent + max(window.column(columns.column(place.right)) - 1, 0)
            label = f" {_one_line(place.mark.label)}" if place.mark.label else ""
            rows.append(Row(None, _corner(open_bars, bar, at, place.mark, label)))
            open_bars.put(2 * bar, " ", "")
    return rows


def _under(place: _Place, columns: Columns, window: Window) -> _Under:
    left = window.column(columns.column(place.left))
    return _Under(place.mark, left, max(left + 1, window.column(columns.column(place.right))))


def _corner(open_bars: _Canvas, bar: int, at: int, mark: Mark, label: str = "") -> list[tuple[str, Style]]:
    """The row that leads from a bar to the cell where its mark begins or ends."""
    canvas = _Canvas()
    for column in range(2 * bar + 1, at):
        canvas.put(column, "_", mark.style)
    for column, (character, style) in enumerate(open_bars.cells):
        if character == "|":
            canvas.put(column, character, style)
    canvas.put(at, mark.sign + label, mark.style)
    return canvas.pieces()


def _underlines(unders: list[_Under]) -> list[_Canvas]:
    """The rows under one line: all underlines in the first, with one label behind it at most; the other labels hang below."""
    if not unders:
        return []
    row = _Canvas()
    for under in sorted(unders, key=lambda under: (under.left - under.right, under.mark.primary)):  # the smallest on top
        row.put(under.left, under.mark.sign * (under.right - under.left), under.mark.style)
    labelled = sorted((under for under in unders if under.mark.label), key=lambda under: (under.left, under.mark.primary))
    if labelled and labelled[-1].right >= max(under.right for under in unders):
        last = labelled[-1]
        if all(other is last or other.right <= last.left for other in unders):
            row.put(last.right, f" {_one_line(last.mark.label)}", last.mark.style)
            labelled.pop()
    rows = [row]
    if labelled:
        rows.append(_hooks(labelled))
    while labelled:
        hung = labelled.pop()
        canvas = _hooks([under for under in labelled if under.left < hung.left])
        canvas.put(hung.left, _one_line(hung.mark.label), hung.mark.style)
        rows.append(canvas)
    return rows


def _hooks(unders: list[_Under]) -> _Canvas:
    canvas = _Canvas()
    for under in unders:
        canvas.put(under.left, "|", under.mark.style)
    return canvas


def _one_line(text: str) -> str:
    return " ".join(visible(text).split("\n"))
