"""References and renames: what is one thing, and that another name for it changes nothing else."""

from __future__ import annotations

import random
import re

import pytest

from bench.programs import run_file
from sexpgpu.ide.rename import Refused
from sexpgpu.source import Source
from support.renaming import analysed, found_at, meanings, renamed, seen_at

RUN = """\
(def seq 8)
(def width 4)
(defun scaled (x &key (by 2.0) (plus 0.0)) (+ (* x by) plus))
(defloader train :batch 4 :fields (list :row (spec [seq] :i32) :y (spec [] :f32))
  :source (synthetic 64 (lambda (index) (list :row (full [seq] 1 :i32) :y (cast index :f32)))))
(defloader held :batch 2 :fields (list :row (spec [seq] :i32) :y (spec [] :f32))
  :source (synthetic 8 (lambda (index) (list :row (full [seq] 2 :i32) :y (cast index :f32)))))
(defmodel model (row) (let* ((h (scaled (cast row :f32) :by 3.0)) (h (linear :out h width))) (sum h :axes [-1])))
(defgenerate :trips 2
  :init (lambda (batch ctx) (list :row (field batch :row) :count (iota [4])))
  :step (lambda (state trip ctx) (list :row (getf state :row) :count (getf state :count)))
  :finish (lambda (state ctx) (list :drawn (getf state :row) :score (getf state :count))))
(def options (list :scale 2.0 :unused 1))
(defun own (batch ctx) (list :x (field batch :row) :score (field batch :y)))
(defun prepare (batch ctx)
  (counter :words (* 4 seq))
  (list :x (+ (field batch :row) (field batch :drawn)) :score (field batch :y)))
(defun objective (inputs ctx)
  (diagnostic "norm" (scaled (mean (getf inputs :score)) :plus (cast (getf ctx :stage-words) :f32)))
  (metric "loss" (* (getf options :scale) (mean (square (- (model (getf inputs :x)) (getf inputs :score)))))))
(defpass eval :loader held :every 2 :prepare own)
(defun halved (ctx) (* 0.5 (+ (cast (getf ctx :words) :f32) (cast (getf ctx :step) :f32))))
(defoptimizer (sgd :lr (lambda (ctx) (halved ctx))))
(defrun :steps 3 :loader train :keep-best (list "eval/loss" :min) :diagnostics ["norm"]
  :stop-when (lambda (ctx observations) (< (getf observations "eval/loss") 0.1)))
"""


def lines(text: str, piece: str, inside: int = 0) -> list[int]:
    return [text[: place.span.start].count("\n") + 1 for place in found_at(text, piece, inside)]


@pytest.mark.parametrize(
    ("piece", "inside", "found"),
    [
        ("seq 8", 0, [1, 4, 5, 6, 7, 16]),  # a constant
        ("by 2.0", 0, [3, 3, 8]),  # a parameter that a call names
        (":by 3.0", 1, [3, 3, 8]),
        ("(h (scaled", 1, [8, 8]),  # each of two variables of one name
        ("(h (linear", 1, [8, 8]),
        ("train :batch", 0, [4, 24]),  # a loader
        ("eval :loader", 0, [21, 24, 25]),  # a pass, in the names of its metrics too
        ('"eval/loss" :min', 2, [21, 24, 25]),
        (":row (spec", 2, [4, 5, 10, 17]),  # a field, in records and where the batch is read
        ("batch :row) :score", 8, [6, 7, 14]),  # that of another loader
        (":row (field batch :row) :count", 2, [10, 11, 11, 12]),  # the state's entry of that name
        ("state :count", 8, [10, 11, 11, 12]),
        (":drawn", 1, [12, 17]),  # what the generator makes
        (":score (getf", 1, [12]),
        ("inputs :score", 8, [14, 17, 19, 20]),  # what both functions prepare
        (":words", 1, [16, 19, 22]),  # a counter
        (":stage-words", 8, [16, 19, 22]),
        (":step) :f32", 1, [22]),
        ('"loss"', 2, [20, 24, 25]),  # a metric
        ('"eval/loss"', 7, [20, 24, 25]),
        ('"norm"', 1, [19, 24]),
        (":scale", 1, [13, 20]),  # a plist of the file
        (":axes", 1, []),
        (":trips", 1, []),
        ("defloader", 0, []),
    ],
)
def test_what_stands_where(piece: str, inside: int, found: list[int]) -> None:
    assert sorted(lines(RUN, piece, inside)) == found


def test_another_name_changes_nothing_else() -> None:
    """Every name of the file, one by one: the other text means the same, and the way back leads to where it began."""
    analysis = analysed(RUN)
    codes = [found.code for found in analysis.diagnostics]
    types = [binding.text for binding in analysis.types()]
    done: set[tuple[int, ...]] = set()
    refused = 0
    for offset in (match.start() for match in re.finditer(r"(?<=[(\s:\[\"/])[a-z]", RUN)):
        seen = seen_at(analysis, offset)
        places = tuple(place.part.start for place in seen.places) if seen is not None else ()
        if seen is None or places in done:
            continue
        done.add(places)
        try:
            other = renamed(RUN, offset, "zz-new")
        except Refused:
            refused += 1
            continue
        after = analysed(other)
        assert [found.code for found in after.diagnostics] == codes, seen.subject
        assert meanings(after) == meanings(analysis)
        assert [re.sub(":zz-new", ":", text) for text in map(str, (binding.text for binding in after.types()))] == [
            re.sub(f":{seen.subject.name}\\b", ":", text) if ":zz-new" in now.text else text
            for text, now in zip(types, after.types(), strict=True)
        ]
        assert renamed(other, other.index("zz-new"), seen.subject.name) == RUN, seen.subject
    assert len(done) > 60
    assert refused < 25


