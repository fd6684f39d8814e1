"""What is proposed for every drawn fixture and every page's bad example, tried out: each proposal mends what it is for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sexpgpu.diagnostics.finding import Diagnostic
from sexpgpu.diagnostics.page import page
from sexpgpu.diagnostics.rules import RULES
from sexpgpu.fixes import finished, fixed, rewrites_at
from sexpgpu.format import apply_edits, format_edits
from sexpgpu.reader import read
from sexpgpu.source import Source
from support.drawn import FIXTURES, fixtures, strip
from support.mending import analysed, kinds, remains, trials
from support.slips import spoilt

_TESTS = FIXTURES.parent

# Two things were wrong at one place, and of the second nothing could be said before the first was mended.
_TWO_AT_ONCE = {"what-comes-of-it-is-silent.sx", "conditions-and-bits.sx", "integers-and-booleans.sx"}


def _pages() -> list[tuple[str, Path, str]]:
    found: list[tuple[str, Path, str]] = []
    for code in RULES:
        known = page(code)
        if known is not None and known.bad:
            folder = _TESTS / known.files if known.files else Path()
            found.append((f"page {code}", folder / f"{code}.sx", strip(known.bad)[0]))
    return found


CASES = [
    *(
        (path.relative_to(FIXTURES).as_posix(), path, strip(path.read_bytes().decode("utf-8-sig"))[0])
        for path in fixtures("diagnostics")
    ),
    *_pages(),
]
every = pytest.mark.parametrize(("path", "text"), [pytest.param(path, text, id=name) for name, path, text in CASES])


def errors(found: list[Diagnostic]) -> int:
    return sum(each.rule.severity == "error" for each in found)


@every
def test_each_proposal_alone_mends_what_it_is_for(path: Path, text: str) -> None:
    before = analysed(text, str(path))
    broken = len(before.unit.main.reading.findings)
    formatted = not broken and not format_edits(before.source)
    best: list[Diagnostic] = []
    said: set[tuple[Diagnostic, str]] = set()
    for trial in trials(before):
        title = trial.proposal.title
        after = analysed(trial.text, str(path))
        assert len(after.unit.main.reading.findings) <= broken, title
        assert not remains(trial, after), title
        assert re.match(r"[a-z]", title) and len(title) <= 80, title
        assert (trial.diagnostic, title) not in said
        said.add((trial.diagnostic, title))
        if formatted:
            assert not format_edits(after.source), title
        if trial.best:
            best.append(trial.diagnostic)
            assert errors(after.diagnostics) <= errors(before.diagnostics), title
            if path.name not in _TWO_AT_ONCE:
                assert len(after.diagnostics) < len(before.diagnostics), title
                assert not kinds(after) - kinds(before), title
    assert len(best) == len(set(best)), "more than one is preferred"


@every
def test_all_that_is_safe_can_be_done_at_once_and_again(path: Path, text: str) -> None:
    before = analysed(text, str(path))
    done = fixed(before)
    assert apply_edits(text, done.edits) == done.text
    assert bool(done.edits) == bool(done.count)
    if done.edits:
        assert len(done.analysis.diagnostics) < len(before.diagnostics)
        assert errors(done.analysis.diagnostics) <= errors(before.diagnostics)
    assert not fixed(analysed(done.text, str(path))).edits


def test_every_code_that_a_change_to_the_file_can_mend_has_a_proposal() -> None:
    without = {
        "E-READ-005",  # parts must be taken out, which ones is for people to say
        "E-READ-006",  # bytes that are no text
        "E-ASSERT-001",  # what the file's own message asks for
        "E-LIMIT-001",
        "E-DATA-001",  # the file of the data is wrong, or what is asked of it
        "E-MEM-001",
    }
    mended = {
        trial.diagnostic.code
        for _, path, text in CASES
        for trial in trials(analysed(text, str(path)))
        if not trial.proposal.title.startswith("ignore ")
    }
    assert {code for code in RULES if not code.startswith("E-RUN-")} - mended == without


@every
def test_line_ends_are_the_file_s_own(path: Path, text: str) -> None:
    if "\r" in text or path.suffix != ".sx":
        return
    for trial in trials(analysed(text.replace("\n", "\r\n"), str(path))):
        assert "\n" not in trial.text.replace("\r\n", ""), trial.proposal.title


@pytest.mark.parametrize("seed", range(4))
def test_spoilt_text_is_mended_or_left(seed: int) -> None:
    for path, text in spoilt(30, seed):
        before = analysed(text, str(path))
        broken = len(before.unit.main.reading.findings)
        for trial in trials(before):
            assert len(read(Source("", trial.text)).findings) <= broken, trial.proposal.title
        for start in range(0, len(text), 211):
            for proposal in rewrites_at(before, before.source, start, min(len(text), start + start % 23)):
                if proposal.edits:
                    after = analysed(apply_edits(text, finished(proposal)), str(path))
                    assert len(after.unit.main.reading.findings) <= broken, proposal.title
