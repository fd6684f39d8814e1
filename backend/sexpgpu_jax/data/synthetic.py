"""Records that a graph makes of their index. They are made on the host's processor, one at a time, so a record has the same bits
whatever batch it comes in and whatever device trains."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax import lax
from jax.sharding import SingleDeviceSharding
from numpy.typing import NDArray

from sexpgpu.graph.nodes import Graph
from sexpgpu_jax.data.files import Batch
from sexpgpu_jax.lowering.graph import Environment, run_graph
from sexpgpu_jax.lowering.table import jnp_dtype

_KEPT = 64 * 2**20
"""Bytes: a source of no more than this keeps the records that it has made."""


class Synthetic:
    """`count` records, computed `rows` at a time."""

    def __init__(self, count: int, graph: Graph, seed: int, rows: int) -> None:
        self.count = count
        self._rows = rows
        self._seed = np.int64(seed)

        def record(seed: jax.Array, index: jax.Array) -> dict[str, jax.Array]:
            return run_graph(graph, Environment({"index": {"": index}}, {}, seed))

        def records(seed: jax.Array, indices: jax.Array) -> dict[str, jax.Array]:
            return lax.map(lambda index: record(seed, index), indices)

        host = SingleDeviceSharding(_processor())
        types = [jax.ShapeDtypeStruct(shape, np.int64, sharding=host) for shape in ((), (rows,))]
        self._make = jax.jit(records).lower(*types).compile()
        self._kept: dict[str, NDArray[Any]] | None = None
        if count * sum(node.bytes for node in graph.outputs.values()) <= _KEPT:
            self._kept = {name: np.zeros((count, *node.shape), jnp_dtype(node.dtype)) for name, node in graph.outputs.items()}
            self._known = np.zeros(count, np.bool_)

    def take(self, indices: NDArray[np.int64]) -> Batch:
        """The records of those numbers."""
        if self._kept is None:
            return self._made(indices)
        missing = indices[~self._known[indices]]
        if len(missing):
            for name, values in self._made(missing).items():
                self._kept[name][missing] = values
            self._known[missing] = True
        return {name: values[indices] for name, values in self._kept.items()}

    def _made(self, indices: NDArray[np.int64]) -> Batch:
        parts: list[dict[str, Any]] = []
        for start in range(0, len(indices), self._rows):
            some = indices[start : start + self._rows]
            full = np.resize(some, self._rows)  # a call always makes as many records; what is too many is cut off
            parts.append({name: np.asarray(values)[: len(some)] for name, values in self._make(self._seed, full).items()})
        return {name: np.concatenate([part[name] for part in parts]) if len(parts) > 1 else parts[0][name] for name in parts[0]}


def _processor() -> Any:
    """The host's processor; the first device where JAX was told to leave the processor alone."""
    try:
        return jax.local_devices(backend="cpu")[0]
    except RuntimeError:
        return jax.local_devices()[0]
