"""Where a bracket is missing, going by the indentation."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from sexpgpu.reader.tokens import BLOCK_OPEN, CLOSERS, LINE_COMMENT, OPENERS, TOKEN, end_of_block
from sexpgpu.source import Source


class Outside(NamedTuple):
    """A form at `start` (its 0-based `line`) that begins a line no further right than the innermost bracket that is open there."""

    start: int
    line: int
    opener: str
    opener_line: int


def first_outside(source: Source, start: int, end: int) -> Outside | None:
    """The first such form of text[start:end]; it should have stood behind a closer. Closers and comments may stand anywhere."""
    text, lines = source.text, source.line_starts
    open_: list[tuple[str, int, int]] = []
    position = seen = start
    while position < end:
        for token in TOKEN.finditer(text, position, end):
            kind = token.lastindex
            begin, position = token.span(kind or 0)
            if kind == BLOCK_OPEN:
                position = end_of_block(text, begin) or end
                seen = position
                break
            if kind in CLOSERS:
                if open_:
                    open_.pop()
            elif kind != LINE_COMMENT and begin < end:
                line = bisect_right(lines, begin) - 1
                column = begin - lines[line]
                if open_ and seen <= lines[line] and column <= open_[-1][2]:
                    return Outside(begin, line, open_[-1][0], open_[-1][1])
                if kind in OPENERS:
                    open_.append((text[begin], line, column))
            seen = position
    return None
