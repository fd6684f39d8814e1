"""Hints between the words of a file, and lenses above its forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from sexpgpu.analysis import Analysis, Options, analyse
from sexpgpu.ide.hints import KINDS, Kind, hints
from sexpgpu.ide.lenses import lenses
from sexpgpu.ide.markup import markdown
from sexpgpu.source import Source
from support.drawn import FIXTURES, fixtures, strip

CASES = [pytest.param(path, id=path.relative_to(FIXTURES).as_posix()) for path in fixtures("diagnostics")]

RUN = """\
(def layers (+ 1 2))
(defloader train :batch 4 :fields (list :x (spec [8] :f32)) :source (synthetic 8 (lambda (index) (list :x (zeros [8])))))
(defun wide (x) (* 2 x))
(defmodel model (x) (linear :out (wide x) 1))
(defgenerate
  :trips (* 2 layers)
  :init (lambda (batch ctx) (list :y (field batch :x)))
  :step (lambda (state trip ctx) (list :y (+ 1 (getf state :y)))))
(defun objective (inputs ctx)
  (let ((h (roll (field inputs :y) 1 :axis 1)) (pair (list h h)))
    (metric "loss" (mean (model (+ h (wide (nth pair 0))))))))
(defpass held :loader train :every 5)
(defoptimizer (sgd :lr 0.1))
(defrun :steps 10 :microbatches 3)
"""


def analysed(text: str) -> Analysis:
    return analyse(Source("x.sx", text), options=Options(record=True))


def drawn(text: str, *kinds: Kind) -> str:
    """The text with its hints written into it, in angle brackets."""
    analysis = analysed(text)
    shown: list[str] = []
    at = 0
    for hint in hints(analysis, analysis.unit.main, kinds=kinds or KINDS):
        shown += [text[at : hint.offset], f"⟨{hint.label}⟩"]
        at = hint.offset
    return "".join([*shown, text[at:]])


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("shapes", "(lambda (index⟨: i64[]⟩) "),
        ("shapes", "(defun wide (x⟨: f32[4 8]⟩) (*"),
        ("shapes", "(let* ((h⟨: f32[4 8]⟩ (roll"),
        ("shapes", "(pair⟨: (f32[4 8] f32[4 8])⟩ (list h h))"),
        ("shapes", "(lambda (state trip⟨: i64[]⟩ ctx)"),
        ("values", "(def layers⟨= 3⟩ (+ 1 2))"),
        ("parameters", "(field inputs :y) ⟨shift:⟩1 :axis 1)"),
        ("trips", "(defgenerate⟨6 trips⟩"),
        ("memory", "(defpass held⟨"),
        ("memory", "(defrun⟨"),
    ],
)
def test_a_hint_stands_at_what_it_speaks_of_and_only_if_it_is_wanted(kind: Kind, shown: str) -> None:
    text = RUN.replace("(let (", "(let* (")
    assert [each.message for each in analysed(text).diagnostics] == []
    assert shown in drawn(text)
    assert shown in drawn(text, kind)
    others: list[Kind] = [each for each in KINDS if each != kind]
    assert shown not in drawn(text, *others)


def test_what_says_itself_what_it_is_has_no_hint() -> None:
    text = '(def a 1)\n(def b [1 2])\n(def c "x")\n(def d (lambda (x) x))\n(def e :f32)\n(def f (list))\n(def g (range 4))\n'
    assert drawn(text, "shapes", "values", "parameters") == text.replace("def g", "def g⟨= (0 1 2 3)⟩")


def test_what_differs_between_calls_stands_beside_each_other() -> None:
    text = "(defun f (x) x)\n" + "".join(f"(def a{n} (f (zeros [{n}])))\n" for n in (2, 3))
    assert "(defun f (x⟨: f32[2] | f32[3]⟩)" in drawn(text)
    more = text + "(def b (f (zeros [4])))\n"
    assert "(defun f (x⟨: f32[2] | f32[3] | …⟩)" in drawn(more)
    analysis = analysed(more)
    first = hints(analysis, analysis.unit.main)[0]
    assert "f32[2] | f32[3] | f32[4]" in markdown(first.tooltip)


def test_a_label_is_short_however_long_the_list_is() -> None:
    analysis = analysed("(def a (dotimes (i 40) (zeros [100 100 i])))\n")
    (hint, *_) = hints(analysis, analysis.unit.main)
    assert len(hint.label) < 40


def test_trips_in_a_step_are_told_apart_from_those_in_a_microbatch() -> None:
    analysis = analysed(RUN.replace("(let (", "(let* ("))
    (hint,) = hints(analysis, analysis.unit.main, kinds=("trips",))
    assert "6 times" in markdown(hint.tooltip)
    assert "18 times" in markdown(hint.tooltip)


@pytest.mark.claim("D4", "G29", "G31")
def test_lenses_say_what_a_run_takes_and_what_can_be_done_with_it() -> None:
    analysis = analysed(RUN.replace("(let (", "(let* ("))
    found = [
        (lens.span.source.text[slice(*lens.span[1:])], lens.title, lens.action) for lens in lenses(analysis, analysis.unit.main)
    ]
    heads = [head for head, _, _ in found]
    assert heads == ["defgenerate", "defpass", "defrun", "defrun", "defrun"]
    assert found[0][1].startswith("6 trips in each of 3 microbatches, generation ")
    assert found[1][1].startswith("memory ")
    assert found[2:4] == [("defrun", "▶ Run", "run"), ("defrun", "Explain", "explain")]
    assert found[4][1].startswith("peak memory ")
    assert {action for _, title, action in found if "memory" in title or "generation" in title} == {"explain"}


def test_a_run_with_errors_can_be_asked_for_and_has_no_figures() -> None:
    analysis = analysed("(defpass a :loader b :every 2)\n(defrun :steps 1)\n")
    assert [lens.title for lens in lenses(analysis, analysis.unit.main)] == ["▶ Run", "Explain"]
    assert drawn("(defrun :steps 1)\n", "memory") == "(defrun :steps 1)\n"


@pytest.mark.parametrize("path", CASES)
def test_every_file_can_be_asked_and_every_part_of_it(path: Path) -> None:
    whole = strip(path.read_bytes().decode("utf-8-sig"))[0]
    for text in (whole, whole[: len(whole) * 2 // 3]):
        analysis = analysed(text)
        found = hints(analysis, analysis.unit.main)
        assert [hint.offset for hint in found] == sorted(hint.offset for hint in found)
        for hint in found:
            assert 0 <= hint.offset <= len(text)
            assert hint.label.strip()
            assert markdown(hint.tooltip).strip()
        third = len(text) // 3
        assert hints(analysis, analysis.unit.main, third, 2 * third) == [h for h in found if third <= h.offset <= 2 * third]
        lenses(analysis, analysis.unit.main)
