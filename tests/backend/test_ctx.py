"""What graphs see of the run's progress: every key of ctx, in training, in schedules, before and after a stage changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.programs import Ran, run
from support.tiny import tiny

OBJECTIVE = """(defun objective (inputs ctx)
  (metric "step" (getf ctx :step))
  (metric "steps" (getf ctx :steps))
  (metric "microbatch" (getf ctx :microbatch) :reduce :max)
  (metric "first-records" (getf ctx :records) :reduce :min)
  (metric "records" (getf ctx :records) :reduce :max)
  (metric "progress" (getf ctx :progress))
  (metric "stage" (getf ctx :stage))
  (metric "stage-steps" (getf ctx :stage-steps))
  (metric "stage-records" (getf ctx :stage-records) :reduce :min)
  (metric "tokens" (getf ctx :tokens) :reduce :max)
  (metric "stage-tokens" (getf ctx :stage-tokens) :reduce :min)
  (metric "next" (cast (+ (getf ctx :step) 1) :f32))
  (metric "loss" (mean (square (model (getf inputs :x))))))"""

PREPARE = """(defun prepare (batch ctx)
  (counter :tokens 5)
  (list :x (field batch :x) :y (field batch :y)))"""

LOADER = """(defloader train :batch 2
  :fields (list :x (spec [3] :f32) :y (spec [] :f32))
  :stages (list (synthetic 8 (lambda (index) (list :x (zeros [3]) :y 0.0)))
                (synthetic 8 (lambda (index) (list :x (ones [3]) :y (cast index :f32))))))""".replace(
    ":y 0.0", ":y (full [] 0.0 :f32)"
)

PASS = "(defpass eval :loader train :every 2 :batches 1)"


def values(ran: Ran, name: str) -> list[float]:
    return [value for _, value in ran.metric(f"train/{name}")]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run(
        tmp_path_factory.mktemp("ctx"),
        tiny(prepare=PREPARE, objective=OBJECTIVE, run="(defrun :steps 4 :microbatches 3 :report-every 1)"),
    )


@pytest.mark.claim("C13")
def test_every_builtin_key_counts_what_it_says(plain: Ran) -> None:
    assert values(plain, "step") == [0, 1, 2, 3]
    assert values(plain, "steps") == [4] * 4
    assert values(plain, "microbatch") == [2] * 4
    assert values(plain, "first-records") == [0, 6, 12, 18]
    assert values(plain, "records") == [4, 10, 16, 22]
    assert values(plain, "progress") == [0, 0.25, 0.5, 0.75]
    assert values(plain, "stage") == [0] * 4
    assert values(plain, "stage-steps") == [0, 1, 2, 3]
    assert values(plain, "stage-records") == [0, 6, 12, 18]


@pytest.mark.claim("C14")
def test_a_counter_adds_up_over_microbatches_and_is_seen_before_its_microbatch(plain: Ran) -> None:
    assert values(plain, "tokens") == [10, 25, 40, 55]
    assert values(plain, "stage-tokens") == [0, 15, 30, 45]


@pytest.mark.claim("C16")
def test_arithmetic_on_ctx_is_part_of_the_graph(plain: Ran) -> None:
    assert values(plain, "next") == [1, 2, 3, 4]


@pytest.mark.claim("C15")
def test_what_counts_since_the_stage_began_starts_anew(tmp_path: Path) -> None:
    curriculum = "(defun curriculum (stage ctx observations) (where (< (getf ctx :step) 4) stage (full [] 1 :i64)))"
    ran = run(
        tmp_path,
        tiny(
            loader=LOADER,
            prepare=PREPARE,
            objective=OBJECTIVE,
            passes=PASS,
            curriculum=curriculum,
            run="(defrun :steps 7 :report-every 1)",
        ),
    )
    assert ran.texts() == [(4, "stage 0 -> 1")]
    assert values(ran, "stage") == [0, 0, 0, 0, 1, 1, 1]
    assert values(ran, "stage-steps") == [0, 1, 2, 3, 0, 1, 2]
    assert values(ran, "stage-records") == [0, 2, 4, 6, 0, 2, 4]
    assert values(ran, "stage-tokens") == [0, 5, 10, 15, 0, 5, 10]
    assert values(ran, "tokens") == [0, 5, 10, 15, 20, 25, 30]
    assert values(ran, "records") == [0, 2, 4, 6, 8, 10, 12]


@pytest.mark.claim("C17")
def test_a_schedule_sees_the_step_before_it_and_counters_after_all_microbatches(tmp_path: Path) -> None:
    """With a gradient of ones, each step moves the weight by the learning rate."""
    text = tiny(
        model="(defmodel model (x) (sum (param :w [] :init (init-zeros))))",
        prepare=PREPARE,
        objective="""(defun objective (inputs ctx)
  (let ((w (model (getf inputs :x))))
    (metric "w" w :reduce :min)
    (metric "loss" (* w 1.0))))""",
        optimizer="""(defoptimizer (sgd :lr (lambda (ctx)
  (cast (+ (* 1000000 (getf ctx :step)) (* 1000 (getf ctx :tokens)) (* 10 (getf ctx :records)) (getf ctx :microbatch)) :f32))))""",
        run="(defrun :steps 3 :microbatches 2 :report-every 1)",
    )
    moves = -np.diff(values(run(tmp_path, text), "w"))
    assert moves.tolist() == [10_000 + 40, 1_000_000 + 20_000 + 80]
