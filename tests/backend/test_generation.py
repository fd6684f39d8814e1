"""Generation inside the step: what it makes, what it sees, and what it does not do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sexpgpu_jax.ctx import Progress
from sexpgpu_jax.generation import Generation
from sexpgpu_jax.parameters import initialize
from support.programs import Ran, program_of, run
from support.tiny import tiny

COUNTING = """(defgenerate :trips 5
  :init (lambda (batch ctx) (list :sum (* (field batch :y) 0.0) :seen (zeros [5] :i64) :y (field batch :y)))
  :step (lambda (state trip ctx)
          (list :sum (+ (getf state :sum) (* (cast (+ trip 1) :f32) (getf state :y)))
                :seen (where (= (iota [5] :dtype :i64) trip) (+ (getf state :seen) (+ trip 1)) (getf state :seen))
                :y (getf state :y)))
  :finish (lambda (state ctx) (list :total (getf state :sum) :trips (getf state :seen))))"""

READING = """(defun prepare (batch ctx)
  (list :x (field batch :x) :y (field batch :y) :total (field batch :total) :trips (field batch :trips)))"""

OBJECTIVE = """(defun objective (inputs ctx)
  (metric "off" (amax (abs (- (getf inputs :total) (* 15.0 (getf inputs :y))))))
  (metric "trips" (sum (getf inputs :trips)))
  (metric "loss" (mean (square (- (model (getf inputs :x)) (getf inputs :y))))))"""


def values(ran: Ran, name: str) -> list[float]:
    assert ran.status == 0, ran.of("error")
    return [value for _, value in ran.metric(name)]


@pytest.mark.claim("G1", "G7", "G8")
def test_every_microbatch_runs_init_the_trips_and_finish_on_its_own_batch(tmp_path: Path) -> None:
    text = tiny(generate=COUNTING, prepare=READING, objective=OBJECTIVE, run="(defrun :steps 3 :microbatches 2 :report-every 1)")
    ran = run(tmp_path, text)
    assert values(ran, "train/off") == [0, 0, 0]
    assert values(ran, "train/trips") == [15, 15, 15]


@pytest.mark.claim("G6")
def test_without_finish_the_last_state_joins_the_batch(tmp_path: Path) -> None:
    generate = """(defgenerate :trips 3
  :init (lambda (batch ctx) (list :count (zeros [] :i64)))
  :step (lambda (state trip ctx) (list :count (+ (getf state :count) (+ trip 1)))))"""
    objective = """(defun objective (inputs ctx)
  (metric "count" (getf inputs :count))
  (metric "loss" (mean (square (- (model (getf inputs :x)) (getf inputs :y))))))"""
    assert values(run(tmp_path, tiny(generate=generate, objective=objective)), "train/count") == [6, 6, 6]


@pytest.mark.claim("G2", "G15")
def test_it_reads_the_parameters_that_the_step_started_from_and_no_gradient_goes_through(tmp_path: Path) -> None:
    """The label is the model's own output: with a gradient through it the loss 0 · w would move nothing, without one it does."""
    text = tiny(
        model="(defmodel model (x) (* (param :w [] :init (init-ones)) (sum x :axes [1])))",
        generate="""(defgenerate :trips 2
  :init (lambda (batch ctx) (list :x (field batch :x) :label (* (field batch :y) 0.0)))
  :step (lambda (state trip ctx) (list :x (getf state :x) :label (model (getf state :x))))
  :finish (lambda (state ctx) (list :label (getf state :label))))""",
        objective="""(defun objective (inputs ctx)
  (let* ((out (model (getf inputs :x))) (label (getf inputs :label)))
    (metric "same" (amax (abs (- out label))))
    (metric "w" (/ (sum out) (sum (getf inputs :x))))
    (metric "loss" (mean (- out (* 2.0 label))))))""",
        run="(defrun :steps 4 :report-every 1)",
    )
    ran = run(tmp_path, text)
    assert values(ran, "train/same") == pytest.approx([0] * 4, abs=1e-6)
    weights = values(ran, "train/w")
    assert weights == sorted(
        weights, reverse=True
    )  # d/dw mean(w s − 2 label) = mean(s) > 0, where a gradient through label gives −mean(s)
    assert len(set(weights)) > 1


@pytest.mark.claim("G10")
def test_a_pass_with_the_training_fields_runs_the_generator(tmp_path: Path) -> None:
    text = tiny(generate=COUNTING, prepare=READING, objective=OBJECTIVE, passes="(defpass eval :loader train :every 2)")
    ran = run(tmp_path, text)
    assert ran.metric("eval/off") == [(0, 0), (2, 0), (3, 0)]
    assert ran.metric("eval/trips") == [(0, 15), (2, 15), (3, 15)]


@pytest.mark.claim("G21")
def test_a_diagnostic_in_a_model_that_it_runs_is_dropped(tmp_path: Path) -> None:
    text = tiny(
        model="""(defmodel model (x)
  (let ((out (sum (* x (param :w [3] :init (init-ones))) :axes [1])))
    (diagnostic "size" (mean out))
    out))""",
        generate="""(defgenerate :trips 1
  :init (lambda (batch ctx) (list :made (model (field batch :x))))
  :step (lambda (state trip ctx) state))""",
        prepare="(defun prepare (batch ctx) (list :x (field batch :x) :y (field batch :y) :made (field batch :made)))",
        objective="""(defun objective (inputs ctx)
  (metric "made" (sum (getf inputs :made)))
  (metric "loss" (mean (square (- (model (getf inputs :x)) (getf inputs :y))))))""",
        run='(defrun :steps 4 :diagnostics ["size"] :diagnostics-every 2)',
    )
    ran = run(tmp_path, text)
    assert [(event["step"], event["name"]) for event in ran.of("diagnostic")] == [(2, "train/size"), (4, "train/size")]


