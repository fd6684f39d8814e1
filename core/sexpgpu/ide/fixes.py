"""The changes that mend what diagnostics say, in a file or in a part of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sexpgpu.diagnostics.finding import Diagnostic, TextEdit, TextFix
from sexpgpu.source import Source


class Offer(NamedTuple):
    """A fix, the diagnostic that it mends, and whether it is the one to take: the only one, and one that cannot do harm."""

    fix: TextFix
    diagnostic: Diagnostic
    preferred: bool


def offers(diagnostics: Iterable[Diagnostic], source: Source, start: int, end: int) -> list[Offer]:
    """The fixes of the diagnostics that touch a range of a source, in the order of the diagnostics."""
    found: list[Offer] = []
    for diagnostic in diagnostics:
        span = diagnostic.span
        if span.source is source and span.start <= end and start <= span.end:
            fixes = diagnostic.fixes
            found += [Offer(fix, diagnostic, fix.safe and len(fixes) == 1) for fix in fixes]
    return found


def all_safe(diagnostics: Iterable[Diagnostic], source: Source) -> list[TextEdit]:
    """The edits of every fix that is safe and the only one of its diagnostic, in text order.

    Of fixes whose edits touch each other the first is taken whole and the others not at all: after it they may be wrong.
    """
    taken: list[TextEdit] = []
    for diagnostic in diagnostics:
        if len(diagnostic.fixes) == 1 and diagnostic.fixes[0].safe:
            edits = diagnostic.fixes[0].edits
            here = all(edit.span.source is source for edit in edits)
            if here and not any(_touch(edit, other) for edit in edits for other in taken):
                taken += edits
    return sorted(taken, key=lambda edit: (edit.span.start, edit.span.end))


def _touch(one: TextEdit, other: TextEdit) -> bool:
    return one.span.start <= other.span.end and other.span.start <= one.span.end
