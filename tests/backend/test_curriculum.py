"""The curriculum: when it runs, on what, and what a change of stage does."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs import Ran, run
from support.tiny import tiny

STAGES = """(defloader train :batch 2
  :fields (list :x (spec [3] :f32) :y (spec [] :f32))
  :stages (list (synthetic 8 (lambda (index) (list :x (zeros [3]) :y (full [] 0.0 :f32))))
                (synthetic 8 (lambda (index) (list :x (ones [3]) :y (full [] 1.0 :f32))))
                (synthetic 8 (lambda (index) (list :x (ones [3]) :y (full [] 2.0 :f32))))))"""

OBJECTIVE = """(defun objective (inputs ctx)
  (metric "y" (mean (getf inputs :y)))
  (metric "loss" (mean (square (- (model (getf inputs :x)) (getf inputs :y))))))"""

EVAL = "(defpass eval :loader train :every 2 :batches 1)"
ONWARD = "(defun curriculum (stage ctx observations) (min (+ stage 1) 2))"


def trained(
    tmp_path: Path, curriculum: str, *, passes: str = EVAL, steps: int = 6, objective: str = OBJECTIVE, more: str = ""
) -> Ran:
    text = tiny(
        loader=STAGES,
        objective=objective,
        passes=passes,
        curriculum=curriculum,
        run=f"(defrun :steps {steps} :loader train :report-every 1 {more})",
    )
    ran = run(tmp_path, text)
    assert ran.status == 0, ran.of("error")
    return ran


@pytest.mark.claim("C1", "C6", "C10")
def test_it_runs_after_every_pass_from_step_0_and_never_after_the_last_step(tmp_path: Path) -> None:
    ran = trained(tmp_path, "(defun curriculum (stage ctx observations) (mod (+ stage 1) 3))")
    assert ran.texts() == [(0, "stage 0 -> 1"), (2, "stage 1 -> 2"), (4, "stage 2 -> 0")]
    assert ran.metric("train/y") == [(1, 1), (2, 1), (3, 2), (4, 2), (5, 0), (6, 0)]


@pytest.mark.claim("C1", "C2", "C3")
def test_it_decides_on_what_the_pass_observed_forwards_and_back(tmp_path: Path) -> None:
    """The pass sees the stage's own records: `y` tells which."""
    rule = """(defun curriculum (stage ctx observations)
  (let ((y (getf observations "eval/y")))
    (where (< y 0.5) (full [] 2 :i64) (where (> y 1.5) (full [] 0 :i64) stage))))"""
    ran = trained(tmp_path, rule)
    assert ran.texts() == [(0, "stage 0 -> 2"), (2, "stage 2 -> 0"), (4, "stage 0 -> 2")]


@pytest.mark.claim("C7")
def test_passes_due_together_run_it_each_on_its_own_observations_and_the_later_sees_the_new_stage(tmp_path: Path) -> None:
    passes = f"""{EVAL}
(defloader held :batch 2 :fields (list :x (spec [3] :f32) :y (spec [] :f32))
  :source (synthetic 8 (lambda (index) (list :x (ones [3]) :y (full [] 9.0 :f32)))))
(defpass other :loader held :every 4)
(defpass again :loader train :every 4 :batches 1)"""
    rule = """(defun curriculum (stage ctx observations)
  (if (null (getf observations "other/y")) stage
      (where (> (getf observations "other/y") 8.0) (min (+ stage 1) 2) stage)))"""
    ran = trained(tmp_path, rule, passes=passes)
    assert ran.texts() == [(0, "stage 0 -> 1"), (4, "stage 1 -> 2")]
    assert ran.metric("eval/y") == [(0, 0), (2, 1), (4, 1), (6, 2)]
    assert ran.metric("again/y") == [(0, 1), (4, 2), (6, 2)]
    assert ran.metric("other/y") == [(0, 9), (4, 9), (6, 9)]


