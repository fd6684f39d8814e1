"""Generation inside the step: `init` once, `step` for every trip, `finish` once, the state staying on the device.

The trips are one compiled loop with its bounds as arguments: how many run between two looks for a signal is decided while it runs,
and does not change a bit of what comes out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from sexpgpu.graph.nodes import Graph
from sexpgpu.program.model import Generator
from sexpgpu_jax.calls import DeviceCall, each
from sexpgpu_jax.ctx import Ctx
from sexpgpu_jax.lowering.graph import Arrays, Environment, run_graph
from sexpgpu_jax.parameters import Store
from sexpgpu_jax.whole import whole

Look = Callable[[], None]
Split = Callable[[Any], Any]

_SHORT = 0.02
"""Seconds: trips that take longer are looked at one by one, shorter ones are run together up to about this long."""


def _run(graph: Graph, inputs: dict[str, Arrays], store: Store, ctx: Ctx) -> dict[str, jax.Array]:
    """The graph's outputs by name. ctx has the builtin keys alone in a generator."""
    return run_graph(graph, Environment({**inputs, "ctx": ctx.entries(())}, store.variants(), ctx.seed))


class Generation:
    """The generator's device calls for batches of one kind. `split` cuts a call's batch into its microbatches (None: just one)."""

    def __init__(self, name: str, generator: Generator, store: Any, ctx: Any, batch: Any, split: Split | None) -> None:
        self.trips = whole(generator.trips)
        self._chunk = 1
        init, step, finish = whole(generator.init), whole(generator.step), generator.finish

        def count(ctx: Ctx) -> jax.Array | None:
            return None if split is None else ctx.stacked

        def make(store: Store, ctx: Ctx, batch: Arrays) -> Any:
            def body(_: jax.Array, carry: Any, row: Arrays) -> tuple[Any, Any]:
                made = _run(init, {"batch": row}, store, ctx)
                return carry, {name: jnp.copy(value) for name, value in made.items()}  # the trips use the state up, not the batch

            return each(body, (), batch if split is None else split(batch), count(ctx))[1]

        def travel(store: Store, ctx: Ctx, low: jax.Array, high: jax.Array, state: Any) -> Any:
            def body(_: jax.Array, carry: Any, row: Arrays) -> tuple[Any, Any]:
                def trip(number: jax.Array, state: Arrays) -> Arrays:
                    return _run(step, {"state": state, "trip": {"": number}}, store, ctx)

                return carry, lax.fori_loop(low, high, trip, row)

            return each(body, (), state, count(ctx))[1]

        self._init = DeviceCall(f"{name}.init", make, (store, ctx, batch))
        state = self._init.results
        self._step = DeviceCall(f"{name}.step", travel, (store, ctx, np.int64(0), np.int64(0), state), donated=(4,))
        self.calls = [self._init, self._step]
        self._finish: DeviceCall | None = None
        if finish is not None:

            def end(store: Store, ctx: Ctx, state: Any) -> Any:
                def body(_: jax.Array, carry: Any, row: Arrays) -> tuple[Any, Any]:
                    return carry, _run(finish, {"state": row}, store, ctx)

                return each(body, (), state, count(ctx))[1]

            self._finish = DeviceCall(f"{name}.finish", end, (store, ctx, state))
            self.calls.append(self._finish)

    @property
    def results(self) -> Any:
        """The types of what it makes."""
        return (self._finish or self._step).results

    def run(self, store: Store, ctx: Ctx, batch: Any, look: Look) -> Any:
        """What the generator makes of a batch. `look` is called before every device call, and raises to stop."""
        look()
        state = self._init(store, ctx, batch)
        low = 0
        while low < self.trips:
            look()
            high = min(low + self._chunk, self.trips)
            began = time.perf_counter()
            state = self._step(store, ctx, np.int64(low), np.int64(high), state)
            low = high
            if low < self.trips:  # the host may not run ahead of the trips, or it would look for signals too early
                jax.block_until_ready(state)
                taken = time.perf_counter() - began
                self._chunk = 2 * self._chunk if taken < _SHORT / 2 else max(1, self._chunk // 2) if taken > _SHORT else self._chunk
        if self._finish is None:
            return state
        look()
        return self._finish(store, ctx, state)
