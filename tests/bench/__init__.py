"""Measurements against the budgets: `make bench`. `programs` writes the files that are measured, `cold` times whole commands beside
other checkers, `analysing` the analysis inside a process, `asking` what is asked of one, `serving` the server beside others', and
`running` beside runs; all give `Row`s of the table that `__main__` prints."""

from __future__ import annotations

import statistics
from typing import NamedTuple


class Row(NamedTuple):
    """A line of the table: milliseconds on the clock, those that the processor worked, and the budget, where there is one, with
    whether it was kept."""

    what: str
    wall: float
    processor: float
    budget: str = ""
    kept: bool = True


class Times:
    """Repeated measurements of one thing, in milliseconds."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.processor: list[float] = []

    def add(self, wall: float, processor: float) -> None:
        """Add one, given in seconds."""
        self.wall.append(1000 * wall)
        self.processor.append(1000 * processor)

    def row(self, what: str, budget: float | None = None, quantile: float = 0.5) -> Row:
        """The row of a quantile, the median unless another is asked for; `budget` is a bound on the clock's milliseconds."""
        wall, processor = at(self.wall, quantile), at(self.processor, quantile)
        return Row(what, wall, processor) if budget is None else Row(what, wall, processor, f"≤ {budget:.0f} ms", wall <= budget)


def at(values: list[float], quantile: float) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[round(100 * quantile) - 1]
