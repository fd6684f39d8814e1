"""Hovers and definitions in a form that does not read, because somebody is typing in it."""

from __future__ import annotations

import pytest

from sexpgpu.analysis import Analysis, Options, analyse
from sexpgpu.ide.glimpse import glimpse, is_open, target
from sexpgpu.ide.markup import Break
from sexpgpu.ide.recall import View
from sexpgpu.source import Source

BEFORE = """\
(def width 4)
(defloader train :batch 2 :fields (list :x (spec [4] :f32)) :source (synthetic 8 (lambda (i) (list :x (full [4] 1.0 :f32)))))
(defun scaled (x &key (by 2.0)) (* x by))
(defun prepare (batch ctx) (counter :words 3) (list :value (scaled (field batch :x) :by 3.0)))
(defmodel model (x) (linear :out x width))
(defun objective (inputs ctx)
  (let* ((value (getf inputs :value))
         (loss (mean (model value))))
    (metric "loss" loss)))
(defoptimizer (sgd :lr 0.1))
(defrun :steps 4)
"""
TYPED = BEFORE.replace('    (metric "loss" loss)', '    (metric "loss" (+ loss (getf ctx :words) (scaled value :by width))')


def views(text: str) -> tuple[list[View], Source]:
    """What is known of a text that was BEFORE."""
    source = Source("/x/run.sx", text)
    known: list[Analysis] = [analyse(each, options=Options(record=True)) for each in (source, Source("/x/run.sx", BEFORE))]
    return [View(each, each.unit.main) for each in known], source


@pytest.mark.parametrize(
    ("piece", "inside", "says"),
    [
        ("(+ loss", 4, "loss : f32[]"),
        ("scaled value", 8, "value : f32[2 4]\n32 bytes"),
        ("(scaled value", 2, "(defun scaled (x &key (by 2.0)))"),
        ("(model value", 2, "(defmodel model (x))"),
        (":words)", 2, "(getf ctx :words) : i64[]"),
        ("inputs :value", 9, "(getf inputs :value) : f32[2 4]"),
        ("getf inputs", 6, "inputs : inputs\n  :value  f32[2 4]"),
        (":by width", 1, "(scaled x &key (by 2.0))"),
        ("by width)", 4, "width : 4"),
        ("(mean", 2, "(mean x"),
        ("let*", 1, "(let* ((name value)…) body…)"),
        ("(defun objective", 2, "(defun name (parameters)"),
        ('"loss"', 2, None),
        ("objective", 2, None),
    ],
)
def test_what_is_said_of_a_word(piece: str, inside: int, says: str | None) -> None:
    known, source = views(TYPED)
    offset = TYPED.index(piece, TYPED.index("(defun objective")) + inside
    assert is_open(known[0], offset)
    found = glimpse(known, source, offset)
    assert (found is None) == (says is None)
    if found is not None and says is not None:
        assert "\n".join(part.text for part in found.parts if not isinstance(part, Break)).startswith(says)
        assert found.span.start <= offset <= found.span.end


@pytest.mark.parametrize(
    ("piece", "inside", "line"),
    [
        ("(+ loss", 4, 7),
        ("(scaled value", 2, 2),
        ("scaled value", 8, 6),
        ("(model value", 2, 4),
        ("by width", 3, 0),
        ("((value", 3, None),
        ("(mean", 2, None),
        (":words)", 2, None),
    ],
)
def test_where_a_name_is_defined(piece: str, inside: int, line: int | None) -> None:
    known, source = views(TYPED)
    found = target(known, source, TYPED.index(piece, TYPED.index("(defun objective")) + inside)
    assert (None if found is None else source.line_at(found.name.start)) == line


def test_a_form_that_reads_is_not_open() -> None:
    known, _ = views(TYPED)
    assert not is_open(known[0], TYPED.index("(def width") + 3)
    assert [is_open(known[1], offset) for offset in range(0, len(BEFORE), 40)] == [False] * len(range(0, len(BEFORE), 40))


def test_at_every_place_of_every_beginning() -> None:
    """However far a file has been written, whatever the place: an answer that is about a word there, or none."""
    for end in range(0, len(BEFORE), 29):
        known, source = views(BEFORE[:end])
        for offset in range(max(0, end - 60), end + 1, 3):
            shown, led = glimpse(known, source, offset), target(known, source, offset)
            for span in (shown and shown.span, led and led.origin):
                assert span is None or span.start <= offset <= span.end
