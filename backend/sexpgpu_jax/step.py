"""One training step: for each microbatch the generator, `prepare`, `objective` with its gradient; then the optimizer, once.

All of it reads the parameters that the step started from. Nothing that outlives the step is used up before the update, so a step
that is abandoned loses nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from sexpgpu.graph.nodes import Report
from sexpgpu.language.values import List
from sexpgpu.program.model import Program
from sexpgpu_jax.calls import DeviceCall, each
from sexpgpu_jax.ctx import Ctx, Progress
from sexpgpu_jax.data.stages import Stages
from sexpgpu_jax.generation import Generation, Look
from sexpgpu_jax.lowering.graph import Arrays, Environment, compute
from sexpgpu_jax.optimizer import Rule
from sexpgpu_jax.parameters import Store
from sexpgpu_jax.reports import nodes_of, pack
from sexpgpu_jax.whole import whole

_IN_FLIGHT = 2
"""Gradient calls that the host may be ahead of the device: more would only hold memory, and put off the look for a signal."""


class Moving(NamedTuple):
    """What an update uses up and makes anew: the trained values by path, and the optimizer's state."""

    trained: dict[str, Any]
    state: Any


class Work(NamedTuple):
    """A step on the device, up to its update: the summed `gradients`, `bad` (the first microbatch whose loss or gradient is not
    finite, or -1), `metrics` and `diagnostics` call by call, the `counters` after it and the `records` that it consumed."""

    gradients: Any
    bad: Any
    metrics: list[Any]
    diagnostics: list[Any]
    counters: Any
    records: int


class Step:
    """The compiled step of a program; `stack` microbatches go into one device call."""

    def __init__(
        self, program: Program, store: Store, state: Any, rule: Rule, progress: Progress, batch: Any, stack: int = 1
    ) -> None:
        self.microbatches = whole(program.run).integer("microbatches")
        self.batch = whole(whole(program.training).batch)
        self.metrics, self.diagnostics = reported(program)
        self._stack = stack
        self._device = device = _Device(program, rule, self.batch, None if self.microbatches == 1 else stack)

        ctx = progress.ctx()
        split = None if device.alone else device.split
        rows = batch if split is None else jax.eval_shape(split, batch)
        self.generation = None
        if program.generator is not None:
            self.generation = Generation("generate", program.generator, store, ctx, batch, split)
            rows = {**rows, **self.generation.results}
        self._prepare = DeviceCall("prepare", device.prepare, (store, ctx, rows))
        inputs = self._prepare.results[1]
        self._zeros = DeviceCall("zeros", lambda: device.zeros(store.trained), ())
        bad = np.int64(-1)
        sums = None if device.alone else self._zeros.results
        self._objective = DeviceCall("objective", device.objective, (store, ctx, (sums, bad), inputs), () if device.alone else (2,))
        gradients = self._objective.results[0][0]
        moving, resting = Moving(store.trained, state), store._replace(trained={})
        self._update = DeviceCall("update", device.update, (moving, resting, ctx, gradients, bad), (0,))
        self._diagnose = DeviceCall("diagnostics", device.diagnose, (store, ctx, inputs))
        self._split = None if split is None else DeviceCall("split", split, (batch,))
        calls = [self._zeros, self._split] if self._split is not None else []
        self.calls = [*calls, *(self.generation.calls if self.generation else ()), self._prepare, self._objective, self._update]
        if self.diagnostics:
            self.calls.append(self._diagnose)

    def forward(self, store: Store, progress: Progress, data: Stages, look: Look, *, diagnose: bool = False) -> Work:
        """Run all microbatches of the next step. `look` is called before every device call, and raises to stop."""
        counters = progress.counters
        bad: Any = np.int64(-1)
        sums: Any = None if self._split is None else self._zeros()
        metrics: list[Any] = []
        diagnostics: list[Any] = []
        done = 0
        for microbatch in range(0, self.microbatches, self._stack):
            rows = self._stack * self.batch
            look()
            batch = data.take(progress.stage, progress.positions[progress.stage] + done, rows)
            ctx = progress.ctx(microbatch, done, counters, self._stack)
            generated = {} if self.generation is None else self.generation.run(store, ctx, batch, look)
            look()
            cut = batch if self._split is None else self._split(batch)
            counters, inputs = self._prepare(store, ctx, {**cut, **generated})
            if len(metrics) >= _IN_FLIGHT:
                jax.block_until_ready(metrics[-_IN_FLIGHT])
            look()
            (sums, bad), packed = self._objective(store, ctx, (sums, bad), inputs)
            metrics.append(packed)
            if diagnose and self.diagnostics:
                diagnostics.append(self._diagnose(store, ctx, inputs))
            done += rows
        return Work(sums, bad, metrics, diagnostics, counters, done)

    def update(self, store: Store, state: Any, progress: Progress, work: Work) -> tuple[Store, Any]:
        """The parameters and the optimizer's state after the step. Uses up the trained values and the state that it is given."""
        ctx = progress.ctx(0, work.records, work.counters)
        moving = self._update(Moving(store.trained, state), store._replace(trained={}), ctx, work.gradients, work.bad)
        return store._replace(trained=moving.trained), moving.state


