"""The layers and schedules of the prelude, computed: against references in NumPy, jax.nn and Optax."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from sexpgpu.program.model import Program
from sexpgpu_jax.lowering.graph import Environment, compute
from sexpgpu_jax.parameters import first_value
from support.ops import array
from support.programs import program_of

X, IDS, IMAGE = array((4, 6, 32)), np.arange(24, dtype=np.int32).reshape(4, 6), array((4, 8, 9, 6), seed=1)


def program(layer: str, schedule: str = "0.1") -> Program:
    return program_of(f"""
(defloader train :batch 4
  :fields (list :x (spec [6 32] :f32) :ids (spec [6] :i32) :img (spec [8 9 6] :f32))
  :source (synthetic 8 (lambda (_index) (list :x (zeros [6 32]) :ids (zeros [6] :i32) :img (zeros [8 9 6])))))
(defmodel model (x ids img) {layer})
(defun prepare (batch _ctx)
  (list :x (field batch :x) :ids (field batch :ids) :img (field batch :img)
        :y (model (field batch :x) (field batch :ids) (field batch :img))))
(defun objective (inputs _ctx) (mean (getf inputs :y)))
(defoptimizer (adamw :lr {schedule}))
(defrun :steps 100)
""")


def given(layer: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """What the layer gives, of `x`, `ids` and `img`, and the values of its parameters, moved off what they start from."""
    found = program(layer)
    values = {
        path: np.asarray(first_value(p, 0)) + array(p.shape, seed=i, least=-0.1, most=0.1)
        for i, (path, p) in enumerate(found.parameters.items())
    }
    graph = found.prepare
    assert graph is not None
    batch = {"x": X, "ids": IDS, "img": IMAGE}

    @jax.jit
    def run(inputs: dict[str, Any], parameters: dict[str, Any]) -> jax.Array:
        return compute([graph.outputs["y"]], Environment({"batch": inputs}, {"current": parameters}, jnp.int64(0)))[0]

    return np.asarray(run(batch, values)), {path.removeprefix("model/a/"): value for path, value in values.items()}


def close(found: np.ndarray, wanted: Any) -> None:
    np.testing.assert_allclose(found, np.asarray(wanted), rtol=2e-4, atol=2e-5)


def normal(x: np.ndarray, axes: Any, epsilon: float = 1e-5) -> np.ndarray:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def test_linear() -> None:
    y, p = given("(linear :a x 5)")
    close(y, X @ p["weight"] + p["bias"])


def test_embedding_clamps() -> None:
    y, p = given("(embedding :a ids 20 3)")
    close(y, p["table"][np.minimum(IDS, 19)])


def test_layer_norm() -> None:
    y, p = given("(layer-norm :a x)")
    close(y, normal(X, -1) * p["scale"] + p["bias"])


def test_rms_norm() -> None:
    y, p = given("(rms-norm :a x)")
    close(y, X / np.sqrt(np.square(X).mean(-1, keepdims=True) + 1e-6) * p["scale"])


def test_group_norm() -> None:
    y, p = given("(group-norm :a img 3)")
    close(y, normal(IMAGE.reshape(4, 8, 9, 3, 2), (1, 2, 4)).reshape(IMAGE.shape) * p["scale"] + p["bias"])


def test_mlp_has_no_activation_after_the_last() -> None:
    y, p = given("(mlp :a x [7 5] :activation relu)")
    close(y, np.maximum(X @ p["0/weight"] + p["0/bias"], 0) @ p["1/weight"] + p["1/bias"])


@pytest.mark.parametrize(("keys", "shared", "causal"), [("", 4, True), (":kv-heads 2 :causal false", 2, False)])
def test_self_attention(keys: str, shared: int, causal: bool) -> None:
    y, p = given(f"(self-attention :a x 4 {keys})")
    q, k, v = (
        (X @ p[f"{part}/weight"] + p[f"{part}/bias"]).reshape(4, 6, heads, 8)
        for part, heads in (("q", 4), ("k", shared), ("v", shared))
    )
    seen = jax.nn.dot_product_attention(*map(jnp.asarray, (q, k, v)), is_causal=causal)
    close(y, np.asarray(seen).reshape(4, 6, 32) @ p["out/weight"] + p["out/bias"])


def test_self_attention_with_rope_sees_differences_of_positions_alone() -> None:
    y, _ = given("(self-attention :a x 4 :rope (iota [6]))")
    shifted, _ = given("(self-attention :a x 4 :rope (+ (iota [6]) 9))")
    plain, _ = given("(self-attention :a x 4)")
    close(y, shifted)
    assert np.abs(y - plain).max() > 1e-3


def test_conv() -> None:
    y, p = given("(conv :a img 5 3 :stride 2)")
    wanted = jax.lax.conv_general_dilated(
        jnp.asarray(IMAGE), jnp.asarray(p["weight"]), (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    close(y, wanted + p["bias"])


# Schedules


def rates(schedule: str, steps: list[int]) -> list[float]:
    """The schedule after each number of steps of a run of 100."""
    found = program("(linear :a x 5)", f"(lambda (ctx) {schedule})").optimizer
    assert found is not None
    graph = found.schedule
    assert graph is not None

    def rate(step: int) -> float:
        ctx = {"step": jnp.int64(step), "steps": jnp.int64(100)}
        return float(compute([graph.outputs[""]], Environment({"ctx": ctx}, {}, jnp.int64(0)))[0])

    return [rate(step) for step in steps]


STEPS = [0, 1, 9, 10, 11, 55, 99, 100, 150]


def test_warmup_cosine_is_optaxs() -> None:
    found = rates("(warmup-cosine ctx :peak 0.3 :warmup 10 :floor 0.03)", STEPS)
    wanted = optax.warmup_cosine_decay_schedule(0.0, 0.3, 10, 100, 0.03)
    assert found == pytest.approx([float(np.asarray(wanted(step))) for step in STEPS], rel=1e-5)


def test_warmup_linear_is_optaxs() -> None:
    found = rates("(warmup-linear ctx :peak 0.3 :warmup 10 :floor 0.03)", STEPS)
    wanted = optax.join_schedules([optax.linear_schedule(0.0, 0.3, 10), optax.linear_schedule(0.3, 0.03, 90)], [10])
    assert found == pytest.approx([float(np.asarray(wanted(step))) for step in STEPS], rel=1e-5)


def test_without_warmup_a_schedule_begins_at_its_peak() -> None:
    assert rates("(warmup-cosine ctx :peak 1 :warmup 0)", [0, 50, 100]) == pytest.approx([1, 0.5, 0], abs=1e-6)


def test_a_warmup_longer_than_the_run_only_rises() -> None:
    assert rates("(warmup-linear ctx :peak 1 :warmup 200)", [0, 50, 100]) == pytest.approx([0, 0.25, 0.5])


def test_constant() -> None:
    assert rates("(constant ctx :peak 0.5)", [0, 100]) == [0.5, 0.5]
