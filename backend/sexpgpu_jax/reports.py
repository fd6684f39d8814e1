"""Metrics and diagnostics: packed on the device, put together on the host.

Every reported scalar leaves its graph as f32, in one array with the weights, so a device call has one small output for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from sexpgpu.graph.nodes import Node, Report


def nodes_of(reports: Sequence[Report]) -> list[Node]:
    """The nodes whose values `pack` takes, in order: the values, then the weights."""
    return [report.node for report in reports] + [report.weight for report in reports if report.weight is not None]


def pack(reports: Sequence[Report], values: Sequence[jax.Array]) -> jax.Array:
    """`[2 reports]` f32: the values and their weights (1 where there is none)."""
    count = len(reports)
    weights = iter(values[count:])
    rows = [value.astype(jnp.float32) for value in values[:count]]
    rows += [jnp.ones((), jnp.float32) if report.weight is None else next(weights).astype(jnp.float32) for report in reports]
    return jnp.stack(rows).reshape(2, count) if count else jnp.zeros((2, 0), jnp.float32)


def together(calls: Iterable[Any], count: int) -> NDArray[np.float32]:
    """`[batches 2 count]` of what device calls packed, each `[2 count]` or, for several microbatches, `[microbatches 2 count]`."""
    rows = [np.asarray(call) for call in calls]
    return np.concatenate([np.zeros((0, 2, count), np.float32), *(row if row.ndim == 3 else row[None] for row in rows)])


def reduce(reports: Sequence[Report], packed: Any) -> Mapping[str, np.float32]:
    """One value for each name from `[batches 2 reports]`: the weighted mean, or what `:reduce` says, computed in f64."""
    values = np.asarray(packed, np.float64)
    results: dict[str, np.float32] = {}
    with np.errstate(all="ignore"):
        for index, report in enumerate(reports):
            value, weight = values[:, 0, index], values[:, 1, index]
            match report.reduce:
                case "sum":
                    result = value.sum()
                case "max":
                    result = value.max()
                case "min":
                    result = value.min()
                case "mean":
                    result = (value * weight).sum() / weight.sum()
            results[report.name] = np.float32(result)
    return results
