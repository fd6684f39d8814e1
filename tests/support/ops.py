"""Calling operators in tests: a small tracer, calls written as text or built from Python values, and the comparison with JAX.

`run("(sum x :axes 0)", x=tensor(4, 8))` gives the value or raises its Fault; `apply("sum", x, axes=0)` is the same call from
Python; `check_against_jax(lambda x: apply("sum", x, axes=0), array, reference=lambda x: x.sum(0))` compares types and values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_strategies

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Rule
from sexpgpu.graph.nodes import Attribute, Graph, Node, Shape
from sexpgpu.language.dtypes import DTYPES, F32, DType
from sexpgpu.language.fault import Fault, HostFault, LimitPassed
from sexpgpu.language.signature import bind
from sexpgpu.language.values import NIL, Keyword, List, Nil, Value, keyword
from sexpgpu.ops import OPS
from sexpgpu.ops.call import Call
from sexpgpu.reader.forms import ConstantForm, Form, KeywordForm, ListForm, NumberForm, StringForm, SymbolForm, TopForm, VectorForm
from sexpgpu.source import Source
from sexpgpu_jax import lowering
from sexpgpu_jax.lowering.random import draw_key

# A tracer, and calls


class FakeTracer:
    """A tracer over one graph, with `:float` as it is told."""

    def __init__(self, float: DType = F32) -> None:
        self.float = float
        self.graph = Graph("test", "objective")
        self.ticks = 0
        self._calls: dict[str, int] = {}

    def emit(self, op: str, inputs: Sequence[Node], shape: Shape, dtype: DType, attrs: dict[str, Attribute], form: Form) -> Node:
        assert all(type(extent) is int and extent >= 0 for extent in shape), shape
        return self.graph.add(Node(op, tuple(inputs), attrs, tuple(shape), dtype, form))

    def place(self, callee: str) -> str:
        turn = self._calls[callee] = self._calls.get(callee, -1) + 1
        return f"objective/{callee}#{turn}"

    def tick(self, count: int = 1) -> None:
        self.ticks += count
        if self.ticks > 500_000:
            raise LimitPassed("more than 500,000 steps")


def tensor(*shape: int, dtype: DType = F32) -> Node:
    """An input of that shape and dtype."""
    return Node("input", (), {"kind": "value", "name": "x"}, shape, dtype, read("x"))


_TOKEN = re.compile(r'\s*([()\[\]]|"[^"]*"|[^\s()\[\]"]+)')


def read(text: str) -> Form:
    """The one form that the text holds."""
    top = TopForm(Source("test", text), 0, text)
    tokens = list(_TOKEN.finditer(text))[::-1]

    def form() -> Form:
        match = tokens.pop()
        token, start = match.group(1), match.start(1)
        if token in "([":
            items: list[Form] = []
            while tokens[-1].group(1) not in ")]":
                items.append(form())
            end = tokens.pop().end(1)
            return (ListForm if token == "(" else VectorForm)(top, start, end, tuple(items))
        end = match.end(1)
        if token[0] == '"':
            return StringForm(top, start, end, token[1:-1])
        if token[0] == ":":
            return KeywordForm(top, start, end, token[1:])
        if token in ("nil", "true", "false"):
            return ConstantForm(top, start, end, {"nil": None, "true": True, "false": False}[token])
        for number in (int, float):
            try:
                return NumberForm(top, start, end, number(token))
            except ValueError:
                continue
        return SymbolForm(top, start, end, token)

    top.form = form()
    assert not tokens, text
    return top.form


def run(text: str, tracer: FakeTracer | None = None, **names: Value) -> Value:
    """What the expression gives: calls of operators and of `list`, vectors, constants, and `names` (`_` stands for `-`)."""
    return _evaluate(read(text), tracer or FakeTracer(), names)


def _evaluate(form: Form, tracer: FakeTracer, names: dict[str, Value]) -> Value:
    match form:
        case NumberForm() | StringForm():
            return form.value
        case ConstantForm():
            return NIL if form.value is None else form.value
        case KeywordForm():
            return keyword(form.name)
        case SymbolForm():
            return names[form.name.replace("-", "_")]
        case VectorForm():
            return List([_evaluate(item, tracer, names) for item in form.items], vector=True, made_by=form)
        case ListForm(items=[SymbolForm(name=head), *forms]):
            arguments = [_evaluate(item, tracer, names) for item in forms]
            if head == "list":
                return List(arguments, made_by=form)
            return _call(head, arguments, forms, form, tracer)
        case _:
            raise AssertionError(f"no expression: {form.text}")


def _call(name: str, arguments: list[Value], forms: list[Form], form: ListForm, tracer: FakeTracer) -> Value:
    """The operator by its host function where all arguments are plain, by its rule otherwise: as the evaluator does."""
    row = OPS[name]
    bound = bind(name, row.signature, arguments, lambda value: value.name if isinstance(value, Keyword) else None)
    if row.host is not None and all(type(value) in (int, float, bool) for value in arguments):
        try:
            return row.host(*arguments)
        except HostFault as fault:
            raise Fault(rules.TYPE_KIND, forms[fault.argument], fault.message, fault.help) from None
    return row.rule(Call(name, bound, forms, form, tracer))


def apply(op: str, *arguments: Any, tracer: FakeTracer | None = None, **keys: Any) -> Value:
    """The value of a call of an operator; `_` in a key stands for `-`.

    Arguments are nodes, numbers, booleans, strings, None (nil), dtypes, tuples (vectors) and lists.
    """
    names: dict[str, Value] = {}

    def written(value: Any) -> str:
        match value:
            case None:
                return "nil"
            case bool():
                return str(value).lower()
            case int() | float() | DType() | Keyword():
                return repr(value)
            case str():
                return f'"{value}"'
            case tuple():
                return f"[{' '.join(map(written, value))}]"
            case list():
                return f"(list {' '.join(map(written, value))})"
            case _:
                name = f"x{len(names)}"
                names[name] = value
                return name

    parts = [op, *map(written, arguments)]
    for key, value in keys.items():
        parts += [f":{key.replace('_', '-')}", written(value)]
    return run(f"({' '.join(parts)})", tracer, **names)


def faulty(rule: Rule, at: str, text: str, tracer: FakeTracer | None = None, **names: Value) -> Fault:
    """The fault that the expression raises; asserts its rule, and the text that it stands at."""
    with pytest.raises(Fault) as caught:
        run(text, tracer, **names)
    fault = caught.value
    assert (fault.rule.code, fault.at.text) == (rule.code, at), fault.message
    return fault


def fixed(fault: Fault) -> str:
    """The expression after the fault's first fix."""
    form = fault.at
    text = form.top.text
    for edit in sorted(fault.fixes[0].edits, key=lambda edit: -edit.at.start):
        text = text[: edit.at.start] + edit.text + text[edit.at.end :]
    return text


