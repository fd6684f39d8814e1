"""Generated programs of a given length: a run file, a large one with a 12-layer transformer, and a Python file to compare with.

All are clean under their checkers, and everything in the run files is reached: no line is there only to be skipped.
"""

from __future__ import annotations


def run_file(lines: int = 300) -> str:
    """A run file of exactly that many lines: records, a model of many parts, a generator, a pass, a curriculum."""
    parts = [_HEAD, _PARTS, _GENERATOR, _TRAINING]
    names: list[str] = []
    while True:
        name = f"measure-{len(names)}"
        text = _MEASURE.format(name=name, scale=1 + len(names) % 4)
        if _count([*parts, text, _objective([*names, name])]) > lines:
            break
        parts.insert(-1, text)
        names.append(name)
    return _padded([*parts, _objective(names)], lines)


def transformer(lines: int = 1000, layers: int = 12) -> str:
    """A run file of exactly that many lines around a transformer that is written out, with a function for each layer."""
    parts = [_TRANSFORMER_HEAD, *(_BLOCK.format(i=i, window=8 + 8 * (i % 3)) for i in range(layers))]
    calls = "\n".join(f"         (h (block-{i} h positions))" for i in range(layers))
    parts += [_TRANSFORMER_MODEL.format(calls=calls), _TRANSFORMER_TRAINING]
    names: list[str] = []
    while True:
        name = f"measure-{len(names)}"
        text = _MEASURE.format(name=name, scale=1 + len(names) % 4)
        if _count([*parts, text, _objective([*names, name])]) > lines:
            break
        parts.append(text)
        names.append(name)
    return _padded([*parts, _objective(names)], lines)


def python_file(lines: int = 300) -> str:
    """A typed Python file of exactly that many lines, of the kind that such a program would be: records, layers, a loop."""
    parts = [_PYTHON_HEAD]
    count = 0
    while _count([*parts, _PYTHON_LAYER]) <= lines:
        parts.append(_PYTHON_LAYER.replace("NUMBER", str(count)))
        count += 1
    return _padded(parts, lines, "#")


def _count(parts: list[str]) -> int:
    return "\n".join(parts).count("\n")


def _padded(parts: list[str], lines: int, comment: str = ";") -> str:
    """The parts with comments behind, up to that many lines."""
    text = "\n".join(parts)
    missing = lines - text.count("\n")
    assert missing >= 0
    return text + f"{comment} a remark\n" * missing


def _objective(names: list[str]) -> str:
    measured = "\n".join(f'    (metric "{name}" ({name} logits (field inputs :labels)))' for name in names)
    return f"""\
(defun objective (inputs ctx)
  (let* ((logits (model (field inputs :tokens)))
         (losses (cross-entropy logits (field inputs :labels))))
{measured}
    (metric "loss" (mean losses))))
"""


_HEAD = """\
; A student writes rows that it is then trained on.
(def length-of-row 32)
(def vocabulary 64)
(def width 48)
(def rows 8)

; Rows of numbers with a constant stride; all but the first two are to be written.
(defun record (index)
  (let* ((begin (cast (mod index vocabulary) :i32))
         (stride (cast (+ 1 (mod index 5)) :i32))
         (column (iota [length-of-row])))
    (list :row (where (< column 2)
                      (mod (+ begin (* column stride)) vocabulary)
                      0)
          :stride (reshape stride [1]))))

(defloader train
  :batch rows
  :fields (list :row (spec [length-of-row] :i32)
                :stride (spec [1] :i32))
  :stages (list (synthetic 4096 (lambda (index) (record index)))
                (synthetic 4096 (lambda (index) (record (* 7 index))))))
"""

_PARTS = """\
; One layer: what stood before, mixed in, and a part that works on each place.
(defun mixed (x)
  (let ((before (roll x 1 :axis 1))
        (first-place (= (iota [1 length-of-row 1] :axis 1) 0)))
    (+ x (where first-place 0.0 (linear :mix before width)))))

(defun worked (x)
  (let* ((h (layer-norm :norm x))
         (h (linear :up h (* 4 width)))
         (h (gelu h)))
    (+ x (linear :down h width))))

(defun layer (x)
  (scope :layer
    (worked (mixed x))))

(defmodel model (tokens)
  (let* ((x (embedding :tokens tokens vocabulary width))
         (x (+ x (param :places [length-of-row width] :init (init-normal :std 0.02))))
         (x (reduce (lambda (h i) (scope i (layer h)))
                    (range 4)
                    x))
         (x (rms-norm :last x)))
    (linear :logits x vocabulary)))
"""

_GENERATOR = """\
(defgenerate
  :trips (- length-of-row 2)
  :init (lambda (batch ctx)
          (list :row (field batch :row)
                :stride (field batch :stride)))
  :step (lambda (state trip ctx)
          (let* ((row (getf state :row))
                 (at (+ (cast trip :i32) 2))
                 (column (iota [1 length-of-row] :axis 1))
                 (guess (sum (where (= column (- at 1))
                                    (argmax (model row))
                                    0)
                             :axes [1]
                             :keepdims true)))
            (list :row (where (= column at) guess row)
                  :stride (getf state :stride))))
  :finish (lambda (state ctx)
            (let ((row (getf state :row)))
              (list :sample row
                    :label (mod (+ row (getf state :stride)) vocabulary)))))

(defun prepare (batch ctx)
  (counter :tokens (* rows length-of-row))
  (list :tokens (field batch :sample)
        :labels (field batch :label)))
"""

