"""Evaluation passes, and what is decided on what they observe: the curriculum's next stage, and whether the run ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from sexpgpu.diagnostics import rules
from sexpgpu.graph.nodes import Graph
from sexpgpu.program.model import Pass, Program
from sexpgpu_jax.calls import DeviceCall
from sexpgpu_jax.ctx import Ctx, Progress
from sexpgpu_jax.data.stages import Stages
from sexpgpu_jax.faults import RunFault
from sexpgpu_jax.generation import Generation, Look
from sexpgpu_jax.lowering.graph import Arrays, Environment, compute, run_graph
from sexpgpu_jax.parameters import Store
from sexpgpu_jax.reports import nodes_of, pack, reduce, together
from sexpgpu_jax.whole import whole

_IN_FLIGHT = 2

Observations = Mapping[str, np.float32]


class Evaluation:
    """One pass, compiled."""

    def __init__(self, program: Program, declared: Pass, store: Store, progress: Progress, data: Stages, batch: Any) -> None:
        loader = whole(declared.loader)
        self.name = declared.name
        self.every = whole(declared.every)
        self._data = data
        self._moves = loader is program.training
        self._rows = whole(loader.batch)
        self._batches = declared.batches
        self._declared = declared
        self._metrics = whole(declared.objective).metrics
        self._counters = program.counters
        self._prepare_graph = whole(declared.prepare)
        ctx = progress.ctx()
        self.generation = None
        if declared.generator is not None:
            self.generation = Generation(f"{self.name}.generate", declared.generator, store, ctx, batch, None)
        rows = batch if self.generation is None else {**batch, **self.generation.results}
        self._prepare = DeviceCall(f"{self.name}.prepare", self._prepared, (store, ctx, rows))
        self._measure = DeviceCall(f"{self.name}.objective", self._measured, (store, ctx, self._prepare.results))
        self.calls = [*(self.generation.calls if self.generation else ()), self._prepare, self._measure]
        seen = jax.ShapeDtypeStruct((len(self._metrics),), jnp.float32)
        self._curriculum = self._decision("curriculum", declared.curriculum, store, ctx, seen)
        self._stop_when = self._decision("stop-when", declared.stop_when, store, ctx, seen)

    def due(self, step: int) -> bool:
        """Whether the pass runs when so many steps are complete."""
        return step % self.every == 0

    def run(self, store: Store, progress: Progress, look: Look) -> Observations:
        """Run the pass; each metric under `PASS/NAME`. It moves neither loader nor counters."""
        stage = progress.stage if self._moves else 0
        batches = self._batches
        if batches is None:
            records = self._data.stages[stage].count
            batches = records // self._rows
            if not batches:
                message = f"the pass `{self.name}` has {records} records, and a batch of its loader takes {self._rows}"
                raise RunFault(rules.RUN_RECORD, message, self._declared.form, "make :batch smaller")
        results: list[Any] = []
        for index in range(batches):
            look()
            batch = self._data.take(stage, index * self._rows, self._rows)
            ctx = progress.ctx(index)
            generated = {} if self.generation is None else self.generation.run(store, ctx, batch, look)
            look()
            inputs = self._prepare(store, ctx, {**batch, **generated})
            if len(results) >= _IN_FLIGHT:
                jax.block_until_ready(results[-_IN_FLIGHT])
            look()
            results.append(self._measure(store, ctx, inputs))
        jax.block_until_ready(results)
        look()
        values = reduce(self._metrics, together(results, len(self._metrics)))
        return {f"{self.name}/{name}": value for name, value in values.items()}

    def next_stage(self, store: Store, progress: Progress, observations: Observations) -> int:
        """The stage that the curriculum wants from here on. Raises RunFault where the training loader has none of that number."""
        if self._curriculum is None:
            return progress.stage
        stage = int(self._decide(self._curriculum, store, progress, observations))
        if not 0 <= stage < len(progress.positions):
            stages = len(progress.positions)
            have = f"stages 0 to {stages - 1}" if stages > 1 else "stage 0 alone"
            when = f"after the pass `{self.name}` at step {progress.step}"
            message = f"the curriculum returned stage {stage} {when}, and the training loader has {have}"
            at = whole(self._declared.curriculum).outputs[""].form
            raise RunFault(rules.RUN_STAGE, message, at, "keep it in bounds with (clip stage 0 …) or (min …)")
        return stage

    def ends(self, store: Store, progress: Progress, observations: Observations) -> bool:
        """Whether `:stop-when` ends the run."""
        return self._stop_when is not None and bool(self._decide(self._stop_when, store, progress, observations))

    # What the device computes

    def _prepared(self, store: Store, ctx: Ctx, batch: Arrays) -> Any:
        return run_graph(self._prepare_graph, self._environment({"batch": batch}, store, ctx))

    def _measured(self, store: Store, ctx: Ctx, inputs: Arrays) -> jax.Array:
        return pack(self._metrics, compute(nodes_of(self._metrics), self._environment({"inputs": inputs}, store, ctx)))

    def _environment(self, inputs: dict[str, Arrays], store: Store, ctx: Ctx) -> Environment:
        return Environment({**inputs, "ctx": ctx.entries(self._counters)}, store.variants(), ctx.seed)

    def _decision(self, role: str, graph: Graph | None, store: Store, ctx: Ctx, seen: Any) -> DeviceCall | None:
        """The graph of a decision: a scalar from the stage, ctx and the pass's metrics."""
        if graph is None:
            return None

        def decide(store: Store, ctx: Ctx, seen: jax.Array) -> jax.Array:
            entries = ctx.entries(self._counters)
            observations = {f"{self.name}/{metric.name}": seen[index] for index, metric in enumerate(self._metrics)}
            inputs = {"stage": {"": entries["stage"]}, "observations": observations, "ctx": entries}
            return compute([graph.outputs[""]], Environment(inputs, store.variants(), ctx.seed))[0]

        call = DeviceCall(f"{role}@{self.name}", decide, (store, ctx, seen))
        self.calls.append(call)
        return call

    def _decide(self, call: DeviceCall, store: Store, progress: Progress, observations: Observations) -> Any:
        seen = np.array([observations[f"{self.name}/{metric.name}"] for metric in self._metrics], np.float32)
        return np.asarray(jax.block_until_ready(call(store, progress.ctx(), seen)))
