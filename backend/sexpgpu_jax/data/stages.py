"""A loader as the run reads it: a batch for every stage and position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sexpgpu.diagnostics import rules
from sexpgpu.language.values import List, Made
from sexpgpu.program.model import Loader
from sexpgpu_jax.data.files import Batch, Records, open_file
from sexpgpu_jax.data.order import Ended, MixOrder, Order, key_of
from sexpgpu_jax.data.synthetic import Synthetic
from sexpgpu_jax.faults import RunFault
from sexpgpu_jax.whole import whole

Opened = dict[Made, Records]


class Stage:
    """One source in order. `count` is the number of records of an epoch."""

    def __init__(self, made: Made, records: Records, order: Order) -> None:
        self._made = made
        self._records = records
        self._order = order
        self.count = records.count

    def take(self, position: int, rows: int) -> Batch:
        """The batch of `rows` records at `position` and behind it. Raises RunFault where the source ends."""
        return self._read(lambda: self._order.span(position, rows))

    def at(self, positions: NDArray[np.int64]) -> Batch:
        """The records at those positions."""
        return self._read(lambda: self._order.at(positions))

    def _read(self, indices: Any) -> Batch:
        try:
            return self._records.take(indices())
        except Ended:
            help = "write :repeat true, or fewer :steps" if self.count else "a source needs a record at least"
            message = (
                f"the source ended after its {self.count} records, and the run asks for more"
                if self.count
                else "the source has no records"
            )
            raise RunFault(rules.RUN_RECORD, message, self._made.form, help) from None


class Mix:
    """Several sources, record by record by weight."""

    def __init__(self, parts: Sequence[Stage], order: MixOrder) -> None:
        self._parts = parts
        self._order = order
        self.count = sum(part.count for part in parts)

    def take(self, position: int, rows: int) -> Batch:
        """The batch of `rows` records at `position` and behind it. Raises RunFault where a source of it ends."""
        sources, places = self._order.at(np.arange(position, position + rows))
        batch: Batch = {}
        for number, part in enumerate(self._parts):
            here = np.flatnonzero(sources == number)
            if len(here):
                for name, values in part.at(places[here]).items():
                    if name not in batch:
                        batch[name] = np.empty((rows, *values.shape[1:]), values.dtype)
                    batch[name][here] = np.asarray(values)
        return batch


class Stages:
    """The stages of a loader. `shuffled` false reads every source in its own order, as passes do.

    `opened` holds the sources that are open already, and takes those that are opened here.
    """

    def __init__(self, loader: Loader, seed: int, opened: Opened, *, shuffled: bool, repeat: bool) -> None:
        self._loader = loader
        self._seed = seed
        self._shuffled = shuffled
        self._repeat = repeat
        self._opened = opened
        self.stages = [self._stage(cast("Made", made), (number,)) for number, made in enumerate(whole(loader.sources))]

    def take(self, stage: int, position: int, rows: int) -> Batch:
        """A batch: every field `[rows …shape]`. A pure function of its arguments. Raises RunFault."""
        return self.stages[stage].take(position, rows)

    def _stage(self, made: Made, key: tuple[int, ...]) -> Stage | Mix:
        number = key_of(self._seed, *key)
        if made.name == "mix":
            parts, weights = _parts(made)
            stages = [cast("Stage", self._stage(part, (*key, index))) for index, part in enumerate(parts)]
            return Mix(stages, MixOrder(weights, number, shuffle=self._shuffled))
        records = self._open(made)
        return Stage(made, records, Order(records.count, number, shuffle=self._shuffled, repeat=self._repeat))

    def _open(self, made: Made) -> Records:
        if made not in self._opened:
            loader = self._loader
            if made.name == "synthetic":
                count = cast("int", made.arguments["count"])
                self._opened[made] = Synthetic(count, loader.records[made], self._seed, whole(loader.batch))
            else:
                self._opened[made] = open_file(made, whole(loader.fields))
        return self._opened[made]


def _parts(made: Made) -> tuple[list[Made], list[float]]:
    """The sources of a mix, and their weights."""
    pairs = [cast("List", pair).items for pair in cast("List", made.arguments["sources"]).items]
    return [cast("Made", pair[0]) for pair in pairs], [float(cast("float", pair[1])) for pair in pairs]
