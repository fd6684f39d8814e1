"""How far a run is, and the ctx that graphs read of it.

What the host knows travels as one packed `np.int64` array and one `np.float32`, so that nothing is ever compiled anew for another
value; counters stay on the device, where `prepare` adds to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from sexpgpu.language.ctx import CTX, counter_keys
from sexpgpu.language.dtypes import I64

_BUILTIN = tuple(key.name for key in CTX.values() if key.dtype is I64)
_AHEAD = 2
"""In front of the builtin keys: the run's seed, which draws read, and how many microbatches a device call holds."""

_WORD = 1 << 64


class Ctx(NamedTuple):
    """What every device call is handed: `integers` `[9]` i64, `progress` f32, and `counters` `[2 counters]` i64, the whole run's
    and the stage's."""

    integers: Any
    progress: Any
    counters: Any

    @property
    def seed(self) -> jax.Array:
        return self.integers[0]

    @property
    def stacked(self) -> jax.Array:
        """How many microbatches the call holds."""
        return self.integers[1]

    @property
    def microbatch(self) -> jax.Array:
        """The first of them."""
        return self.integers[_AHEAD + _BUILTIN.index("microbatch")]

    def entries(self, counters: Sequence[str]) -> dict[str, jax.Array]:
        """The plist as a graph reads it: every entry by its name."""
        entries: dict[str, jax.Array] = {name: self.integers[index] for index, name in enumerate(_BUILTIN, _AHEAD)}
        entries["progress"] = self.progress
        for index, name in enumerate(counters):
            whole, stage = counter_keys(name)
            entries[whole] = self.counters[0, index]
            entries[stage] = self.counters[1, index]
        return entries


class Progress:
    """How far a run is. `positions` says for each stage of the training loader how many of its records have been consumed."""

    def __init__(self, seed: int, steps: int, stages: int, counters: int) -> None:
        self.seed = (seed + _WORD // 2) % _WORD - _WORD // 2
        self.steps = steps
        self.step = 0
        self.records = 0
        self.stage = 0
        self.stage_began = 0
        self.stage_records = 0
        self.positions = [0] * stages
        self.counters: Any = np.zeros((2, counters), np.int64)

    def ctx(self, microbatch: int = 0, ahead: int = 0, counters: Any = None, stacked: int = 1) -> Ctx:
        """The ctx before that microbatch, when `ahead` records of the step in flight are consumed already.

        `counters` are those of the step in flight; without them, those of the last complete step.
        """
        builtin = {
            "step": self.step,
            "steps": self.steps,
            "microbatch": microbatch,
            "records": self.records + ahead,
            "stage": self.stage,
            "stage-steps": self.step - self.stage_began,
            "stage-records": self.stage_records + ahead,
        }
        integers = np.array([self.seed, stacked, *(builtin[name] for name in _BUILTIN)], np.int64)
        return Ctx(integers, np.float32(self.step / self.steps), self.counters if counters is None else counters)

    def commit(self, records: int, counters: Any) -> None:
        """A step is complete: it consumed that many records and left those counters."""
        self.step += 1
        self.records += records
        self.stage_records += records
        self.positions[self.stage] += records
        self.counters = counters

    def enter(self, stage: int) -> None:
        """The curriculum moved on: what counts since the stage began counts from here."""
        self.stage = stage
        self.stage_began = self.step
        self.stage_records = 0
        counters = np.array(self.counters)
        counters[1] = 0
        self.counters = counters
