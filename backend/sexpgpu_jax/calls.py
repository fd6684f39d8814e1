"""Device calls: each a pure function, compiled once for its types, before anything is run.

Values that change from call to call are arguments, so a call that would need another program is an error, not a silent compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class DeviceCall:
    """A function for arguments of the types of `arguments` (arrays or abstract ones, nested). Those of `donated` are used up."""

    def __init__(self, name: str, function: Callable[..., Any], arguments: Sequence[Any], donated: Sequence[int] = ()) -> None:
        self.name = name
        self._function = function
        self._arguments = tuple(jax.tree.map(typed, argument) for argument in arguments)
        self._donated = tuple(donated)
        self._compiled: Callable[..., Any] | None = None
        self._results: Any = None

    @property
    def results(self) -> Any:
        """The types of what it returns."""
        if self._results is None:
            self._results = jax.eval_shape(self._function, *self._arguments)
        return self._results

    def jaxpr(self) -> Any:
        """The call as JAX traces it."""
        return jax.make_jaxpr(self._function)(*self._arguments)

    def compile(self) -> None:
        """Compile it, once."""
        if self._compiled is None:

            def named(*arguments: Any) -> Any:
                return self._function(*arguments)

            named.__name__ = self.name.replace("@", ".").replace("-", "_")
            self._compiled = jax.jit(named, donate_argnums=self._donated).lower(*self._arguments).compile()

    def __call__(self, *arguments: Any) -> Any:
        self.compile()
        assert self._compiled is not None
        return self._compiled(*arguments)


def typed(value: Any) -> jax.ShapeDtypeStruct:
    """The type of an array."""
    return jax.ShapeDtypeStruct(np.shape(value), value.dtype)


Body = Callable[[jax.Array, Any, Any], tuple[Any, Any]]


def each(body: Body, carry: Any, rows: Any, count: jax.Array | None) -> tuple[Any, Any]:
    """Run `body(index, carry, row) -> (carry, result)` over the microbatches of a call, one after another.

    With a `count`, `rows` have the microbatches along axis 0 and the body is that of a loop whose bound is not known when it is
    compiled: then XLA makes the same program of it for one microbatch as for many, and the bits are the same. Without, `rows` are
    the one microbatch of a step that has no other.
    """
    if count is None:
        return body(jnp.zeros((), jnp.int64), carry, rows)
    first = jax.tree.map(lambda row: jax.ShapeDtypeStruct(row.shape[1:], row.dtype), rows)
    held = jax.tree.leaves(rows)[0].shape[0]
    _, result = jax.eval_shape(body, jax.ShapeDtypeStruct((), jnp.int64), carry, first)
    results = jax.tree.map(lambda part: jnp.zeros((held, *part.shape), part.dtype), result)

    def turn(index: jax.Array, state: tuple[Any, Any]) -> tuple[Any, Any]:
        carry, results = state
        row = jax.tree.map(lambda rows: lax.dynamic_index_in_dim(rows, index, keepdims=False), rows)
        carry, row = lax.optimization_barrier((carry, row))  # how many rows there are is no matter of the body's
        carry, result = lax.optimization_barrier(body(index, carry, row))
        return carry, jax.tree.map(lambda all, one: lax.dynamic_update_index_in_dim(all, one, index, 0), results, result)

    return lax.fori_loop(jnp.zeros((), jnp.int64), count, turn, (carry, results))
