"""The parameters of a run: which of them training moves, and the values that they start from.

A parameter's first value is a function of the run's seed and its path alone, so neither the order of parameters nor another layer
moves it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from sexpgpu.graph.nodes import Graph, Node, Shape
from sexpgpu.program.model import Parameter, Program
from sexpgpu_jax.lowering.graph import Arrays, parameters_read
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
    return owned(
        Store(
            {path: value for path, value in values.items() if path in trained},
            {path: value for path, value in values.items() if path not in trained},
            {path: values[path] for path in sorted(kept)},
        )
    )


def owned(store: Store) -> Store:
    """The values as arrays of the device that nothing else holds, which an update may use up."""
    return jax.jit(lambda store: jax.tree.map(jnp.copy, store))(store)


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


def first_value(parameter: Parameter, seed: int) -> NDArray[Any]:
    """The value that the parameter's initializer gives it: `parameter.shape`, `parameter.dtype`.

    It is drawn on the host, so nothing has to be compiled for it, and every device starts from the same bits.
    """
    init = parameter.init
    dtype = jnp_dtype(parameter.dtype)
    wide = np.dtype(np.float64 if dtype == np.float64 else np.float32)
    numbers = {name: float(cast("float", value)) for name, value in init.arguments.items()}
    key = hashlib.blake2b(f"{seed} {parameter.path}".encode(), digest_size=16).digest()
    draws = np.random.Generator(np.random.Philox(key=int.from_bytes(key, "little")))
    return _INITIALIZERS[init.name](draws, parameter.shape, wide, numbers).astype(dtype)


def fans(shape: Shape) -> tuple[int, int]:
    """Fan-in and fan-out of a weight `[… in out]`, the axes in front a window. A vector is fed by all that it has."""
    if len(shape) < 2:
        size = max(1, math.prod(shape))
        return size, size
    window = math.prod(shape[:-2])
    return max(1, window * shape[-2]), max(1, window * shape[-1])


Numbers = dict[str, float]
Draws = np.random.Generator


def _constant(value: Callable[[Numbers], float]) -> Callable[..., NDArray[Any]]:
    return lambda _, shape, dtype, given: np.full(shape, value(given), dtype)


def _normal(draws: Draws, shape: Shape, dtype: Any, given: Numbers) -> NDArray[Any]:
    return np.asarray(draws.standard_normal(shape, dtype) * dtype.type(given["std"]))


def _uniform(draws: Draws, shape: Shape, dtype: Any, given: Numbers) -> NDArray[Any]:
    lo, hi = dtype.type(given["lo"]), dtype.type(given["hi"])
    return np.asarray(draws.random(shape, dtype) * (hi - lo) + lo)


def _truncated(gain: float) -> Callable[..., NDArray[Any]]:
    """Normal draws cut at two deviations, widened so that their variance is `gain` / fan-in."""

    def make(draws: Draws, shape: Shape, dtype: Any, _: Numbers) -> NDArray[Any]:
        values = np.asarray(draws.standard_normal(shape, dtype))
        beyond = np.abs(values) > 2
        while beyond.any():
            values[beyond] = draws.standard_normal(int(beyond.sum()), dtype)
            beyond = np.abs(values) > 2
        return values * dtype.type(math.sqrt(gain / fans(shape)[0]) / _DEVIATION_WITHIN_TWO)

    return make


def _glorot(draws: Draws, shape: Shape, dtype: Any, _: Numbers) -> NDArray[Any]:
    bound = math.sqrt(6 / sum(fans(shape)))
    return _uniform(draws, shape, dtype, {"lo": -bound, "hi": bound})


_DEVIATION_WITHIN_TWO = 0.87962566103423978
"""Standard deviation of a standard normal cut at -2 and 2."""

_INITIALIZERS: dict[str, Callable[..., NDArray[Any]]] = {
    "init-zeros": _constant(lambda _: 0),
    "init-ones": _constant(lambda _: 1),
    "init-constant": _constant(lambda given: given["value"]),
    "init-normal": _normal,
    "init-uniform": _uniform,
    "init-lecun": _truncated(1),
    "init-he": _truncated(2),
    "init-glorot": _glorot,
}
