"""The indentation of a line that is being typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.programs import run_file
from sexpgpu.format import formatted, indent_for
from sexpgpu.source import Source
from support.reading import PROGRAM, soup
from support.slips import EXAMPLES


@pytest.mark.parametrize(
    ("above", "column"),
    [
        ("", 0),
        ("(def x 1)", 0),
        ("(defun f (x)", 2),
        ("(defun f", 4),
        ("(defun f (x)\n      (let ((a 1)", 12),
        ("(defun f (x)\n      (let ((a 1))", 8),
        ("(defun f (x)\n  (if (null x)", 6),
        ("(defun f (x)\n  (g x (h 1)", 5),
        ("(defun f (x)\n  (g", 4),
        ("(defloader train", 2),
        ("(defloader train\n  :source", 4),
        ("(defloader train\n  :source (synthetic 8", 12),
        ("(defgenerate :trips 6", 13),
        ("(defrun", 2),
        ("(defloader", 4),
        ("(defgenerate :trips 6\n  :init", 4),
        ("(list :a 1", 6),
        ("(list :a", 8),
        ("(f x :axis", 7),
        ("(linear :up", 8),
        ("(def x '(a b", 9),
        ("(def x [1 2", 8),
        ("(cond (a", 7),
        ("(f #| a |# 1", 3),
        ("(f #;(g h) 1", 3),
        ("(f 1 ; (", 3),
        ('(f "(" 1', 3),
        ("(f 1))", 0),
        ("(broken (\n(defun f (x)", 2),
        ('(f "a\n(b" c', 3),
        ("#| (\n( |#(f 1", 7),
        ("\t(f 1", 7),
        ("(f 幅 1", 3),
        ("(幅 1", 4),
    ],
)
@pytest.mark.parametrize("line", ["", "x", "   )", "(x)"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_column_of_the_next_line(above: str, column: int, line: str, end: str) -> None:
    text = (above + "\n" + line).replace("\n", end)
    assert indent_for(Source("test.sx", text), text.count(end)) == column


@pytest.mark.parametrize("text", ['(f "a\n   b")', '(f "a\n   b', "(f #| a\n   b |#)", "(f #| a\n   b"])
def test_inside_strings_and_comments_a_line_stays(text: str) -> None:
    assert indent_for(Source("test.sx", text), 1) == 3


def test_a_form_of_the_top_level_begins_in_column_0_whatever_is_open() -> None:
    assert indent_for(Source("test.sx", "(defun f (x)\n(defun g (x) x)"), 1) == 0


@pytest.mark.parametrize("line", [-1, 0, 7])
def test_lines_that_are_not_there(line: int) -> None:
    assert indent_for(Source("test.sx", "(f\n(g"), line) == 0


@pytest.mark.parametrize("text", [PROGRAM, run_file(), *(path.read_text("utf-8") for path in sorted(EXAMPLES.glob("*.sx")))])
def test_lines_of_a_formatted_text_stand_where_they_would_be_put(text: str) -> None:
    source = Source("test.sx", formatted(Source("test.sx", text)))
    for number in range(len(source.line_starts)):
        line = source.line(number)
        if line.strip() and not line.startswith("(defun gone"):  # taken away by the `#;` above it
            assert indent_for(source, number) == len(line) - len(line.lstrip()), number + 1


@given(soup, st.integers(-1, 40))
def test_any_text(text: str, line: int) -> None:
    assert indent_for(Source("test.sx", text), line) >= 0
