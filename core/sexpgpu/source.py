"""Text, lines and positions: the only place that decides where a line ends.

A line ends at ``\\n``, ``\\r\\n`` or ``\\r`` and nowhere else (language §1), so neither ``str.splitlines`` nor
``str.isspace`` has a say here. Offsets count code points; positions are 0-based and count the units of an encoding, as in LSP.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Literal, NamedTuple

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_LINE_END = re.compile(r"\r\n|\r|\n")
_BYTE_ORDER_MARK = "\ufeff"


class Position(NamedTuple):
    """A 0-based line, and a 0-based character that counts the units of an encoding."""

    line: int
    character: int


class Source:
    """One text with a name to show. Identity, not content, tells two sources apart."""

    __slots__ = ("_starts", "bad_byte", "builtin", "name", "text")

    def __init__(self, name: str, text: str, *, builtin: bool = False, bad_byte: int | None = None) -> None:
        """Hold `text` under `name` (a path as the user wrote it, or `prelude:layers`).

        `builtin` marks text that ships with the core; `bad_byte` is the offset of the first character that was no UTF-8.
        """
        self.name = name
        self.text = text
        self.builtin = builtin
        self.bad_byte = bad_byte
        self._starts: list[int] | None = None

    @classmethod
    def decode(cls, name: str, data: bytes) -> Source:
        """Decode UTF-8, without a leading byte-order mark; what is not UTF-8 sets `bad_byte` instead of raising."""
        try:
            return cls(name, data.decode("utf-8").removeprefix(_BYTE_ORDER_MARK))
        except UnicodeDecodeError as error:
            before = data[: error.start].decode("utf-8").removeprefix(_BYTE_ORDER_MARK)
            return cls(name, before + data[error.start :].decode("utf-8", "replace"), bad_byte=len(before))

    @property
    def line_starts(self) -> list[int]:
        """Offsets at which lines begin; the first is 0."""
        if self._starts is None:
            self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.text))]
        return self._starts

    def line(self, number: int) -> str:
        """The text of a 0-based line, without its line end."""
        starts = self.line_starts
        end = starts[number + 1] if number + 1 < len(starts) else len(self.text)
        return self.text[starts[number] : end].rstrip("\r\n")

    def position(self, offset: int, encoding: Encoding = "utf-16") -> Position:
        """The position of an offset (clamped to the text) in units of `encoding`."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self.line_starts, offset) - 1
        return Position(line, units(self.text[self.line_starts[line] : offset], encoding))

    def offset(self, position: Position, encoding: Encoding = "utf-16") -> int:
        """The offset of a position; what lies beyond a line, or the text, is clamped to its end."""
        if position.line < 0:
            return 0
        if position.line >= len(self.line_starts):
            return len(self.text)
        line = self.line(position.line)
        start = self.line_starts[position.line]
        if encoding == "utf-32" or line.isascii():
            return start + max(0, min(position.character, len(line)))
        seen = 0
        for index, character in enumerate(line):
            seen += units(character, encoding)
            if seen > position.character:
                return start + index
        return start + len(line)


def units(text: str, encoding: Encoding) -> int:
    """How many units of `encoding` the text takes."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class Span(NamedTuple):
    """A half-open range of code points in a source."""

    source: Source
    start: int
    end: int
