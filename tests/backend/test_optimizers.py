"""Optimizers: Optax's by name move parameters as Optax does by hand; schedules, masks and a file's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from optax import contrib
from safetensors.numpy import load_file

from sexpgpu_jax.parameters import first_value
from support.programs import program_of, run
from support.tiny import tiny

MODEL = """(defmodel model (x)
  (sum (matmul x (param :weight [3 4] :init (init-normal :std 1.0))) :axes [1]))"""

OBJECTIVE = """(defun objective (inputs ctx)
  (metric "loss" (mean (square (+ (- (model (getf inputs :x)) (getf inputs :y)) (bias 1))))))"""

BIAS = """(defmodel model (x)
  (+ (sum (matmul x (param :weight [3 4] :init (init-normal :std 1.0))) :axes [1])
     (sum (param :bias [4] :init (init-ones)))))"""

ROWS = """(defloader train :batch 8 :shuffle false
  :fields (list :x (spec [3] :f32) :y (spec [] :f32))
  :source (synthetic 8 (lambda (index)
            (let ((i (cast index :f32))) (list :x (* (+ (iota [3] :dtype :f32) 1.0) (* i 0.1)) :y i)))))"""


def by_file(tmp_path: Path, optimizer: str, steps: int = 3) -> dict[str, np.ndarray]:
    """Parameters after some steps of the file."""
    ran = run(tmp_path, tiny(loader=ROWS, model=BIAS, optimizer=f"(defoptimizer {optimizer})", run=f"(defrun :steps {steps})"))
    assert ran.status == 0, ran.of("error")
    return load_file(ran.folder / "final.safetensors")


def by_hand(transform: optax.GradientTransformation, steps: int = 3) -> dict[str, Any]:
    """Parameters after the same steps in plain JAX."""
    index = np.arange(8, dtype=np.float32)
    x, y = (np.arange(3, dtype=np.float32) + 1)[None] * (index * np.float32(0.1))[:, None], index
    program = program_of(tiny(loader=ROWS, model=BIAS))
    values: Any = {path: jnp.asarray(first_value(parameter, 0)) for path, parameter in program.parameters.items()}

    def loss(p: dict[str, Any]) -> jax.Array:
        return jnp.mean(jnp.square((x @ p["model/weight"]).sum(1) + p["model/bias"].sum() - y))

    with jax.enable_x64(False), jax.numpy_dtype_promotion("standard"):
        state = transform.init(values)
        for _ in range(steps):
            updates, state = transform.update(jax.grad(loss)(values), state, values)
            values = optax.apply_updates(values, updates)
    return values


@pytest.mark.parametrize(
    ("written", "transform"),
    [
        ("(sgd :lr 0.01)", lambda: optax.sgd(0.01)),
        ("(sgd :lr 0.01 :momentum 0.9 :nesterov true)", lambda: optax.sgd(0.01, 0.9, True)),
        ("(sgd :lr 0.01 :weight-decay 0.1)", lambda: optax.chain(optax.add_decayed_weights(0.1), optax.sgd(0.01))),
        ("(adam :lr 0.01 :b1 0.8)", lambda: optax.adam(0.01, 0.8)),
        ("(adamw :lr 0.01 :weight-decay 0.3)", lambda: optax.adamw(0.01, weight_decay=0.3)),
        (
            '(adamw :lr 0.01 :weight-decay 0.3 :mask (lambda (path shape) (ends-with path "weight")))',
            lambda: optax.adamw(0.01, weight_decay=0.3, mask={"model/weight": True, "model/bias": False}),
        ),
        ("(lion :lr 0.01)", lambda: optax.lion(0.01)),
        ("(adafactor :lr 0.01)", lambda: optax.adafactor(0.01)),
        ("(muon :lr 0.01)", lambda: contrib.muon(0.01)),
        (
            "(adam :lr (lambda (ctx) (* 0.01 (cast (+ 1 (getf ctx :step)) :f32))))",
            lambda: optax.adam(lambda count: 0.01 * (count + 1.0)),
        ),
        (
            '(adam :lr (lambda (ctx path) (if (ends-with path "bias") 0.0 (* 0.02 (+ 0.5 (* 0.0 (getf ctx :progress)))))))',
            lambda: optax.partition(
                {"weight": optax.adam(0.01), "bias": optax.set_to_zero()}, {"model/weight": "weight", "model/bias": "bias"}
            ),
        ),
    ],
)
def test_as_optax_by_hand(tmp_path: Path, written: str, transform: Callable[[], optax.GradientTransformation]) -> None:
    file, hand = by_file(tmp_path, written), by_hand(transform())
    assert set(file) == set(hand)
    for path, value in hand.items():
        np.testing.assert_allclose(file[path], value, rtol=2e-5, atol=1e-6)


def test_a_file_has_its_own(tmp_path: Path) -> None:
    """Momentum by hand, with a step count in the state and the path deciding the rate."""
    own = """(defoptimizer
  :init (lambda (param) (list :m (* param 0.0) :n (full [] 0 :i32)))
  :update (lambda (param grad state ctx path)
    (let* ((m (+ (* 0.9 (getf state :m)) grad))
           (rate (if (ends-with path "bias") 0.0 0.01)))
      (list :param (- param (* m rate)) :state (list :m m :n (+ 1 (getf state :n)))))))"""
    ran = run(tmp_path, tiny(loader=ROWS, model=BIAS, optimizer=own, run="(defrun :steps 3)"))
    assert ran.status == 0, ran.of("error")
    file = load_file(ran.folder / "final.safetensors")
    hand = by_hand(optax.partition({"w": optax.sgd(0.01, 0.9), "b": optax.set_to_zero()}, {"model/weight": "w", "model/bias": "b"}))
    for path, value in hand.items():
        np.testing.assert_allclose(file[path], value, rtol=2e-5, atol=1e-6)


@pytest.mark.claim("C17")
def test_an_optimizer_of_the_file_reads_ctx(tmp_path: Path) -> None:
    own = """(defoptimizer
  :init (lambda (param) (list))
  :update (lambda (param grad state ctx) (list :param (+ param (cast (getf ctx :step) :f32)) :state state)))"""
    ran = run(tmp_path, tiny(loader=ROWS, model=BIAS, optimizer=own, run="(defrun :steps 4)"))
    assert ran.status == 0, ran.of("error")
    assert load_file(ran.folder / "final.safetensors")["model/bias"].tolist() == [7] * 4
