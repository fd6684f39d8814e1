"""Runs composed at random of what evaluation depends on beside arguments, and edits that move, rename, double and drop their parts.

Functions that own parameters are `layer…`, those that any graph may call `part…`; a function calls later ones of its kind.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from support.retracing import Follower

_LAYERS, _PARTS = 4, 4
_KINDS = [*["rewrite", "touch", "number"] * 2, *["callee", "back"] * 3, "truth", "move", "double", "drop"]

_AVERAGED = """
  :objective (lambda (inputs ctx) (metric "loss" (mean (+ (model (field inputs :x)) ((ema model) (field inputs :x))))))"""
_WARMED = "(warmup-cosine ctx :peak plain :warmup 5)"
_OBSERVED = '(if (null (getf observations "eval/loss")) stage (+ 0 stage))'
_FRAME = """\
(defloader train :batch 2 :fields (list :x (spec [8] :f32) :y (spec [8] :f32))
  :stages (list (synthetic 8 record) (synthetic 8 (lambda (index) (list :x (rows index) :y (rows (+ index 1)))))))
(defloader held :batch 2 :fields (list :x (spec [8] :f32) :y (spec [8] :f32)) :source (synthetic 8 record))
"""


def follow(seed: int, edits: int) -> None:
    """Edit a run that is composed at random, and compare each analysis with one from nothing. Raises Differs."""
    chance = random.Random(seed)
    composed = Composed(chance)
    follower = Follower({"main.sx": composed.text}, chance)
    for _ in range(edits):
        what = composed.edit()
        follower.become(composed.text, what)


class Composed:
    """The definitions of a run, each a piece of text. `edit` changes some and says what was done; `text` is the file."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._makers = self._all_makers()
        self._pieces = [(name, make()) for name, make in self._makers.items()]
        self._before: list[list[tuple[str, str]]] = []

    @property
    def text(self) -> str:
        return _FRAME + "\n".join(piece for _, piece in self._pieces) + "\n"

    def edit(self) -> str:
        """Change something, or go back to what there was."""
        pieces, chance = list(self._pieces), self._chance
        kind = chance.choice(_KINDS)
        index = chance.randrange(len(pieces))
        name, text = pieces[index]
        if kind == "rewrite":
            pieces[index] = name, self._makers[name]()
        elif kind == "touch":
            pieces[index] = name, text.replace("#;1 ", "") if "#;1 " in text else self._instead(text, r"(?<=[ \[])(?=\()", ["#;1 "])
        elif kind == "number":
            pieces[index] = name, self._instead(text, r"(?<= )\d\.\d", ["0.5", "1.5", "2.5"])
        elif kind == "callee":
            pieces[index] = name, self._instead(text, r"(?<=part)\d|(?<=layer)\d|(?<=dims)\d|(?<=table)\d", ["1", "2", "3"])
        elif kind == "truth":
            pieces[index] = name, self._instead(text, r"(?<=either )\w+|(?<=block )\w+", ["true", "false"])
        elif kind == "move":
            pieces.insert(chance.randrange(len(pieces)), pieces.pop(index))
        elif kind == "double":
            pieces.insert(index, chance.choice(pieces))
        elif kind == "drop" and len(pieces) > len(self._makers) - 2:
            del pieces[index]
        elif self._before:
            earlier = chance.choice(self._before)
            pieces = [(known, dict(earlier).get(known, piece)) for known, piece in pieces] if chance.random() < 0.3 else earlier
        self._before = [*self._before[-4:], self._pieces]
        self._pieces = pieces
        return f"{kind} {name}"

    def _instead(self, text: str, what: str, others: Sequence[str]) -> str:
        found = list(re.finditer(what, text))
        if not found:
            return text
        at = self._chance.choice(found)
        return text[: at.start()] + self._chance.choice(others) + text[at.end() :]

    # Definitions

    def _all_makers(self) -> dict[str, Callable[[], str]]:
        makers: dict[str, Callable[[], str]] = {
            "record": lambda: f"(def record (lambda (index) (list :x (rows {self._of('index', '(+ index 1)')}) :y (rows index))))",
            "rows": lambda: f"(defun rows (n) (* {self._number()} (+ (cast n :f32) (ones [8]))))",
            "dims": lambda: f"(defun dims () (list 2 {self._of('8', '8', '-1')}))",
            "pair": lambda: f"(defun pair () (list {self._number()} {self._number()}))",
            "keep": lambda: f"(defun keep (p) (let ((v (getf p {self._of(':a', ':b', ':k')}))) (lambda () v)))",
            "twice": lambda: f"(defun twice (f x) {self._of('(f (f x))', '(f x)', '(+ (f x) (f x))')})",
            "either": lambda: "(defun either (first f x) (if first (f x) (f x)))",
            "again": lambda: f"(defun again (x) (either {self._truth()} {self._of('tanh', 'part3', 'again2')} x))",
            "again2": lambda: f"(defun again2 (x) (either {self._truth()} {self._of('tanh', 'part3')} x))",
            "draw": lambda: f"(defun draw (s) (either {self._truth()} uniform s))",
            "adder": lambda: f"(defun adder (y) {self._of('(lambda (x) (+ x y))', '(lambda (x) (* x (part1 y)))')})",
            "added": lambda: f"(def added (let ((t table1)) (lambda (x) {self._of('(+ x t)', '(* x t)', 'x')})))",
            "deep": lambda: f"(defun deep (x) (block {self._truth()} {self._of('shallow', 'tanh', 'again')} x))",
            "shallow": lambda: f"(defun shallow (x) (block {self._truth()} tanh x))",
            "block": lambda: "(defun block (first f x) (if first (mlp :m x [8 8] :activation f) (mlp :m x [8 8] :activation f)))",
            "plain": lambda: f"(def plain {self._of('3.0', '(reduce + (pair) 0)', '(getf (list :a 1.0) :a)', '(rate 1 2)')})",
            "file": lambda: f'(def file {self._of("nil", "nil", chr(34) + "a.safetensors" + chr(34))})',
            "model": lambda: f"(defmodel model (x) {self._of('', ':frozen true ')}{self._layer(0, 'x')})",
            "other": lambda: f"(defmodel other (x &key (by 1.0)) (* by {self._layer(2, 'x')}))",
            "both": lambda: "(defmodel both (x) (+ (model x) ((initial other) x)))",
            "prepare": self._prepare,
            "objective": self._objective,
            "generate": self._generate,
            "eval": lambda: f"(defpass eval :loader {self._of('train', 'held')} :every 10 :batches 1 {self._of('', _AVERAGED)})",
            "curriculum": lambda: f"(defun curriculum (stage ctx observations) {self._of('stage', _OBSERVED)})",
            "rate": lambda: f"(defun rate (ctx path) {self._of('0.1', '(* 0.5 (cast (getf ctx :progress) :f32))', _WARMED)})",
            "optimizer": lambda: f"(defoptimizer {self._of('(sgd :lr rate)', self._custom())})",
            "run": lambda: f"(defrun :steps 20 :loader train :ema 0.9 :precision {self._of(':f32', ':f32', ':bf16')})",
            "assert": lambda: f'(assert (< 0 (part2 {self._number()})) "small")',
            "print": lambda: f'(print (part{self._chance.randrange(_PARTS)} {self._number()}))',
        }  # fmt: skip
        for number in range(3):
            makers[f"table{number}"] = lambda number=number: self._table(number)
            makers[f"dims{number}"] = lambda number=number: (
                f"(def dims{number} {self._of('[8]', '(list 8)', '(dims)', '(list 8 -1)')})"
            )
        for number in range(_LAYERS):
            makers[f"layer{number}"] = lambda number=number: self._function("layer", number)
        for number in range(_PARTS):
            makers[f"part{number}"] = lambda number=number: self._function("part", number)
        return makers

    def _function(self, kind: str, number: int) -> str:
        more = self._of("", "", " &optional (w 1.0)", " &key (w plain) (v w)", " &rest w")
        make = self._layer if kind == "layer" else self._part
        return f"(defun {kind}{number} (x{more})\n  {make(number + 1, 'x')})"

    def _table(self, number: int) -> str:
        ones = "(ones [8])"
        value = self._of(ones, f"(part{number} {ones})", f"(* 2.0 {ones})", f"(+ {ones} table{number + 1})", "2.0")
        return f"(def table{number} {value if number < 2 else '(zeros [8])'})"

    def _prepare(self) -> str:
        count = self._of("(counter :seen 2)", "(counter :seen (getf ctx :step))", "1", "(counting (getf ctx :step))")
        return (
            f"(defun counting (n) {self._of('(counter :seen n)', '(+ n 1)', '(mod (+ 1 n) 3)')})\n"
            f"(defun prepare (batch ctx)\n  {count}\n  {self._of('1', '(counting (getf ctx :step))')}\n"
            f"  (list :x {self._part(0, '(field batch :x)')} :w (mean (field batch :y)) :v (field batch :y)))"
        )

    def _objective(self) -> str:
        does = [
            "(reports w)",
            '(metric "w" w)',
            "(* w 2.0)",
            "(let ((g (keep (list :a w)))) (given g))",
            "(let ((g (keep (list :a w)))) (given g) (given2 g))",
            "(reports (mean (part1 v)))",
            "(added v)",
            "((adder v) x)",
            "((adder w) (part2 x))",
            "(with dims1)",
            "(with (dims))",
            "(reduce + (pair) x)",
            '(diagnostic "d" w)',
            "(part1 v)",
            "(both x)",
        ]
        said = "\n    ".join(self._chance.choices(does, k=4))
        return (
            '(defun reports (w) (metric "r" w))\n(defun given (g) (+ 1.0 (g)))\n(defun given2 (g) (given g))\n'
            "(defun with (d) (zeros d))\n"
            "(defun objective (inputs ctx)\n  (let ((x (field inputs :x)) (w (field inputs :w)) (v (field inputs :v)))\n"
            f'    {said}\n    (metric "loss" (mean {self._part(0, "(model x)")}))))'
        )

    def _generate(self) -> str:
        return (
            "(defgenerate :trips 2\n  :init (lambda (batch ctx) (list :s (part1 (field batch :x))))\n"
            f"  :step (lambda (state trip ctx) (list :s {self._part(0, '(getf state :s)')}))\n"
            f"  :finish (lambda (state ctx) (list :made (model {self._part(1, '(field state :s)')}))))"
        )

    def _custom(self) -> str:
        return (
            ":init (lambda (param) (list :m (zeros (shape param))))"
            f" :update (lambda (param grad state ctx) (list :param (- param (* {self._number()} (part3 grad)))"
            " :state (list :m (part2 (getf state :m)))))"
        )

    # Expressions on a tensor

    def _part(self, first: int, x: str, depth: int = 0) -> str:
        """An expression that any graph may hold, of the shape of `x`, which calls functions from the `first` on."""
        if depth > 1 or self._chance.random() < 0.3:
            return x
        call = f"part{self._chance.randrange(first, _PARTS)}" if first < _PARTS else "tanh"

        def inner(given: str = x) -> str:
            return self._part(first, given, depth + 1)

        makes: list[Callable[[], str]] = [
            lambda: f"({call} {inner()})",
            lambda: f"({call} {inner()})",
            lambda: f"(+ ({call} {x}) ({call} {inner()}))",
            lambda: f"({call} {inner()} {self._of('', '', '', '2.0', ':w 2.0')})",
            lambda: f"(* {self._number()} {inner()})",
            lambda: f"(+ {inner()} table{self._chance.randrange(3)})",
            lambda: f"(let ((y {inner()})) {inner('y')})",
            lambda: f"(reduce (lambda (h i) ({call} h)) (range 2) {inner()})",
            lambda: f"(apply {call} (list {inner()}))",
            lambda: f"(twice {self._of(call, '(lambda (z) ' + inner('z') + ')')} {inner()})",
            lambda: f"(reduce + (dotimes (i 2) ({call} {inner()})) 0.0)",
            lambda: f"(either {self._truth()} {self._of(call, 'again', 'again2')} {inner()})",
            lambda: f"(+ {inner()} (either {self._truth()} {self._of('draw', 'uniform')} [8]))",
            lambda: f"(if (< plain {self._number()}) {inner()} ({call} {inner()}))",
            lambda: f"(+ {inner()} {self._of('1.0', '1.0', '(uniform [8])', '(uniform [8] :salt 3)')})",
            lambda: f"(added {inner()})",
            lambda: f"((adder {inner()}) {inner()})",
            lambda: f"(reduce + (pair) {inner()})",
            lambda: f"(print {inner()})",
            lambda: f"(progn (assert (< plain 9.5) {chr(34)}big{chr(34)}) {inner()})",
            lambda: f"(+ {inner()} {self._of('plain', 'plain', ':oops', '(zeros dims1)', '(zeros dims2)')})",
        ]
        return self._chance.choice(makes)()

    def _layer(self, first: int, x: str, depth: int = 0) -> str:
        """The same for a function that a model calls."""
        if depth > 1 or self._chance.random() < 0.35:
            return self._part(2, x, 1)
        call = f"layer{self._chance.randrange(first, _LAYERS)}" if first < _LAYERS else "gelu"

        def inner(given: str = x) -> str:
            return self._layer(first, given, depth + 1)

        makes: list[Callable[[], str]] = [
            lambda: f"({call} {inner()})",
            lambda: f"(scope {self._of(':a', ':b', '1')} {inner()})",
            lambda: f"(scope :r :remat true ({call} {inner()}))",
            lambda: f"(scope :r :remat true {inner()})",
            lambda: f"(scope :f :frozen {self._of('true', 'false')} ({call} {inner()}))",
            lambda: f"(scope :p :pretrained file ({call} {inner()}))",
            lambda: self._prelude(inner, call),
            lambda: self._prelude(inner, call),
            lambda: f"(* {inner()} (param :scale [8] :init {self._of('(init-ones)', '(init-zeros)')}))",
            lambda: f"(reduce (lambda (h i) (scope i ({call} h))) (range 2) {inner()})",
            lambda: f"(dropout {inner()} 0.5 :salt 1)",
            lambda: f"(twice {call} {inner()})",
            lambda: f"(either {self._truth()} {self._of(call, 'again', 'deep')} {inner()})",
            lambda: f"(other {inner()} :by {self._number()})" if first < 2 else f"({call} {inner()})",
        ]
        return self._chance.choice(makes)()

    def _prelude(self, inner: Callable[[], str], call: str) -> str:
        """A call of a function that the language brings, maybe one that it reports something about."""
        name = self._of(":one", ":two", "1")
        init = self._of("", "", ":init (init-zeros)", ":init (init-normal :std (* 0.1 plain))", ":init 1.0")
        return self._of(
            f"(linear {name} {inner()} 8 {init})",
            f"(linear {name} {inner()} {self._of('8', '(first dims1)', '7', 'plain')} :bias {self._of('true', 'false')})",
            f"({self._of('layer-norm', 'rms-norm')} {name} {inner()} {self._of('', ':epsilon 0.1', ':epsilon plain')})",
            f"(mlp {name} {inner()} [{self._of('4', '2')} 8] :activation {self._of(call, 'tanh', '(lambda (z) (* z plain))')})",
            f"(apply rms-norm (list {name} {inner()}))",
            f"(twice (lambda (z) (layer-norm {name} z)) {inner()})",
            f"(rms-norm {name} (cast {inner()} {self._of(':f32', ':bf16', ':i32')}))",
        )

    def _truth(self) -> str:
        return self._of("true", "false")

    def _number(self) -> str:
        return self._of("0.5", "1.5", "2.5")

    def _of(self, *texts: str) -> str:
        return self._chance.choice(texts)
