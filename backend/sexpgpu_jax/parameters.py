"""The parameters of a run: which of them training moves, and the values that they start from.

A parameter's first value is a function of the run's seed and its path alone, so neither the order of parameters nor another layer
moves it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp

from sexpgpu.graph.nodes import Graph, Node, Shape
from sexpgpu.program.model import Parameter, Program
from sexpgpu_jax.lowering.graph import Arrays, parameters_read
from sexpgpu_jax.lowering.random import draw_key
from sexpgpu_jax.lowering.table import jnp_dtype


class Store(NamedTuple):
    """Parameter values by path. `trained` moves, `fixed` does not (frozen, or the loss does not depend on it), and `initial` holds
    the first values of those that some graph reads as `(initial model)`."""

    trained: dict[str, Any]
    fixed: dict[str, Any]
    initial: dict[str, Any]

    def variants(self) -> dict[str, Arrays]:
        """By variant and path, as graphs read them."""
        return {"current": {**self.fixed, **self.trained}, "initial": self.initial}


def initialize(program: Program, seed: int) -> Store:
    """First values of every parameter of the program."""
    trained = trained_paths(program)
    values = {path: first_value(parameter, seed) for path, parameter in sorted(program.parameters.items())}
    kept = parameters_read(program.graphs.values()).get("initial", set())
    return Store(
        {path: value for path, value in values.items() if path in trained},
        {path: value for path, value in values.items() if path not in trained},
        {path: jnp.copy(values[path]) for path in sorted(kept)},
    )


def trained_paths(program: Program) -> set[str]:
    """Unfrozen parameters on which the loss depends through floats: the others get no update (language §4, defmodel)."""
    if program.objective is None:
        return set()
    reached = _through_floats(program.objective)
    return {path for path, parameter in program.parameters.items() if not parameter.frozen and path in reached}


def _through_floats(graph: Graph) -> set[str]:
    waiting = list(graph.outputs.values())
    seen: set[Node] = set(waiting)
    paths: set[str] = set()
    while waiting:
        node = waiting.pop()
        if not node.dtype.is_float or node.op == "stop-gradient":
            continue
        if node.op == "parameter" and node.attrs["variant"] == "current":
            paths.add(cast("str", node.attrs["path"]))
        fresh = [source for source in node.inputs if source not in seen]
        seen.update(fresh)
        waiting += fresh
    return paths


def first_value(parameter: Parameter, seed: int) -> jax.Array:
    """The value that the parameter's initializer gives it: `parameter.shape`, `parameter.dtype`."""
    init = parameter.init
    numbers = tuple(sorted((name, float(cast("float", value))) for name, value in init.arguments.items()))
    make = _maker(init.name, parameter.shape, jnp_dtype(parameter.dtype), numbers)
    return make(draw_key(jnp.asarray(seed, jnp.int64), parameter.path, jnp.zeros((), jnp.int64)))


def fans(shape: Shape) -> tuple[int, int]:
    """Fan-in and fan-out of a weight `[… in out]`, the axes in front a window. A vector is fed by all that it has."""
    if len(shape) < 2:
        size = max(1, math.prod(shape))
        return size, size
    window = math.prod(shape[:-2])
    return max(1, window * shape[-2]), max(1, window * shape[-1])


@cache
def _maker(init: str, shape: Shape, dtype: Any, numbers: tuple[tuple[str, float], ...]) -> Callable[[jax.Array], jax.Array]:
    """One compiled function for all parameters that are made alike: a key to a value."""
    given = dict(numbers)
    inner = jnp.dtype(jnp.float64 if dtype == jnp.float64 else jnp.float32)

    def make(key: jax.Array) -> jax.Array:
        return _INITIALIZERS[init](key, shape, inner, given).astype(dtype)

    return jax.jit(make)


Numbers = dict[str, float]


def _constant(value: Callable[[Numbers], float]) -> Callable[..., jax.Array]:
    return lambda _key, shape, dtype, given: jnp.full(shape, value(given), dtype)


def _normal(key: jax.Array, shape: Shape, dtype: Any, given: Numbers) -> jax.Array:
    return jax.random.normal(key, shape, dtype) * dtype.type(given["std"])


def _uniform(key: jax.Array, shape: Shape, dtype: Any, given: Numbers) -> jax.Array:
    return jax.random.uniform(key, shape, dtype, dtype.type(given["lo"]), dtype.type(given["hi"]))


def _truncated(gain: float) -> Callable[..., jax.Array]:
    """Normal draws cut at two deviations, widened so that their variance is `gain` / fan-in."""

    def make(key: jax.Array, shape: Shape, dtype: Any, _: Numbers) -> jax.Array:
        deviation = math.sqrt(gain / fans(shape)[0]) / _DEVIATION_WITHIN_TWO
        return jax.random.truncated_normal(key, dtype.type(-2), dtype.type(2), shape, dtype) * dtype.type(deviation)

    return make


def _glorot(key: jax.Array, shape: Shape, dtype: Any, _: Numbers) -> jax.Array:
    bound = dtype.type(math.sqrt(6 / sum(fans(shape))))
    return jax.random.uniform(key, shape, dtype, -bound, bound)


_DEVIATION_WITHIN_TWO = 0.87962566103423978
"""Standard deviation of a standard normal cut at -2 and 2."""

_INITIALIZERS: dict[str, Callable[..., jax.Array]] = {
    "init-zeros": _constant(lambda _: 0),
    "init-ones": _constant(lambda _: 1),
    "init-constant": _constant(lambda given: given["value"]),
    "init-normal": _normal,
    "init-uniform": _uniform,
    "init-lecun": _truncated(1),
    "init-he": _truncated(2),
    "init-glorot": _glorot,
}
