"""From nodes to JAX: `table.py` is the table `LOWERINGS`, the modules beside it fill it, one for each family of operators.

A lowering gives exactly the node's shape and dtype: every dtype is written, none is left to promotion. Importing the package turns
on 64-bit types, without which `:i64` and `:f64` would quietly be 32 bits wide.
"""

import jax

from sexpgpu_jax.lowering import creation, elementwise, indexing, linear, neural, random, reductions, shaping
from sexpgpu_jax.lowering.table import LOWERINGS, jnp_dtype, lowers

jax.config.update("jax_enable_x64", True)

__all__ = [
    "LOWERINGS",
    "creation",
    "elementwise",
    "indexing",
    "jnp_dtype",
    "linear",
    "lowers",
    "neural",
    "random",
    "reductions",
    "shaping",
]
