"""Where a line begins that is being typed: the text around it need not read."""

from __future__ import annotations

import re

from sexpgpu.diagnostics.columns import Columns
from sexpgpu.format.layout import Frame
from sexpgpu.format.pieces import INLINE_COMMENTS, has_line_end, start_of, width_of
from sexpgpu.format.styles import DATA, TOP, Style, key_places, style_of
from sexpgpu.language.special import TOP_LEVEL
from sexpgpu.reader.terminals import TERMINALS
from sexpgpu.reader.tokens import (
    CLOSERS,
    DATUM_COMMENT,
    LINE_COMMENT,
    OPEN_VECTOR,
    OPENERS,
    QUOTE,
    RUN,
    TOKEN,
    WHITE_SPACE,
    end_of_block,
)
from sexpgpu.source import Source

# A bracket in column 0, and what may hide one: strings, of which the second kind has no end here, and comments. Where a word goes
# on, no comment begins.
_LANDMARK = (
    rf"""{TERMINALS["STRING"]}|(")|(?<!{TERMINALS["RUN"].removesuffix("+")})(?:{TERMINALS["DATUM_COMMENT"]}|"""
    rf"""({TERMINALS["BLOCK_OPEN"]}))|{TERMINALS["LINE_COMMENT"]}|((?:(?<=[\r\n])|\A)[(\[])"""
)
_HEAD = rf"[(]({TERMINALS['RUN']})"


def indent_for(source: Source, line: int) -> int:
    """The column at which a 0-based line should begin, going by the lines above it as they stand; inside a string or comment, that
    at which it begins now."""
    if not 0 < line < len(source.line_starts):
        return 0
    text, end = source.text, source.line_starts[line]
    head = re.compile(_HEAD).match(text, end)
    if head is not None and head[1] in TOP_LEVEL:
        return 0  # it begins a form, whatever is open
    start = _form_before(text, start_of(source), end)
    if start is None:
        white = re.compile(WHITE_SPACE).match(source.line(line))
        return Columns(white[0]).width if white else 0
    return _innermost(text, start, end).next_indent()


def _form_before(text: str, start: int, end: int) -> int | None:
    """Where the last bracket in column 0 before `end` stands, or `start`; None if a string or comment is open at `end`."""
    pattern = re.compile(_LANDMARK)
    position = start
    while (match := pattern.search(text, position, end)) is not None:
        position = match.end()
        unended, block, bracket = match.groups()
        if unended:
            return None
        if block:
            close = end_of_block(text, match.start())
            if close is None or close > end:
                return None
            position = close
        elif bracket:
            start = match.start()
    return start


class _Typed(Frame):
    """A list that may have no end yet.

    `starts` are the first characters of its parts so far, `comment` is the column of a comment that a part may follow on its line,
    `hidden` counts `#;` that wait for their datum, and `quoted` says that a quote waits for its form.
    """

    __slots__ = ("comment", "context", "hidden", "quoted", "starts", "vector")

    def __init__(self, context: Style | None, vector: bool, start: int) -> None:
        super().__init__(style_of(context, vector, None), start)
        self.context = context
        self.vector = vector
        self.starts: list[str] = []
        self.comment: int | None = None
        self.hidden = 0
        self.quoted = False

    def begin(self, word: str, kind: int, column: int, begins_line: bool) -> Style | None:
        """A part begins, or goes on behind a quote. Gives what the list says of its style, should it be a list."""
        if self.quoted:
            self.quoted = kind == QUOTE
            return DATA
        self.quoted = kind == QUOTE
        context = self.style.inside(self.count)
        if self.hidden:
            self.hidden -= 1
            return context
        if self.count == 0:
            self.word = kind == RUN
            self.style = style_of(self.context, self.vector, word if self.word else None)
        self.starts.append(word[0])
        self.keys = range(self.count, self.count + 1) if word[0] == ":" else range(0)
        self.place(column if begins_line or self.comment is None else self.comment, begins_line)
        self.comment = None
        return context

    def next_indent(self) -> int:
        """The column of the part that comes next. Behind a keyword at the end of a call it is taken for its value."""
        style, starts = self.style, self.starts
        if style.keys == "trailing":
            place = style.keys_from
            while place + 1 < len(starts):
                place += 2 if starts[place] == ":" else 1
            self.keys = range(place, place + int(starts[place:] == [":"]))
        else:
            self.keys = key_places(style, [*starts, "?"])
        return self.indent()


def _innermost(text: str, start: int, end: int) -> _Typed:
    """The innermost list that is open at `end`, of those that open from `start` on."""
    open_ = [_Typed(TOP, False, -1)]
    column = 0
    position = start
    tokens = TOKEN.finditer(text, start)
    while True:
        token = next(tokens)
        kind = token.lastindex or 0
        begin, stop = token.span(kind)
        if begin >= end:
            return open_[-1]
        gap, inside = text[position:begin], open_[-1]
        begins_line = has_line_end(gap)
        column = width_of(gap) + (0 if begins_line else column)
        if kind in CLOSERS:
            del open_[max(1, len(open_) - 1) :]
        elif kind == LINE_COMMENT:
            inside.comment = None
        elif kind in INLINE_COMMENTS:
            if inside.comment is None or begins_line:
                inside.comment = column
            if kind == DATUM_COMMENT:
                inside.hidden += 1
            else:
                stop = end_of_block(text, begin) or len(text)
                tokens = TOKEN.finditer(text, stop)
        else:
            context = inside.begin(text[begin:stop], kind, column, begins_line)
            if kind in OPENERS:
                open_.append(_Typed(context, kind == OPEN_VECTOR, column))
        written = text[begin:stop]
        column = width_of(written) + (0 if has_line_end(written) else column)
        position = stop
