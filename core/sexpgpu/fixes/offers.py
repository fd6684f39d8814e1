"""What is offered at a place: the fixes of the diagnostics there, and rewrites."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from sexpgpu.diagnostics.finding import TextFix
from sexpgpu.fixes.finish import finished
from sexpgpu.fixes.ignoring import ignore_here
from sexpgpu.fixes.proposal import Proposal
from sexpgpu.fixes.rewrites import rewrites_at
from sexpgpu.fixes.table import proposals

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.diagnostics.finding import Diagnostic
    from sexpgpu.source import Source

__all__ = ["Offer", "offers", "preferred", "rewrites_at", "with_fixes"]


class Offer(NamedTuple):
    """A proposal, the diagnostic that it mends, and whether it is the one to take: the first, and the only one that is safe."""

    proposal: Proposal
    diagnostic: Diagnostic
    preferred: bool


def with_fixes(analysis: Analysis, diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic with all that may mend it, as edits of the text."""
    laid_out = ((each, finished(each)) for each in proposals(analysis, diagnostic) if not each.disabled)
    return diagnostic._replace(fixes=tuple(TextFix(each.title, tuple(edits), each.safe) for each, edits in laid_out if edits))


def preferred(found: list[Proposal]) -> Proposal | None:
    """The one of several proposals to take without asking."""
    if found and found[0].safe and found[0].edits and not any(each.safe for each in found[1:]):
        return found[0]
    return None


def offers(analysis: Analysis, diagnostics: Iterable[Diagnostic], source: Source, start: int, end: int) -> list[Offer]:
    """The fixes of the diagnostics that touch a range of a source, in the order of the diagnostics; to ignore one comes last."""
    found: list[Offer] = []
    silenced: list[Offer] = []
    for diagnostic in diagnostics:
        span = diagnostic.span
        if span.source is source and span.start <= end and start <= span.end:
            mine = proposals(analysis, diagnostic)
            best = preferred(mine)
            found += [Offer(each, diagnostic, each is best) for each in mine]
            ignoring = ignore_here(analysis, diagnostic)
            if ignoring is not None and all(other.proposal.title != ignoring.title for other in silenced):
                silenced.append(Offer(ignoring, diagnostic, False))
    return found + silenced
