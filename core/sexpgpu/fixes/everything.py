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
"""How many rounds may follow each other of which none leaves less to say than there was."""
_MOST_TRIALS = 200

Name = tuple[str, str]
_Fix = tuple[Name, list[TextEdit]]


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

    What a round brings about is analysed. One that leaves something to say that was not there may have uncovered what the next
    mends, so rounds follow each other until there is less to say than before the first of them. Where that never happens, fewer of
    its fixes are tried, and in the end each alone. Raises SettingError, as `analyse` does.
    """
    options = Options(options.settings, record=True, ignore=options.ignore) if options is not None else Options(record=True)
    trials = _Trials(files, options)
    state = _State(Draft(analysis.source), 0, analysis)
    while (better := trials.better(state)) is not None:
        state = better
    return Fixed(state.draft.edits(), state.draft.text, state.count, state.analysis)


class _State:
    """A text under change, how many fixes have been made to it, and what is found in it."""

    __slots__ = ("analysis", "count", "draft")

    def __init__(self, draft: Draft, count: int, analysis: Analysis) -> None:
        self.draft = draft
        self.count = count
        self.analysis = analysis

    def fixes(self) -> list[_Fix]:
        """The fixes to take, by what they are called while the text around them changes: what they replace, and with what."""
        text = self.analysis.source.text
        return [
            (("\0".join(text[edit.span.start : edit.span.end] for edit in edits), "\0".join(edit.text for edit in edits)), edits)
            for edits in safe_edits(self.analysis)
        ]


class _Trials:
    """Tries fixes out, as long as it may."""

    def __init__(self, files: Files, options: Options) -> None:
        self._files = files
        self._options = options
        self._left = _MOST_TRIALS

    def better(self, state: _State) -> _State | None:
        """The first state in which there is less to say, with all fixes if it can be, else with half of them, and so on."""
        all_fixes = state.fixes()
        waiting = [all_fixes] if all_fixes else []
        while waiting and self._left > 0:
            fixes = waiting.pop()
            names = {name for name, _ in fixes}
            found = self._onward(state, fixes, {name for name, _ in all_fixes} - names)
            if found is not None:
                return found
            half = len(fixes) // 2
            waiting += [part for part in (fixes[half:], fixes[:half]) if half]
        return None

    def _onward(self, state: _State, fixes: list[_Fix], without: set[Name]) -> _State | None:
        """Make fixes, and those that they uncover, until there is less to say; None where there never is."""
        before = state.analysis.diagnostics
        texts = {state.draft.text}
        for _ in range(_MOST_ROUNDS):
            state = self._after(state, [edits for _, edits in fixes])
            if _is_better(before, state.analysis.diagnostics):
                return state
            if state.draft.text in texts or self._left <= 0:
                break
            texts.add(state.draft.text)
            fixes = [(name, edits) for name, edits in state.fixes() if name not in without]
            if not fixes:
                break
        return None

    def _after(self, state: _State, groups: list[list[TextEdit]]) -> _State:
        self._left -= 1
        draft = state.draft.copy()
        draft.apply(sorted((edit.span.start, edit.span.end, edit.text) for group in groups for edit in group))
        analysis = analyse(Source(draft.source.name, draft.text), self._files, self._options)
        return _State(draft, state.count + len(groups), analysis)


def _is_better(before: list[Diagnostic], after: list[Diagnostic]) -> bool:
    """Whether there is less to say, and nothing of a kind that there was less of."""
    return len(after) < len(before) and not _kinds(after) - _kinds(before)


def _kinds(diagnostics: list[Diagnostic]) -> Counter[tuple[str, str]]:
    return Counter((each.code, each.message) for each in diagnostics)


def _touch(one: TextEdit, other: TextEdit) -> bool:
    return one.span.start <= other.span.end and other.span.start <= one.span.end
