"""One application of an operator: its bound arguments, asked for by kind.

A rule function asks for what it needs (`call.tensor("x")`, `call.axis("axis", rank)`); what is not that raises the `Fault` that
names the argument, what was expected and what to write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Edit, Fix, Rule
from sexpgpu.graph.nodes import Attribute, Node, Shape
from sexpgpu.language.dtypes import BOOL, DTYPES, I64, DType, meant
from sexpgpu.language.fault import Fault
from sexpgpu.language.signature import Bound
from sexpgpu.language.values import NIL, Absent, Keyword, List, Nil, Value, is_number, kind_of
from sexpgpu.ops.host import shown
from sexpgpu.ops.operands import (
    MENDS,
    WANTED,
    Accepts,
    absent_fault,
    any_dtype,
    boolean,
    bracketed,
    broadcast_shapes,
    entry_or_call,
    floating,
    integral,
    item_forms,
    known,
    numeric,
    short,
)
from sexpgpu.reader.forms import Form, ListForm, SymbolForm

MOST_AXES = 32


class Tracer(Protocol):
    """What a rule may do to the graph that is being traced."""

    @property
    def float(self) -> DType:
        """What `:float` names at this place."""
        ...

    def emit(self, op: str, inputs: Sequence[Node], shape: Shape, dtype: DType, attrs: dict[str, Attribute], form: Form) -> Node:
        """Add a node to the graph."""
        ...

    def place(self, callee: str) -> str:
        """The place of a draw that is evaluated now (language §5)."""
        ...

    def tick(self, count: int = 1) -> None:
        """Count evaluation steps; passing the bound ends the evaluation."""
        ...


class Call:
    """The arguments of one call by parameter name, and the tracer that its nodes go to."""

    __slots__ = ("_bound", "_forms", "form", "name", "tracer")

    def __init__(self, name: str, bound: Bound[Value], forms: Sequence[Form], form: Form, tracer: Tracer) -> None:
        self.name = name
        self.form = form
        self.tracer = tracer
        self._bound = bound
        self._forms = forms

    # What was given

    def given(self, name: str) -> bool:
        """Whether the argument is there and not nil. An absent entry counts: whoever asks for its value says that it is missing."""
        value = self._bound.values.get(name)
        return value is not None and (isinstance(value, Absent) or not isinstance(value, Nil))

    def value(self, name: str) -> Value:
        """The argument as it is. Raises UnknownArgument where it is unknown."""
        return known(self._bound.values[name])

    def at(self, name: str) -> Form:
        """The form that wrote the argument; the call itself where it was not given."""
        index = self._bound.at.get(name)
        return self.form if index is None else self._forms[index]

    def supplied(self, name: str) -> bool:
        """Whether the call has the argument, nil or not."""
        return name in self._bound.values

    def raw(self, name: str) -> Value:
        """The argument as it is, unknown or not; nil where it was not given."""
        return self._bound.values.get(name, NIL)

    @property
    def raw_rest(self) -> list[Value]:
        """The arguments of the rest parameter as they are, unknown or not."""
        return self._bound.rest

    def rest_at(self, index: int) -> Form:
        """The form that wrote an argument of the rest parameter."""
        return self._forms[self._bound.rest_at[index]]

    def sequence(self, name: str) -> list[Value]:
        """The items of a list or vector as they are, unknown or not. nil is empty."""
        value, at = self.value(name), self.at(name)
        if isinstance(value, Nil) and not isinstance(value, Absent):
            return []
        if not isinstance(value, List):
            raise self.wrong_kind(value, at, "a list", staged=False)
        self.tracer.tick(len(value.items))
        return list(value.items)

    @property
    def rest(self) -> list[tuple[Value, Form]]:
        """The arguments of the rest parameter with their forms."""
        return [(known(value), self._forms[index]) for value, index in zip(self._bound.rest, self._bound.rest_at, strict=True)]

    @property
    def head(self) -> Form:
        form = self.form
        return form.items[0] if isinstance(form, ListForm) and form.items else form

    def fault(self, rule: Rule, at: str | Form | None, message: str, help: str = "", fixes: tuple[Fix, ...] = ()) -> Fault:
        """A fault at the argument of that name, at a form, or at the whole call (None)."""
        place = self.form if at is None else self.at(at) if isinstance(at, str) else at
        return Fault(rule, place, message, help, (), fixes)

    # Host values

    def wrong_kind(self, value: Value, at: Form, wanted: str, *, staged: bool = True, of_tensor: str = "") -> Fault:
        """The fault for a value of another kind; `staged`: the host decides by it, so a tensor has none; `of_tensor`: its help."""
        needs = f"`{self.name}` needs {wanted}"
        if isinstance(value, Absent):
            return absent_fault(value, at, needs)
        help = of_tensor if isinstance(value, Node) else ""
        if staged and isinstance(value, Node):
            help = help or "compute it from host numbers, or from (shape x), (dim x axis)"
            return Fault(rules.STAGE_TENSOR, at, f"{needs} that is known before the run, and this is {kind_of(value)}", help)
        return Fault(rules.TYPE_KIND, at, f"{needs} here, and this is {kind_of(value)}", help)

    def integer(self, name: str, least: int | None = None) -> int:
        """A host integer, at least `least`."""
        return self.integer_of(self.value(name), self.at(name), least)

    def integer_of(self, value: Value, at: Form, least: int | None = None) -> int:
        """The value as a host integer, at least `least`."""
        if type(value) is not int:
            raise self.wrong_kind(value, at, "an integer")
        if least is not None and value < least:
            raise self.fault(rules.TYPE_KIND, at, f"`{self.name}` needs an integer of at least {least} here, not {shown(value)}")
        return value

    def number(self, name: str) -> int | float:
        """A host number."""
        value = self.value(name)
        if type(value) is int or type(value) is float:
            return value
        raise self.wrong_kind(value, self.at(name), "a number")

    def boolean(self, name: str, default: bool = False) -> bool:
        """A host boolean; nil is false."""
        if not self.given(name):
            return default
        value = self.value(name)
        if isinstance(value, bool):
            return value
        raise self.wrong_kind(value, self.at(name), "true or false")

    def string(self, name: str) -> str:
        value = self.value(name)
        if isinstance(value, str):
            return value
        raise self.wrong_kind(value, self.at(name), "a string", staged=False)

    def dtype(self, name: str, default: DType | None = None) -> DType:
        """A dtype by keyword; `:float`, also when it is absent and has no default, is the compute float of the place."""
        if not self.given(name):
            return self.tracer.float if default is None else default
        value = self.value(name)
        if isinstance(value, Keyword):
            if value.name == "float":
                return self.tracer.float
            if value.name in DTYPES:
                return DTYPES[value.name]
            near = meant(value.name)
            help = f"write :{near[0]}" if near else "a dtype is one of " + " ".join(f":{d}" for d in (*DTYPES, "float"))
            fixes = (Fix(f"write :{near[0]}", (Edit(self.at(name), f":{near[0]}"),)),) if near else ()
            raise self.fault(rules.TYPE_KIND, name, f"there is no dtype :{value.name}", help, fixes)
        raise self.wrong_kind(value, self.at(name), "a dtype, such as :f32,", staged=False)

    def items(self, name: str, wanted: str = "a list or vector") -> list[tuple[Value, Form]]:
        """The items of a list or vector, each with the form that wrote it (else the argument's). nil is empty."""
        value, at = self.value(name), self.at(name)
        if isinstance(value, Nil) and not isinstance(value, Absent):
            return []
        if not isinstance(value, List):
            raise self.wrong_kind(value, at, wanted)
        self.tracer.tick(len(value.items))
        return list(zip(map(known, value.items), item_forms(value, at), strict=True))

    def integers(self, name: str, least: int | None = None) -> tuple[int, ...]:
        """A vector of host integers, each at least `least`; one integer stands for a vector of one."""
        value = self.value(name)
        if type(value) is int:
            return (self.integer_of(value, self.at(name), least),)
        return tuple(self.integer_of(item, form, least) for item, form in self.items(name))

    def shape(self, name: str = "shape") -> Shape:
        """A shape: a vector of host integers of 0 or more."""
        value = self.value(name)
        if not isinstance(value, List) and not (isinstance(value, Nil) and not isinstance(value, Absent)):
            raise self.wrong_kind(value, self.at(name), "a shape, such as [4 8],")
        shape = tuple(self.integer_of(item, form, 0) for item, form in self.items(name))
        if len(shape) > MOST_AXES:
            raise self._too_many_axes(len(shape))
        return shape

    def _too_many_axes(self, count: int) -> Fault:
        return self.fault(rules.LIMIT_PASSED, None, f"a tensor has at most {MOST_AXES} axes, not {count}")

    # Axes

    def axis(self, name: str, rank: int, default: int | None = None, of: str | None = None) -> int:
        """A host integer that names an axis of a tensor of that rank, counted from 0.

        Where it was not given and the tensor has no such axis, the argument `of` (else the call) shows it.
        """
        if not self.given(name) and default is not None:
            return self.axis_of(default, self.form if of is None else self.at(of), rank)
        return self.axis_of(self.integer(name), self.at(name), rank)

    def axes(self, name: str, rank: int) -> tuple[int, ...]:
        """One axis or a vector of axes, from 0 and ascending; all of them when absent."""
        if not self.given(name):
            return tuple(range(rank))
        return tuple(sorted(axis for axis, _ in self.axes_at(name, rank)))

    def axes_at(self, name: str, rank: int) -> list[tuple[int, Form]]:
        """One axis or a vector of axes, counted from 0, in the order in which they are given, each with its form."""
        value = self.value(name)
        entries = [(value, self.at(name))] if type(value) is int else self.items(name, "an axis or a vector of axes")
        axes: list[tuple[int, Form]] = []
        for item, form in entries:
            axis = self.axis_of(self.integer_of(item, form), form, rank)
            if any(axis == other for other, _ in axes):
                raise self.fault(rules.SHAPE_OPERATOR, form, f"`{self.name}` is given axis {axis} twice", "write each axis once")
            axes.append((axis, form))
        return axes

    def axis_of(self, axis: int, at: Form, rank: int) -> int:
        """The axis of a tensor of that rank, counted from 0; a fault E-SHAPE-002 at `at` where there is none."""
        if not -rank <= axis < rank:
            have = f"a tensor of {rank} ax{'i' if rank == 1 else 'e'}s has axes {-rank} to {rank - 1}"
            message = f"axis {shown(axis)} is out of range: {have if rank else 'a scalar has no axes'}"
            raise Fault(rules.SHAPE_OPERATOR, at, message)
        return axis % rank

    # Tensors

    def tensor(self, name: str, only: Accepts = any_dtype) -> Node:
        """A tensor, or a host number or boolean made into one (`:i64`, `:float`, `:bool`)."""
        return self.tensor_of(self.value(name), self.at(name), only)

    def tensor_of(self, value: Value, at: Form, only: Accepts = any_dtype) -> Node:
        if not isinstance(value, Node):
            if isinstance(value, bool) and only(BOOL):
                return self.constant(value, BOOL, at)
            if not is_number(value) or only is boolean:
                raise self.no_tensor(value, at, "a :bool tensor" if only is boolean else "a tensor or a number")
            assert isinstance(value, (int, float))
            dtype = self.tracer.float if isinstance(value, float) or only is floating else I64
            value = self.adapt(value, dtype, at)
        return self.accept(value, at, only)

    def accept(self, node: Node, at: Form, only: Accepts) -> Node:
        """The node, if the operator is defined for its dtype."""
        if only(node.dtype):
            return node
        message = f"`{self.name}` takes {WANTED[only]}, and this is {kind_of(node)}"
        help, fixes = self.wrapped(at, *MENDS[only]) if only in MENDS else ("", ())
        raise Fault(rules.DTYPE_OPERATOR, at, message, help, (), fixes)

    def wrapped(self, at: Form, before: str, behind: str = "") -> tuple[str, tuple[Fix, ...]]:
        """The help and the fix that write `(before argument behind)`. A call through `mapcar`, or in the prelude, shows none."""
        head = self.head
        shows = isinstance(head, SymbolForm) and head.name == self.name and not self.form.top.source.builtin
        behind = f" {behind}" if behind else ""
        help = f"write ({before} {short(at) if shows else '…'}{behind})"
        return help, (Fix(f"write ({before} …{behind})", (Edit(at, f"({before} {at.text}{behind})"),)),) if shows else ()

    def join(self, *names: str, only: Accepts = numeric) -> list[Node]:
        """The arguments of those names as tensors of one dtype, in order."""
        return self.join_all([(self.value(name), self.at(name)) for name in names], only)

    def join_all(self, operands: Sequence[tuple[Value, Form]], only: Accepts = numeric) -> list[Node]:
        """Tensors of one dtype: numbers take the dtype of the tensors they meet; numbers among themselves join first.

        Raises a fault E-DTYPE-001 at the call where two tensors differ, E-DTYPE-002 at a number that does not fit.
        """
        first: tuple[Node, Form] | None = None
        for value, at in operands:
            if isinstance(value, Node):
                self.accept(value, at, only)
                if first is None:
                    first = value, at
                elif value.dtype is not first[0].dtype:
                    raise self._mixed(first, (value, at))
        if first is None:
            return self._join_host(operands, only)
        return [value if isinstance(value, Node) else self._meet(value, at, first[0].dtype, only) for value, at in operands]

    def _join_host(self, operands: Sequence[tuple[Value, Form]], only: Accepts) -> list[Node]:
        if operands and all(isinstance(value, bool) for value, _ in operands):
            return [self.tensor_of(value, at, only) for value, at in operands]
        fractional = only is floating or any(isinstance(value, float) for value, _ in operands)
        dtype = self.tracer.float if fractional else I64
        return [self._meet(value, at, dtype, only) for value, at in operands]

    def _meet(self, value: Value, at: Form, dtype: DType, only: Accepts) -> Node:
        if isinstance(value, bool) and dtype is BOOL:
            return self.constant(value, BOOL, at)
        if type(value) is int or type(value) is float:
            return self.accept(self.adapt(value, dtype, at), at, only)
        raise self.no_tensor(value, at, "a :bool tensor" if only is boolean else "a tensor or a number")

    def no_tensor(self, value: Value, at: Form, wanted: str) -> Fault:
        """The fault for a value where a tensor is wanted; with what makes one of it: an operator, an entry, a call."""
        fault = self.wrong_kind(value, at, wanted)
        fault.help = fault.help or entry_or_call(value, at)
        if isinstance(value, List) and value.items and not fault.help:
            fault.help, fault.fixes = self.wrapped(at, "stack" if any(isinstance(item, Node) for item in value.items) else "tensor")
        return fault

    def adapt(self, number: int | float, dtype: DType, at: Form) -> Node:
        """A host number as a scalar constant of `dtype`; a fault E-DTYPE-002 at the number if it does not fit."""
        return self.constant(self.fitting(number, dtype, at), dtype, at)

    def fitting(self, number: int | float, dtype: DType, at: Form) -> int | float:
        """A host number as a value of `dtype`; a fault E-DTYPE-002 at the number if it does not fit."""
        if dtype.fits(number):
            return float(number) if dtype.is_float else number
        if dtype is BOOL:
            raise Fault(rules.DTYPE_NUMBER, at, f"{shown(number)} is no :bool", "write true or false, or compare")
        if isinstance(number, float):
            message = f"the float {number} meets {dtype!r}, which holds integers only"
            raise Fault(rules.DTYPE_NUMBER, at, message, f"write an integer, or cast the {dtype!r} tensor to :f32")
        least, most = (f"{float(n):.6g}" if dtype.is_float else n for n in (dtype.least, dtype.most))
        message = f"{shown(number)} does not fit {dtype!r} ({least} to {most})"
        raise Fault(rules.DTYPE_NUMBER, at, message, "write a number that fits, or cast to a wider dtype")

    def constant(self, value: int | float | bool, dtype: DType, at: Form) -> Node:
        """A scalar constant node."""
        return self.tracer.emit("constant", (), (), dtype, {"value": value}, at)

    def _mixed(self, first: tuple[Node, Form], second: tuple[Node, Form]) -> Fault:
        wider = max(first, second, key=lambda operand: (operand[0].dtype.is_float, operand[0].dtype.bits))
        narrower = second if wider is first else first
        message = f"`{self.name}` meets {kind_of(first[0])} and {kind_of(second[0])}; dtypes do not mix"
        help, fixes = self.wrapped(narrower[1], "cast", f":{wider[0].dtype.name}")
        return Fault(rules.DTYPE_MIXED, self.form, message, help, (), fixes)

    def broadcast(self, *nodes: Node) -> Shape:
        """The shape that the nodes broadcast to, as NumPy has it; a fault E-SHAPE-001 at the call where they do not."""
        shape = nodes[0].shape
        for node in nodes[1:]:
            joined = broadcast_shapes(shape, node.shape)
            if joined is None:
                message = f"`{self.name}` cannot broadcast {bracketed(shape)} with {bracketed(node.shape)}"
                help = "axes are matched from the last; each pair must be equal, or one of them 1"
                raise Fault(rules.SHAPE_BROADCAST, self.form, message, help)
            shape = joined
        return shape

    def emit(self, inputs: Sequence[Node], shape: Shape, dtype: DType, *, op: str | None = None, **attrs: Attribute) -> Node:
        """The node that this call makes. `op` names the operation where it is not the operator's own."""
        if len(shape) > MOST_AXES:
            raise self._too_many_axes(len(shape))
        return self.tracer.emit(op or self.name, inputs, shape, dtype, attrs, self.form)


__all__ = [
    "Accepts",
    "Call",
    "Tracer",
    "any_dtype",
    "boolean",
    "bracketed",
    "broadcast_shapes",
    "floating",
    "integral",
    "item_forms",
    "known",
    "numeric",
]
