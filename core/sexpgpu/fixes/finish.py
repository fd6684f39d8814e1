"""A proposal as it is done to the text: new lines begin where the formatter would have them, line ends are the file's own."""

from __future__ import annotations

from collections.abc import Iterator

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.fixes.compose import Change, Draft, apart, in_order
from sexpgpu.fixes.proposal import BREAK, Proposal
from sexpgpu.format import format_edits, indent_for
from sexpgpu.source import LINE_END, Source


def finished(proposal: Proposal) -> list[TextEdit]:
    """The edits of a proposal, by file and place, apart from each other. None, where it has edits that overlap.

    Top-level forms that were laid out as the formatter has them still are.
    """
    by_source: dict[Source, list[TextEdit]] = {}
    for edit in proposal.edits:
        by_source.setdefault(edit.span.source, []).append(edit)
    found: list[TextEdit] = []
    for source, edits in by_source.items():
        ordered = in_order(edits)
        if not apart(ordered):
            return []
        found += _laid_out(source, ordered)
    return found


class _Part:
    """The lines of a source from one opener in column 0 to the next, or of several such parts, with the edits there."""

    __slots__ = ("edits", "end", "start")

    def __init__(self, start: int, end: int, edits: list[TextEdit]) -> None:
        self.start = start
        self.end = end
        self.edits = edits


def _parts(source: Source, edits: list[TextEdit]) -> list[_Part]:
    """What the edits touch, part by part: what stands elsewhere has no bearing on how they are laid out."""
    text, starts = source.text, source.line_starts
    parts: list[_Part] = []
    for edit in edits:
        first, last = source.line_at(edit.span.start), source.line_at(edit.span.end) + 1
        while first > 0 and text[starts[first] : starts[first] + 1] not in _OPENERS:
            first -= 1
        while last < len(starts) and text[starts[last] : starts[last] + 1] not in _OPENERS:
            last += 1
        end = starts[last] if last < len(starts) else len(text)
        if parts and starts[first] < parts[-1].end:
            parts[-1].edits.append(edit)
            parts[-1].end = max(parts[-1].end, end)
        else:
            parts.append(_Part(starts[first], end, [edit]))
    return parts


_OPENERS = ("(", "[")


def _laid_out(source: Source, edits: list[TextEdit]) -> list[TextEdit]:
    draft = Draft(source)
    line_end = usual_line_end(source)
    changes: list[Change] = []
    formatting: list[Change] = []
    shift = 0
    for part in _parts(source, edits):
        mine = _indented(source, part, line_end)
        before = source.text[part.start : part.end]
        after = before
        for start, end, text in reversed(mine):
            after = after[: start - part.start] + text + after[end - part.start :]
        if not any(_format(before, line_end)):
            begin = part.start + shift
            formatting += [(begin + start, begin + end, text) for start, end, text in _format(after, line_end)]
        changes += mine
        shift += len(after) - len(before)
    draft.apply(changes)
    draft.apply(formatting)
    return draft.edits()


def _format(text: str, line_end: str) -> Iterator[Change]:
    """What the formatter would change in a part, the lines behind its last form aside; nothing where it does not read."""
    kept = len(text.rstrip())
    for edit in format_edits(Source("", text[:kept] + line_end)):
        if edit.span.end <= kept:
            yield edit.span.start, edit.span.end, edit.text


def _indented(source: Source, part: _Part, line_end: str) -> list[Change]:
    """The edits of a part with each break as a line end and the columns that go before the next line."""
    text = source.text
    written = ""
    position = part.start
    changes: list[Change] = []
    for edit in part.edits:
        start, end = edit.span.start, edit.span.end
        written += text[position:start]
        before = len(written)
        first, *rest = edit.text.split(BREAK)
        written += first
        for index, line in enumerate(rest):
            written += line_end
            behind = text[end : end + 1] if index == len(rest) - 1 else ""
            if line or (behind and behind not in "\r\n"):
                so_far = Source("", written + (line or behind))
                written += " " * indent_for(so_far, so_far.line_at(len(written)))
            written += line
        changes.append((start, end, written[before:]))
        position = end
    return changes


def usual_line_end(source: Source) -> str:
    """How the first line ends; ``\\n`` in a text of one line."""
    found = LINE_END.search(source.text)
    return found[0] if found else "\n"
