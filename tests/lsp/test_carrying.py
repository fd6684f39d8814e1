"""Pieces of a text keep their places through edits of what is around them."""

from __future__ import annotations

import random

import pytest

from sexpgpu_lsp.carrying import Carrying

TEXT = """\
(defun f (x)
  (log (- 2.0 x))) ; a comment

(defun g (x)
  (let ((y (f x)))
    (+ y
       (log y))))
"""


def edited(text: str, piece: str, pieces: list[tuple[str, str]]) -> str | None:
    """What stands where a piece of a text is said to be after edits."""
    after = text
    for old, new in pieces:
        assert old in after
        after = after.replace(old, new, 1)
    start = text.index(piece)
    span = Carrying(text, after).span(start, start + len(piece))
    return None if span is None else after[slice(*span)]


@pytest.mark.parametrize("piece", ["(log (- 2.0 x))", "(+ y\n       (log y))", "(log y)", "2.0"])
@pytest.mark.parametrize(
    "pieces",
    [
        [("(defun f", "; one\n; two\n(defun f")],
        [("a comment", "another comment")],
        [("\n\n(defun g", "\n\n\n\n(defun g")],
        [("(defun f (x)\n  ", "(defun f (x) ")],
        [("(defun f", "; one\n(defun f"), ("(f x)))\n", "(f x)))\n    ; why\n"), ("))))\n", "))))\n(def z 1)\n")],
        [("(x)\n  (log", "(x)\n    (log"), ("a comment", "")],
    ],
)
def test_edits_around_a_piece_carry_it(piece: str, pieces: list[tuple[str, str]]) -> None:
    assert edited(TEXT, piece, pieces) == piece


@pytest.mark.parametrize(
    ("piece", "pieces"),
    [
        ("(log (- 2.0 x))", [("2.0", "3.0")]),
        ("(log (- 2.0 x))", [("(log (- 2.0 x))", "")]),
        ("(+ y\n       (log y))", [("+ y\n", "+ y\n\n")]),
        ("(+ y\n       (log y))", [("       (log y)", "(log y)")]),
        ("(log y)", [("(log y)", "(log\n y)"), ("(defun f", "\n(defun f")]),
    ],
)
def test_an_edit_of_the_piece_itself_lets_it_go(piece: str, pieces: list[tuple[str, str]]) -> None:
    assert edited(TEXT, piece, pieces) is None


def test_a_piece_among_many_lines_that_are_alike_is_carried() -> None:
    often = "\n(f\n  1)\n" * 150
    text = f"{often}{TEXT}{often}"
    edits = [("\n(f", "; first\n(f"), ("(defun g", "(defun  g")]
    for piece in ("(log (- 2.0 x))", "(log y)"):
        assert edited(text, piece, edits) == piece
        assert edited(text, piece, [*edits, ("(log y))))\n", "(log y))))\n; last\n")]) == piece


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("seed", range(20))
def test_what_is_carried_is_the_same_piece(seed: int, end: str) -> None:
    chance = random.Random(seed)
    text = (TEXT * chance.randrange(1, 4)).replace("\n", end)
    after = text
    for _ in range(chance.randrange(1, 5)):
        at, length = chance.randrange(len(after) + 1), chance.choice([0, 0, 1, 7, 40])
        after = after[:at] + chance.choice(["", "x", end, f"; new{end}", "(log y)"]) + after[at + length :]
    carrying = Carrying(text, after)
    for start in range(len(text)):
        stop = min(len(text), start + chance.randrange(30))
        span = carrying.span(start, stop)
        assert span is None or after[slice(*span)] == text[start:stop]
    assert Carrying(text, text).span(3, 9) == (3, 9)
