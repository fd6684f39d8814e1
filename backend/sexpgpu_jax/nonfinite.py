"""Where a loss that is not finite came from: its microbatch is taken again, one operation at a time, and followed back.

A value that is not finite on purpose (a mask of -inf) is left alone, for only what the loss was made of is followed.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np

from sexpgpu.graph.nodes import Graph, Node
from sexpgpu.program.model import Program
from sexpgpu.reader.forms import Form
from sexpgpu_jax.ctx import Ctx, Progress
from sexpgpu_jax.data.stages import Stages
from sexpgpu_jax.lowering.graph import Arrays, Environment, reached, value_of
from sexpgpu_jax.parameters import Store
from sexpgpu_jax.whole import whole

_LOSS = "the loss"


class Cause(NamedTuple):
    """What is not finite and where that began, in words, and the form that made it."""

    what: str
    began: str
    at: Form | None


def first_cause(program: Program, store: Store, before: Progress, rows: int, data: Stages, microbatch: int) -> Cause:
    """The first operation behind that microbatch's loss whose result is not finite though what it reads is; or the gradient.

    `before` is how far the run was before the step, `rows` the records of a microbatch. Counters are taken as they were then.
    """
    ahead = microbatch * rows
    batch = data.take(before.stage, before.positions[before.stage] + ahead, rows)
    ctx = before.ctx(microbatch, ahead)
    watch = _Watch(store, ctx, program)
    made = watch.generated(batch)
    inputs = watch.run(whole(program.prepare), {"batch": {**batch, **made}})
    objective = whole(program.objective)
    watch.run(objective, {"inputs": inputs})
    loss = objective.outputs[""]
    if watch.finite(loss):
        return Cause("a gradient", "the loss itself is", loss.form)
    return watch.origin(loss)


class _Watch:
    """Graphs computed node by node, every value kept; `made_by` tells which node of a graph in front an input came from."""

    def __init__(self, store: Store, ctx: Ctx, program: Program) -> None:
        self._store = store
        self._ctx = ctx
        self._program = program
        self._values: dict[Node, Any] = {}
        self._made_by: dict[tuple[str, str], Node] = {}

    def run(self, graph: Graph, inputs: dict[str, Arrays], counters: bool = True) -> dict[str, jax.Array]:
        """The graph's outputs by name."""
        entries = self._ctx.entries(self._program.counters if counters else ())
        environment = Environment({**inputs, "ctx": entries}, self._store.variants(), jnp.asarray(self._ctx.integers)[0])
        for node in reached(graph.outputs.values()):
            self._values[node] = jnp.asarray(value_of(node, [self._values[source] for source in node.inputs], environment))
        kind = {"prepare": "inputs", "generate.finish": "batch"}.get(graph.role, "state")
        self._made_by.update({(kind, name): node for name, node in graph.outputs.items()})
        return {name: self._values[node] for name, node in graph.outputs.items()}

    def generated(self, batch: Arrays) -> Arrays:
        """What the generator makes of the batch."""
        generator = self._program.generator
        if generator is None:
            return {}
        state = self.run(whole(generator.init), {"batch": batch}, counters=False)
        for trip in range(whole(generator.trips)):
            state = self.run(whole(generator.step), {"state": state, "trip": {"": jnp.asarray(trip, jnp.int64)}}, counters=False)
        if generator.finish is None:
            self._made_by.update({("batch", name): self._made_by["state", name] for name in state})
            return state
        return self.run(generator.finish, {"state": state}, counters=False)

    def finite(self, node: Node) -> bool:
        """Whether every element of the node's value is."""
        return not node.dtype.is_float or bool(np.isfinite(np.asarray(self._values[node], np.float64)).all())

    def origin(self, node: Node) -> Cause:
        """Follow what is not finite back to what made it."""
        seen: set[Node] = set()
        while node not in seen:
            seen.add(node)
            if node.op == "parameter":
                return Cause(_LOSS, f"the parameter `{node.attrs['path']}` is not", node.form)
            if node.op == "input":
                name = cast("str", node.attrs["name"])
                before = self._made_by.get((cast("str", node.attrs["kind"]), name))
                if before is None or before in seen:
                    return Cause(_LOSS, f"the entry :{name} of the batch is not", node.form)
                node = before
                continue
            worse = [source for source in node.inputs if not self.finite(source)]
            if not worse:
                break
            node = worse[0]
        return Cause(_LOSS, f"`{node.op}` is the first operation whose result is not", node.form)
