"""Where lines begin: the columns, and the line breaks that depend on width."""

from __future__ import annotations

from collections.abc import Container

from sexpgpu.format.measure import measure
from sexpgpu.format.pieces import Piece, has_line_end, is_joined, pieces_of, width_of
from sexpgpu.format.styles import WIDTH, Style
from sexpgpu.reader import Reading
from sexpgpu.reader.tokens import CLOSERS, OPEN_LIST, OPENERS, QUOTE, RUN


class Frame:
    """An open list while its parts are placed: `start` is the column of its bracket, `count` how many parts have begun.

    Of what has been placed, `first` is the column of part 1, `beside` whether that is on the head's line, and `key` the column of
    the last key. `word` says that the head is a word.
    """

    __slots__ = ("beside", "count", "first", "key", "keys", "start", "style", "word")

    def __init__(self, style: Style, start: int, keys: Container[int] = (), word: bool = True) -> None:
        self.style = style
        self.start = start
        self.keys = keys
        self.word = word
        self.count = self.first = self.key = 0
        self.beside = False

    def indent(self) -> int:
        """The column of the next part, or of a comment before it, should it begin a line."""
        place, style = self.count, self.style
        if place - 1 in self.keys:
            return self.key + 2
        if place == 0:
            return self.start + 1
        if style.below_first or (style.keys == "declared" and self.beside and 1 in self.keys):
            return self.first if place > 1 else self.start + 1 + self.word
        if place <= style.special and place not in self.keys:
            return self.start + 4
        return self.start + style.indent

    def place(self, column: int, begins_line: bool) -> None:
        """The next part begins at a column."""
        if self.count == 1:
            self.first = column
            self.beside = not begins_line
        if self.count in self.keys:
            self.key = column
        self.count += 1


def laid_out(reading: Reading) -> list[Piece]:
    """The pieces of a text that reads, with the lines and columns where they are to stand, in time linear in its length."""
    pieces = pieces_of(reading)
    measure(pieces)
    _place(pieces)
    return pieces


class _List(Frame):
    """A list of which all is known; `split` says that it is to be broken, `quote` is the column of a quote that waits."""

    __slots__ = ("opener", "quote", "split")

    def __init__(self, opener: Piece, start: int) -> None:
        items = opener.items
        super().__init__(opener.style, start, opener.keys, bool(items) and items[0].kind == RUN)
        self.opener = opener
        self.quote = start
        fits = start + opener.width + opener.last.tail <= WIDTH
        self.split = not fits if not opener.breaks else opener.style.keys == "declared"


def _place(pieces: list[Piece]) -> None:
    open_ = [_List(Piece(OPEN_LIST, 0, 0, "", 0), -1)]
    column = 0
    for piece in pieces:
        inside, before = open_[-1], piece.before
        beside = column if before is None or is_joined(piece, before) else column + 1
        if piece.item is not None:
            _settle(inside, piece, piece.item, beside)
        if piece.lines:
            beside = piece.column = inside.quote + 1 if piece.quoted else inside.indent()
        if piece.item is not None:
            inside.place(beside, piece.lines > 0)
        column = width_of(piece.text) if has_line_end(piece.text) else beside + width_of(piece.text)
        if piece.kind == QUOTE:
            inside.quote = beside
        elif piece.kind in OPENERS:
            open_.append(_List(piece, beside))
        elif piece.kind in CLOSERS:
            open_.pop()


def _settle(inside: _List, unit: Piece, item: Piece, column: int) -> None:
    """Whether a part begins a line: it would stand at `column` if not. Comments before it on the line are one with it."""
    place = inside.count
    if item.soft:
        if column + item.width + item.last.tail <= WIDTH:
            item.lines = 0
    elif not (unit.lines or unit.fixed or place == 0 or place - 1 in inside.keys):
        if _splits(inside, place) or _overflows(inside, unit, item, column):
            unit.lines = 1


def _splits(inside: _List, place: int) -> bool:
    """Whether part `place` begins a line, if the list is to be broken. A first key that the author left beside the head stays."""
    style, keys, opener = inside.style, inside.keys, inside.opener
    if not inside.split or style.fill:
        return False
    if style.keys == "declared" and opener.breaks:
        return place in keys and place > 1
    if style.keys == "leading" and place in keys:
        return False
    return place > max(style.stays, opener.atoms if style.below_first else 0) or (style.keys == "declared" and place in keys)


def _overflows(inside: _List, unit: Piece, item: Piece, column: int) -> bool:
    """Whether a part, or a key with its value, reaches too far and stands better on a line of its own."""
    place, last = inside.count, item
    if place <= inside.style.stays or column <= inside.indent():
        return False
    end, breaks = column + item.width, item.breaks
    if place in inside.keys and place + 1 < len(inside.opener.items):
        last = inside.opener.items[place + 1]
        end, breaks = end + 1 + last.width, breaks + last.breaks
    comment = item
    while comment is not unit and comment.before is not None:
        comment = comment.before
        end, breaks = end + comment.width + 1, breaks + comment.breaks
    return not breaks and end + last.last.tail > WIDTH
