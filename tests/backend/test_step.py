"""The training step: what it computes, that it compiles once, and that stacking and accumulation do not change what comes out."""

from __future__ import annotations

import re
from pathlib import Path

import jax
import numpy as np
import pytest

from sexpgpu_jax.ctx import Progress
from sexpgpu_jax.data.stages import Stages
from sexpgpu_jax.optimizer import Rule
from sexpgpu_jax.parameters import initialize
from sexpgpu_jax.step import Step
from sexpgpu_jax.train import batch_types
from support.programs import Trained, program_of, run
from support.tiny import tiny

TRANSFORMER = tiny(
    loader="""(defloader train :batch 2
  :fields (list :tokens (spec [16] :i32))
  :source (synthetic 64 (lambda (index) (list :tokens (cast (mod (+ (* index 7) (iota [16] :dtype :i64)) 31) :i32)))))""",
    model="""(defmodel model (tokens)
  (let* ((x (embedding :tokens tokens 31 16))
         (x (+ x (self-attention :mix (layer-norm :before x) 2))))
    (linear :out (gelu x) 31)))""",
    prepare="(defun prepare (batch ctx) (counter :tokens 32) batch)",
    objective="""(defun objective (inputs ctx)
  (let ((tokens (getf inputs :tokens)))
    (metric "loss" (mean (cross-entropy (model tokens) (roll tokens -1 :axis 1))))))""",
    optimizer="(defoptimizer (adamw :lr (lambda (ctx) (warmup-cosine ctx :peak 0.01 :warmup 5))))",
    run="(defrun :steps 50 :report-every 10)",
)

CHANGING = tiny(
    loader="""(defloader train :batch 2
  :fields (list :x (spec [3] :f32) :y (spec [] :f32))
  :stages (list (synthetic 8 (lambda (index) (list :x (ones [3]) :y (cast index :f32))))
                (synthetic 5 (lambda (index) (list :x (zeros [3]) :y (cast index :f32))))))""",
    generate="""(defgenerate :trips 7
  :init (lambda (batch ctx) (list :h (field batch :x)))
  :step (lambda (state trip ctx)
          (list :h (+ (getf state :h) (* 0.01 (normal [2 3] :salt (+ trip (getf ctx :step) (getf ctx :records)))))))
  :finish (lambda (state ctx) (list :h (getf state :h))))""",
    prepare="""(defun prepare (batch ctx)
  (counter :rows 2)
  (list :x (field batch :h) :y (field batch :y)))""",
    passes="(defpass eval :loader train :every 7)",
    curriculum='(defun curriculum (stage ctx observations) (where (> (getf observations "eval/loss") 0.0) (- 1 stage) stage))',
    optimizer="(defoptimizer (adam :lr (lambda (ctx) (* 0.001 (+ 1.0 (getf ctx :progress))))))",
    run="(defrun :steps 50 :microbatches 3 :report-every 4)",
)