# Draws


def drawing(salt: str, microbatches: int = 2) -> str:
    return tiny(
        generate=f"""(defgenerate :trips 1
  :init (lambda (batch ctx) (list :noise (uniform [] {salt})))
  :step (lambda (state trip ctx) state))""",
        prepare="(defun prepare (batch ctx) (list :x (field batch :x) :y (field batch :y) :noise (field batch :noise)))",
        objective="""(defun objective (inputs ctx)
  (metric "least" (getf inputs :noise) :reduce :min)
  (metric "most" (getf inputs :noise) :reduce :max)
  (metric "loss" (mean (square (- (model (getf inputs :x)) (getf inputs :y))))))""",
        run=f"(defrun :steps 3 :microbatches {microbatches} :report-every 1)",
    )


@pytest.mark.claim("G18")
def test_an_unsalted_draw_is_the_same_at_every_step_and_microbatch(tmp_path: Path) -> None:
    ran = run(tmp_path, drawing(""))
    assert len({*values(ran, "train/least"), *values(ran, "train/most")}) == 1
    other = run(tmp_path / "other", drawing(""), seed=5)
    assert values(other, "train/least") != values(ran, "train/least")


@pytest.mark.claim("G18", "G19")
def test_a_draw_salted_with_step_and_microbatch_is_new_for_each(tmp_path: Path) -> None:
    ran = run(tmp_path, drawing(":salt (+ (* (getf ctx :step) 65536) (getf ctx :microbatch))"))
    assert len({*values(ran, "train/least"), *values(ran, "train/most")}) == 6


@pytest.mark.claim("G19")
def test_a_draw_salted_with_the_step_is_new_for_each_step(tmp_path: Path) -> None:
    ran = run(tmp_path, drawing(":salt (getf ctx :step)"))
    assert values(ran, "train/least") == values(ran, "train/most")
    assert len(set(values(ran, "train/least"))) == 3


# The loop


@pytest.mark.claim("G5", "G16")
def test_how_the_trips_are_cut_does_not_change_a_bit() -> None:
    """One trip a call, all in one, and anything between: the same executable, the same state."""
    program = program_of(
        tiny(
            generate="""(defgenerate :trips 12
  :init (lambda (batch ctx) (list :h (field batch :x)))
  :step (lambda (state trip ctx)
          (let ((h (getf state :h)))
            (list :h (tanh (+ (* h 1.7) (normal [2 3] :salt (+ trip (* 100 (getf ctx :step)))))))))
  :finish (lambda (state ctx) (list :h (getf state :h))))""",
            prepare="(defun prepare (batch ctx) (list :x (field batch :x) :y (field batch :y) :h (field batch :h)))",
            objective="""(defun objective (inputs ctx)
  (metric "loss" (+ (sum (getf inputs :h)) (mean (square (- (model (getf inputs :x)) (getf inputs :y)))))))""",
        )
    )
    assert program.generator is not None
    store, ctx = initialize(program, 0), Progress(0, 10, 1, 0).ctx()
    batch: dict[str, Any] = {"x": np.ones((2, 3), np.float32), "y": np.ones(2, np.float32)}
    generation = Generation("generate", program.generator, store, ctx, batch, None)
    results = []
    for chunk in (1, 4, 5, 12):
        generation._chunk = chunk
        results.append(np.asarray(generation.run(store, ctx, batch, lambda: None)["h"]))
    assert all(np.array_equal(results[0], result) for result in results)
    assert not np.array_equal(results[0], batch["x"])
    np.testing.assert_array_equal(batch["x"], 1)


def test_a_signal_is_looked_for_before_every_trip_that_takes_its_time() -> None:
    """A trip of more than 20 ms is a call of its own."""
    text = tiny(
        generate="""(defgenerate :trips 6
  :init (lambda (batch ctx) (list :h (ones [700 700])))
  :step (lambda (state trip ctx)
          (let ((h (getf state :h)))
            (list :h (tanh (matmul (matmul (matmul h h) h) h)))))
  :finish (lambda (state ctx) (list :h (mean (getf state :h)))))""",
        prepare="(defun prepare (batch ctx) (list :x (field batch :x) :y (field batch :y) :h (field batch :h)))",
        objective="""(defun objective (inputs ctx)
  (metric "loss" (+ (getf inputs :h) (mean (square (- (model (getf inputs :x)) (getf inputs :y)))))))""",
    )
    program = program_of(text)
    assert program.generator is not None
    store, ctx = initialize(program, 0), Progress(0, 10, 1, 0).ctx()
    batch: dict[str, Any] = {"x": np.ones((2, 3), np.float32), "y": np.ones(2, np.float32)}
    generation = Generation("generate", program.generator, store, ctx, batch, None)
    looks: list[int] = []
    for call in generation.calls:
        call.compile()
    generation.run(store, ctx, batch, lambda: looks.append(1))
    assert len(looks) == 8  # init, six trips, finish
