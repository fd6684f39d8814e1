"""A loss or gradient that is not finite: the run stops in time and says where it came from, or goes on as it was told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from support.programs import Ran, run
from support.tiny import tiny


def trained(tmp_path: Path, how: str, objective: str = "", **parts: str) -> Ran:
    """Record 5 of 8, unshuffled in batches of one, makes it infinite: microbatch 1 of step 3."""
    loader = """(defloader train :batch 1 :shuffle false
  :fields (list :x (spec [3] :f32) :y (spec [] :f32))
  :source (synthetic 8 (lambda (index) (list :x (ones [3]) :y (cast (- index 5) :f32)))))"""
    objective = (
        objective
        or """(defun objective (inputs ctx)
  (let ((y (getf inputs :y)))
    (metric "loss" (mean (+ (square (model (getf inputs :x)))
                            (log (abs y)))))))"""
    )
    text = tiny(loader=loader, objective=objective, run=f"(defrun :steps 4 :microbatches 2 :report-every 1 {how})", **parts)
    return run(tmp_path, text)


def place(ran: Ran) -> str:
    """What the error's range covers."""
    (error,) = ran.of("error")
    lines = (ran.folder / "source" / "run.sx").read_text().splitlines()
    start, end = error["range"]["start"], error["range"]["end"]
    assert start["line"] == end["line"]
    return lines[start["line"]][start["character"] : end["character"]]


def test_the_run_stops_and_names_step_microbatch_and_the_first_operation(tmp_path: Path) -> None:
    ran = trained(tmp_path, "")
    (error,) = ran.of("error")
    assert ran.status == 1
    assert error["code"] == "E-RUN-001"
    assert error["message"] == "the loss is not finite at step 3, microbatch 1: `log` is the first operation whose result is not"
    assert place(ran) == "(log (abs y))"
    assert [step for step, _ in ran.metric("train/loss")] == [1, 2]
    assert error["step"] == 2
    assert ran.states()[-1] == "failed"


def test_a_mask_of_infinities_is_not_taken_for_the_cause(tmp_path: Path) -> None:
    objective = """(defun objective (inputs ctx)
  (let* ((y (getf inputs :y))
         (masked (softmax (where (tri 3 3 0 :bool) (ones [3 3]) (log (zeros [3 3]))))))
    (metric "loss" (+ (mean masked) (mean (+ (square (model (getf inputs :x)))
                            (/ 1.0 y)))))))"""
    ran = trained(tmp_path, "", objective)
    assert place(ran) == "(/ 1.0 y)"


def test_a_gradient_alone_may_not_be_finite(tmp_path: Path) -> None:
    objective = """(defun objective (inputs ctx)
  (let ((y (getf inputs :y)))
    (metric "loss" (mean (sqrt (abs (* (square y) (square (model (getf inputs :x))))))))))"""
    ran = trained(tmp_path, "", objective)
    (error,) = ran.of("error")
    assert error["message"] == "a gradient is not finite at step 3, microbatch 1: the loss itself is"


def test_a_cause_in_prepare_is_found(tmp_path: Path) -> None:
    ran = trained(
        tmp_path,
        "",
        '(defun objective (inputs ctx) (metric "loss" (mean (+ (getf inputs :l) (square (model (getf inputs :x)))))))',
        prepare="(defun prepare (batch ctx) (list :x (field batch :x) :l (log (abs (field batch :y)))))",
    )
    assert place(ran) == "(log (abs (field batch :y)))"


def test_skip_drops_the_update_and_goes_on(tmp_path: Path) -> None:
    ran = trained(tmp_path, ":on-nan :skip")
    assert ran.status == 0
    assert ran.texts() == [(3, "update skipped: not finite at step 3, microbatch 1")]
    losses = dict(ran.metric("train/loss"))
    assert losses[3] is None  # JSON has no infinity
    assert np.isfinite([losses[1], losses[2], losses[4]]).all()
    assert np.isfinite(load_file(ran.folder / "final.safetensors")["model/w"]).all()


def test_skip_leaves_parameters_and_state_as_they_were(tmp_path: Path) -> None:
    """Two steps, and three of which the last is skipped, end in the same parameters."""
    three = trained(tmp_path / "three", ":on-nan :skip", optimizer="(defoptimizer (adam :lr 0.1))")
    text = (three.folder / "source" / "run.sx").read_text()
    skipped = run(tmp_path / "skipped", text, steps=3)
    two = run(tmp_path / "two", text, steps=2)
    assert np.array_equal(
        load_file(skipped.folder / "final.safetensors")["model/w"], load_file(two.folder / "final.safetensors")["model/w"]
    )


@pytest.mark.parametrize("how", [":on-nan :ignore"])
def test_ignore_looks_at_nothing(tmp_path: Path, how: str) -> None:
    ran = trained(tmp_path, how)
    assert ran.status == 0
    assert ran.texts() == []
    assert ran.states()[-1] == "finished"
