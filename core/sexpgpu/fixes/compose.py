"""Edits that follow each other, as edits of the first text."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.source import Source, Span

Change = tuple[int, int, str]


class Draft:
    """A text under change: pieces of the first text, by where they stand in it, and pieces that are new."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._pieces: list[Change] = [(0, len(source.text), "")]
        """Each is `(start, end, "")`, taken from the source, or `(-1, -1, text)`."""

    def copy(self) -> Draft:
        """The same text, to be changed on its own."""
        other = Draft(self.source)
        other._pieces = self._pieces
        return other

    @property
    def text(self) -> str:
        return "".join(new or self.source.text[max(start, 0) : max(end, 0)] for start, end, new in self._pieces)

    def apply(self, edits: Iterable[Change]) -> None:
        """Replace parts of the text as it is now, given in order and apart from each other."""
        pieces: list[Change] = []
        waiting = list(reversed(self._pieces))
        position = 0

        def pass_over(until: int, keep: bool) -> None:
            nonlocal position
            while waiting and position < until:
                start, end, new = waiting.pop()
                length = len(new) or end - start
                take = min(length, until - position)
                first = (-1, -1, new[:take]) if new else (start, start + take, "")
                if keep:
                    pieces.append(first)
                if take < length:
                    waiting.append((-1, -1, new[take:]) if new else (start + take, end, ""))
                position += take

        for start, end, text in edits:
            pass_over(start, keep=True)
            if text:
                pieces.append((-1, -1, text))
            pass_over(end, keep=False)
        pieces += reversed(waiting)
        self._pieces = pieces

    def edits(self) -> list[TextEdit]:
        """What has been done, as edits of the source, in order and apart from each other."""
        old = self.source.text
        found: list[TextEdit] = []
        position, new = 0, ""
        for start, end, text in [*self._pieces, (len(old), len(old), "")]:
            if text:
                new += text
                continue
            if new or start > position:
                edit = _smallest(self.source, position, start, new)
                if edit is not None:
                    found.append(edit)
            position, new = end, ""
        return found


def _smallest(source: Source, start: int, end: int, new: str) -> TextEdit | None:
    old = source.text
    while start < end and new and old[start] == new[0]:
        start, new = start + 1, new[1:]
    while start < end and new and old[end - 1] == new[-1]:
        end, new = end - 1, new[:-1]
    return TextEdit(Span(source, start, end), new) if start < end or new else None


def in_order(edits: Iterable[TextEdit]) -> list[TextEdit]:
    """Edits by place; those at one place stay in the order in which they came."""
    return sorted(edits, key=lambda edit: (edit.span.start, edit.span.end))


def apart(edits: list[TextEdit]) -> bool:
    """Whether edits in order do not overlap."""
    return all(one.span.end <= other.span.start for one, other in pairwise(edits))
