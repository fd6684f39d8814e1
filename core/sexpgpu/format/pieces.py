"""A text as pieces: tokens, brackets and comments, in the order in which they are to stand, with the line ends before each that
do not depend on width."""

from __future__ import annotations

from collections.abc import Iterator

from sexpgpu.diagnostics.columns import Columns
from sexpgpu.diagnostics.ignore import ignored
from sexpgpu.format.styles import TOP
from sexpgpu.reader import Reading
from sexpgpu.reader.tokens import (
    BLOCK_OPEN,
    CLOSERS,
    DATUM_COMMENT,
    END,
    LINE_COMMENT,
    OPENERS,
    QUOTE,
    TOKEN,
    end_of_block,
)
from sexpgpu.source import BYTE_ORDER_MARK, LINE_END, Source

INLINE_COMMENTS = frozenset((BLOCK_OPEN, DATUM_COMMENT))
COMMENTS = INLINE_COMMENTS | {LINE_COMMENT}
_BLANK_INSIDE, _BLANK_BETWEEN = 1, 2


class Piece:
    """A token, a bracket or a comment; a block comment is one, and so is `#;` with its datum.

    `kind` is that of its token, `lines` how many lines end before it: 0 where it goes on a line. `fixed` says that it begins a
    line, or goes on one, because of a comment that silences diagnostics there. `pulled` marks a closer that went in front of a
    comment. `before` is the piece in front, and `column` where it stands if it begins a line.

    What `measure` finds, for a part of a list: `unit` is where it begins, if comments stand before it on its line, and that piece
    has the part as `item`. `width` is what it takes on one line, `breaks` counts what keeps it from standing on one, `last` is
    its last piece, and `tail` how many closers follow that on the same line. `soft` marks a value that could stand on its key's
    line. `quoted` marks what goes on behind a quote. For an opener: its `style`, the `items` inside, the places of the `keys`
    among them, and `atoms`, the place of the last atom in an unbroken row behind the head.
    """

    __slots__ = (
        "atoms",
        "before",
        "breaks",
        "column",
        "end",
        "fixed",
        "item",
        "items",
        "keys",
        "kind",
        "last",
        "lines",
        "pulled",
        "quoted",
        "soft",
        "start",
        "style",
        "tail",
        "text",
        "unit",
        "width",
    )

    def __init__(self, kind: int, start: int, end: int, text: str, lines: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.text = text
        self.lines = lines
        self.fixed = self.pulled = self.quoted = self.soft = False
        self.width = width_of(text)
        self.breaks = int(has_line_end(text))
        self.column = self.tail = self.atoms = 0
        self.last = self.unit = self
        self.before: Piece | None = None
        self.item: Piece | None = None
        self.items: list[Piece] = []
        self.keys = range(0)
        self.style = TOP


def width_of(text: str) -> int:
    """Cells that the text takes on its last line."""
    if text.isascii() and text.isprintable():
        return len(text)
    return Columns(text[max(text.rfind("\n"), text.rfind("\r")) + 1 :]).width


def has_line_end(text: str) -> bool:
    return "\n" in text or "\r" in text


def is_joined(piece: Piece, before: Piece) -> bool:
    """Whether nothing stands between a piece and the one before it on its line."""
    if piece.kind == LINE_COMMENT:
        return False
    return piece.kind in CLOSERS or before.kind in OPENERS or before.kind == QUOTE


def start_of(source: Source) -> int:
    """Where a text begins: behind a byte-order mark."""
    return len(BYTE_ORDER_MARK) if source.text.startswith(BYTE_ORDER_MARK) else 0


def pieces_of(reading: Reading) -> list[Piece]:
    """The pieces of a text that reads."""
    pieces = _arranged(_scanned(reading))
    before = None
    for piece in pieces:
        piece.before = before
        before = piece
    return pieces


def _comments(reading: Reading) -> Iterator[tuple[int, int]]:
    """Where comments begin and end, those inside forms too."""
    for comment in reading.comments:
        yield comment.start, comment.end
    for top in reading.forms:
        for comment in top.comments:
            yield top.origin + comment.start, top.origin + comment.end


def _scanned(reading: Reading) -> list[Piece]:
    """The pieces as they stand."""
    source, text = reading.source, reading.source.text
    comments = list(_comments(reading))
    ends = dict(comments)
    held = ignored(source, comments) if "sexpgpu:" in text else {}
    pieces: list[Piece] = []
    position = start_of(source)
    tokens = TOKEN.finditer(text, position)
    while (token := next(tokens)).lastindex != END:
        kind = token.lastindex or 0
        start, end = token.span(kind)
        if kind in INLINE_COMMENTS:
            end = ends.get(start) or end_of_block(text, start) or end
            tokens = TOKEN.finditer(text, end)
        gap = text[position:start]
        piece = Piece(kind, start, end, text[start:end], len(LINE_END.findall(gap)) if has_line_end(gap) else 0)
        if held:
            # A closer may go up to a line that is held: nothing is ever reported at a closer.
            piece.fixed = source.line_at(start) in held or (kind not in CLOSERS and source.line_at(position) in held)
        pieces.append(piece)
        position = end
    return pieces


def _arranged(pieces: list[Piece]) -> list[Piece]:
    """Closers go up to the last part, heads to their brackets, forms to their quotes; top-level forms begin lines."""
    out: list[Piece] = []
    depth = 0
    for index, piece in enumerate(pieces):
        before = out[-1] if out else None
        if before is None:
            piece.lines = 0
        elif piece.kind in CLOSERS:
            depth -= 1
            if before.kind == LINE_COMMENT:
                if not (before.lines or piece.fixed or (piece.lines and _comment_behind(pieces, index))):
                    piece.lines = 0
                    piece.pulled = True
                    out.insert(len(out) - 1, piece)
                    continue
                piece.lines = 1
            else:
                piece.lines = min(piece.lines, int(piece.fixed))
        elif before.kind == LINE_COMMENT:
            piece.lines = max(1, min(piece.lines, _most(depth)))
        elif (before.kind in OPENERS or before.kind == QUOTE) and piece.kind not in COMMENTS:
            piece.lines = min(piece.lines, int(piece.fixed))
        elif piece.lines:
            piece.lines = min(piece.lines, _most(depth))
        elif not (depth or piece.fixed or before.kind in COMMENTS or before.kind == QUOTE):
            piece.lines = int(_begins_form(pieces, index))
        if piece.kind in OPENERS:
            depth += 1
        out.append(piece)
    return out


def _most(depth: int) -> int:
    return 1 + (_BLANK_INSIDE if depth else _BLANK_BETWEEN)


def _comment_behind(pieces: list[Piece], index: int) -> bool:
    """Whether a comment, and no form, follows the closers on the line that the one at `index` begins."""
    index += 1
    while index < len(pieces) and pieces[index].kind in CLOSERS and not pieces[index].lines:
        index += 1
    comment = index < len(pieces) and pieces[index].kind in COMMENTS and not pieces[index].lines
    return comment and not _begins_form(pieces, index)


def _begins_form(pieces: list[Piece], index: int) -> bool:
    """Whether a form stands at `index`, or on the same line behind comments."""
    while pieces[index].kind in INLINE_COMMENTS:
        index += 1
        if index == len(pieces) or pieces[index].lines:
            return False
    return pieces[index].kind != LINE_COMMENT and pieces[index].kind not in CLOSERS
