"""The order of records: pure in key and position, every record once an epoch, exact shares of a mix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexpgpu_jax.data.order import Ended, MixOrder, Order, key_of, shares, shuffled


def permutation(positions: np.ndarray, count: int, key: int) -> np.ndarray:
    return shuffled(positions, count, np.array([key], np.uint64))


@given(st.integers(1, 3000), st.integers(0, 2**64 - 1))
def test_a_permutation_has_every_number_once(count: int, key: int) -> None:
    assert sorted(permutation(np.arange(count), count, key)) == list(range(count))


def test_a_permutation_is_computed_at_any_position_alone() -> None:
    count = 10_000_000_000
    whole = permutation(np.arange(5_000_000_000, 5_000_000_100), count, 7)
    assert [int(permutation(np.array([5_000_000_000 + i]), count, 7)[0]) for i in range(100)] == whole.tolist()
    assert len(set(whole.tolist())) == 100


def test_a_permutation_leaves_no_pattern() -> None:
    """Positions and records are uncorrelated, and each half of an epoch holds about half of every half."""
    count = 20_000
    records = permutation(np.arange(count), count, 3)
    assert abs(np.corrcoef(np.arange(count), records)[0, 1]) < 0.03
    assert abs(np.mean(records[: count // 2] < count // 2) - 0.5) < 0.02
    assert abs(np.mean(np.diff(records) > 0) - 0.5) < 0.02


def test_keys_depend_on_every_part_and_their_order() -> None:
    assert len({key_of(1, 2), key_of(2, 1), key_of(1, 2, 0), key_of(0, 1, 2), key_of(-1, 2)}) == 5


def test_each_epoch_has_every_record_once_in_an_order_of_its_own() -> None:
    order = Order(10, 5, shuffle=True, repeat=True)
    records = order.span(0, 30).reshape(3, 10)
    assert [sorted(epoch) for epoch in records.tolist()] == [list(range(10))] * 3
    assert len({tuple(epoch) for epoch in records.tolist()}) == 3


@given(st.integers(1, 60), st.lists(st.integers(1, 9), min_size=1, max_size=30), st.booleans())
def test_batches_of_any_size_cut_the_same_sequence(count: int, sizes: list[int], shuffle: bool) -> None:
    order = Order(count, 11, shuffle=shuffle, repeat=True)
    position, got = 0, []
    for size in sizes:
        got += order.span(position, size).tolist()
        position += size
    assert got == Order(count, 11, shuffle=shuffle, repeat=True).at(np.arange(position)).tolist()


def test_a_source_that_does_not_repeat_ends() -> None:
    order = Order(10, 5, shuffle=True, repeat=False)
    assert sorted(order.span(0, 6).tolist() + order.span(6, 4).tolist()) == list(range(10))
    with pytest.raises(Ended):
        order.span(8, 3)


def test_unshuffled_records_come_as_they_stand() -> None:
    assert Order(4, 9, shuffle=False, repeat=True).span(2, 5).tolist() == [2, 3, 0, 1, 2]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [([1, 1], [0.5, 0.5]), ([3, 1], [0.75, 0.25]), ([0.7, 0.2, 0.1], [0.7, 0.2, 0.1]), ([1 / 3, 2 / 3], [1 / 3, 2 / 3])],
)
def test_shares_are_exact(weights: list[float], expected: list[float]) -> None:
    counts = shares(weights)
    assert np.allclose(np.array(counts) / sum(counts), expected, rtol=0, atol=1e-12)


def test_the_least_weight_is_not_forgotten() -> None:
    counts = shares([1.0, 1e-9])
    assert counts[1] == 1
    assert counts[0] > 10_000


@pytest.mark.parametrize("shuffle", [True, False])
def test_a_mix_reads_each_of_its_sources_in_order_and_by_weight(shuffle: bool) -> None:
    order = MixOrder([3, 1], 7, shuffle=shuffle)
    sources, places = order.at(np.arange(4096))
    assert np.mean(sources == 0) == 0.75
    for source in (0, 1):
        assert places[sources == source].tolist() == list(range(int((sources == source).sum())))
    alone = [order.at(np.array([position])) for position in range(1000, 1010)]
    assert [int(source[0]) for source, _ in alone] == sources[1000:1010].tolist()
    assert [int(place[0]) for _, place in alone] == places[1000:1010].tolist()