def node(value: Value) -> Node:
    """The value, which must be a tensor."""
    assert isinstance(value, Node), value
    return value


# What the lowerings make of it


def compute(outputs: Sequence[Node], inputs: dict[Node, Any], seed: int = 0) -> list[Any]:
    """The arrays of `outputs` by their lowerings, from those of the inputs; asserts every node's shape and dtype.

    Draws are those of a run of that seed.
    """
    known = dict(inputs)

    def value(node: Node) -> Any:
        if node not in known:
            arrays = [value(source) for source in node.inputs]
            if "place" in node.attrs:
                arrays = [draw_key(jax.numpy.int64(seed), str(node.attrs["place"]), arrays[-1]), *arrays[:-1]]
            result = lowering.LOWERINGS[node.op](node, *arrays)
            expected = node.shape, lowering.jnp_dtype(node.dtype)
            assert (result.shape, result.dtype) == expected, f"{node}: lowered to {result.dtype}{result.shape}, typed {expected}"
            assert not result.weak_type, f"{node}: weakly typed"
            known[node] = result
        return known[node]

    return [value(output) for output in outputs]


def check_against_jax(
    build: Callable[..., Value],
    *arrays: Any,
    reference: Callable[..., Any] | None = None,
    rtol: float = 1e-5,
    atol: float = 1e-6,
) -> list[np.ndarray]:
    """Build a call over inputs like the arrays, lower it, and compare.

    Asserts that `jax.eval_shape` of the lowering gives the types that the tracer gave, and that the values are those of `reference`
    (an array, or a list of arrays where the call gives several tensors), which is handed the arrays. Returns the values.
    """
    arrays = tuple(np.asarray(array) for array in arrays)
    inputs = [tensor(*array.shape, dtype=dtype_of(array)) for array in arrays]
    outputs = tensors(build(*inputs))

    def lowered(*values: Any) -> list[Any]:
        return compute(outputs, dict(zip(inputs, values, strict=True)))

    types = jax.eval_shape(lowered, *arrays)
    assert [(t.shape, t.dtype) for t in types] == [(o.shape, lowering.jnp_dtype(o.dtype)) for o in outputs]
    values = [np.asarray(value) for value in jax.jit(lowered)(*map(jax.numpy.asarray, arrays))]
    if reference is not None:
        expected = reference(*arrays)
        expected = list(expected) if isinstance(expected, (list, tuple)) else [expected]
        assert len(expected) == len(values)
        for value, wanted in zip(values, map(np.asarray, expected), strict=True):
            assert value.shape == wanted.shape
            if value.dtype == bool or np.issubdtype(value.dtype, np.integer):
                np.testing.assert_array_equal(value, wanted)
            else:
                np.testing.assert_allclose(value.astype(np.float64), wanted.astype(np.float64), rtol=rtol, atol=atol)
    return values


