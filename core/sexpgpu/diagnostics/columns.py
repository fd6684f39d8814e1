"""How text looks in the cells of a terminal: tabs, wide and combining characters, and what must not reach a terminal raw."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

TAB = 4
CUT = "..."

_REPLACEMENT = "\ufffd"
_JOINED_JAMO = range(0x1160, 0x1200)  # vowels and finals of Hangul: drawn inside the syllable that they follow
_SOFT_HYPHEN = "\xad"
# Characters that reorder what is shown, so that code could be read as something else than it says.
_DIRECTION = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Columns:
    """One line as a terminal shows it.

    `pieces` holds what stands for each code point, `starts` the cell at which each begins, and the width of the line as its last.
    """

    __slots__ = ("pieces", "starts")

    def __init__(self, line: str) -> None:
        self.pieces: Sequence[str] = line
        self.starts: Sequence[int] = range(len(line) + 1)
        if line.isascii() and line.isprintable():
            return
        pieces: list[str] = []
        starts = [0]
        self.pieces, self.starts = pieces, starts
        column = 0
        for character in line:
            if character == "\t":
                piece = " " * (TAB - column % TAB)
                width = len(piece)
            else:
                piece, width = _cell(character)
            column += width
            pieces.append(piece)
            starts.append(column)

    @property
    def width(self) -> int:
        """Cells that the whole line takes."""
        return self.starts[-1]

    def column(self, index: int) -> int:
        """The cell at which a code point begins; beyond the line, its end."""
        return self.starts[min(index, len(self.pieces))]


def visible(text: str) -> str:
    """Text of any origin as it may be sent to a terminal: ``\\n`` stays, tabs become spaces, other control characters are shown."""
    return "\n".join(visible_line(line) for line in text.split("\n"))


def visible_line(text: str) -> str:
    """The same for what must stay one line: ``\\n`` is shown, too."""
    return "".join(Columns(text).pieces)


class Window:
    """The part of a line that fits into `room` cells around the cells `lo` to `hi`; what is cut off shows as an ellipsis."""

    __slots__ = ("_first", "_last", "_lead", "text")

    def __init__(self, line: Columns, room: int, lo: int, hi: int) -> None:
        first, last = 0, line.width
        if line.width > room:
            first, last = _around(line.width, max(room, 3 * len(CUT)), lo, hi)
        # A wide character on a border is left out, never halved.
        begin = bisect_left(line.starts, first)
        end = bisect_right(line.starts, last) - 1
        self._first, self._last = line.starts[begin], line.starts[end]
        self._lead = len(CUT) if begin else 0
        self.text = CUT * (begin > 0) + "".join(line.pieces[begin:end]) + CUT * (end < len(line.pieces))

    def column(self, column: int) -> int:
        """Where a cell of the whole line is shown; what was cut off is clamped to the border."""
        return max(self._first, min(column, self._last)) - self._first + self._lead


def _around(width: int, room: int, lo: int, hi: int) -> tuple[int, int]:
    """The borders of a window of `room` cells, its ellipses among them, that shows `lo` to `hi`, or where that begins."""
    inner = room - 2 * len(CUT)
    first = lo - max(0, inner - (hi - lo)) // 2
    if first <= len(CUT):
        return 0, room - len(CUT)
    if first + inner >= width - len(CUT):
        return width - room + len(CUT), width
    return first, first + inner


def _cell(character: str) -> tuple[str, int]:
    """What to show for a character, and how many cells that takes."""
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return character, 1
    if code < 0x20:
        return chr(0x2400 + code), 1
    if code == 0x7F:
        return "\u2421", 1
    from unicodedata import category, east_asian_width  # most lines are ASCII

    kind = category(character)
    if kind in ("Cc", "Cs", "Zl", "Zp") or character in _DIRECTION:
        return _REPLACEMENT, 1
    if kind in ("Mn", "Me") or code in _JOINED_JAMO or (kind == "Cf" and character != _SOFT_HYPHEN):
        return character, 0
    return character, 2 if east_asian_width(character) in "WF" else 1
