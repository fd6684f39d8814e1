"""Draws in JAX: pure functions of seed, place and salt, spread as they should be."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sexpgpu.graph.nodes import Node
from sexpgpu.language.dtypes import BF16, F16, F32, F64, I8, I32, I64, U8, U16, U32, DType
from sexpgpu.ops import OPS
from sexpgpu.ops.call import integral
from sexpgpu_jax.lowering import LOWERINGS, jnp_dtype
from sexpgpu_jax.lowering.random import draw_key
from support.ops import FakeTracer, array, compute, dtypes, node, run, tensor

DRAWS = [row for row in OPS.values() if row.draw]


def draw(text: str, names: dict[str, Any] | None = None, *, seed: int = 0, tracer: FakeTracer | None = None) -> np.ndarray:
    """What the expression draws; names are arrays, and numbers as i64."""
    arrays = {name: jnp.asarray(value) for name, value in (names or {}).items()}
    inputs: dict[str, Node] = {name: tensor(*value.shape, dtype=_dtype(value)) for name, value in arrays.items()}
    made = node(run(text, tracer, **inputs))
    return np.asarray(compute([made], {inputs[name]: value for name, value in arrays.items()}, seed)[0])


def _dtype(value: jax.Array) -> DType:
    return next(dtype for dtype in (F16, BF16, F32, F64, I8, I32, I64, U8, U16, U32) if jnp_dtype(dtype) == value.dtype)


def key_data(seed: int, place: str, salt: Any) -> list[int]:
    return np.asarray(jax.random.key_data(draw_key(jnp.int64(seed), place, jnp.asarray(salt)))).tolist()


# The key


@pytest.mark.claim("G18")
@settings(deadline=None, max_examples=50)
@given(*[st.tuples(st.integers(-(2**63), 2**63 - 1), st.text(), st.integers(-(2**63), 2**63 - 1))] * 2)
def test_a_key_is_a_function_of_seed_place_and_salt_and_of_all_their_bits(one: Any, other: Any) -> None:
    assert key_data(*one) == key_data(*one)
    assert (key_data(*one) == key_data(*other)) == (one == other)


@pytest.mark.claim("G18")
def test_keys_are_the_same_in_every_version() -> None:
    assert key_data(0, "objective/uniform:0", 0) == [2149131033, 2682682314]
    assert key_data(2**40 + 7, "prepare/augment:0/normal:2", -3) == [878542559, 4166523614]


@pytest.mark.parametrize("bit", range(0, 64, 9))
def test_no_bit_of_seed_or_salt_is_lost(bit: int) -> None:
    number = (1 << bit) - (1 << 64 if bit == 63 else 0)
    assert key_data(number, "a", 0) != key_data(0, "a", 0)
    assert key_data(0, "a", number) != key_data(0, "a", 0)
    assert key_data(number, "a", 0) != key_data(0, "a", number)


@given(dtypes(integral), st.integers(0, 127))
@settings(deadline=None, max_examples=10)
def test_a_salt_counts_by_its_number_not_its_dtype(dtype: DType, salt: int) -> None:
    assert key_data(1, "a", np.asarray(salt, jnp_dtype(dtype))) == key_data(1, "a", salt)


# Every draw


@pytest.mark.claim("G18", "G19")
@pytest.mark.parametrize("name", [row.name for row in DRAWS])
def test_a_draw_changes_with_seed_salt_and_place_and_with_nothing_else(name: str) -> None:
    text = {
        "bernoulli": "(bernoulli 0.5 [64] :salt s)",
        "randint": "(randint [64] 0 1000 :salt s)",
        "categorical": "(categorical x :salt s)",
        "permutation": "(permutation 64 :salt s)",
        "dropout": "(dropout x 0.5 :salt s)",
    }.get(name, f"({name} [64] :salt s)")
    three: dict[str, Any] = {"s": 3, **({"x": np.ones((64, 8), np.float32)} if " x " in text else {})}
    tracer = FakeTracer()
    first, second = (draw(text, three, tracer=tracer) for _ in range(2))
    assert (first != second).any(), "two places"
    np.testing.assert_array_equal(first, draw(text, three))
    assert (first != draw(text, {**three, "s": 4})).any()
    assert (first != draw(text, three, seed=1)).any()


def test_a_new_seed_or_salt_compiles_nothing_anew() -> None:
    salt = tensor(dtype=I64)
    made = node(run("(uniform [8] :salt s)", s=salt))
    traced = 0

    @jax.jit
    def drawn(seed: jax.Array, value: jax.Array) -> jax.Array:
        nonlocal traced
        traced += 1
        place = made.attrs["place"]
        assert isinstance(place, str)
        return LOWERINGS["uniform"](made, draw_key(seed, place, value))

    values = [drawn(jnp.int64(seed), jnp.int64(salt)) for seed in (0, 1) for salt in (0, 1)]
    assert traced == 1
    assert len({value.tobytes() for value in map(np.asarray, values)}) == 4
    np.testing.assert_array_equal(values[0], compute([made], {salt: jnp.int64(0)})[0])


def test_draws_are_made_in_f32_and_cast() -> None:
    for name in ("uniform", "normal"):
        wide = draw(f"({name} [1000])")
        for dtype in (F16, BF16, F64):
            np.testing.assert_array_equal(draw(f"({name} [1000] :dtype {dtype!r})"), wide.astype(jnp_dtype(dtype)))
    np.testing.assert_array_equal(draw("(gumbel [1000])", tracer=FakeTracer(BF16)), draw("(gumbel [1000])").astype(jnp.bfloat16))


# What they give. Bounds are about five standard deviations wide.


def test_uniform_is_spread_evenly() -> None:
    values = draw("(uniform [100000] :lo -2.0 :hi 4.0)")
    assert -2 <= values.min() < -1.99
    assert 3.99 < values.max() < 4
    counts, _ = np.histogram(values, 10, (-2, 4))
    assert abs(counts - 10_000).max() < 500
    np.testing.assert_array_equal(draw("(uniform [3] :lo 1.0 :hi 1.0)"), [1, 1, 1])


def test_normal_has_its_mean_and_spread() -> None:
    values = draw("(normal [100000] :mean 3.0 :std 2.0)")
    assert values.mean() == pytest.approx(3, abs=0.035)
    assert values.std() == pytest.approx(2, abs=0.025)
    assert (np.abs(values - 3) < 2).mean() == pytest.approx(0.6827, abs=0.008)
    np.testing.assert_array_equal(draw("(normal [3] :mean 3.0 :std 0.0)"), [3, 3, 3])


def test_bernoulli_is_true_as_often_as_p_says() -> None:
    assert draw("(bernoulli 0.3 [100000])").mean() == pytest.approx(0.3, abs=0.008)
    assert not draw("(bernoulli 0 [1000])").any()
    assert draw("(bernoulli 1 [1000])").all()
    values = draw("(bernoulli p [20000 3])", {"p": np.asarray([0.0, 0.5, 1.0], np.float32)})
    np.testing.assert_allclose(values.mean(0), [0, 0.5, 1], atol=0.02)


@settings(deadline=None, max_examples=20)
@given(dtypes(integral), st.data())
def test_integers_stay_in_their_range(dtype: DType, data: st.DataObject) -> None:
    lo = data.draw(st.integers(dtype.least, dtype.most))
    hi = data.draw(st.integers(lo + 1, dtype.most + 1))
    values = draw(f"(randint [500] {lo} {hi} :dtype {dtype!r})")
    assert values.dtype == jnp_dtype(dtype)
    assert lo <= int(values.min())
    assert int(values.max()) < hi


def test_integers_are_all_as_likely() -> None:
    counts = np.bincount(draw("(randint [60000] 0 6)"), minlength=6)
    assert abs(counts - 10_000).max() < 500
    assert set(draw("(randint [5000] 0 256 :dtype :u8)").tolist()) == set(range(256))


def test_categorical_follows_the_logits_along_its_axis() -> None:
    logits = np.log(np.asarray([0.1, 0.6, 0.3], np.float32))
    values = draw("(categorical x)", {"x": np.broadcast_to(logits, (50_000, 3))})
    np.testing.assert_allclose(np.bincount(values) / 50_000, [0.1, 0.6, 0.3], atol=0.012)
    values = draw("(categorical x :axis 0)", {"x": np.asarray([[-np.inf, 0], [0, -np.inf]], np.float32)})
    assert values.tolist() == [1, 0]


def test_gumbel_numbers_make_a_categorical_draw() -> None:
    values = draw("(gumbel [100000])")
    assert values.mean() == pytest.approx(np.euler_gamma, abs=0.02)
    assert values.std() == pytest.approx(np.pi / np.sqrt(6), abs=0.02)


def test_a_permutation_holds_every_integer_once() -> None:
    assert sorted(draw("(permutation 100)").tolist()) == list(range(100))
    first = [int(draw("(permutation 4 :salt s)", {"s": salt})[0]) for salt in range(200)]
    assert set(first) == {0, 1, 2, 3}


@pytest.mark.parametrize("dtype", [F32, BF16, F16], ids=str)
def test_dropout_keeps_the_mean(dtype: DType) -> None:
    x = np.ones(100_000, jnp_dtype(dtype))
    values = draw("(dropout x 0.25)", {"x": x}).astype(np.float32)
    assert np.unique(values).tolist() == [0, float(np.asarray(4 / 3, x.dtype))]
    assert (values == 0).mean() == pytest.approx(0.25, abs=0.008)
    np.testing.assert_array_equal(draw("(dropout x r)", {"x": x, "r": np.float32(0.25)}).astype(np.float32), values)


def test_dropout_at_both_ends_of_a_rate_that_is_a_tensor() -> None:
    x = array((100,))
    np.testing.assert_array_equal(draw("(dropout x r)", {"x": x, "r": np.float32(0)}), x)
    np.testing.assert_array_equal(draw("(dropout x r)", {"x": x, "r": np.float32(1)}), np.zeros_like(x))


@pytest.mark.parametrize("rate", [0.5, 1.0])
def test_the_gradient_of_dropout_is_its_mask(rate: float) -> None:
    x, r = tensor(64), tensor()
    made = node(run("(dropout x r)", None, x=x, r=r))

    def dropped(value: jax.Array) -> jax.Array:
        return compute([made], {x: value, r: jnp.float32(rate)})[0]

    ones = jnp.ones(64, jnp.float32)
    np.testing.assert_array_equal(jax.grad(lambda value: jnp.sum(dropped(value)))(ones), dropped(ones))
