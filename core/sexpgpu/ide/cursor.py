"""Where somebody is typing: what is known of a place in a text that may not read, from the text alone.

Only the form of the top level that holds the place is read, and only up to it, as if all that is open closed there.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from sexpgpu.ide.places import children
from sexpgpu.reader import read
from sexpgpu.reader.forms import Form, ListForm, TopForm, VectorForm
from sexpgpu.reader.terminals import TERMINALS
from sexpgpu.reader.tokens import CLOSERS, LINE_COMMENT, LINE_ENDS, OPENERS, RUN, TOKEN, UNENDED, WORD, end_of_block
from sexpgpu.source import BYTE_ORDER_MARK, LINE_END, Source

_CHARACTER = TERMINALS["RUN"].removesuffix("+")
# What decides whether a place is code: strings, comments, and openers in column 0, which begin a form whatever is open.
_EDGE = re.compile(r"""[";#]|[\r\n][(\[]""")
_STRING = re.compile(TERMINALS["STRING"])
_LINE_COMMENT = re.compile(TERMINALS["LINE_COMMENT"])
_WORD_BEFORE = re.compile(f"(?<={_CHARACTER})")
_WORD = re.compile(WORD)
_IN_STRING = re.compile(r'[^"\\\s()\[\]]*')
_PLACEHOLDER = "\ue000"
_MOST_BEHIND = 2_000
_MOST_READ = 400_000

Kind = Literal["word", "string", "comment"]


class Cursor(NamedTuple):
    """A place in a text. `start` to `end` is the word around it, or what the string around it holds, and `typed` the part of that
    in front of the place; `closed` tells whether the string has its closing quotation mark.

    `path` are the forms around the place, the outermost first; the last stands for the word or string itself. Their `top` begins
    at `top.origin` of the source. A comment has no path, but its own `start` and `end`.
    """

    kind: Kind
    start: int
    end: int
    typed: str
    path: tuple[Form, ...] = ()
    closed: bool = True

    @property
    def top(self) -> TopForm:
        return self.path[0].top


def cursor_at(source: Source, offset: int) -> Cursor | None:
    """What is typed at an offset; None right behind a string, and where nothing can be said."""
    text = source.text
    position, begin = 0, len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    while (edge := _EDGE.search(text, position, offset)) is not None:
        start, position = edge.span()
        match text[start]:
            case '"':
                string = _STRING.match(text, start, offset)
                if string is None:
                    return _string(source, begin, start, offset)
                position = string.end()
            case ";":
                comment = _LINE_COMMENT.match(text, start, offset)
                position = comment.end() if comment else offset
                if position == offset:
                    return Cursor("comment", start, position, text[start:position])
            case "#" if not _WORD_BEFORE.match(text, start):
                if text.startswith("#|", start):
                    close = end_of_block(text, start)
                    if close is None or close > offset:
                        return None
                    position = close
                elif text.startswith("#;", start):
                    position += 1
            case "#":
                pass
            case _:
                begin = start + 1
    if offset - begin > _MOST_READ or text[offset - 1 : offset] == '"':
        return None
    start, end = _word(text, offset)
    path = _path(source, begin, start, _PLACEHOLDER)
    return None if path is None else Cursor("word", start, end, text[start:offset], path)


def keywords_behind(text: str, end: int) -> list[str]:
    """The keywords that stand behind a place in the same list, without their colons."""
    found: list[str] = []
    depth = 0
    for count, token in enumerate(TOKEN.finditer(text, end)):
        kind = token.lastindex or 0
        start, stop = token.span(kind)
        if kind in OPENERS:
            if text[start - 1 : start] in LINE_ENDS or count > _MOST_BEHIND:
                break
            depth += 1
        elif kind in CLOSERS:
            depth -= 1
            if depth < 0:
                break
        elif kind == RUN and depth == 0 and text[start] == ":":
            found.append(text[start + 1 : stop])
        elif kind >= UNENDED:
            break
    return found


def is_followed(text: str, cursor: Cursor) -> bool:
    """Whether something stands behind a place in the same list. What follows on a later line does only where the form's brackets
    all close: else that of the place is the one too many, which has just been typed."""
    depth = sum(isinstance(form, (ListForm, VectorForm)) for form in cursor.path[:-1])
    found = False
    for count, token in enumerate(TOKEN.finditer(text, cursor.end)):
        kind = token.lastindex or 0
        if kind == LINE_COMMENT:
            continue
        start = token.start(kind)
        ends = kind >= UNENDED or (kind in OPENERS and text[start - 1 : start] in LINE_ENDS)
        if not found and (ends or kind in CLOSERS or LINE_END.search(text, cursor.end, start) is None):
            return not ends and kind not in CLOSERS
        found = True
        depth += (kind in OPENERS) - (kind in CLOSERS)
        if ends or depth <= 0 or count > _MOST_BEHIND:
            return not ends
    return found


def _word(text: str, offset: int) -> tuple[int, int]:
    start = offset
    while start and _WORD.fullmatch(text, start - 1, start):
        start -= 1
    behind = _WORD.match(text, offset)
    return start, behind.end() if behind else offset


def _string(source: Source, begin: int, quote: int, offset: int) -> Cursor | None:
    text = source.text
    rest = _IN_STRING.match(text, offset)
    end = rest.end() if rest else offset
    closed = text[end : end + 1] == '"'
    path = _path(source, begin, quote, '""')
    typed = text[quote + 1 : offset]
    return None if path is None else Cursor("string", quote + 1, end if closed else offset, typed, path, closed)


def _path(source: Source, begin: int, end: int, last: str) -> tuple[Form, ...] | None:
    """The forms around a place, read as if it held `last` and all ended there; None where `#;` takes it."""
    if end - begin > _MOST_READ:
        return None
    reading = read(Source(source.name, source.text[begin:end] + last))
    top = reading.forms[-1] if reading.forms else None
    form = top.form if top is not None else None
    if top is None or form is None or top.origin + len(top.text) != end - begin + len(last):
        return None
    path: list[Form] = [form]
    while inside := children(path[-1]):
        path.append(inside[-1])
    if path[-1].end != len(top.text) or path[-1].text != last:
        return None
    top.origin += begin
    return tuple(path)
