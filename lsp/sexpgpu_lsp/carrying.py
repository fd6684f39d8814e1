"""Where a piece of a text stands after edits: what a run found is shown in the text that goes on being written."""

from __future__ import annotations

from bisect import bisect_right
from difflib import SequenceMatcher
from itertools import accumulate

_MOST_LINES = 2_000
"""Lines between the first and the last that differ, which are compared with each other."""


class Carrying:
    """From one text to a later one, by offsets. Lines that are the same in both carry what stands in them; lines that have changed,
    what stands before or behind the change, or once only."""

    def __init__(self, before: str, after: str) -> None:
        self._before, self._after = before.split("\n"), after.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self._before)]
        self._starts_after = [0, *accumulate(len(line) + 1 for line in self._after)]
        self._lines, self._changed = _lines(self._before, self._after)

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Where the piece from `start` to `end` stands now; None if it was itself edited, or can no longer be told."""
        first, last = self._line(start), self._line(end)
        lines = [self._lines.get(line) for line in range(first, last + 1)]
        begin = lines[0]
        if begin is None or lines != list(range(begin, begin + len(lines))):
            return self._in_changed(start, end)
        before, after = self._before[first : last + 1], self._after[begin : begin + len(lines)]
        column, stop = start - self._starts[first], end - self._starts[last]
        if len(lines) == 1:
            column_now = _place(before[0], after[0], column, stop)
            return None if column_now is None else self._at(begin, column_now, end - start)
        same = after[0].endswith(before[0][column:]) and before[1:-1] == after[1:-1] and after[-1].startswith(before[-1][:stop])
        return self._at(begin, len(after[0]) - len(before[0]) + column, end - start) if same else None

    def _in_changed(self, start: int, end: int) -> tuple[int, int] | None:
        """The same for a piece of which not all lines have a counterpart, within all that has changed."""
        (first, last), (first_now, last_now) = self._changed
        before, after = "\n".join(self._before[first:last]), "\n".join(self._after[first_now:last_now])
        origin = self._starts[first]
        if start < origin or end > origin + len(before):
            return None
        place = _place(before, after, start - origin, end - origin)
        return None if place is None else self._at(first_now, place, end - start)

    def _at(self, line: int, column: int, length: int) -> tuple[int, int]:
        start = self._starts_after[line] + column
        return start, start + length

    def _line(self, offset: int) -> int:
        return bisect_right(self._starts, offset, hi=len(self._before)) - 1


def _place(before: str, after: str, start: int, end: int) -> int | None:
    """Where a piece begins, if it is what it was."""
    if after.startswith(before[:end]):
        return start
    if after.endswith(before[start:]):
        return len(after) - len(before) + start
    piece = before[start:end]
    return after.index(piece) if before.count(piece) == after.count(piece) == 1 else None


_Part = tuple[int, int]


def _lines(before: list[str], after: list[str]) -> tuple[dict[int, int], tuple[_Part, _Part]]:
    """The lines of a later text that stand for those of an earlier one, and the part of either, from the first line that differs to
    behind the last."""
    shorter, shift = min(len(before), len(after)), len(after) - len(before)
    head = next((number for number in range(shorter) if before[number] != after[number]), shorter)
    left = shorter - head
    tail = next((number for number in range(left) if before[-1 - number] != after[-1 - number]), left)
    lines = {number: number for number in range(head)}
    lines.update((number, number + shift) for number in range(len(before) - tail, len(before)))
    changed = (head, len(before) - tail), (head, len(after) - tail)
    middle, other = before[head : len(before) - tail], after[head : len(after) - tail]
    if max(len(middle), len(other)) > _MOST_LINES:
        return lines, changed
    # Its `autojunk` takes no line that comes often for a beginning: hundreds of those would be compared with each other.
    for _, start, end, start_now, end_now in SequenceMatcher(None, middle, other, autojunk=True).get_opcodes():
        if end - start == end_now - start_now:
            lines.update((head + start + number, head + start_now + number) for number in range(end - start))
    return lines, changed
