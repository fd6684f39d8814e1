"""Text, lines and positions: the only place that decides where a line ends.

A line ends at ``\\n``, ``\\r\\n`` or ``\\r`` and nowhere else (language §1), so neither ``str.splitlines`` nor
``str.isspace`` has a say here. Offsets count code points; positions are 0-based and count the units of an encoding, as in LSP.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import Literal, NamedTuple

Encoding = Literal["utf-8", "utf-16", "utf-32"]

BYTE_ORDER_MARK = "\ufeff"
LINE_END = re.compile(r"\r\n?|\n")
# In a long line, units are counted from the last of these steps instead of from its start.
_STEP = 1024


class Position(NamedTuple):
    """A 0-based line, and a 0-based character that counts the units of an encoding."""

    line: int
    character: int


class Source:
    """One text with a name to show. Identity, not content, tells two sources apart."""

    __slots__ = ("_starts", "_steps", "bad_byte", "builtin", "name", "text")

    def __init__(self, name: str, text: str, *, builtin: bool = False, bad_byte: int | None = None) -> None:
        """Hold `text` under `name` (a path as the user wrote it, or `prelude:layers`).

        `builtin` marks text that ships with the core; `bad_byte` is the offset of the first character that was no UTF-8.
        """
        self.name = name
        self.text = text
        self.builtin = builtin
        self.bad_byte = bad_byte
        self._starts: list[int] | None = None
        self._steps: dict[tuple[int, Encoding], list[int]] = {}

    @classmethod
    def decode(cls, name: str, data: bytes) -> Source:
        """Decode UTF-8, without a leading byte-order mark; what is not UTF-8 sets `bad_byte` instead of raising."""
        try:
            return cls(name, data.decode("utf-8").removeprefix(BYTE_ORDER_MARK))
        except UnicodeDecodeError as error:
            before = data[: error.start].decode("utf-8").removeprefix(BYTE_ORDER_MARK)
            return cls(name, before + data[error.start :].decode("utf-8", "replace"), bad_byte=len(before))

    @property
    def line_starts(self) -> list[int]:
        """Offsets at which lines begin; the first is 0."""
        if self._starts is None:
            text = self.text
            if "\r" in text and text.count("\r") != text.count("\r\n"):
                self._starts = [0, *(match.end() for match in LINE_END.finditer(text))]
            else:  # four times as fast, and wanted after every keystroke
                self._starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))][:-1]
        return self._starts

    def line(self, number: int) -> str:
        """The text of a 0-based line, without its line end."""
        starts = self.line_starts
        end = starts[number + 1] if number + 1 < len(starts) else len(self.text)
        return self.text[starts[number] : end].rstrip("\r\n")

    def line_at(self, offset: int) -> int:
        """The 0-based line in which an offset stands."""
        return bisect_right(self.line_starts, offset) - 1

    def position(self, offset: int, encoding: Encoding = "utf-16") -> Position:
        """The position of an offset, in units of `encoding`; what lies outside the text, or inside a line end, is clamped."""
        offset = max(0, min(offset, len(self.text)))
        if self.text[offset - 1 : offset + 1] == "\r\n":
            offset -= 1
        line = self.line_at(offset)
        start = self.line_starts[line]
        if encoding == "utf-32" or self.text.isascii():
            return Position(line, offset - start)
        step, rest = divmod(offset - start, _STEP)
        before = self._units_to_steps(line, encoding)[step] if step else 0
        return Position(line, before + units(self.text[offset - rest : offset], encoding))

    def offset(self, position: Position, encoding: Encoding = "utf-16") -> int:
        """The offset of a position; what lies beyond a line, or the text, is clamped to its end. A position inside a character is
        that character's start."""
        if position.line < 0:
            return 0
        if position.line >= len(self.line_starts):
            return len(self.text)
        start = self.line_starts[position.line]
        line = self.line(position.line)
        if encoding == "utf-32" or line.isascii():
            return start + max(0, min(position.character, len(line)))
        step = seen = 0
        if len(line) >= _STEP:
            steps = self._units_to_steps(position.line, encoding)
            step = max(0, bisect_right(steps, position.character) - 1)
            seen = steps[step]
        for index in range(step * _STEP, len(line)):
            seen += units(line[index], encoding)
            if seen > position.character:
                return start + index
        return start + len(line)

    def _units_to_steps(self, line: int, encoding: Encoding) -> list[int]:
        """How many units stand before each step of a line; the first is 0."""
        known = self._steps.get((line, encoding))
        if known is None:
            text = self.line(line)
            known = [0]
            for begin in range(0, len(text) - _STEP + 1, _STEP):
                known.append(known[-1] + units(text[begin : begin + _STEP], encoding))
            self._steps[line, encoding] = known
        return known


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
