"""What editors ask of an analysis has an answer, or none, at every place of every file."""

from __future__ import annotations

from pathlib import Path

import pytest

from sexpgpu.analysis import Analysis, Options, analyse
from sexpgpu.fixes.everything import safe_edits
from sexpgpu.format import apply_edits
from sexpgpu.ide.definition import definitions
from sexpgpu.ide.hover import hover
from sexpgpu.ide.markup import markdown, plain
from sexpgpu.ide.places import forms_at
from sexpgpu.ide.symbols import Symbol, symbols
from sexpgpu.source import Source, Span
from support.drawn import FIXTURES, fixtures, strip

CASES = [pytest.param(path, id=path.relative_to(FIXTURES).as_posix()) for path in fixtures("diagnostics")]
STEP = 5


def analysed(text: str, name: str = "x.sx") -> Analysis:
    return analyse(Source(name, text), options=Options(record=True))


def check(analysis: Analysis) -> None:
    analysis.types()
    for module in analysis.unit.modules:
        text = module.source.text
        for symbol in symbols(module):
            check_symbol(symbol, Span(module.source, 0, len(text)))
        for offset in range(0, len(text) + 1, STEP):
            found = hover(analysis, module, offset)
            if found is not None:
                assert found.span.start <= offset <= found.span.end
                assert plain(found.parts)
                assert markdown(found.parts).count("```") % 2 == 0
            for target in definitions(analysis, module, offset):
                assert target.origin.start <= offset <= target.origin.end
                assert target.whole.start <= target.name.start <= target.name.end <= target.whole.end


def check_symbol(symbol: Symbol, around: Span) -> None:
    assert symbol.name
    assert around.start <= symbol.whole.start <= symbol.name_span.start
    assert symbol.name_span.end <= symbol.whole.end <= around.end
    for child in symbol.children:
        check_symbol(child, symbol.whole)


@pytest.mark.parametrize("path", CASES)
def test_every_place_of_a_file_can_be_asked_about(path: Path) -> None:
    text = strip(path.read_bytes().decode("utf-8-sig"))[0]
    check(analysed(text, str(path)))
    check(analysed(text[: len(text) * 2 // 3], str(path)))


@pytest.mark.parametrize(
    "text",
    ["", "(", "(def", "(def a", "(def)", "(def a)", "(defun f)", "(load)", "(defrun", "'", "((", "[", "#|", '"', "(defpass)"],
)
def test_what_is_hardly_begun(text: str) -> None:
    check(analysed(text))


def test_the_forms_at_a_place() -> None:
    text = "(def a '(b [c]))(def d 1)"
    module = analysed(text).unit.main

    def at(offset: int) -> list[str]:
        return [form.text for form in forms_at(module, offset)]

    assert at(text.index("c")) == ["(def a '(b [c]))", "'(b [c])", "(b [c])", "[c]", "c"]
    assert at(text.index("c") + 1)[-1] == "c"
    assert at(text.index("'"))[-1] == "'(b [c])"
    assert at(text.index("(def d"))[-1] == "(def d 1)"
    assert at(len(text)) == []


def test_fixes_that_touch_each_other_are_not_taken_together() -> None:
    text = "(def x (+ (iota [2]) (zeros [2])))\n(def y (* (zeros [2]) (iota [2])))\n"
    analysis = analysed(text)
    edits = [edit for group in safe_edits(analysis) for edit in group]
    assert apply_edits(text, edits) == text.replace("(iota [2])", "(cast (iota [2]) :f32)")
    analysis.diagnostics += analysis.diagnostics
    assert [edit for group in safe_edits(analysis) for edit in group] == edits
