"""Any text is read: nothing is raised, everything lies inside the text, and the time grows with its length alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.reading import PROGRAM, diagnostics, every, inside, reading, soup

anything = soup | st.text(max_size=60) | st.text(st.characters(), max_size=60)


@settings(max_examples=300)
@given(anything)
def test_any_text_is_read_and_everything_lies_inside_it(text: str) -> None:
    result = reading(text)
    behind = 0
    for top in result.forms:
        assert behind <= top.origin
        behind = top.origin + len(top.text)
        assert text[top.origin : behind] == top.text
        for form in every(top.form):
            assert 0 <= form.start < form.end <= len(top.text)
            assert form.top is top
            last = form.start
            for each in inside(form):
                assert last <= each.start
                assert each.end <= form.end
                last = each.end
        for comment in top.comments:
            assert 0 <= comment.start < comment.end <= len(top.text)
    for comment in result.comments:
        assert text[comment.start] in ";#"
        assert comment.start < comment.end <= len(text)
    for finding in diagnostics(text):
        for span in (finding.span, *(note.span for note in finding.related)):
            assert 0 <= span.start < span.end <= len(text)


@given(anything)
def test_one_place_has_one_diagnostic_and_they_are_in_order(text: str) -> None:
    starts = [finding.span.start for finding in diagnostics(text)]
    assert starts == sorted(set(starts))


@given(anything)
def test_what_is_broken_has_a_cause(text: str) -> None:
    result = reading(text)
    assert bool(result.findings) >= any(top.broken for top in result.forms)


SLIPPED = PROGRAM.replace("[W-NAME-001]", "").split("#;\n")[0]


@pytest.mark.parametrize("index", [index for index, character in enumerate(SLIPPED) if character in "()[]"])
def test_one_bracket_too_few_or_too_many_gives_one_diagnostic(index: int) -> None:
    before, bracket, behind = SLIPPED[:index], SLIPPED[index], SLIPPED[index + 1 :]
    assert len(diagnostics(before + behind)) == 1
    assert len(diagnostics(before + bracket * 2 + behind)) == 1


PIECES = [
    *("(", ")", "[", "(]", "[)", "(a", "(a\n", "\n(", "\n(a [", "(\n;c\n(", "(;\n", "((]))", "([)] ", "(a '", "(def a 1)\n"),
    *("'", "'\n(", "#;", "#;(", "#;a ", "(#;a", "#|", "#||#", "#|#", "|#", ";c\n", "; c\n(a)\n", "a ", "(a) ", " ", "\n", "\r"),
    *("\u2028", "\ufeff", '"', '"\\', '"\\q"', "\\", ":", "1.", "1_", "0x", "9", "1e", "\x00", "a\x00", "\ud800"),
]


def seconds(text: str) -> float:
    """How long it takes to read a text twice."""
    before = time.process_time()
    reading(text + " ", reading(text))
    return time.process_time() - before


def is_linear(start: str, piece: str) -> bool:
    """Whether 16 times the length takes less than 60 times as long; a quadratic reader would take 256 times as long."""
    short, long = (seconds(start + piece * (length // len(piece))) for length in (1_000, 16_000))
    return long < 0.05 + 60 * short


@pytest.mark.parametrize("start", ["", '"', "[" * 300 + "(" * 200])
@pytest.mark.parametrize("piece", PIECES)
def test_the_time_is_linear_in_the_length(start: str, piece: str) -> None:
    assert any(is_linear(start, piece) for _ in range(5))  # a busy machine may disturb one measurement


def test_recursion_is_not_what_bounds_nesting() -> None:
    assert len(diagnostics("(" * 200_000)) == 1
    assert len(diagnostics("'" * 200_000)) == 1
