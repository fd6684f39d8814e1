"""What a call depends on beside its arguments, case by case: each is a file that becomes others in turn, and every analysis that
keeps what it knows must say what one from nothing says. Runs that are composed at random follow.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sexpgpu.analysis import Options
from support.composed import follow
from support.retracing import Follower

LOADER = """\
(defloader train :batch 4 :fields (list :x (spec [8] :f32) :y (spec [8] :f32))
  :source (synthetic 64 (lambda (index) (list :x (ones [8]) :y (zeros [8])))))
"""
MODEL = "(defmodel model (x) (linear :out x 8))\n"
OBJECTIVE = "(defun objective (inputs ctx) (let ((x (field inputs :x)) (y (field inputs :y))) % (mean (model x))))\n"
READS_W = """\
(defun objective (inputs ctx)
  (let ((x (field inputs :x)) (w (field inputs :w)) (v (field inputs :v))) (reads w) (reports w v) (mean (model x))))
(defun prepare (batch ctx) (list :x (field batch :x) :w (mean (field batch :y)) :v (field batch :y)))
"""
COUNTS = """\
(defun objective (inputs ctx) (mean (model (field inputs :x))))
(defun prepare (batch ctx)
  (reads (getf ctx :step)) (counts (getf ctx :step) (field batch :y)) (list :x (field batch :x)))
"""
GENERATES = """\
(defun blend (v) (* 0.5 v))
(defgenerate :trips 2 :init (lambda (batch ctx) (list :s (blend (field batch :x)) :t (zeros [2])))
  :step (lambda (state trip ctx) (list :s ¦ :t (getf state :t))) ¦)
(defun prepare (batch ctx) (list :x (field batch :x) :made (getf batch :made)))
"""
MADE = ":finish (lambda (state ctx) (list :made (blend (field state :s))))"
OBSERVES = """\
(defun more (o k) (if (null (getf o k)) 0.0 (getf o k)))
(defun curriculum (stage ctx observations) (where (< ¦ 1.0) stage 0))
(defpass eval :loader train :every 5 :batches 1)
(defpass late :loader train :every 5 :batches 1 :objective (lambda (i c) (metric "z" (mean (field i :x)))))
(defun objective (inputs ctx) (metric "m" (mean (model (field inputs :x)))))
"""
BOUND = """\
(defun burn (i) (+ i (length (range 60000))))
(defun h () a)
(def c ¦)
"""
STEP = """\
(def tensor (ones [8]))
(defun scale (g) (* ¦ g))
(defmodel model (x) (linear :out (linear :in x 8) 8))
"""
OWN = """\
(defoptimizer :init (lambda (param) (list :m (zeros (shape param))))
  :update (lambda (param grad state ctx path) (list :param (- param ¦) :state (list :m (scale (getf state :m))))))
