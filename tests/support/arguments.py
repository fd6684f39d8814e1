"""Calls of operators with arguments that fit, fit almost, or do not fit at all: for what must hold of every call."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from sexpgpu.language.dtypes import BF16, BOOL, DTYPES, F16, F32, F64, I8, I32, I64, U8, DType
from sexpgpu.language.values import NIL, UNKNOWN, Keyword, List, Value, keyword
from sexpgpu.ops import OPS
from support.ops import tensor

INTEGERS = st.sampled_from([0, 1, 2, 3, -1, -2, 5, 300, 2**40, 2**70, -(2**70), 2**4000])
FLOATS = st.sampled_from([0.0, 0.5, -1.5, 2.0, 1e300, float("inf"), float("nan")])
SIDES = st.integers(0, 4)
SHAPES = st.lists(SIDES, max_size=4).map(tuple)
TYPES = st.sampled_from([F32, F32, F32, I32, I32, BOOL, BF16, U8, I64, F64, F16, I8])
TENSORS = st.builds(lambda shape, dtype: tensor(*shape, dtype=dtype), SHAPES, TYPES)
SMALL = st.lists(st.sampled_from([0, 1, 2, 3, -1, -2, 2**65, 1.5, NIL, True]), max_size=4)
STRINGS = st.sampled_from(["a", "ij,jk->ik", "ij->", "i->i", "bij,bjk->bik", "ii->i"])
KEYWORDS = st.sampled_from([*DTYPES, "float", "same", "valid", "axis"]).map(keyword)


def vector(items: Sequence[Value]) -> List:
    return List(items, vector=True)


ANYTHING: st.SearchStrategy[Value] = st.one_of(
    INTEGERS,
    FLOATS,
    st.booleans(),
    st.just(NIL),
    st.just(UNKNOWN),
    STRINGS,
    KEYWORDS,
    SMALL.map(vector),
    st.lists(TENSORS, max_size=3).map(List),
    st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2).map(vector), max_size=3).map(vector),
    TENSORS,
)
COUNTS = st.sampled_from([0, 1, -1, 2, 3, 2**70])
LIKELY: dict[str, st.SearchStrategy[Value]] = {
    **dict.fromkeys(("axis", "axes", "n", "m", "count", "a", "b", "shift", "ddof", "groups", "stride"), COUNTS),
    **dict.fromkeys(
        ("shape", "sizes", "starts", "stops", "strides", "permutation", "window"), st.lists(SIDES, max_size=4).map(vector)
    ),
    **dict.fromkeys(("keepdims", "approximate", "causal", "descending"), st.booleans()),
    **dict.fromkeys(("lo", "hi", "mean", "std", "p", "rate", "scale", "smoothing", "base", "value"), FLOATS),
    "dtype": KEYWORDS,
    "list": st.builds(lambda node, count: List([node] * count), TENSORS, st.integers(1, 3)),
}
"""What parameters of these names most often take; the others take tensors of one shape and dtype."""


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Value]]:
    """The text of a call of some operator, and the values of the names in it."""
    row = OPS[draw(st.sampled_from(list(OPS)))]
    shape, dtype = draw(SHAPES), draw(TYPES)
    signature = row.signature
    names: dict[str, Value] = {}
    parts = [row.name]

    def argument(parameter: str) -> None:
        value = draw(_fitting(parameter, shape, dtype) if draw(st.integers(0, 3)) else ANYTHING)
        name = f"x{len(names)}"
        if isinstance(value, Keyword):
            parts.append(repr(value))
        else:
            names[name] = value
            parts.append(name)

    for parameter in signature.required:
        argument(parameter)
    given = draw(st.integers(0, len(signature.optional)))
    for parameter, _ in signature.optional[:given]:
        argument(parameter)
    if signature.rest is not None and given == len(signature.optional):
        for _ in range(draw(st.integers(0, 2))):
            argument(signature.rest)
    for key in signature.keys if given == len(signature.optional) else ():
        if key in signature.required_keys or draw(st.integers(0, 2)) == 0:
            parts.append(f":{key}")
            argument(key)
    return f"({' '.join(parts)})", names


def _fitting(parameter: str, shape: tuple[int, ...], dtype: DType) -> st.SearchStrategy[Value]:
    if parameter in LIKELY:
        return LIKELY[parameter]
    if parameter in ("condition", "mask"):
        return st.just(tensor(*shape, dtype=BOOL))
    if parameter in ("indices", "labels", "ids", "positions"):
        return st.sampled_from([shape, shape[:-1], shape[-1:]]).map(lambda shape: tensor(*shape, dtype=I32))
    return st.just(tensor(*shape, dtype=dtype))
