"""Products: what is accepted, its type, and what is said of the rest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Rule
from sexpgpu.graph.nodes import Shape
from sexpgpu.language.dtypes import BF16, BOOL, DType
from sexpgpu.language.values import Value
from sexpgpu.ops.call import numeric
from support.agreement import agree
from support.ops import apply, dtypes, faulty, fixed, node, run, shapes, tensor


def zeros(shape: Shape) -> np.ndarray:
    return np.zeros(shape, np.int8)


@given(shapes(most_axes=4, most=3), shapes(most_axes=4, most=3))
def test_matmul_accepts_and_types_what_numpy_does(x: Shape, y: Shape) -> None:
    agree(lambda: apply("matmul", tensor(*x), tensor(*y)), lambda: np.matmul(zeros(x), zeros(y)))


@st.composite
def einsums(draw: st.DrawFn) -> tuple[str, list[Shape]]:
    """Subscripts in the explicit form with operands of fitting shapes."""
    sizes = {letter: draw(st.integers(0, 3)) for letter in "abcD"}
    terms = draw(st.lists(st.text("abcD", max_size=3), min_size=1, max_size=3))
    letters = sorted(set("".join(terms)))
    result = "".join(draw(st.permutations(letters)))[: draw(st.integers(0, len(letters)))]
    return f"{','.join(terms)}->{result}", [tuple(sizes[letter] for letter in term) for term in terms]


@given(einsums())
def test_einsum_types_what_numpy_does(case: tuple[str, list[Shape]]) -> None:
    subscripts, operands = case
    agree(
        lambda: apply("einsum", subscripts, *(tensor(*shape) for shape in operands)),
        lambda: np.einsum(subscripts, *map(zeros, operands)),
    )


@given(shapes(1, 1), shapes(1, 1))
def test_dot_and_outer_of_vectors_are_numpys(x: Shape, y: Shape) -> None:
    agree(lambda: apply("dot", tensor(*x), tensor(*y)), lambda: np.dot(zeros(x), zeros(y)))
    agree(lambda: apply("outer", tensor(*x), tensor(*y)), lambda: np.outer(zeros(x), zeros(y)))


@given(dtypes(numeric), st.sampled_from(["(matmul x x)", "(dot x x)", "(outer x x)", '(einsum "i,i->i" x x)']))
def test_a_product_has_its_operands_dtype(dtype: DType, text: str) -> None:
    assert node(run(text, x=tensor(3, dtype=dtype))).dtype is dtype


def test_spaces_in_subscripts_do_not_count() -> None:
    assert node(run('(einsum "ij, jk -> ik" x y)', x=tensor(2, 3), y=tensor(3, 4))).shape == (2, 4)


def test_einsum_of_one_operand_sums_and_transposes() -> None:
    assert node(run('(einsum "iij->ji" x)', x=tensor(2, 2, 3))).shape == (3, 2)


FAULTS: list[tuple[Rule, str, str]] = [
    # of two that disagree, the second shows it
    (rules.SHAPE_OPERATOR, "(matmul x43 x43)", "x43"),
    (rules.SHAPE_OPERATOR, "(matmul x43 v4)", "v4"),
    (rules.SHAPE_OPERATOR, "(matmul 2 x43)", "2"),
    (rules.SHAPE_OPERATOR, "(matmul x43 2.0)", "2.0"),
    (rules.SHAPE_BROADCAST, "(matmul b243 b334)", "(matmul b243 b334)"),
    (rules.DTYPE_MIXED, "(matmul x43 half)", "(matmul x43 half)"),
    (rules.DTYPE_OPERATOR, "(matmul flags flags)", "flags"),
    (rules.TYPE_KIND, "(matmul nil x43)", "nil"),
    (rules.SHAPE_OPERATOR, '(einsum "ij,jk->ik" x43 v4)', "v4"),
    (rules.SHAPE_OPERATOR, '(einsum "ij,ij->" x43 b334)', "b334"),
    (rules.DTYPE_MIXED, '(einsum "ij,jk->ik" x43 half)', '(einsum "ij,jk->ik" x43 half)'),
    (rules.SHAPE_OPERATOR, '(einsum "ii->i" x43)', "x43"),
    (rules.TYPE_KIND, '(einsum "ij,jk" x43 x43)', '"ij,jk"'),
    (rules.TYPE_KIND, '(einsum "...j->j" x43)', '"...j->j"'),
    (rules.TYPE_KIND, '(einsum "i1->i" x43)', '"i1->i"'),
    (rules.TYPE_KIND, '(einsum "ij->ik" x43)', '"ij->ik"'),
    (rules.TYPE_KIND, '(einsum "ij->ii" x43)', '"ij->ii"'),
    (rules.TYPE_KIND, '(einsum "ij,jk->ik" x43)', '"ij,jk->ik"'),
    (rules.TYPE_KIND, '(einsum "ij->i->j" x43)', '"ij->i->j"'),
    (rules.TYPE_KIND, "(einsum 1 x43)", "1"),
    (rules.TYPE_KIND, "(einsum v4 x43)", "v4"),
    (rules.SHAPE_OPERATOR, "(dot x43 v4)", "x43"),
    (rules.SHAPE_OPERATOR, "(dot v4 v3)", "v3"),
    (rules.SHAPE_OPERATOR, "(outer v4 x43)", "x43"),
    (rules.SHAPE_OPERATOR, "(outer 1 v4)", "1"),
]


@pytest.mark.parametrize(("rule", "text", "at"), FAULTS, ids=[text for _, text, _ in FAULTS])
def test_what_is_wrong_is_shown_where_it_is(rule: Rule, text: str, at: str) -> None:
    names: dict[str, Value] = {
        "x43": tensor(4, 3),
        "v4": tensor(4),
        "v3": tensor(3),
        "b243": tensor(2, 4, 3),
        "b334": tensor(3, 3, 4),
        "half": tensor(3, 3, dtype=BF16),
        "flags": tensor(3, 3, dtype=BOOL),
    }
    faulty(rule, at, text, None, **names)


def test_messages_give_both_sizes() -> None:
    fault = faulty(rules.SHAPE_OPERATOR, "y", "(matmul x y)", x=tensor(2, 512), y=tensor(256, 4))
    assert "512" in fault.message
    assert "256" in fault.message
    fault = faulty(rules.SHAPE_OPERATOR, "y", '(einsum "bsd,de->bse" x y)', x=tensor(2, 5, 3), y=tensor(4, 7))
    assert "`d` is 3 in `bsd` and 4 in `de`" in fault.message


def test_mixed_dtypes_offer_the_cast() -> None:
    fault = faulty(rules.DTYPE_MIXED, "(matmul x y)", "(matmul x y)", x=tensor(2, 2), y=tensor(2, 2, dtype=BF16))
    assert fixed(fault) == "(matmul x (cast y :f32))"
