"""In which order records come: pure functions of a key and a position, so that a place in the data is one number.

A shuffle is a permutation that is computed at any position alone (a Feistel network over a square that just holds the records,
walked until it lands on one), so it needs neither memory nor a state to be saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt, lcm

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]
Words = NDArray[np.uint64]

_ROUNDS = 8
_BLOCK = 4096
_MOST_SLOTS = 1 << 16
_LEAST_SLOTS = 256
_GOLDEN = 0x9E3779B97F4A7C15
_WORD = (1 << 64) - 1


class Ended(Exception):
    """A source that does not repeat has no record at that position."""


def mixed(words: Words) -> Words:
    """SplitMix64's finaliser: every bit of the result depends on every bit of the word."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def key_of(*parts: int) -> int:
    """One 64-bit key for a tuple of integers; the order of the parts counts."""
    key = 0
    for part in parts:
        key = int(mixed(np.array([(key + _GOLDEN + part) & _WORD], np.uint64))[0])
    return key


def shuffled(positions: Positions, count: int, keys: Words) -> Positions:
    """For each position the number that stands there when the numbers below `count` are shuffled by its key, all in `[0, count)`.

    `keys` is an array of one word, or of one for each position.
    """
    side = np.uint64(isqrt(count - 1) + 1)
    values = _once(positions.astype(np.uint64), keys, side)
    outside = values >= count
    while outside.any():
        values[outside] = _once(values[outside], keys if len(keys) == 1 else keys[outside], side)
        outside = values >= count
    return values.astype(np.int64)


def _once(values: Words, keys: Words, side: np.uint64) -> Words:
    """A permutation of the numbers below the square of `side`."""
    left, right = values // side, values % side
    for turn in range(_ROUNDS):
        left, right = right, (left + mixed(right + mixed(keys + np.uint64(turn))) % side) % side
    return left * side + right


class Order:
    """The records of one source, epoch behind epoch. `count` records; with `shuffle`, each epoch in an order of its own."""

    def __init__(self, count: int, key: int, *, shuffle: bool, repeat: bool) -> None:
        self.count = count
        self._key = key
        self._shuffle = shuffle
        self._repeat = repeat
        self._kept: tuple[int, Positions] | None = None

    def at(self, positions: Positions) -> Positions:
        """The numbers of the records at those positions. Raises Ended beyond the end of a source that does not repeat."""
        if len(positions) and (self.count == 0 or (not self._repeat and int(positions.max()) >= self.count)):
            raise Ended
        if not self._shuffle:
            return positions % max(1, self.count)
        epochs = (positions // self.count).astype(np.uint64)
        return shuffled(positions % self.count, self.count, mixed(epochs * np.uint64(_GOLDEN) + np.uint64(self._key)))

    def span(self, start: int, rows: int) -> Positions:
        """The records at `start` and behind it. Blocks are computed whole and kept, for spans are asked for one after another."""
        if not self._shuffle or (not self._repeat and start + rows > self.count):
            return self.at(np.arange(start, start + rows))
        parts: list[Positions] = []
        stop = start + rows
        while start < stop:
            block, offset = divmod(start, _BLOCK)
            if self._kept is None or self._kept[0] != block:
                last = _BLOCK if self._repeat else min(_BLOCK, self.count - block * _BLOCK)
                self._kept = block, self.at(np.arange(block * _BLOCK, block * _BLOCK + last))
            parts.append(self._kept[1][offset : offset + stop - start])
            start += len(parts[-1])
        return np.concatenate(parts) if len(parts) > 1 else parts[0]


class MixOrder:
    """Which source gives the record at a position, by weight.

    Positions are cut into blocks in which every source has its exact share of the slots, in an order that `key` and the block
    decide; so how many records of a source stand before a position is known without counting.
    """

    def __init__(self, weights: Sequence[float], key: int, *, shuffle: bool) -> None:
        self._shares = np.array(shares(weights), np.int64)
        self._key = key
        self._shuffle = shuffle
        self._slots = int(self._shares.sum())
        self._even = _spread(self._shares)
        self._kept: tuple[int, NDArray[np.int64], NDArray[np.int64]] | None = None

    def at(self, positions: Positions) -> tuple[NDArray[np.int64], Positions]:
        """For each position the number of its source, and the position in that source."""
        blocks = positions // self._slots
        sources = np.empty_like(positions)
        places = np.empty_like(positions)
        for block in np.unique(blocks):
            here = blocks == block
            slots = positions[here] % self._slots
            layout, before = self._layout(int(block))
            sources[here] = layout[slots]
            places[here] = block * self._shares[layout[slots]] + before[slots]
        return sources, places

    def _layout(self, block: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sources of a block's slots, and how many slots of the same source stand before each."""
        if not self._shuffle:
            block = 0
        if self._kept is None or self._kept[0] != block:
            layout = self._even
            if self._shuffle:
                key = np.array([key_of(self._key, block)], np.uint64)
                layout = layout[shuffled(np.arange(self._slots), self._slots, key)]
            before = np.empty_like(layout)
            for source, share in enumerate(self._shares):
                before[layout == source] = np.arange(share)
            self._kept = block, layout, before
        return self._kept[1], self._kept[2]


def shares(weights: Sequence[float]) -> list[int]:
    """Slots of a block for each source: the weights as whole numbers, exactly where their ratio allows it."""
    exact = [Fraction(weight).limit_denominator(1 << 12) or Fraction(weight) for weight in weights]
    total = sum(exact)
    parts = [weight / total for weight in exact]
    slots = lcm(*(part.denominator for part in parts))
    if slots > _MOST_SLOTS:
        slots = _MOST_SLOTS
    counts = [max(1, round(part * slots)) if part else 0 for part in parts]
    return [count * max(1, _LEAST_SLOTS // sum(counts)) for count in counts]


def _spread(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sources' numbers, each as often as its count says and as evenly spread as can be."""
    at = np.concatenate([(np.arange(count) + 0.5) / count for count in counts if count])
    source = np.concatenate([np.full(count, number) for number, count in enumerate(counts) if count])
    return source[np.argsort(at, kind="stable")].astype(np.int64)