class Compilations:
    """Counts what XLA compiles while it is open."""

    def __enter__(self) -> Compilations:
        self.count = 0
        jax.monitoring.register_event_duration_secs_listener(self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        jax.monitoring.unregister_event_duration_listener(self._heard)

    def _heard(self, event: str, duration_secs: float, **kwargs: str | int) -> None:
        self.count += event == "/jax/core/compile/backend_compile_duration"


@pytest.mark.parametrize("text", [TRANSFORMER, CHANGING], ids=["transformer", "changing"])
def test_every_device_call_compiles_once(text: str) -> None:
    trained = Trained(text)
    with Compilations() as before:
        trained.training.compile()
    assert before.count == len(trained.training.calls)
    with Compilations() as during:
        trained.training.run()
    assert trained.training.progress.step == 50
    assert during.count == 0


@pytest.mark.claim("G2")
def test_a_step_is_a_handful_of_flat_graphs() -> None:
    names = [call.name for call in Trained(CHANGING).training.calls]
    assert names == [
        "zeros",
        "split",
        "generate.init",
        "generate.step",
        "generate.finish",
        "prepare",
        "objective",
        "update",
        "eval.generate.init",
        "eval.generate.step",
        "eval.generate.finish",
        "eval.prepare",
        "eval.objective",
        "curriculum@eval",
    ]


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw", "lion", "adafactor", "muon"])
def test_no_double_appears_unless_the_program_asks(optimizer: str) -> None:
    training = Trained(TRANSFORMER.replace("adamw", optimizer)).training
    for call in training.calls:
        assert "f64" not in str(call.jaxpr()), call.name


def test_a_double_that_the_program_asks_for_is_one(tmp_path: Path) -> None:
    text = tiny(
        model="(defmodel model (x) (sum (* (cast x :f64) (param :w [3] :init (init-normal :std 1.0) :dtype :f64)) :axes [1]))",
        objective="""(defun objective (inputs ctx)
  (metric "loss" (mean (square (- (model (getf inputs :x)) (cast (getf inputs :y) :f64))))))""",
        optimizer="(defoptimizer (adam :lr 0.01))",
    )
    ran = run(tmp_path, text)
    assert ran.status == 0
    from safetensors.numpy import load_file

    assert load_file(ran.folder / "final.safetensors")["model/w"].dtype == np.float64


def test_accumulated_gradients_are_the_mean_over_microbatches(tmp_path: Path) -> None:
    """Four microbatches of two rows move the weights as one batch of eight does."""
    loader = tiny().split("\n\n")[0]
    many = run(tmp_path / "many", tiny(run="(defrun :steps 3 :microbatches 4 :report-every 1)"))
    one = run(tmp_path / "one", tiny(loader=loader.replace(":batch 2", ":batch 8")))
    assert [value for _, value in many.metric("train/loss")] == pytest.approx(
        [value for _, value in one.metric("train/loss")], rel=1e-5
    )


def test_the_gradient_is_clipped_by_its_global_norm(tmp_path: Path) -> None:
    text = tiny(
        model="(defmodel model (x) (list :a (param :a [2] :init (init-zeros)) :b (param :b [] :init (init-zeros))))",
        objective="""(defun objective (inputs ctx)
  (let* ((m (model (getf inputs :x))) (a (getf m :a)) (b (getf m :b)))
    (metric "a" (sum a)) (metric "b" b)
    (metric "loss" (+ (* 3.0 (sum a)) (* 4.0 b)))))""",
        optimizer="(defoptimizer (sgd :lr 1.0))",
        run="(defrun :steps 2 :report-every 1 :clip 1.0)",
    )
    ran = run(tmp_path, text)
    norm = np.sqrt(2 * 9 + 16)
    assert ran.metric("train/a")[1][1] == pytest.approx(-6 / norm, rel=1e-6)
    assert ran.metric("train/b")[1][1] == pytest.approx(-4 / norm, rel=1e-6)


def test_what_is_frozen_or_unread_stays_as_it_was(tmp_path: Path) -> None:
    text = tiny(
        model="""(defmodel model (x)
  (let ((unread (param :unread [3] :init (init-ones)))
        (cut (stop-gradient (param :cut [3] :init (init-ones)))))
    (sum (* x (+ (param :w [3] :init (init-ones)) (+ cut (param :fixed [3] :init (init-ones) :frozen true)))) :axes [1])))""",
        optimizer="(defoptimizer (adamw :lr 0.1 :weight-decay 0.5))",
    )
    ran = run(tmp_path, text)
    from safetensors.numpy import load_file

    final = load_file(ran.folder / "final.safetensors")
    assert {path for path, value in final.items() if (value == 1).all()} == set(final) - {"model/w"}


def test_the_initial_model_is_the_one_that_the_run_started_from(tmp_path: Path) -> None:
    text = tiny(
        objective="""(defun objective (inputs ctx)
  (metric "now" (mean (model (full [1 3] 1.0))))
  (metric "first" (mean ((initial model) (full [1 3] 1.0))))
  (metric "loss" (mean (square (- (model (getf inputs :x)) (getf inputs :y))))))"""
    )
    ran = run(tmp_path, text)
    first, now = ([value for _, value in ran.metric(f"train/{name}")] for name in ("first", "now"))
    assert first == [now[0]] * 3
    assert len(set(now)) == 3


def test_two_runs_of_one_file_are_equal_to_the_bit_and_another_seed_is_not(tmp_path: Path) -> None:
    first, second = (run(tmp_path / name, CHANGING) for name in ("first", "second"))
    assert first.status == 0
    assert first.timeless() == second.timeless()
    assert (first.folder / "final.safetensors").read_bytes() == (second.folder / "final.safetensors").read_bytes()
    other = run(tmp_path / "other", CHANGING, seed=1)
    assert other.timeless() != first.timeless()


# Stacking


def stepped(text: str, stack: int, steps: int = 3) -> tuple[dict[str, np.ndarray], list[np.ndarray], np.ndarray]:
    """Parameters, metrics and counters after some steps with `stack` microbatches a device call."""
    program = program_of(text)
    assert program.run is not None
    assert program.training is not None
    progress = Progress(0, program.run.integer("steps"), 1, len(program.counters))
    store, rule = initialize(program, 0), Rule(program)
    state = jax.jit(rule.init)(store.trained)
    types = batch_types(program.training, stack)
    step = Step(program, store, state, rule, progress, types, stack)
    data = Stages(program.training, 0, {}, shuffled=True, repeat=True)
    metrics: list[np.ndarray] = []
    for _ in range(steps):
        work = step.forward(store, progress, data, lambda: None)
        metrics += [np.asarray(call).reshape(-1, 2, len(step.metrics)) for call in work.metrics]
        store, state = step.update(store, state, progress, work)
        progress.commit(work.records, work.counters)
    return {path: np.asarray(value) for path, value in store.trained.items()}, metrics, np.asarray(progress.counters)


STACKING = [
    (TRANSFORMER.replace(":steps 50", ":steps 50 :microbatches 4"), (4,)),
    (CHANGING.replace("(getf ctx :records)", "0").replace(":microbatches 3", ":microbatches 4"), (2, 4)),
]


@pytest.mark.parametrize(("text", "stacks"), STACKING, ids=["transformer", "generator"])
def test_stacked_microbatches_have_the_bits_of_the_same_one_at_a_time(text: str, stacks: tuple[int, ...]) -> None:
    alone = stepped(text, 1)
    for other in (stepped(text, stack) for stack in stacks):
        for path, value in alone[0].items():
            assert np.array_equal(value, other[0][path]), path
        assert np.array_equal(np.concatenate(alone[1]), np.concatenate(other[1]))
        assert np.array_equal(alone[2], other[2])


# Memory


def test_only_the_update_uses_anything_up() -> None:
    """The old parameters are gone after an update, and nothing else that outlives a step ever is."""
    trained = Trained(CHANGING)
    training = trained.training
    training.compile()
    before, counters = training.store, training.progress.counters
    work = training._step.forward(before, training.progress, training._data, lambda: None)
    jax.block_until_ready(work)
    assert not any(value.is_deleted() for value in jax.tree.leaves(before))
    again = training._step.forward(before, training.progress, training._data, lambda: None)
    for a, b in zip(jax.tree.leaves(work), jax.tree.leaves(again), strict=True):
        assert np.array_equal(a, b)  # an abandoned step is taken again with the same bits
    training._step.update(before, training._state, training.progress, work)
    assert all(value.is_deleted() for value in before.trained.values())
    assert not np.asarray(counters).any()


def test_an_update_reuses_the_memory_of_what_it_replaces() -> None:
    training = Trained(TRANSFORMER).training
    training.compile()
    update = next(call for call in training.calls if call.name == "update")
    figures = update._compiled.memory_analysis()  # type: ignore[union-attr]
    held = sum(value.nbytes for value in training.store.trained.values())
    assert figures.alias_size_in_bytes >= 3 * held  # values and Adam's two moments


def test_names_of_compiled_programs_are_readable() -> None:
    training = Trained(CHANGING).training
    training.compile()
    texts = [call._compiled.as_text().split(",")[0] for call in training.calls]  # type: ignore[union-attr]
    assert [re.sub(r"HloModule jit_", "", text) for text in texts][5:8] == ["prepare", "objective", "update"]
