"""The passes before evaluation on text that is not what was meant: one slip is told once, and no text is too odd."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sexpgpu.language.special import WORDS
from sexpgpu.program.cache import Cache
from support.drawn import FIXTURES
from support.units import Checked, checked

PROGRAM = (FIXTURES / "diagnostics" / "clean" / "generator.sx").read_text("utf-8")
_TOKEN = re.compile(r";[^\n]*|\"[^\"]*\"|[^\s()\[\]';]+")
_DEFINES = re.compile(r"\((def|defun|defmodel) $|\((lambda|(defun|defmodel) \S+) \([^()]*$|\(let\*? \(\($|\n +\($")


def slips() -> list[tuple[str, str, str]]:
    """Each token with the text before and behind it, but for names where they are defined: every use of such a name is a cause."""
    found: list[tuple[str, str, str]] = []
    for token in _TOKEN.finditer(PROGRAM):
        before = PROGRAM[: token.start()]
        if not token[0].startswith(";") and not _DEFINES.search(before):
            found.append((before, token[0], PROGRAM[token.end() :]))
    assert len(found) > 200
    return found


def several(before: str, instead: str, behind: str) -> str:
    """What is found, where it is more than one thing."""
    found = checked(before + instead + behind).diagnostics
    where = before.count("\n") + 1
    return f"line {where}, {instead}: {[f'{each.code} {each.message}' for each in found]}" if len(found) > 1 else ""


def test_the_program_to_spoil_is_clean() -> None:
    assert checked(PROGRAM).findings == []


@pytest.mark.parametrize("spoiler", ["12x", "zzzzzzzzz", "if", "defun", "7", ":zz", "nil", '"text"'])
def test_a_token_that_is_another_gives_one_diagnostic_at_most(spoiler: str) -> None:
    binders = ("lambda", "let", "let*") if spoiler == "if" else ()
    assert [told for before, token, behind in slips() if token not in binders and (told := several(before, spoiler, behind))] == []


def test_a_token_too_few_gives_one_diagnostic_at_most() -> None:
    assert [told for before, _, behind in slips() if (told := several(before, "", behind))] == []


def test_a_token_too_many_gives_one_diagnostic_at_most() -> None:
    assert [told for before, token, behind in slips() if (told := several(before, f"{token} {token}", behind))] == []


# Any text

_PIECES = [
    *WORDS,
    *re.findall(r"\S+", "( ) [ ] ' ; x y 12x 1 :k nil true exp sum own &key &optional &rest :axes synthetic"),
    "(def x ",
    "(defun own (x &key y) ",
    "((x 1))",
    "(x y)",
    '"text"',
    "\n(",
    "#|",
    "#;",
    "\x01",
]
_TEXTS = st.lists(st.sampled_from(_PIECES), max_size=40).map(" ".join)


def told(found: Checked) -> list[tuple[str, int, int, str, str]]:
    return [(each.code, each.span.start, each.span.end, each.message, each.help) for each in found.diagnostics]


@given(_TEXTS)
def test_any_text_is_checked_and_spans_lie_inside_it(text: str) -> None:
    for code, start, end, message, _ in told(checked(text)):
        assert 0 <= start < end <= len(text), (code, message)


@settings(max_examples=50)
@given(st.lists(_TEXTS, min_size=2, max_size=4))
def test_a_text_checked_after_others_is_told_the_same(texts: list[str]) -> None:
    cache = Cache()
    for text in texts:
        assert told(checked(text, cache=cache)) == told(checked(text))
