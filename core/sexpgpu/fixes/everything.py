"""A file with all fixes that are safe, made one round after another."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sexpgpu.analysis import Options, analyse
from sexpgpu.diagnostics.finding import Diagnostic, TextEdit
from sexpgpu.files import DISK, Files
from sexpgpu.fixes.compose import Draft
from sexpgpu.fixes.finish import finished
from sexpgpu.fixes.offers import preferred
from sexpgpu.fixes.table import proposals
from sexpgpu.source import Source

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

_MOST_ROUNDS = 20


class Fixed:
    """What was done to a file: the `edits` of its text, how many fixes they are, and what is found in it afterwards."""

    __slots__ = ("analysis", "count", "edits", "text")

    def __init__(self, edits: list[TextEdit], text: str, count: int, analysis: Analysis) -> None:
        self.edits = edits
        self.text = text
        self.count = count
        self.analysis = analysis


def safe_edits(analysis: Analysis) -> list[list[TextEdit]]:
    """The edits of each fix to take in the file itself, none of which touches another: of two that do, the first is taken."""
    taken: list[list[TextEdit]] = []
    for diagnostic in analysis.diagnostics:
        if diagnostic.span.source is not analysis.source:
            continue
        best = preferred(proposals(analysis, diagnostic))
        if best is None or any(edit.span.source is not analysis.source for edit in best.edits):
            continue
        edits = finished(best)
        if edits and not any(_touch(edit, other) for edit in edits for others in taken for other in others):
            taken.append(edits)
    return taken


def fixed(analysis: Analysis, files: Files = DISK, options: Options | None = None) -> Fixed:
    """The file of an analysis with all safe fixes made, until there is none any more.

    What a round brings about is analysed. If it leaves errors that were not there, its fixes are made one by one, and one that does
    so alone is not made. Raises SettingError, as `analyse` does.
    """
    options = Options(options.settings, record=True, ignore=options.ignore) if options is not None else Options(record=True)
    first = analysis.source
    draft = Draft(first)
    count = 0
    refused: set[tuple[str, str]] = set()
    for _ in range(_MOST_ROUNDS):
        groups = [group for group in safe_edits(analysis) if _name(analysis.source, group) not in refused]
        if not groups:
            break
        after = _analysed(draft, groups, files, options)
        if not _is_better(analysis, after):
            after = None
            for group in groups:
                alone = _analysed(draft, [group], files, options)
                if _is_better(analysis, alone):
                    groups, after = [group], alone
                    break
                refused.add(_name(analysis.source, group))
            if after is None:
                break
        draft.apply(_changes(groups))
        count += len(groups)
        analysis = after
    return Fixed(draft.edits(), draft.text, count, analysis)


def _changes(groups: list[list[TextEdit]]) -> list[tuple[int, int, str]]:
    return sorted((edit.span.start, edit.span.end, edit.text) for group in groups for edit in group)


def _name(source: Source, group: list[TextEdit]) -> tuple[str, str]:
    """What a fix is called while the text around it changes: what it replaces, and with what."""
    return "\0".join(source.text[edit.span.start : edit.span.end] for edit in group), "\0".join(edit.text for edit in group)


def _analysed(draft: Draft, groups: list[list[TextEdit]], files: Files, options: Options) -> Analysis:
    trial = Draft(Source(draft.source.name, draft.text))
    trial.apply(_changes(groups))
    return analyse(Source(draft.source.name, trial.text), files, options)


def _is_better(before: Analysis, after: Analysis) -> bool:
    """Whether there is less to say, and no error of a kind that there was less of."""
    gone, come = _kinds(before.diagnostics), _kinds(after.diagnostics)
    worse = sum((come - gone).values())
    return len(after.diagnostics) < len(before.diagnostics) and worse == 0


def _kinds(diagnostics: list[Diagnostic]) -> Counter[tuple[str, str]]:
    return Counter((each.code, each.message) for each in diagnostics if each.rule.severity == "error")


def _touch(one: TextEdit, other: TextEdit) -> bool:
    return one.span.start <= other.span.end and other.span.start <= one.span.end
