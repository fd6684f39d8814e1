"""Folds, selections and links of a text."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bench.programs import run_file
from sexpgpu.analysis import Analysis, Options, analyse
from sexpgpu.ide.folding import Fold, folds
from sexpgpu.ide.links import links
from sexpgpu.ide.selection import selections
from sexpgpu.source import Source, Span

TEXT = """\
; Two lines
; of remarks.
(load "a.sx")
(load "b.sx")

#| a block
   of text |#
(defun f (x)
  ; alone
  (let ((y
          x)) ; behind code
    ; above
    ; below
    (+ y 1)))
(def one 1)
"""


def analysed(text: str) -> Analysis:
    return analyse(Source("/x/run.sx", text), options=Options(record=True))


def test_forms_comments_and_loads_are_folded() -> None:
    assert folds(analysed(TEXT).unit.main) == [
        Fold(0, 1, "comment"),
        Fold(2, 3, "imports"),
        Fold(5, 6, "comment"),
        Fold(7, 13, ""),
        Fold(9, 13, ""),
        Fold(11, 12, "comment"),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_folds_do_not_depend_on_how_lines_end(end: str) -> None:
    assert folds(analysed(TEXT.replace("\n", end)).unit.main) == folds(analysed(TEXT).unit.main)


@pytest.mark.parametrize("text", ["", "(", "(def a\n", "; a\n(", "#| a\nb", '"a\nb', "\f(def a\f1)\u2028"])
def test_what_does_not_read_is_folded_within_its_lines(text: str) -> None:
    module = analysed(text).unit.main
    for fold in folds(module):
        assert 0 <= fold.start < fold.end < len(module.source.line_starts)
    for offset in range(len(text) + 1):
        check(selections(module, offset), offset)


def test_no_two_folds_begin_on_one_line() -> None:
    found = folds(analysed(run_file()).unit.main)
    assert len(found) > 20
    assert len({fold.start for fold in found}) == len(found)


def check(spans: list[Span], offset: int) -> None:
    for _, start, end in spans:
        assert start <= offset <= end
    for (_, start, end), (_, outer_start, outer_end) in pairwise(spans):
        assert outer_start <= start
        assert end <= outer_end
        assert (start, end) != (outer_start, outer_end)


def grown(text: str, piece: str, inside: int = 0) -> list[str]:
    module = analysed(text).unit.main
    return [text[start:end] for _, start, end in selections(module, text.index(piece) + inside)]


def test_a_selection_grows_form_by_form() -> None:
    assert grown("(def a '(b [c d]))", "c") == ["c", "[c d]", "(b [c d])", "'(b [c d])", "(def a '(b [c d]))"]
    assert grown('(print "one two")', "two") == ["one two", '"one two"', '(print "one two")']
    assert grown("(def a ; why\n  1)", "why") == ["; why", "(def a ; why\n  1)"]
    assert grown("(def a 1)\n", "\n") == ["(def a 1)"]
    assert grown("(def a 1)\n\n(def b 1)", "\n\n", 1) == []


def test_every_place_of_a_file_has_a_selection_that_grows() -> None:
    text = run_file()
    module = analysed(text).unit.main
    for offset in range(0, len(text), 3):
        check(selections(module, offset), offset)


def test_paths_are_links() -> None:
    text = """\
(load "part.sx")
(defloader train :batch 1 :fields (list :x (spec [] :f32)) :stages (list (npz "d/a.npz") (mix (list (jsonl "/b.jsonl") 1))))
(defmodel model (x) :pretrained "m.safetensors"
  (scope :a :pretrained (pretrained "n.safetensors") (scope :b :pretrained "o.safetensors" (linear :out x 1))))
(defun f (tokens) (tokens "no path"))
"""
    analysis = analysed(text)
    found = links(analysis, analysis.unit.main)
    assert [link.path for link in found] == [
        "/x/part.sx",
        "/x/d/a.npz",
        "/b.jsonl",
        "/x/m.safetensors",
        "/x/n.safetensors",
        "/x/o.safetensors",
    ]
    assert text[found[1].span.start : found[1].span.end] == "d/a.npz"