"""


def does(body: str) -> str:
    return OBJECTIVE.replace("%", body)


CASES: dict[str, tuple[str, Sequence[Sequence[str]]]] = {
    "the file of pretrained parameters, by a name": (
        '(def file "¦")\n(defun layer (x) (linear :out x 8))\n'
        "(defmodel model (x) (scope :a :pretrained file (layer x)))\n" + does(""),
        [["a.safetensors"], ["b.safetensors"], ["a.safetensors"]],
    ),
    "the file of a model's parameters, by a name": (
        '(def file "¦")\n(defun layer (x) (linear :out x 8))\n(defmodel model (x) :pretrained file (layer x))\n' + does(""),
        [["a.safetensors"], ["b.safetensors"], ["a.safetensors"]],
    ),
    "an absent entry that a function hands on is told where it is used first": (
        MODEL
        + "(defun keep (p) (let ((v (getf p :b))) (lambda () v)))\n(defun use (f) (+ 1 (f)))\n(defun again (f) (+ 2 (f)))\n"
        + "(defun first-of-all (g) ¦)\n(defun entries () (list :a 1))\n"
        + does("(let ((g (keep (entries)))) (first-of-all g) (again g))"),
        [["(use g)"], ["3"], ["(use g)"], ["4"]],
    ),
    "two `def`s that build tensors by the same call": (
        MODEL
        + "(defun f (v) (* v (ones [8])))\n(def a (f 1.0))\n(def b (f ¦))\n(defun one (x) (+ x a))\n(defun two (x) (+ x b))\n"
        + does("(one x) (two x)"),
        [["2.0"], ["1.0"], ["2.0"]],
    ),
    "a function that a `def` closes over a tensor": (
        MODEL
        + "(def t (ones [8]))\n(def f (let ((u t)) (lambda (x) (+ x u))))\n(defun r (x) ¦)\n(defun one (x) (f x))\n"
        + "(defun two (x) (f (* 2.0 x)))\n"
        + does("(r x) (one x) (two x)"),
        [["(+ x t)"], ["(+ 2.0 (+ x t))"], ["(* 2.0 x)"], ["(+ x t)"]],
    ),
    "a `def` that reads itself, begun from elsewhere": (
        MODEL + "¦¦(defun f () a)\n" + does(""),
        [["(def a b)\n", "(def b (f))\n"], ["(def b (f))\n", "(def a b)\n"], ["(def a b)\n", "(def b (f))\n"]],
    ),
    "a metric of an input that another call no longer reads": (
        MODEL + '(defun reads (w) ¦)\n(defun reports (w v) (metric "w" w) (+ v 1.0))\n' + READS_W,
        [["(* w 2.0)"], ["1"], ["(* w 3.0)"], ["2"]],
    ),
    "a metric of what becomes an input": (
        MODEL
        + '(defun reports (w) (metric "w" w))\n(defun add (v) (+ v 1.0))\n'
        + READS_W.replace("(reads w) (reports w v)", "¦ (add v)"),
        [["(reports (mean v))"], ["(reports w)"], ["(reports (mean x))"]],
    ),
    "a counter of an input that another call no longer reads": (
        MODEL + "(defun reads (w) ¦)\n(defun counts (w v) (counter :w w) (+ v 1.0))\n" + COUNTS,
        [["(* w 2)"], ["1"], ["(* w 3)"], ["2"]],
    ),
    "a region that is computed again, edited from outside in": (
        "(defun feed (x) (tanh (linear :up x 8)))\n(defun block (x) (+ ¦ (feed x)))\n"
        "(defmodel model (x) (scope :r :remat true ¦ (block x)))\n" + does(""),
        [["1.0", "(tanh x)"], ["1.0", "(exp x)"], ["2.0", "(exp x)"], ["1.0", "(tanh x)"]],
    ),
    "where the items of a list that is told of are written": (
        MODEL + "(defun pair () ¦(list 2 -1))\n(defun f (s) (zeros s))\n" + does("(f (pair))"),
        [[""], ["#;1 "], [""]],
    ),
    "where the items of a list that is handed on are written": (
        MODEL + "(defun sizes () ¦(list 8 8))\n(defun f (s) (zeros s))\n" + does("(f (sizes))"),
        [[""], ["#;1 "], [""]],
    ),
    "where the items of a value that is told of are written": (
        MODEL + "(defun pair () ¦(list 2 -1))\n(def dims (pair))\n(defun f () (zeros dims))\n" + does("(f)"),
        [[""], ["#;1 "], [""]],
    ),
    "where the numbers that become constants are written": (
        MODEL + "(defun pair () ¦(list 2.0 1.5))\n(defun f (x s) (reduce + s x))\n" + does("(f x (pair))"),
        [[""], ["#;1 "], [""]],
    ),
    "an input of a call that becomes a tensor of another one": (
        "(defun h (x) (linear :out x 8))\n(defmodel a (x) (h x))\n(defmodel b (x) (+ ¦ (h x)))\n(def model (list :b b))\n"
        + does("").replace("(model ", "(b "),
        [["(a x)"], ["x"], ["((initial a) x)"], ["(scope :q (a x))"], ["(a (h x))"], ["(a x)"]],
    ),
    "the bound on steps, with values that are read in another order": (
        MODEL + "¦¦" + BOUND + does("(dotimes (i 3) (burn i))"),
        [
            ["(def b (h))\n", "(def a (burn 9))\n", "1"],
            ["(def a (burn 9))\n", "(def b (h))\n", "(dotimes (i 3) (burn i))"],
            ["(def b (h))\n", "(def a (burn 9))\n", "(dotimes (i 4) (burn i))"],
            ["(def a (burn 9))\n", "(def b (h))\n", "1"],
        ],
    ),
    "the bound on calls": (
        MODEL + "(defun down (n x) (if (< n 1) x (down (- n 1) (+ x 1))))\n" + does("(down ¦ x)"),
        [["3"], ["2001"], ["2"]],
    ),
    "a fault that two calls have": (
        MODEL + "(defun bad (x k) (+ x k))\n(defun u (x) ¦)\n(defun v (x) ¦)\n" + does("(u x) (v x)"),
        [["(bad x :a)", "(bad x :b)"], ["1", "(bad x :b)"], ["(bad x :c)", "(bad x :b)"], ["(bad x :a)", "1"]],
    ),
    "a metric that two calls report": (
        MODEL + "(defun u (x) ¦)\n(defun v (x) ¦)\n" + does("(u x) (v x)"),
        [
            ['(metric "m" (mean x))', '(metric "m" (mean x))'],
            ["1", '(metric "m" (mean x))'],
            ['(metric "m" (mean x))', "1"],
            ['(diagnostic "m" (mean x))', '(metric "m" (mean x))'],
            ['(metric "m" (mean x))', '(metric "m" (mean x))'],
        ],
    ),
    "a parameter that two calls share": (
        "(defun layer (x) (* x (param :w [8] :init (init-ones))))\n(defun u (x) (layer x))\n(defmodel model (x) (+ ¦ ¦))\n"
        + does(""),
        [["(u x)", "(layer x)"], ["1.0", "(layer x)"], ["(scope :a (u x))", "(layer x)"], ["(u x)", "(u x)"]],
    ),
    "a parameter that two calls dispute": (
        "(defun layer (x i) (* x (param :w [8] :init i)))\n(defun u (x) (layer x ¦))\n(defun v (x) (layer x ¦))\n"
        "(defmodel model (x) (+ (u x) (v x)))\n" + does(""),
        [["(init-ones)", "(init-ones)"], ["(init-zeros)", "(init-ones)"], ["(init-ones)", "(init-zeros)"]],
    ),
    "a parameter that is frozen where it is found first": (
        "(defun layer (x) (* x (param :w [8] :init (init-ones))))\n(defun u (x) ¦)\n(defun v (x) (scope :a (layer x)))\n"
        "(defmodel model (x) (+ (u x) (v x)))\n" + does(""),
        [["(scope :a :frozen true (layer x))"], ["(scope :a (layer x))"], ["x"], ["(scope :a :frozen true (layer x))"]],
    ),
    "the value of a default": (
        MODEL + "(def k ¦)\n(defun f (x &key (a k) (b a)) (* x b))\n(defun g (x) (f x))\n" + does("(g x)"),
        [["1.0"], ["2.0"], ["(ones [8])"], [":no"], ["1.0"]],
    ),
    "the places of draws": (
        MODEL + "(defun noise (x) (+ x (uniform [8])))\n(defun around (x) (noise x))\n" + does("¦"),
        [["(around x)"], ["(noise x) (around x)"], ["(around y) (around x)"], ["(around x) (around y)"], ["(around x)"]],
    ),
    "an optimizer's own functions": (
        STEP + does("") + OWN,
        [["2.0", "(scale grad)"], ["3.0", "(scale grad)"], ["3.0", "grad"], ["tensor", "(scale grad)"], ["2.0", "(scale grad)"]],
    ),
    "the functions of a generator": (
        MODEL + GENERATES + does(""),
        [
            ["(blend (getf state :s))", MADE],
            ["(blend (getf state :s))", ""],
            ["(cast (getf state :s) :bf16)", ""],
            ["(blend (getf state :s))", MADE],
        ],
    ),
    "what is observed": (
        MODEL + OBSERVES,
        [
            ['(more observations "eval/m")'],
            ['(+ (more observations "late/z") (more observations "eval/m"))'],
            ['(getf observations "late/z")'],
            ['(more observations "no")'],
            ['(more observations "eval/m")'],
        ],
    ),
    "plists that are handed on": (
        MODEL + "(defun look (p) (getf p :a))\n(defun make () (list :a 1.0 ¦))\n(defun add (p k) (plist-set p k 2.0))\n"
        + does("(look (make)) (look (add (make) :a)) (+ x (look (add (make) :b)))"),
        [[""], [":b 2.0"], ["#;1 "], [":c x"], [""]],
    ),
    "functions that are handed on": (
        "(def k 2.0)\n" + MODEL + "(def f (let ((j ¦)) (lambda (x) (* j x k))))\n(defun use (x) (f x))\n(defun call (g x) (g x))\n"
        + does("(use x) (call f x) (call (lambda (z) (call f z)) x)"),
        [["3.0"], ["4.0"], ["(ones [8])"], ["k"], ["3.0"]],
    ),
    "whose parameters a model runs at": (
        MODEL + "(defun run-it (m x) (m x))\n(defpass eval :loader train :every 5 :batches 1\n"
        "  :objective (lambda (i c) (metric \"z\" (mean (run-it ¦ (field i :x))))))\n"
        + does("")
        + "(defrun :steps 20 :loader train ¦)",
        [
            ["(ema model)", ":ema 0.9"],
            ["(ema model)", ""],
            ["(initial model)", ":ema 0.9"],
            ["(ema model)", ":ema 0.9 :precision :bf16"],
            ["model", ":ema 0.9 :precision :bf16"],
            ["(ema model)", ":ema 0.9"],
        ],
    ),
    "a draw within a call of the same form": (
        MODEL + "(defun draw (s) (twice true uniform s))\n(defun twice (first h s) (if first (h s) (h s)))\n"
        + does("(twice ¦ draw [8])"),
        [["true"], ["false"], ["true"]],
    ),
    "a read of ctx within a call of the same form": (
        MODEL + "(defun read (c key) (twice true getf c))\n"
        "(defun twice (first h c) (if first (h c :microbatch) (h c :microbatch)))\n"
        + does("(twice ¦ read ctx)")
        + "(defrun :steps 20 :loader train :accumulate 2 :stack 2)\n",
        [["true"], ["false"], ["true"]],
    ),
    "a parameter within a call of the same form": (
        "(defun block (first inner x) (if first (mlp :m x [8 8] :activation inner) (mlp :m x [8 8] :activation inner)))\n"
        "(defun nested (z) (block true gelu z))\n(defmodel model (x) (block ¦ nested x) (linear :used x 8))\n" + does(""),
        [["true"], ["false"], ["true"]],
    ),
}  # fmt: skip


def _filled(text: str, pieces: Sequence[str]) -> str:
    for piece in pieces:
        text = text.replace("¦", piece, 1)
    assert "¦" not in text
    run = "" if "(defrun" in text else "(defrun :steps 20 :loader train)\n"
    return LOADER + text + ("" if "(defoptimizer" in text else "(defoptimizer (sgd :lr 0.1))\n") + run


@pytest.mark.parametrize("what", CASES)
def test_what_a_call_depends_on(what: str) -> None:
    text, ways = CASES[what]
    texts = [_filled(text, pieces) for pieces in ways]
    follower = Follower({"main.sx": texts[0]})
    follower.compare(Options(record=True))
    for each in texts[1:]:
        follower.become(each, what)


@pytest.mark.parametrize("seed", range(6))
def test_composed_runs(seed: int) -> None:
    follow(seed, 12)
