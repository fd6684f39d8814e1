"""First values of parameters: right in shape, dtype and spread, and a function of seed and path alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sexpgpu_jax.lowering.table import jnp_dtype
from sexpgpu_jax.parameters import fans, first_value
from support.programs import parameter


def value(path: str = "model/weight", shape: tuple[int, ...] = (400, 300), seed: int = 0, **more: Any) -> np.ndarray:
    return first_value(parameter(path, shape, **more), seed)


@pytest.mark.parametrize(
    ("init", "numbers", "mean", "deviation", "bound"),
    [
        ("init-normal", {"std": 0.02}, 0, 0.02, None),
        ("init-uniform", {"lo": -1, "hi": 3}, 1, 4 / math.sqrt(12), 3),
        ("init-lecun", {}, 0, math.sqrt(1 / 400), 2 * math.sqrt(1 / 400) / 0.8796),
        ("init-he", {}, 0, math.sqrt(2 / 400), 2 * math.sqrt(2 / 400) / 0.8796),
        ("init-glorot", {}, 0, math.sqrt(2 / 700), math.sqrt(6 / 700)),
        ("init-zeros", {}, 0, 0, 0),
        ("init-ones", {}, 1, 0, 1),
        ("init-constant", {"value": 0.25}, 0.25, 0, 0.25),
    ],
)
def test_spread(init: str, numbers: dict[str, float], mean: float, deviation: float, bound: float | None) -> None:
    drawn = value(**{"init": init, **numbers}).astype(np.float64)
    assert drawn.mean() == pytest.approx(mean, abs=0.02)
    assert drawn.std() == pytest.approx(deviation, rel=0.01)
    if bound is not None:
        assert np.abs(drawn).max() <= bound * 1.0001


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16", "i32"])
def test_dtypes(dtype: str) -> None:
    from sexpgpu.language.dtypes import DTYPES

    for init, numbers in (("init-normal", {"std": 3.0}), ("init-ones", {}), ("init-glorot", {})):
        drawn = value(**{"init": init, "dtype": dtype, "shape": (4, 5), **numbers})
        assert drawn.dtype == jnp_dtype(DTYPES[dtype])
        assert drawn.shape == (4, 5)


def test_values_depend_on_seed_and_path_alone() -> None:
    assert np.array_equal(value(), value())
    assert not np.array_equal(value(), value(seed=1))
    assert not np.array_equal(value(), value(seed=2**32))
    assert not np.array_equal(value(), value("model/other"))


def test_doubles_are_drawn_in_double() -> None:
    drawn = value(init="init-normal", dtype="f64", std=1.0)
    assert not np.array_equal(drawn, drawn.astype(np.float32))


@pytest.mark.parametrize(
    ("shape", "expected"), [((3, 5), (3, 5)), ((2, 2, 3, 5), (12, 20)), ((7,), (7, 7)), ((), (1, 1)), ((0, 4), (1, 4))]
)
def test_fans(shape: tuple[int, ...], expected: tuple[int, int]) -> None:
    assert fans(shape) == expected
