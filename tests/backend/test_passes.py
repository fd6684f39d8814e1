"""Evaluation passes: on which records they run, and how their batches are put together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sexpgpu_jax.faults import RunFault
from support.programs import Ran, Trained, program_of, run
from support.tiny import tiny

HELD = """(defloader held :batch 4
  :fields (list :x (spec [3] :f32) :y (spec [] :f32))
  :source (synthetic 11 (lambda (index) (list :x (ones [3]) :y (cast index :f32)))))"""

OBJECTIVE = """(defun objective (inputs ctx)
  (let ((y (getf inputs :y)))
    (metric "mean" (mean y))
    (metric "sum" (sum y) :reduce :sum)
    (metric "max" (amax y) :reduce :max)
    (metric "min" (amin y) :reduce :min)
    (metric "weighted" (mean y) :weight (sum y))
    (metric "batch" (getf ctx :microbatch) :reduce :max)
    (metric "records" (getf ctx :records) :reduce :max)
    (metric "loss" (mean (square (- (model (getf inputs :x)) y))))))"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    text = tiny(
        passes=f"{HELD}\n(defpass eval :loader held :every 2)\n(defpass one :loader held :every 3 :batches 1)",
        objective=OBJECTIVE,
        run="(defrun :steps 5 :loader train :report-every 1)",
    )
    return run(tmp_path_factory.mktemp("passes"), text)


def test_when_it_runs(ran: Ran) -> None:
    assert [step for step, _ in ran.metric("eval/loss")] == [0, 2, 4, 5]
    assert [step for step, _ in ran.metric("one/loss")] == [0, 3, 5]


def test_one_epoch_from_record_0_in_order_and_its_last_records_that_fill_no_batch_left_out(ran: Ran) -> None:
    assert ran.metric("eval/mean")[0] == (0, 3.5)
    assert ran.metric("one/mean")[0] == (0, 1.5)
    assert {value for _, value in ran.metric("eval/mean")} == {3.5}


def test_batches_are_put_together_as_the_metric_says(ran: Ran) -> None:
    assert ran.metric("eval/sum")[0] == (0, 28)
    assert ran.metric("eval/max")[0] == (0, 7)
    assert ran.metric("eval/min")[0] == (0, 0)
    assert ran.metric("eval/weighted")[0][1] == pytest.approx((1.5 * 6 + 5.5 * 22) / 28)


def test_the_microbatch_is_the_batch_and_nothing_is_consumed(ran: Ran) -> None:
    assert {value for _, value in ran.metric("eval/batch")} == {1}
    assert ran.metric("eval/records") == [(0, 0), (2, 4), (4, 8), (5, 10)]
    assert ran.metric("train/records") == [(1, 0), (2, 2), (3, 4), (4, 6), (5, 8)]


def test_a_pass_of_its_own_may_have_its_own_functions(tmp_path: Path) -> None:
    passes = """(defpass eval :loader train :every 10
  :prepare (lambda (batch ctx) (list :twice (* 2.0 (field batch :y))))
  :objective (lambda (inputs ctx) (metric "twice" (mean (getf inputs :twice))) nil))"""
    assert run(tmp_path, tiny(passes=passes)).metric("eval/twice") == [(0, 7), (3, 7)]


def test_a_counter_adds_nothing_in_a_pass(tmp_path: Path) -> None:
    text = tiny(
        prepare="(defun prepare (batch ctx) (counter :rows 2) (list :x (field batch :x) :y (field batch :y)))",
        passes="(defpass eval :loader train :every 1)",
        objective="""(defun objective (inputs ctx)
  (metric "rows" (getf ctx :rows))
  (metric "loss" (mean (square (- (model (getf inputs :x)) (getf inputs :y))))))""",
    )
    ran = run(tmp_path, text)
    assert ran.metric("eval/rows") == [(0, 0), (1, 2), (2, 4), (3, 6)]
    assert ran.metric("train/rows") == [(1, 0), (2, 2), (3, 4)]


def test_a_run_may_report_nothing(tmp_path: Path) -> None:
    text = tiny(
        objective="(defun objective (inputs ctx) (mean (square (- (model (getf inputs :x)) (getf inputs :y)))))",
        passes="(defpass eval :loader train :every 1)",
        run="(defrun :steps 2 :microbatches 2 :report-every 1)",
    )
    ran = run(tmp_path, text)
    assert ran.status == 0, ran.of("error")
    assert {event["name"] for event in ran.of("metric")} == {"curriculum/stage"}


def test_a_pass_without_a_batch_is_said(tmp_path: Path) -> None:
    """Known before the run only where the file is there when it is checked."""
    np.savez(tmp_path / "held.npz", x=np.ones((20, 3), np.float32), y=np.ones(20, np.float32))
    passes = """(defloader held :batch 16 :fields (list :x (spec [3] :f32) :y (spec [] :f32)) :source (npz "held.npz"))
(defpass eval :loader held :every 1)"""
    program = program_of(tiny(passes=passes, run="(defrun :steps 2 :loader train)"), str(tmp_path / "a.sx"))
    np.savez(tmp_path / "held.npz", x=np.ones((9, 3), np.float32), y=np.ones(9, np.float32))
    with pytest.raises(RunFault, match="the pass `eval` has 9 records, and a batch of its loader takes 16") as caught:
        Trained(program).training.run()
    assert caught.value.rule.code == "E-RUN-004"
