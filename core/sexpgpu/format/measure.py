"""Which pieces make up a part of a list, how it is to be laid out, and how wide it is on one line."""

from __future__ import annotations

from sexpgpu.format.pieces import COMMENTS, Piece
from sexpgpu.format.styles import DATA, TOP, Style, key_places, style_of
from sexpgpu.reader.tokens import CLOSERS, LINE_COMMENT, OPEN_LIST, OPEN_VECTOR, OPENERS, QUOTE, RUN, STRING


class _Open:
    """A list whose end has not come yet.

    `context` is what the list around it says of its style, `count` how many pieces and lists it has so far. `unit` is the first
    of the comments that stand right before the next part on its line, and `quotes` wait for that part.
    """

    __slots__ = ("context", "count", "opener", "quotes", "unit")

    def __init__(self, opener: Piece, context: Style | None) -> None:
        self.opener = opener
        self.context = context
        self.count = 0
        self.unit: Piece | None = None
        self.quotes: list[Piece] = []


def measure(pieces: list[Piece]) -> None:
    """Set what a piece knows as a part of a list."""
    open_ = [_Open(Piece(OPEN_LIST, 0, 0, "", 0), TOP)]
    for piece in pieces:
        inside = open_[-1]
        if piece.lines:
            inside.opener.breaks += 1
        if piece.kind in CLOSERS:
            open_.pop()
            _close(inside.opener, piece)
            _complete(open_[-1], inside.opener)
        elif piece.kind in COMMENTS:
            _comment(inside, piece)
        else:
            _begin(inside, piece)
            if piece.kind == QUOTE:
                inside.quotes.append(piece)
            elif piece.kind in OPENERS:
                context = DATA if inside.quotes else inside.opener.style.inside(len(inside.opener.items))
                open_.append(_Open(piece, context))
            else:
                _complete(inside, piece)
    tail = 0
    for piece in reversed(pieces):
        piece.tail = tail
        tail = tail + 1 if piece.kind in CLOSERS and not piece.lines else 0


def _comment(inside: _Open, piece: Piece) -> None:
    if inside.quotes:
        piece.quoted = True
        inside.quotes[-1].breaks += 1
    elif piece.kind == LINE_COMMENT:
        inside.unit = None
    elif inside.unit is None or piece.lines:
        inside.unit = piece
    _add(inside, piece.width, piece.breaks + (piece.kind == LINE_COMMENT))


def _begin(inside: _Open, piece: Piece) -> None:
    """A part begins, or goes on behind a quote."""
    if inside.quotes:
        piece.quoted = True
        inside.quotes[-1].breaks += piece.lines
        return
    if not inside.opener.items:
        head = piece.text if piece.kind == RUN else None
        inside.opener.style = style_of(inside.context, inside.opener.kind == OPEN_VECTOR, head)
    if inside.unit is not None and not piece.lines:
        piece.unit = inside.unit
    piece.unit.item = piece
    inside.unit = None


def _complete(inside: _Open, piece: Piece) -> None:
    """A part is complete, and the quotes before it are."""
    while inside.quotes:
        quote = inside.quotes.pop()
        quote.width = 1 + piece.width
        quote.breaks += piece.breaks
        quote.last = piece.last
        piece = quote
    inside.opener.items.append(piece)
    _add(inside, piece.width, piece.breaks)


def _add(inside: _Open, width: int, breaks: int) -> None:
    inside.opener.width += width + (inside.count > 0)
    inside.opener.breaks += breaks
    inside.count += 1


def _close(opener: Piece, closer: Piece) -> None:
    opener.last = closer
    opener.width += closer.width
    items = opener.items
    own_line = [place for place, item in enumerate(items) if item.unit.lines]
    opener.keys = key_places(opener.style, [item.text[0] for item in items], frozenset(own_line))
    for place in own_line:
        value = items[place]
        if place - 1 in opener.keys and not (value.breaks or value.fixed) and value.before is items[place - 1]:
            value.soft = True
            opener.breaks -= 1
    first_key = opener.keys[0] if opener.keys else len(items)
    while opener.atoms + 1 < first_key and items[opener.atoms + 1].kind in (RUN, STRING):
        opener.atoms += 1