def tensors(value: Value) -> list[Node]:
    """The tensors of a value: itself, or those in a list or plist."""
    if isinstance(value, List):
        return [node for item in value.items if not isinstance(item, (Keyword, Nil)) for node in tensors(item)]
    return [node(value)]


def dtype_of(array: Any) -> DType:
    """The language's dtype for an array's."""
    return next(dtype for dtype in DTYPES.values() if lowering.jnp_dtype(dtype) == array.dtype)


# Strategies

compiled = settings(max_examples=25, deadline=None)
"""For properties whose every example is compiled."""


def dtypes(accepts: Callable[[DType], bool] = lambda _: True) -> st.SearchStrategy[DType]:
    """Dtypes that an operator accepts (`ops.call.numeric`, `floating`, …)."""
    return st.sampled_from([dtype for dtype in DTYPES.values() if accepts(dtype)])


def shapes(least_axes: int = 0, most_axes: int = 4, least: int = 0, most: int = 4) -> st.SearchStrategy[Shape]:
    """Shapes of `least_axes` to `most_axes` axes of `least` to `most` elements."""
    return numpy_strategies.array_shapes(min_dims=least_axes, max_dims=most_axes, min_side=least, max_side=most)


def broadcastable(count: int, most_axes: int = 3, most: int = 4) -> st.SearchStrategy[tuple[Shape, ...]]:
    """`count` shapes that broadcast together."""
    found = numpy_strategies.mutually_broadcastable_shapes(num_shapes=count, max_dims=most_axes, min_side=0, max_side=most)
    return found.map(lambda shapes: shapes.input_shapes)


def array(shape: Shape, dtype: DType = F32, seed: int = 0, least: float = -2.0, most: float = 2.0) -> np.ndarray:
    """An array of that type with values spread between `least` and `most`; integers are cut to the dtype's range."""
    values = np.random.default_rng(seed).uniform(least, most, shape)
    if dtype.kind == "bool":
        return values > (least + most) / 2
    if dtype.is_integer:
        values = np.clip(np.round(values), max(dtype.least, -(2**53)), min(dtype.most, 2**53))
    return values.astype(lowering.jnp_dtype(dtype))
