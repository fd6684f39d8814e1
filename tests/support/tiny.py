"""A run that is small and whole, with any of its parts exchanged: what most tests of the backend train."""

from __future__ import annotations

PARTS = {
    "loader": """(defloader train
  :batch 2
  :fields (list :x (spec [3] :f32) :y (spec [] :f32))
  :source (synthetic 8 (lambda (index)
            (let ((i (cast index :f32)))
              (list :x (* (+ (iota [3] :dtype :f32) 1.0) (* i 0.1)) :y i)))))""",
    "model": """(defmodel model (x)
  (sum (* x (param :w [3] :init (init-normal :std 1.0))) :axes [1]))""",
    "generate": "",
    "prepare": "",
    "objective": """(defun objective (inputs ctx)
  (metric "loss" (mean (square (- (model (getf inputs :x)) (getf inputs :y))))))""",
    "passes": "",
    "curriculum": "",
    "optimizer": "(defoptimizer (sgd :lr 0.05))",
    "run": "(defrun :steps 3 :report-every 1)",
}


def tiny(**parts: str) -> str:
    """The text of the run; each part that is given stands in place of its own."""
    assert set(parts) <= set(PARTS), parts
    return "\n\n".join(part for part in {**PARTS, **parts}.values() if part) + "\n"
