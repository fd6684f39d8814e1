"""A file with a place marked in it where somebody types, and what is known of it from a text that was whole."""

from __future__ import annotations

from sexpgpu.analysis import Options, analyse
from sexpgpu.ide.recall import View
from sexpgpu.source import Source

PLACE = "¦"

RUN = """\
(def width 64)
(def rate 0.5)
; Twice as much.
(defun twice (a &optional (b 1) &key (c 2)) (* 2 (+ a (+ b c))))
(defmodel model (x) (linear :out x 1))
(defloader train
  :batch 2
  :fields (list :x (spec [3] :f32) :y (spec [1] :f32))
  :stages (list (synthetic 8 (lambda (index) (list :x (zeros [3]) :y (zeros [1]))))
                (synthetic 8 (lambda (index) (list :x (zeros [3]) :y (zeros [1]))))))
(defloader held
  :batch 4
  :fields (list :x (spec [3] :f32) :y (spec [1] :f32))
  :source (synthetic 8 (lambda (index) (list :x (zeros [3]) :y (zeros [1])))))

(defgenerate
  :trips 2
  :init (lambda (batch ctx) (list :seen (zeros [2]) :count (cast (getf ctx :step) :i32)))
  :step (lambda (state trip ctx) (list :seen (field state :seen) :count (field state :count)))
  :finish (lambda (state ctx) (list :made (field state :seen))))

(defun prepare (batch ctx)
  (counter :words 6)
  (list :x (field batch :x) :late (< 4 (getf ctx :stage-words)) :made (getf batch :made (zeros [2]))))

(defun objective (inputs ctx)
  (let* ((rest (getf ctx :progress))
         (out (model (field inputs :x)))
         (scaled (lambda (z factor) (* z factor))))
    (diagnostic "norm" rest)
    (diagnostic "size" rest)
    (metric "loss" (scaled (+ rest (mean out)) (sum (field inputs :made))))))

(defun curriculum (stage ctx observations)
  (if (null (getf observations "eval/loss")) stage 0))

(defpass eval :loader held :every 4)
(defoptimizer (adamw :lr 0.1))
(defrun :steps 10 :loader train :diagnostics ["norm"])
"""
"""A run that has a part of every kind."""

_whole = analyse(Source("run.sx", RUN), options=Options(record=True))


def typed(old: str, new: str, *, fresh: bool = True) -> tuple[list[View], Source, int]:
    """`RUN` with a piece replaced (the end, if it is empty) by another that holds `PLACE`: what is known of it, the text, and the
    place. Unless `fresh`, the text has not been analysed yet."""
    start = RUN.index(old) if old else len(RUN)
    text = RUN[:start] + new + RUN[start + len(old) :]
    offset = text.index(PLACE)
    source = Source("run.sx", text.replace(PLACE, ""))
    latest = [analyse(source, options=Options(record=True))] if fresh else []
    return [View(each, each.unit.main) for each in (*latest, _whole)], source, offset