_TRAINING = """\
(defpass eval :loader train :every 20 :batches 4)

(defun curriculum (stage ctx observations)
  (where (< (getf observations "eval/loss") 1.0)
         (min (+ stage 1) 1)
         stage))

(defun rate (ctx)
  (warmup-cosine ctx :peak 0.003 :warmup 20 :floor 0.0001))

(defoptimizer (adamw :lr rate :weight-decay 0.01))

(defrun long-file
  :steps 200
  :microbatches 2
  :clip 1.0)
"""

_MEASURE = """\
(defun {name} (logits labels)
  (let* ((chances (softmax logits))
         (surprise (cross-entropy logits labels))
         (right (= (argmax logits) labels))
         (spread (std chances :axes -1))
         (hard (< {scale}.0 surprise)))
    (+ (* (mean surprise) {scale}.0)
       (mean (where right spread 0.0))
       (/ (cast (count hard) :f32)
          (cast (max 1 (size surprise)) :f32)))))
"""

_TRANSFORMER_HEAD = """\
; A transformer over token rows, each layer written out.
(def length-of-row 128)
(def vocabulary 512)
(def width 64)
(def heads 4)
(def rows 4)
(def size-of-head (floor-div width heads))

(assert (= (* size-of-head heads) width) "the heads must divide the width")

(defloader train
  :batch rows
  :fields (list :row (spec [length-of-row] :i32))
  :source (synthetic 8192
            (lambda (index)
              (let ((column (iota [length-of-row])))
                (list :row (mod (+ (* column 3) (cast (mod index vocabulary) :i32)) vocabulary))))))

(defun split-heads (x)
  (transpose (reshape x [(dim x 0) (dim x 1) heads size-of-head]) [0 2 1 3]))

(defun join-heads (x)
  (reshape (transpose x [0 2 1 3]) [(dim x 0) (dim x 2) width]))
"""

_BLOCK = """\
; layer {i}: attends to the last {window} places
(defun near-{i} (length)
  (let ((query (iota [length length] :axis 0))
        (key (iota [length length] :axis 1)))
    (logical-and (<= key query)
                 (< (- query key) {window}))))

(defun attend-{i} (x positions)
  (let* ((q (rope (split-heads (linear :q x width)) positions))
         (k (rope (split-heads (linear :k x width)) positions))
         (v (split-heads (linear :v x width)))
         (scores (/ (matmul q (swap-axes k -1 -2)) (sqrt size-of-head)))
         (scores (where (near-{i} (dim x 1)) scores -1e9)))
    (linear :out (join-heads (matmul (softmax scores) v)) width)))

(defun feed-{i} (x)
  (let ((gate (silu (linear :gate x (* 2 width))))
        (up (linear :up x (* 2 width))))
    (linear :down (* gate up) width)))

(defun block-{i} (x positions)
  (scope :layer-{i}
    (let* ((x (+ x (scope :attention (attend-{i} (rms-norm :norm x) positions))))
           (x (+ x (scope :feed (feed-{i} (rms-norm :norm x))))))
      x)))
"""

_TRANSFORMER_MODEL = """\
(defmodel model (tokens)
  (let* ((positions (iota [length-of-row]))
         (h (embedding :tokens tokens vocabulary width))
{calls}
         (h (rms-norm :last h)))
    (linear :logits h vocabulary)))
"""

_TRANSFORMER_TRAINING = """\
(defun prepare (batch ctx)
  (let ((row (field batch :row)))
    (counter :tokens (* rows length-of-row))
    (list :tokens row
          :labels (roll row -1 :axis 1))))

(defpass eval :loader train :every 100 :batches 2)

(defoptimizer (adamw :lr (lambda (ctx) (warmup-cosine ctx :peak 0.001 :warmup 100)) :weight-decay 0.1))

(defrun transformer :steps 1000 :clip 1.0 :precision :bf16)
"""

_PYTHON_HEAD = '''\
"""Layers over rows of numbers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

Row = list[float]


@dataclass
class Batch:
    rows: list[Row]
    labels: list[int]
    weights: dict[str, float] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[Row, int]]:
        return iter(zip(self.rows, self.labels))


def softmax(row: Sequence[float]) -> Row:
    most = max(row)
    powers = [math.exp(value - most) for value in row]
    total = sum(powers)
    return [power / total for power in powers]
'''

_PYTHON_LAYER = """\

@dataclass
class LayerNUMBER:
    size: int
    rate: float = 0.1
    weights: list[Row] = field(default_factory=list)
    activation: Callable[[float], float] = math.tanh

    def reset(self, seed: int) -> None:
        source = random.Random(seed)
        self.weights = [[source.gauss(0.0, 0.02) for _ in range(self.size)] for _ in range(self.size)]

    def apply(self, row: Row) -> Row:
        sums = [sum(w * x for w, x in zip(weights, row)) for weights in self.weights]
        return [self.activation(value) for value in sums]

    def loss(self, batch: Batch) -> float:
        total = 0.0
        for row, label in batch:
            chances = softmax(self.apply(row))
            total -= math.log(chances[label % len(chances)]) * batch.weights.get("NUMBER", 1.0)
        return total / max(1, len(batch.rows))

"""