def test_a_name_is_taken_only_where_that_changes_no_meaning() -> None:
    """Names of the file given to each other: what is not refused means the same."""
    source = random.Random(3)
    analysis = analysed(RUN)
    names = sorted({form.name for form in analysis.marks.references})
    offsets = [form.span.start for form in analysis.marks.references if form.top.source is analysis.source]
    accepted = refused = 0
    for _ in range(250):
        offset, new = source.choice(offsets), source.choice(names)
        try:
            other = renamed(RUN, offset, new)
        except Refused:
            refused += 1
            continue
        accepted += 1
        assert meanings(analysed(other)) == meanings(analysis), (RUN[offset : offset + 20], new)
    assert accepted > 30
    assert refused > 50


@pytest.mark.parametrize(
    ("piece", "inside", "new", "reason"),
    [
        ("(+ (* x", 1, "plus", "operator of the language"),
        ("linear", 0, "dense", "comes with the language"),
        ("model (row)", 0, "net", "the runtime knows"),
        ("prepare (batch", 0, "prep", "the runtime knows"),
        (":step) :f32", 1, "now", "ctx always has"),
        ("seq 8", 0, "width", "already defined, in line 2"),
        ("seq 8", 0, "iota", "operator"),
        ("seq 8", 0, "objective", "the runtime"),
        ("seq 8", 0, "let", "word of the language"),
        ("seq 8", 0, "1x", "no name"),
        ("seq 8", 0, "a b", "no name"),
        ("seq 8", 0, "nil", "no name"),
        ("seq 8", 0, "", "no name"),
        ("width 4", 0, "h", "bound in line 8"),
        ("x &key", 0, "plus", "bound here too"),
        ("row) (let*", 0, "width", "used in line 8"),
        ("train :batch", 0, "held", "a loader `held`"),
        (":row (spec", 1, "y", "same plist, in line 4"),
        (":row (spec", 1, "drawn", "same plist"),
        ("state :row", 7, "count", "same plist"),
        (":drawn", 1, "row", "same plist"),
        (":scale", 1, "unused", "same plist, in line 13"),
        (":words", 1, "steps", "ctx always has"),
        (":words", 1, "records", "ctx always has"),
        (":words", 1, "stage-x", "begin with stage-"),
        (":words", 1, "a b", "no keyword"),
        ('"loss"', 1, 'a"b', "without quotation marks"),
    ],
)
def test_why_there_is_no_other_name(piece: str, inside: int, new: str, reason: str) -> None:
    with pytest.raises(Refused, match=re.escape(reason)):
        renamed(RUN, RUN.index(piece) + inside, new)


@pytest.mark.parametrize(
    ("text", "piece", "reason"),
    [
        ("(def a 1)\n(defun f (x)\n  (+ x a", "a 1", "line 2: this form does not read"),
        ("(def a 1)\n(def b (unknown (a) 1))", "a 1", "line 2: this form has an error"),
        ("(def a 1)\n(def a 2)", "a 1", "more than once"),
        (
            '(defloader l :batch 1 :fields (list :x (spec [] :f32)) :source (npz "n.npz"))',
            "x (spec",
            "reads the field :x from its file",
        ),
        (
            '(defloader l :batch 1 :fields (list :tokens (spec [4] :i32)) :source (tokens "n.bin"))',
            "tokens (spec",
            "fills the field",
        ),
        ("(def o (list :x 1))\n(def p (dolist (k (list :x :y)) (getf o k)))", "x 1", "the key is computed"),
        ("(def o (list :x 1))\n(defun f (z) (getf z :x))", "x 1", "line 2: :x is read here too"),
        (
            '(defun objective (i ctx) (metric "a" 1.0))\n(defun curriculum (stage ctx o) (getf o (str "eval/" "a")) stage)',
            'a" 1',
            "",
        ),
    ],
)
def test_what_cannot_be_followed_keeps_its_name(text: str, piece: str, reason: str) -> None:
    if reason:
        with pytest.raises(Refused, match=re.escape(reason)):
            renamed(text, text.index(piece), "zz")
    else:
        assert renamed(text, text.index(piece), "zz") == text.replace('"a" 1', '"zz" 1')


def test_strings_and_comments_are_left_alone() -> None:
    text = '; seq\n(def seq 2)\n(print "seq" seq) #| seq |# (def other \'seq)\n'
    assert renamed(text, text.index("seq 2"), "n") == '; seq\n(def n 2)\n(print "seq" n) #| seq |# (def other \'seq)\n'


def test_a_large_file_has_its_names() -> None:
    text = run_file()
    assert len(found_at(text, ":row (spec", 1)) > 2
    assert renamed(text, text.index("width 48"), "breadth").count("breadth") == len(
        re.findall(r"(?<=[\s(\[])width(?=[\s)\]])", text)
    )
    assert Source("", text).text == text
