"""Fixes tried out: what is proposed for a file, and what is found in it when that has been done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from sexpgpu.analysis import Analysis, Options, analyse
from sexpgpu.diagnostics.finding import Diagnostic, TextEdit
from sexpgpu.fixes import Proposal, finished, proposals, rewrites_at
from sexpgpu.fixes.ignoring import ignore_here
from sexpgpu.fixes.offers import preferred
from sexpgpu.format import apply_edits
from sexpgpu.source import Source

Kind = tuple[str, str]


class Trial(NamedTuple):
    """A proposal for a diagnostic, its edits, and the text with these made; `best` where it is the one to take."""

    diagnostic: Diagnostic
    proposal: Proposal
    edits: list[TextEdit]
    text: str
    best: bool


def analysed(text: str, name: str = "run.sx") -> Analysis:
    return analyse(Source(name, text), options=Options(record=True))


def trials(analysis: Analysis) -> Iterator[Trial]:
    """All that is proposed for what is found in the file itself."""
    text = analysis.source.text
    for diagnostic in analysis.diagnostics:
        if diagnostic.span.source is analysis.source:
            found = proposals(analysis, diagnostic)
            silenced = ignore_here(analysis, diagnostic)
            best = preferred(found)
            for proposal in [*found, *([silenced] if silenced else [])]:
                if not proposal.disabled:
                    edits = finished(proposal)
                    assert edits, f"{diagnostic.code}: `{proposal.title}` has edits that overlap, or none"
                    assert all(edit.span.source is analysis.source for edit in edits)
                    yield Trial(diagnostic, proposal, edits, apply_edits(text, edits), proposal is best)


def kinds(analysis: Analysis) -> Counter[Kind]:
    """What is found, by code and message."""
    return Counter((each.code, each.message) for each in analysis.diagnostics)


def remains(trial: Trial, after: Analysis) -> bool:
    """Whether what a fix is for is still found where it was."""
    start = trial.diagnostic.span.start
    moved = sum(
        len(edit.text) - (edit.span.end - edit.span.start)
        for edit in trial.edits
        if edit.span.end <= start and edit.span.start < start
    )
    same = (trial.diagnostic.code, trial.diagnostic.message, start + moved)
    return any((each.code, each.message, each.span.start) == same for each in after.diagnostics if each.span.source is after.source)


def mended(text: str, title: str) -> str:
    """The text with the one fix of this title made."""
    (found,) = [trial for trial in trials(analysed(text)) if trial.proposal.title == title]
    return found.text


def titles(text: str) -> list[str]:
    """The titles of all that is proposed."""
    return [trial.proposal.title for trial in trials(analysed(text))]


def rewritten(text: str, selected: str, title: str) -> str:
    """The text with a rewrite made that is offered where a piece of it is selected; of an empty one, `|` in the text tells."""
    (found,) = [each for each in rewrites(text, selected) if each.title == title]
    assert not found.disabled, found.disabled
    return apply_edits(text.replace("|", "") if not selected else text, finished(found))


def rewrites(text: str, selected: str) -> list[Proposal]:
    if selected:
        start = text.index(selected)
        analysis = analysed(text)
    else:
        start = text.index("|")
        analysis = analysed(text.replace("|", "", 1))
    return rewrites_at(analysis, analysis.source, start, start + len(selected))
