"""What is proposed for each code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from sexpgpu.fixes.proposal import Proposal
from sexpgpu.fixes.spots import Spot, spot_of

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.diagnostics.finding import Diagnostic


_MODULES = (
    "reading",
    "naming",
    "calls",
    "dtypes",
    "templates",
    "reports",
    "declarations",
    "parts",
    "contracts",
    "layers",
    "draws",
    "salting",
    "generation",
)
"""Whoever proposes, in the order in which proposals for one code are offered; read when the first diagnostic is asked for."""


class Case(NamedTuple):
    """A diagnostic with the analysis that found it and, where a form that reads stands there, its spot."""

    analysis: Analysis
    diagnostic: Diagnostic
    spot: Spot


Maker = Callable[[Case], Iterable[Proposal]]
TextMaker = Callable[["Analysis", "Diagnostic"], Iterable[Proposal]]
MAKERS: dict[str, list[Maker]] = {}
TEXT_MAKERS: dict[str, list[TextMaker]] = {}


def proposes(*codes: str) -> Callable[[Maker], Maker]:
    """Enter what proposes fixes for these codes, asked where the diagnostic stands at a form."""

    def enter(maker: Maker) -> Maker:
        for code in codes:
            MAKERS.setdefault(code, []).append(maker)
        return maker

    return enter


def proposes_for_text(*codes: str) -> Callable[[TextMaker], TextMaker]:
    """The same for codes that speak of text which does not read."""

    def enter(maker: TextMaker) -> TextMaker:
        for code in codes:
            TEXT_MAKERS.setdefault(code, []).append(maker)
        return maker

    return enter


def proposals(analysis: Analysis, diagnostic: Diagnostic) -> list[Proposal]:
    """What may mend a diagnostic, the likeliest first: what the analysis found itself, then what the table proposes."""
    found: dict[tuple[object, ...], Proposal] = {}
    for proposal in _all(analysis, diagnostic):
        if any(edit.span.source.builtin for edit in proposal.edits):
            continue  # the language's own files are only to be read
        if proposal.edits and all(edit.span.source.text[edit.span.start : edit.span.end] == edit.text for edit in proposal.edits):
            continue
        if all(proposal.title != other.title for other in found.values()):
            found.setdefault(tuple((edit.span, edit.text) for edit in proposal.edits), proposal)
    return list(found.values())


def _all(analysis: Analysis, diagnostic: Diagnostic) -> Iterator[Proposal]:
    for name in _MODULES:
        import_module(f"sexpgpu.fixes.{name}")
    for fix in diagnostic.fixes:
        yield Proposal(fix.title, fix.edits, fix.safe)
    for text_maker in TEXT_MAKERS.get(diagnostic.code, ()):
        yield from text_maker(analysis, diagnostic)
    if diagnostic.code in MAKERS:
        spot = spot_of(analysis, diagnostic)
        if spot is not None:
            for maker in MAKERS[diagnostic.code]:
                yield from maker(Case(analysis, diagnostic, spot))
