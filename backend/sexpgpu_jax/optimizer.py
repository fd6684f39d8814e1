"""The optimizer as a pure function: Optax's by name, or the file's own graphs.

The learning rate is a traced scalar, so a schedule compiles once. Optax runs with 32-bit defaults (its bias corrections are Python
numbers, which 64-bit defaults would compute in f64) unless a trained parameter is f64 itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, cast

import jax
import jax.numpy as jnp
import optax
from optax import contrib

from sexpgpu.graph.nodes import Graph
from sexpgpu.program.model import Optimizer, Program
from sexpgpu_jax.ctx import Ctx
from sexpgpu_jax.lowering.graph import Environment, compute, run_graph
from sexpgpu_jax.parameters import Store
from sexpgpu_jax.whole import whole

Tree = dict[str, jax.Array]
Settings = Mapping[str, Any]


class Rule:
    """A program's optimizer. `init` and `update` are pure: jit them."""

    def __init__(self, program: Program) -> None:
        self._optimizer: Optimizer = whole(program.optimizer)
        self._counters = program.counters
        clip = whole(program.run).settings.get("clip")
        self._clip = float(clip) if isinstance(clip, (int, float)) else None

    @property
    def graphs(self) -> list[Graph]:
        """The graphs that `init` and `update` compute."""
        optimizer = self._optimizer
        schedule = [optimizer.schedule] if optimizer.schedule else []
        return [*schedule, *optimizer.schedules.values(), *optimizer.init.values(), *optimizer.update.values()]

    def init(self, values: Tree) -> Any:
        """The state before the first step."""
        if self._optimizer.name != "custom":
            with _plain(values):
                return self._transform(self._unit(values), values).init(values)
        state: dict[str, Tree] = {}
        for path, value in values.items():
            graph = self._optimizer.init[path]
            environment = Environment({"value": {"": value}}, {}, jnp.zeros((), jnp.int64))
            state[path] = run_graph(graph, environment)
        return state

    def update(self, store: Store, state: Any, gradients: Tree, ctx: Ctx) -> tuple[Tree, Any]:
        """The trained values and the state after a step with those gradients; `ctx` is the one before it."""
        if self._clip is not None:
            gradients = _clipped(gradients, self._clip)
        if self._optimizer.name == "custom":
            return self._custom(store, state, gradients, ctx)
        rates = self._rates(store, ctx)
        values = store.trained
        with _plain(values):
            if isinstance(rates, dict):
                updates, state = self._transform(self._unit(values), values).update(gradients, state, values)
                updates = {path: update * rates[path].astype(update.dtype) for path, update in cast("Tree", updates).items()}
            else:
                updates, state = self._transform(rates, values).update(gradients, state, values)
            return cast("Tree", optax.apply_updates(values, updates)), state

    def _custom(self, store: Store, state: Any, gradients: Tree, ctx: Ctx) -> tuple[Tree, Any]:
        values: Tree = {}
        after: dict[str, Tree] = {}
        entries = ctx.entries(self._counters)
        for path, value in store.trained.items():
            graph = self._optimizer.update[path]
            inputs = {"value": {"": value}, "gradient": {"": gradients[path]}, "optimizer": state[path], "ctx": entries}
            outputs = run_graph(graph, Environment(inputs, store.variants(), ctx.seed))
            values[path] = outputs.pop("param")
            after[path] = {name.removeprefix("state/"): entry for name, entry in outputs.items()}
        return values, after

    def _rates(self, store: Store, ctx: Ctx) -> jax.Array | Tree:
        """The learning rate of this step: one scalar, or one for each path."""
        optimizer = self._optimizer
        environment = Environment({"ctx": ctx.entries(self._counters)}, store.variants(), ctx.seed)
        if optimizer.schedules:
            return {path: _scalar(optimizer.schedules[path], environment) for path in store.trained}
        if optimizer.schedule is not None:
            return _scalar(optimizer.schedule, environment)
        return jnp.asarray(float(cast("float", optimizer.settings["lr"])), jnp.float32)

    def _unit(self, values: Tree) -> jax.Array:
        return jnp.ones((), jnp.float64 if _has_double(values) else jnp.float32)

    def _transform(self, rate: jax.Array, values: Tree) -> optax.GradientTransformation:
        decayed = self._optimizer.decayed
        mask = None if decayed is None else {path: decayed[path] for path in values}
        return _OPTAX[self._optimizer.name](rate, {**self._optimizer.settings, "decayed": mask})


def _scalar(graph: Graph, environment: Environment) -> jax.Array:
    return compute([graph.outputs[""]], environment)[0]


def _plain(values: Tree) -> ExitStack:
    """The dtype rules that Optax is written for."""
    stack = ExitStack()
    stack.enter_context(jax.numpy_dtype_promotion("standard"))
    if not _has_double(values):
        stack.enter_context(jax.enable_x64(False))
    return stack


def _has_double(values: Tree) -> bool:
    return any(value.dtype == jnp.float64 for value in values.values())


def global_norm(gradients: Tree) -> jax.Array:
    """The Euclidean norm over all gradients, f32; sums in f32 or wider."""
    total = jnp.zeros((), jnp.float32)
    for gradient in gradients.values():
        wide = gradient if gradient.dtype == jnp.float64 else gradient.astype(jnp.float32)
        total = total + jnp.sum(wide * wide).astype(jnp.float32)
    return jnp.sqrt(total)


def _clipped(gradients: Tree, most: float) -> Tree:
    norm = global_norm(gradients)
    scale = jnp.float32(most) / jnp.maximum(norm, jnp.float32(most))
    return {path: gradient * scale.astype(gradient.dtype) for path, gradient in gradients.items()}


_OPTAX: dict[str, Callable[[jax.Array, Settings], optax.GradientTransformation]] = {
    "sgd": lambda rate, s: optax.chain(
        *([optax.add_decayed_weights(s["weight-decay"])] if s["weight-decay"] else []),
        optax.sgd(rate, s["momentum"] or None, bool(s["nesterov"])),
    ),
    "adam": lambda rate, s: optax.adam(rate, s["b1"], s["b2"], s["eps"]),
    "adamw": lambda rate, s: optax.adamw(rate, s["b1"], s["b2"], s["eps"], weight_decay=s["weight-decay"], mask=s["decayed"]),
    "lion": lambda rate, s: optax.lion(rate, s["b1"], s["b2"], weight_decay=s["weight-decay"]),
    "adafactor": lambda rate, _: optax.adafactor(rate),
    "muon": lambda rate, s: contrib.muon(
        rate,
        ns_steps=s["ns-steps"],
        beta=s["beta"],
        eps=s["eps"],
        weight_decay=s["weight-decay"],
        nesterov=bool(s["nesterov"]),
        adam_b1=s["adam-b1"],
        adam_b2=s["adam-b2"],
    ),
}
