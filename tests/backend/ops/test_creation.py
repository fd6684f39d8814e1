"""Made tensors hold what NumPy's functions of that name hold, in every dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sexpgpu.language.dtypes import BOOL, DTYPES, DType
from sexpgpu.language.values import List
from sexpgpu_jax.lowering import jnp_dtype
from support.ops import apply, check_against_jax, run


def made(text: str) -> np.ndarray:
    return check_against_jax(lambda: run(text))[0]


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=repr)
def test_every_dtype(dtype: DType) -> None:
    jax_dtype = jnp_dtype(dtype)
    wanted: dict[str, Any] = {
        "(zeros [2 3] {})": np.zeros((2, 3)),
        "(ones [0 3] {})": np.ones((0, 3)),
        "(ones [] {})": np.ones(()),
        "(eye 3 {})": np.eye(3),
        "(eye 0 {})": np.eye(0),
        "(tri 2 4 1 {})": np.tri(2, 4, 1),
        "(tri 4 2 -1 {})": np.tri(4, 2, -1),
        "(tri 0 2 0 {})": np.tri(0, 2),
        "(full [2] {} {{}})".format("true" if dtype is BOOL else 7): np.full(2, 7),
        "(tensor [[{0} {0}] [{0} {0}]] {{}})".format("true" if dtype is BOOL else 1): np.ones((2, 2)),
        "(tensor [[] []] {})": np.ones((2, 0)),
    }
    found = check_against_jax(lambda: List([run(text.format(repr(dtype))) for text in wanted]))
    for (text, expected), value in zip(wanted.items(), found, strict=True):
        assert value.dtype == jax_dtype
        np.testing.assert_array_equal(value, expected.astype(jax_dtype), err_msg=text)


def test_iota_counts_along_its_axis() -> None:
    assert made("(iota [2 3])").tolist() == [[0, 1, 2], [0, 1, 2]]
    assert made("(iota [2 3] :axis 0 :dtype :f32)").tolist() == [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    assert made("(iota [2 0] :axis -2)").shape == (2, 0)


def test_numbers_keep_their_value() -> None:
    assert made("(tensor [[1 -2] [3 4]])").tolist() == [[1, -2], [3, 4]]
    assert made("(tensor [9223372036854775807])").tolist() == [2**63 - 1]
    assert made("(tensor [0.5 -inf nan])").tolist()[:2] == [0.5, -np.inf]
    assert made("(full [2] 0.1 :f64)").tolist() == [0.1, 0.1]
    assert made("(full [2] -3)").tolist() == [-3, -3]
    assert made("(tensor true)").tolist() is True


def test_a_number_that_meets_a_tensor_is_exact_in_its_dtype() -> None:
    x = np.array([2**62], np.int64)
    assert check_against_jax(lambda x: apply("+", x, 2**62 - 1), x)[0].tolist() == [2**63 - 1]
    u = np.array([1], np.uint32)
    assert check_against_jax(lambda x: apply("*", x, 2**32 - 1), u)[0].tolist() == [2**32 - 1]
