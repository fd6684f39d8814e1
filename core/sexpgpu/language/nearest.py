"""The names nearest to a misspelt one, for help lines and fixes."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """At most `most` of the known names that a slip of the finger turns into `name`, the nearest first; a single letter has
    none.
    """
    if len(name) < 2:
        return []
    bound = max(1, len(name) // 3)
    scored: list[tuple[int, str]] = []
    for candidate in known:
        if candidate != name and abs(len(candidate) - len(name)) <= bound:
            distance = _distance(name, candidate, bound)
            if distance <= bound:
                scored.append((distance, candidate))
    return [candidate for _, candidate in sorted(scored)[:most]]


def _distance(a: str, b: str, bound: int) -> int:
    """Edit distance with transpositions (optimal string alignment), or anything above `bound`."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, before_that = row, before
        row = [i]
        for j, y in enumerate(b, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before_that[j - 2] + 1)
            row.append(cost)
        before = above
        if min(row) > bound:
            return bound + 1
    return row[-1]
