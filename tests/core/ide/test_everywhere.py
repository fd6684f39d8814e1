"""References, renames and calls have an answer, or none, at every place of every file, and renames do what they say."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from sexpgpu.analysis import Analysis, Options, analyse
from sexpgpu.fixes import with_fixes
from sexpgpu.ide.callers import around, incoming, item, outgoing
from sexpgpu.ide.folding import folds
from sexpgpu.ide.links import links
from sexpgpu.ide.occurrences import elsewhere, in_order
from sexpgpu.ide.rename import Refused, check_name, check_subject
from sexpgpu.language.marks import Local
from sexpgpu.language.special import SPECIAL_FORMS, TOP_LEVEL
from sexpgpu.source import Source
from support.drawn import FIXTURES, fixtures, strip
from support.known import QUESTIONS
from support.renaming import meanings, replaced, seen_at

CASES = [pytest.param(path, id=path.relative_to(FIXTURES).as_posix()) for path in fixtures("diagnostics")]
NEW = "zz-new"
WORDS = re.compile(r"""(?<=[\s()\[\]"/:'])[^\s()\[\]"';:]""")


def analysed(text: str, name: str) -> Analysis:
    return analyse(Source(name, text), options=Options(record=True))


def ask(analysis: Analysis, text: str, offset: int) -> None:
    module = analysis.unit.main
    found = item(analysis, module, offset)
    for each in (found, around(module, offset)):
        if each is not None:
            outgoing(analysis, each)
    seen = seen_at(analysis, offset)
    if seen is None:
        return
    at = seen.subject.at
    assert at.start <= offset <= at.end
    assert at.source is module.source
    assert any(at.start <= place.part.start and place.part.end <= at.end for place in seen.places)
    assert seen.places == in_order(seen.places)
    for place in seen.places:
        assert place.span.start <= place.part.start <= place.part.end <= place.span.end
        assert place.part.source.text[place.part.start : place.part.end] == seen.subject.name
    if not isinstance(seen.subject.what, Local) and seen.subject.kind == "definition":
        incoming(seen)
    assert [again.places for again in elsewhere(analysis, seen.subject, seen.places)] == [seen.places]


@pytest.mark.parametrize("path", CASES)
def test_every_place_of_a_file_can_be_asked_about(path: Path) -> None:
    text = strip(path.read_bytes().decode("utf-8-sig"))[0]
    for part in (text, text[: len(text) * 2 // 3]):
        analysis = analysed(part, str(path))
        folds(analysis.unit.main)
        links(analysis, analysis.unit.main)
        for offset in range(0, len(part) + 1, 7):
            ask(analysis, part, offset)


PARTS = ("x", ":x", '"x"', "1", "()", "[]", "(x 1)", "'x", "nil")
CALLED = (
    "field",
    "getf",
    "plist-set",
    "metric",
    "diagnostic",
    "counter",
    "param",
    "list",
    "jsonl",
    "ema",
    "linear",
    "adamw",
    "sum",
)


@pytest.mark.parametrize("head", ["", *PARTS, *TOP_LEVEL, *SPECIAL_FORMS, *CALLED])
def test_whatever_little_stands_in_a_list(head: str) -> None:
    """Of a call that has only just been begun, or whose parts are none that it takes: every question has an answer, or none."""
    chance = random.Random(head)
    parts = [(), *((part,) for part in PARTS), *(chance.choices(PARTS, k=chance.randint(2, 4)) for _ in range(6))]
    calls = [f"({' '.join((head, *written)).strip()})" for written in parts]
    text = "\n".join([*calls, "(defun objective (inputs ctx)", *calls, ")"])
    analysis = analysed(text, "little.sx")
    module = analysis.unit.main
    for found in analysis.diagnostics:
        with_fixes(analysis, found)
    for match in re.finditer(r"(?<=\()|(?<= )|(?=\))", text):
        for question in chance.sample(list(QUESTIONS.values()), 3):
            question(analysis, module, match.start())
        ask(analysis, text, match.start())


@pytest.mark.parametrize("path", CASES)
def test_a_rename_keeps_what_is_diagnosed_and_meant(path: Path) -> None:
    text = strip(path.read_bytes().decode("utf-8-sig"))[0]
    analysis = analysed(text, str(path))
    before = [found.code for found in analysis.diagnostics]
    tried: set[int] = set()
    for match in list(WORDS.finditer(text))[::5]:
        seen = seen_at(analysis, match.start())
        if seen is None or seen.places[0].part.start in tried:
            continue
        tried.add(seen.places[0].part.start)
        if any(place.part.source is not analysis.source for place in seen.places):
            continue
        try:
            check_subject(seen)
            new = check_name(seen, NEW)
        except Refused:
            continue
        after = analysed(replaced(text, seen.places, new), str(path))
        assert [found.code for found in after.diagnostics] == before, seen.subject
        assert meanings(after) == meanings(analysis), seen.subject
