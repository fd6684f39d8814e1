"""Products in JAX against NumPy, their dtypes and their gradients."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sexpgpu.graph.nodes import Shape
from sexpgpu.language.dtypes import BF16, F16, F32, I32, U8, DType
from sexpgpu.language.values import Value
from sexpgpu.ops.call import numeric
from sexpgpu_jax.lowering import jnp_dtype
from support.ops import apply, array, broadcastable, check_against_jax, compute, dtypes, node, run, tensor

HALF = {F16: 2e-3, BF16: 2e-2}


def wide(*arrays: np.ndarray) -> list[np.ndarray]:
    """The operands of a reference: half floats widened, so that it sums in f32."""
    return [a.astype(np.float32) if a.dtype in (jnp.bfloat16, np.float16) else a for a in arrays]


def close(dtype: DType) -> dict[str, float]:
    return {"rtol": HALF.get(dtype, 1e-4), "atol": HALF.get(dtype, 1e-5)}


@settings(deadline=None, max_examples=40)
@given(broadcastable(2, most_axes=2), st.integers(0, 4), st.integers(0, 4), st.integers(0, 4), dtypes(numeric))
def test_matmul_is_numpys(batches: tuple[Shape, Shape], rows: int, inner: int, columns: int, dtype: DType) -> None:
    x, y = array((*batches[0], rows, inner), dtype, 1), array((*batches[1], inner, columns), dtype, 2)
    check_against_jax(
        lambda x, y: apply("matmul", x, y), x, y, reference=lambda *a: np.matmul(*wide(*a)).astype(a[0].dtype), **close(dtype)
    )


@pytest.mark.parametrize(("x", "y"), [((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (3,)), ((3,), (5, 3, 4))])
def test_vectors_are_rows_and_columns(x: Shape, y: Shape) -> None:
    check_against_jax(lambda x, y: apply("matmul", x, y), array(x), array(y, seed=1), reference=np.matmul)


@pytest.mark.parametrize("dtype", [F32, BF16, F16, I32, U8], ids=str)
@pytest.mark.parametrize(
    ("subscripts", "operands"),
    [
        ("bsd,de->bse", [(2, 5, 3), (3, 4)]),
        ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]),
        ("ii->i", [(3, 3)]),
        ("ij->", [(3, 2)]),
        ("ij->ji", [(3, 2)]),
        ("i,j,k->kij", [(2,), (3,), (4,)]),
        (",i->i", [(), (3,)]),
        ("aB,Bc,cd->ad", [(2, 3), (3, 4), (4, 2)]),
    ],
)
def test_einsum_is_numpys(subscripts: str, operands: list[Shape], dtype: DType) -> None:
    arrays = [array(shape, dtype, seed) for seed, shape in enumerate(operands)]
    check_against_jax(
        lambda *x: apply("einsum", subscripts, *x),
        *arrays,
        reference=lambda *a: np.einsum(subscripts, *wide(*a)).astype(a[0].dtype),
        **close(dtype),
    )


@pytest.mark.parametrize("dtype", [F32, BF16, I32], ids=str)
def test_dot_and_outer_are_numpys(dtype: DType) -> None:
    x = array((5,), dtype)
    check_against_jax(
        lambda x, y: apply("dot", x, y),
        x,
        array((5,), dtype, 1),
        reference=lambda *a: np.dot(*wide(*a)).astype(a[0].dtype),
        **close(dtype),
    )
    check_against_jax(
        lambda x, y: apply("outer", x, y),
        x,
        array((4,), dtype, 1),
        reference=lambda *a: np.outer(*wide(*a)).astype(a[0].dtype),
        **close(dtype),
    )


@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
@pytest.mark.parametrize("text", ["(matmul x y)", "(dot x y)", '(einsum "i,i->" x y)'])
def test_half_floats_are_summed_in_f32(dtype: DType, text: str) -> None:
    x = np.ones(4097, jnp_dtype(dtype))
    x[0] = 2048
    (value,) = check_against_jax(lambda x, y: run(text, x=x, y=y), x, np.ones_like(x))
    assert value == np.asarray(2048 + 4096, value.dtype)


@pytest.mark.parametrize("dtype", [F32, F16, BF16], ids=str)
@pytest.mark.parametrize(
    ("text", "x", "y"),
    [
        ("(matmul x y)", (4, 2, 3), (3, 5)),
        ("(matmul x y)", (3,), (4, 3, 5)),
        ('(einsum "ij,jk->k" x y)', (2, 3), (3, 4)),
        ('(einsum "iij,jk->ik" x y)', (2, 2, 3), (3, 4)),
        ("(dot x y)", (4,), (4,)),
        ("(outer x y)", (4,), (3,)),
    ],
)
def test_gradients_have_the_operands_dtype_and_are_those_of_f32(dtype: DType, text: str, x: Shape, y: Shape) -> None:
    arrays = [jnp.asarray(array(shape, dtype, seed)) for seed, shape in enumerate((x, y))]

    def gradients(*values: jax.Array, dtype: DType) -> tuple[jax.Array, ...]:
        inputs = [tensor(*value.shape, dtype=dtype) for value in values]
        made: Value = run(text, x=inputs[0], y=inputs[1])

        def loss(*values: jax.Array) -> jax.Array:
            return jnp.sum(jnp.square(compute([node(made)], dict(zip(inputs, values, strict=True)))[0].astype(jnp.float32)))

        return jax.grad(loss, argnums=(0, 1))(*values)

    exact = gradients(*(a.astype(jnp.float32) for a in arrays), dtype=F32)
    for gradient, wanted in zip(gradients(*arrays, dtype=dtype), exact, strict=True):
        assert gradient.dtype == jnp_dtype(dtype)
        np.testing.assert_allclose(
            gradient.astype(jnp.float32), wanted, rtol=3 * HALF.get(dtype, 1e-5), atol=0.1 if dtype in HALF else 1e-4
        )