def reported(program: Program) -> tuple[list[Report], list[Report]]:
    """The metrics of training, and the diagnostics that the run selects."""
    objective = whole(program.objective)
    names = whole(program.run).settings.get("diagnostics")
    chosen = set(names.items) if isinstance(names, List) else set()
    return objective.metrics, [report for report in objective.diagnostics if report.name in chosen]


class _Device:
    """The functions of a step that are compiled. `stack` is None where a step has one microbatch alone."""

    def __init__(self, program: Program, rule: Rule, rows: int, stack: int | None) -> None:
        run = whole(program.run)
        self.alone = stack is None
        self._stack = stack
        self._rows = rows
        self._microbatches = run.integer("microbatches")
        self._counters = program.counters
        self._prepare = whole(program.prepare)
        self._objective = whole(program.objective)
        self._metrics, self._diagnostics = reported(program)
        self._guarded = run.keyword("on-nan") != "ignore"
        self._rule = rule

    def split(self, batch: Arrays) -> Any:
        """The microbatches of a call along a new axis 0."""
        return {name: array.reshape(self._stack, self._rows, *array.shape[1:]) for name, array in batch.items()}

    def zeros(self, trained: Arrays) -> Any:
        """Sums of no gradients, f32 or wider."""
        return {path: jnp.zeros(value.shape, jnp.promote_types(value.dtype, jnp.float32)) for path, value in trained.items()}

    def prepare(self, store: Store, ctx: Ctx, rows: Any) -> Any:
        """The counters after the call, and what `objective` reads."""

        def body(_: jax.Array, counters: jax.Array, row: Arrays) -> tuple[Any, Any]:
            graph = self._prepare
            environment = self._environment(store, ctx._replace(counters=counters), batch=row)
            counts = [graph.counters[name] for name in self._counters]
            values = compute([*graph.outputs.values(), *counts], environment)
            inputs = dict(zip(graph.outputs, values, strict=False))
            if counts:
                counters = counters + jnp.stack([value.astype(jnp.int64) for value in values[len(inputs) :]])
            return counters, inputs

        return each(body, ctx.counters, rows, self._count(ctx))

    def objective(self, store: Store, ctx: Ctx, carry: Any, inputs: Any) -> Any:
        """`((gradients, bad), metrics)`: the gradients of the call's microbatches added to those that were carried in."""
        loss = self._objective.outputs[""]

        def body(index: jax.Array, carry: Any, row: Arrays) -> tuple[Any, Any]:
            sums, bad = carry

            def value(trained: dict[str, Any]) -> tuple[jax.Array, jax.Array]:
                environment = self._environment(store._replace(trained=trained), ctx, inputs=row)
                result, *reports = compute([loss, *nodes_of(self._metrics)], environment)
                return result, pack(self._metrics, reports)

            (result, packed), gradients = jax.value_and_grad(value, has_aux=True)(store.trained)
            if self._guarded:
                finite = jnp.isfinite(result)
                for gradient in gradients.values():
                    finite = finite & jnp.isfinite(gradient).all()
                bad = jnp.where(finite | (bad >= 0), bad, ctx.microbatch + index)
            if sums is not None:
                gradients = lax.optimization_barrier(gradients)
                gradients = {path: total + gradients[path].astype(total.dtype) for path, total in sums.items()}
            return (gradients, bad), packed

        return each(body, carry, inputs, self._count(ctx))

    def diagnose(self, store: Store, ctx: Ctx, inputs: Any) -> jax.Array:
        """The selected diagnostics, apart from the gradient, so that looking does not change a bit of what is looked at."""

        def body(_: jax.Array, carry: Any, row: Arrays) -> tuple[Any, Any]:
            values = compute(nodes_of(self._diagnostics), self._environment(store, ctx, inputs=row))
            return carry, pack(self._diagnostics, values)

        return each(body, (), inputs, self._count(ctx))[1]

    def update(self, moving: Moving, resting: Store, ctx: Ctx, gradients: Any, bad: jax.Array) -> Moving:
        """The step's end; where it was not finite, everything stays as it was."""
        store = resting._replace(trained=moving.trained)
        if not self.alone:
            means = {path: total / jnp.asarray(self._microbatches, total.dtype) for path, total in gradients.items()}
            gradients = {path: mean.astype(store.trained[path].dtype) for path, mean in means.items()}
        after = Moving(*self._rule.update(store, moving.state, gradients, ctx))
        if not self._guarded:
            return after
        return jax.tree.map(lambda new, old: jnp.where(bad < 0, new, old), after, moving)

    def _environment(self, store: Store, ctx: Ctx, **inputs: Arrays) -> Environment:
        return Environment({**inputs, "ctx": ctx.entries(self._counters)}, store.variants(), ctx.seed)

    def _count(self, ctx: Ctx) -> jax.Array | None:
        return None if self.alone else ctx.stacked