@pytest.mark.claim("C11", "C12")
def test_every_metric_carries_its_stage_and_every_evaluation_tells_the_stage(tmp_path: Path) -> None:
    ran = trained(tmp_path, ONWARD)
    stages = {(event["name"], event["step"]): event["stage"] for event in ran.of("metric")}
    assert [stages["eval/y", step] for step in (0, 2, 4, 6)] == [0, 1, 2, 2]
    assert [stages["train/y", step] for step in (1, 2, 3, 4, 5, 6)] == [1, 1, 2, 2, 2, 2]
    assert ran.metric("curriculum/stage") == [(0, 1), (2, 2), (4, 2), (6, 2)]


@pytest.mark.claim("C8")
def test_diagnostics_are_no_observations_and_its_own_metrics_are_not_read(tmp_path: Path) -> None:
    objective = OBJECTIVE.replace('(metric "y"', '(diagnostic "size" (mean (getf inputs :x)))\n  (metric "y"')
    rule = """(defun curriculum (stage ctx observations)
  (metric "seen" (cast stage :f32))
  (if (null (getf observations "eval/size")) (min (+ stage 1) 2) stage))"""
    ran = trained(tmp_path, rule, objective=objective, more=':diagnostics ["size"] :diagnostics-every 1')
    assert ran.texts() == [(0, "stage 0 -> 1"), (2, "stage 1 -> 2")]
    assert not [event for event in ran.of("metric") if "seen" in event["name"] or "size" in event["name"]]


@pytest.mark.claim("C4")
def test_a_stage_that_comes_back_goes_on_where_it_stopped(tmp_path: Path) -> None:
    loader = """(defloader train :batch 2 :shuffle false
  :fields (list :x (spec [3] :f32) :y (spec [] :f32))
  :stages (list (synthetic 100 (lambda (index) (list :x (zeros [3]) :y (cast index :f32))))
                (synthetic 100 (lambda (index) (list :x (zeros [3]) :y (+ 1000.0 (cast index :f32)))))))"""
    text = tiny(
        loader=loader,
        objective=OBJECTIVE,
        passes="(defpass eval :loader train :every 2 :batches 1)",
        curriculum="(defun curriculum (stage ctx observations) (where (> (getf ctx :step) 0) (- 1 stage) stage))",
        run="(defrun :steps 6 :report-every 1)",
    )
    ran = run(tmp_path, text)
    assert ran.metric("train/y") == [(1, 0.5), (2, 2.5), (3, 1000.5), (4, 1002.5), (5, 4.5), (6, 6.5)]


def test_a_stage_that_does_not_exist_stops_the_run_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tiny(
        loader=STAGES,
        passes=EVAL,
        curriculum="(defun curriculum (stage ctx observations) (+ stage 2))",
        run="(defrun :steps 6 :report-every 1)",
    )
    ran = run(tmp_path, text)
    assert ran.status == 1
    (error,) = ran.of("error")
    assert (error["code"], error["step"]) == ("E-RUN-003", 2)
    assert (
        error["message"]
        == "the curriculum returned stage 4 after the pass `eval` at step 2, and the training loader has stages 0 to 2"
    )
    assert text.splitlines()[error["range"]["start"]["line"]].startswith("(defun curriculum")
    assert ran.states()[-1] == "failed"
    assert "E-RUN-003" in capsys.readouterr().err


def test_stop_when_ends_the_run_after_the_passes_that_were_not_due(tmp_path: Path) -> None:
    passes = f"{EVAL}\n(defpass rare :loader train :every 100 :batches 1)"
    text = tiny(
        passes=passes,
        objective=OBJECTIVE,
        run="(defrun :steps 50 :report-every 1 :stop-when (lambda (ctx observations) (>= (getf ctx :step) 4)))",
    )
    ran = run(tmp_path, text)
    assert ran.status == 0
    assert [step for step, _ in ran.metric("eval/loss")] == [0, 2, 4]
    assert [step for step, _ in ran.metric("rare/loss")] == [0, 4]
    assert ran.states() == ["started", "compiled", "finished"]
    assert ran.of("run")[-1]["step"] == 4
