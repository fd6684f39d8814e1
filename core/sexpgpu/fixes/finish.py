"""A proposal as it is done to the text: new lines begin where the formatter would have them, line ends are the file's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.fixes.compose import Change, Draft, apart, in_order
from sexpgpu.fixes.proposal import BREAK, Proposal
from sexpgpu.format import format_edits, indent_for
from sexpgpu.source import LINE_END, Source, Span

if TYPE_CHECKING:
    from collections.abc import Iterable


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


def _laid_out(source: Source, edits: list[TextEdit]) -> list[TextEdit]:
    draft = Draft(source)
    changes = _indented(source, edits)
    draft.apply(changes)
    if _is_formatted(source, edits):
        after = Source(source.name, draft.text)
        span = _changed(after, changes)
        draft.apply((edit.span.start, edit.span.end, edit.text) for edit in format_edits(after, span))
    return draft.edits()


def _is_formatted(source: Source, edits: Iterable[TextEdit]) -> bool:
    """Whether nothing of what the edits touch would be moved by the formatter; not for text that does not read."""
    return all(not format_edits(source, edit.span) for edit in edits)


def _changed(after: Source, changes: list[Change]) -> Span:
    """From the first to the last thing that was changed, in the text as it is then."""
    shift = sum(len(text) - (end - start) for start, end, text in changes)
    last = max(end for _, end, _ in changes) + shift
    return Span(after, min(start for start, _, _ in changes), max(last, 0))


def _indented(source: Source, edits: list[TextEdit]) -> list[Change]:
    """The edits with each break as a line end and the columns that go before the next line."""
    text = source.text
    line_end = usual_line_end(source)
    written = ""
    position = 0
    changes: list[Change] = []
    for edit in edits:
        start, end = edit.span.start, edit.span.end
        written += text[position:start]
        before = len(written)
        first, *rest = edit.text.split(BREAK)
        written += first
        for index, part in enumerate(rest):
            written += line_end
            behind = text[end:] if index == len(rest) - 1 else ""
            if part or (behind and behind[0] not in "\r\n"):
                so_far = Source(source.name, written + (part or behind[:1]))
                written += " " * indent_for(so_far, so_far.line_at(len(written)))
            written += part
        changes.append((start, end, written[before:]))
        position = end
    return changes


def usual_line_end(source: Source) -> str:
    """How the first line ends; ``\\n`` in a text of one line."""
    found = LINE_END.search(source.text)
    return found[0] if found else "\n"
