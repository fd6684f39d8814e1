"""An analysis that keeps what it knows from the one before says what an analysis from nothing says, whatever was edited.

`python tests/replay.py core` makes thousands of edits.
"""

from __future__ import annotations

import gc

import pytest

from sexpgpu.analysis import Options, analyse
from sexpgpu.graph.nodes import Node
from sexpgpu.language.marks import Local, Marks
from sexpgpu.language.values import Function, List
from sexpgpu.program.cache import Cache
from sexpgpu.program.unit import Module
from sexpgpu.source import Source
from support.retracing import LAYERS, MAIN, ROWS, followers, two_files
from support.units import Texts

STEPS = 200
PARTS = 4

EDITS = [
    ("a constant of a layer", "lib/layers.sx", "(factor 2)", "(factor 4)"),
    ("a constant that all share", "lib/layers.sx", "(def width 16)", "(def width 32)"),
    ("a constant of the generator", "main.sx", "(- length-of-row 2)", "(- length-of-row 3)"),
    ("the length of a record", "main.sx", "(def length-of-row 6)", "(def length-of-row 7)"),
    ("a parameter in one place", "lib/layers.sx", "(defun block (i x)", "(defun block (i y)"),
    ("a parameter everywhere", "lib/layers.sx", "tower (x count)\n  (reduce (lambda (h i) (block i h)) (range count) x)",
     "tower (y count)\n  (reduce (lambda (h i) (block i h)) (range count) y)"),
    ("an argument more", "main.sx", "(tower x 2)", "(tower x 2 3)"),
    ("an argument less", "main.sx", "(tower x 2)", "(tower x)"),
    ("an optional parameter", "lib/layers.sx", "tower (x count)", "tower (x &optional (count 1))"),
    ("blank lines above all", "main.sx", "(load", "\n\n\n(load"),
    ("a comment above a library", "lib/layers.sx", "; Parts", "; More\n; parts"),
    ("a comment in a form", "main.sx", "(let* ((x (embedding", "; here\n  (let* ((x (embedding"),
    ("a dtype of one function that many use", "lib/layers.sx", "(+ x (feed", "(+ (cast x :bf16) (feed"),
    ("a dtype of a field", "main.sx", ":weight (spec [] :f32))\n  :source (syn", ":weight (spec [] :i32))\n  :source (syn"),
    ("a shape of one function", "lib/layers.sx", "(linear :down (gelu (linear :up x (* factor width))) width)",
     "(linear :down (gelu (linear :up x (* factor width))) (* 2 width))"),
    ("a bracket less", "main.sx", "(let* ((x (embedding :words row words width))", "(let* ((x (embedding :words row words width)"),
    ("a bracket more", "lib/layers.sx", "(scope i\n", "(scope i)\n"),
    ("a string that does not end", "main.sx", '(metric "loss" ', '(metric "loss '),
    ("a docstring", "lib/layers.sx", '"Widens, bends, narrows."', '"Widens, bends and narrows."'),
    ("a docstring less", "lib/layers.sx", '  "Widens, bends, narrows."\n', ""),
    ("a function less", "lib/layers.sx", "(defun block (i x)\n  (scope i\n    (+ x (feed :feed (layer-norm :norm x)))))\n", ""),
    ("two functions that change places", "lib/layers.sx", LAYERS[LAYERS.index("(defun block") : LAYERS.index("(defun unused")],
     LAYERS[LAYERS.index("(defun tower") : LAYERS.index("(defun unused")]
     + LAYERS[LAYERS.index("(defun block") : LAYERS.index("(defun tower")]),
    ("a field", "main.sx", "(list :row (field batch :row))", "(list :line (field batch :row))"),
    ("a counter", "main.sx", "(counter :words (* 4", "(counter :letters (* 4"),
    ("a metric", "main.sx", '(metric "loss" (mean', '(metric "more" (mean'),
    ("a model frozen", "main.sx", "(defmodel model (row)", "(defmodel model (row) :frozen true"),
    ("a draw before others", "lib/layers.sx", "(+ x (feed", "(+ x (uniform [width]) (feed"),
    ("a name twice", "main.sx", "(defun curriculum", "(defun prepare (batch ctx) batch)\n(defun curriculum"),
    ("a name of the language", "lib/layers.sx", "(defun unused-here (x)", "(defun gelu (x)"),
    ("a print in a layer", "lib/layers.sx", "(+ x (feed", "(+ (print x) (feed"),
    ("an ignored line", "main.sx", "(defun curriculum (stage", "; sexpgpu: ignore[W-CONTRACT-003]\n(defun curriculum (stage"),
    ("a load that fails", "main.sx", '(load "lib/layers.sx")', '(load "lib/layer.sx")'),
    ("a list too long", "main.sx", "(def words 12)", "(def words (length (range 1000000)))"),
    ("a list that is nearly too long", "main.sx", "(def words 12)", "(def words (length (mapcar (lambda (i) i) (range 20000))))"),
    ("line ends", "main.sx", MAIN, MAIN.replace("\n", "\r\n")),
    ("nothing left", "main.sx", MAIN, ""),
]  # fmt: skip


@pytest.mark.parametrize(("path", "old", "new"), [pytest.param(*edit, id=what) for what, *edit in EDITS])
def test_an_edit_and_its_undoing_say_what_the_text_says(path: str, old: str, new: str) -> None:
    follower = two_files()
    follower.compare(Options(record=True))
    follower.write(path, old, new)
    if new:
        follower.write(path, new, old)


@pytest.mark.parametrize("part", range(PARTS))
def test_random_edits_say_what_the_text_says(part: int) -> None:
    left = STEPS // PARTS
    for _, steps, follower in followers(part):
        for _ in range(min(steps, left)):
            follower.step()
        left -= steps
        if left <= 0:
            return


def test_a_data_file_that_has_changed_is_read_again() -> None:
    follower = two_files()
    follower.compare(Options(record=True))
    for data in ({"rows.jsonl": ROWS.replace(b"6]", b'"six"]')}, {}, {"rows.jsonl": ROWS}):
        follower.data = data
        follower.compare(Options(record=True))


def test_settings_come_and_go() -> None:
    follower = two_files()
    for settings in ({}, {"width": "8"}, {"width": "12", "words": "5"}, {"nothing": "1"}, {}):
        follower.compare(Options(settings, record=True))


def test_what_is_kept_does_not_grow() -> None:
    """Edits one after the other leave as many nodes, values and marks as fewer do."""

    def alive() -> int:
        gc.collect()
        return sum(isinstance(each, (Node, List, Function, Local, Module, Marks)) for each in gc.get_objects())

    options, files = Options(record=True, cache=Cache()), {"lib/layers.sx": LAYERS, "rows.jsonl": ROWS}
    counts: list[int] = []
    for _ in range(3):
        for number in range(3, 18):
            files["lib/layers.sx"] = LAYERS.replace("(factor 2)", f"(factor {number})")
            for text in (MAIN.replace("(def words ", f"(def more-{number} (range {number}))\n(def words "), MAIN):
                analyse(Source("main.sx", text), Texts({**files}), options)
        counts.append(alive())
    assert max(counts) <= 1.01 * counts[0]
