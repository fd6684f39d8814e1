"""Host functions on lists, and those that call functions."""

from __future__ import annotations

from collections.abc import Sequence

from sexpgpu.diagnostics import rules
from sexpgpu.graph.nodes import Node
from sexpgpu.language.calls import apply
from sexpgpu.language.effects import UsedWhole
from sexpgpu.language.fault import LimitPassed, UnknownArgument
from sexpgpu.language.frames import Frame
from sexpgpu.language.host import evaluator_of, host
from sexpgpu.language.values import (
    NIL,
    UNKNOWN,
    Absent,
    Function,
    List,
    Nil,
    Plist,
    Unknown,
    Value,
    truthy,
    written_names,
)
from sexpgpu.ops.call import Call, item_forms
from sexpgpu.reader.forms import Form

MOST_ITEMS = 100_000


def made_list(items: Sequence[Value], *, vector: bool = False, made_by: Form | None = None) -> Value:
    """A list of at most 100,000 items; an empty one is nil, an empty vector stays one."""
    if len(items) > MOST_ITEMS:
        raise LimitPassed(f"a list of more than {MOST_ITEMS:,} items")
    if not items and not vector:
        return NIL
    return List(items, vector=vector, made_by=made_by)


# Making


@host(
    "list",
    "&rest items",
    "lists",
    "A list of its arguments; of alternating keys and values, a plist.",
    "(list :row x :stride 1)",
    strict=False,
)
def _list(call: Call) -> Value:
    return made_list(call.raw_rest, made_by=call.form)


@host("vector", "&rest items", "lists", "A vector of its arguments, as `[…]` writes one.", "(vector 1 2 3)", strict=False)
def _vector(call: Call) -> Value:
    return made_list(call.raw_rest, vector=True, made_by=call.form)


@host("range", "low &optional high step", "lists", "Integers from 0 (or `low`) up to a bound, which is left out.", "(range 0 10 2)")
def _range(call: Call) -> Value:
    low, high = (call.integer("low"), call.integer("high")) if call.given("high") else (0, call.integer("low"))
    step = call.integer("step") if call.given("step") else 1
    if step == 0:
        raise call.fault(rules.TYPE_KIND, "step", "`range` needs a step other than 0")
    numbers = range(low, high, step)
    if len(numbers) > MOST_ITEMS:
        raise LimitPassed(f"a list of more than {MOST_ITEMS:,} items")
    call.tracer.tick(len(numbers))
    return made_list(list(numbers))


@host("append", "&rest lists", "lists", "One list of the items of several.", "(append (list 1 2) (list 3))", strict=False)
def _append(call: Call) -> Value:
    items: list[Value] = []
    names: dict[str, Form] = {}
    for index, value in enumerate(call.raw_rest):
        items += _items(call, value, call.rest_at(index))
        if isinstance(value, List):
            names = written_names(value) | names
    made = made_list(items)
    if isinstance(made, List) and names:
        made.names = names
    return made


@host("reverse", "list", "lists", "The items from last to first.", "(reverse (list 1 2 3))", strict=False)
def _reverse(call: Call) -> Value:
    return made_list(_whole(call, "list")[::-1])


# Taking apart


def _items(call: Call, value: Value, at: Form) -> Sequence[Value]:
    if isinstance(value, Unknown):
        raise UnknownArgument
    if isinstance(value, Nil) and not isinstance(value, Absent):
        return ()
    if not isinstance(value, List):
        of_tensor = "of a tensor, (dim x 0) is the length, `slice` and `take` give parts, and `split` gives a list"
        raise call.wrong_kind(value, at, "a list", staged=False, of_tensor=of_tensor)
    if isinstance(value, Plist):
        evaluator_of(call).do(UsedWhole(value))
        if value.open:
            raise UnknownArgument
    call.tracer.tick(len(value.items))
    return value.items


def _whole(call: Call, name: str) -> Sequence[Value]:
    """The items of a list that is used as a whole."""
    return _items(call, call.value(name), call.at(name))


@host("length", "list", "lists", "How many items a list has, or characters a string.", "(length (list 1 2 3))", strict=False)
def _length(call: Call) -> Value:
    value = call.value("list")
    return len(value) if isinstance(value, str) else len(_whole(call, "list"))


@host("nth", "list index", "lists", "The item at an index, counted from 0.", "(nth (list 4 5 6) 1)", strict=False)
def _nth(call: Call) -> Value:
    items, index = _whole(call, "list"), call.integer("index")
    if not 0 <= index < len(items):
        message = f"the list has {len(items)} item{'s' * (len(items) != 1)}, so there is none at {index}"
        raise call.fault(rules.TYPE_KIND, "index", message, "indices count from 0")
    return items[index]


@host("first", "list", "lists", "The first item; nil of an empty list.", "(first (list 1 2 3))", strict=False)
def _first(call: Call) -> Value:
    items = _whole(call, "list")
    return items[0] if items else NIL


@host("rest", "list", "lists", "All items but the first.", "(rest (list 1 2 3))", strict=False)
def _rest(call: Call) -> Value:
    return made_list(_whole(call, "list")[1:])


@host("last", "list", "lists", "The last item; nil of an empty list.", "(last (list 1 2 3))", strict=False)
def _last(call: Call) -> Value:
    items = _whole(call, "list")
    return items[-1] if items else NIL


# Calling


class _Inside:
    """A builtin that calls functions is a link of the place of what they draw (language §5)."""

    def __init__(self, call: Call) -> None:
        self.evaluator = evaluator_of(call)
        self.call = call
        outer = self.evaluator.frame
        self.frame = Frame(call.name, outer, None, outer.link(call.name), outer.run, outer.scope)
        self.frame.arguments = outer.arguments
        self.frame.calls = outer.calls
        self.frame.form = call.form

    def __enter__(self) -> _Inside:
        self.outer = self.evaluator.frame
        self.evaluator.frame = self.frame
        return self

    def __exit__(self, *_: object) -> None:
        self.evaluator.frame = self.outer

    def apply(self, function: Value, arguments: Sequence[Value], forms: Sequence[Form]) -> Value:
        return apply(self.evaluator, function, list(arguments), forms, self.call.form)


def _function(call: Call, name: str = "function") -> Value:
    value = call.raw(name)
    if isinstance(value, Unknown):
        evaluator_of(call).trace.incomplete = True
        raise UnknownArgument
    if not isinstance(value, Function):
        raise call.wrong_kind(value, call.at(name), "a function", staged=False)
    return value


Items = tuple[Sequence[Value], Sequence[Form]]


def _each(call: Call, value: Value, at: Form) -> Items:
    """The items of a list, with the forms that wrote them, for a function to be called with."""
    if isinstance(value, Unknown):
        evaluator_of(call).trace.incomplete = True
    items = _items(call, value, at)
    return items, item_forms(value, at) if isinstance(value, List) else ()


def _listed(call: Call) -> Items:
    return _each(call, call.raw("list"), call.at("list"))


@host(
    "mapcar",
    "function list &rest lists",
    "calling",
    "What a function gives for each item.",
    "(mapcar (lambda (x) (* x x)) (range 4))",
    strict=False,
)
def _mapcar(call: Call) -> Value:
    function = _function(call)
    lists = [_listed(call), *(_each(call, value, call.rest_at(index)) for index, value in enumerate(call.raw_rest))]
    results: list[Value] = []
    with _Inside(call) as inside:
        for index in range(min(len(items) for items, _ in lists)):
            call.tracer.tick()
            results.append(inside.apply(function, [items[index] for items, _ in lists], [forms[index] for _, forms in lists]))
    return made_list(results)


@host(
    "filter",
    "function list",
    "calling",
    "The items for which a function does not give nil or false.",
    "(filter (lambda (x) (> x 1)) (range 4))",
    strict=False,
)
def _filter(call: Call) -> Value:
    function = _function(call)
    results: list[Value] = []
    with _Inside(call) as inside:
        for item, at in zip(*_listed(call), strict=True):
            call.tracer.tick()
            answer = inside.apply(function, [item], [at])
            if isinstance(answer, Unknown):
                evaluator_of(call).trace.incomplete = True
                return UNKNOWN
            if isinstance(answer, Node):
                message = "`filter` decides on the host, before the run, and its function gives a tensor"
                raise call.fault(
                    rules.STAGE_TENSOR, "function", message, "keep all rows and weigh them with `where`, or cut with `top-k`"
                )
            if truthy(answer):
                results.append(item)
    return made_list(results)


@host(
    "reduce",
    "function list initial",
    "calling",
    "Folds a list from the left: the function takes what was accumulated and an item.",
    "(reduce + (list 1 2 3) 0)",
    strict=False,
)
def _reduce(call: Call) -> Value:
    function = _function(call)
    value, at = call.raw("initial"), call.at("initial")
    with _Inside(call) as inside:
        for item, item_at in zip(*_listed(call), strict=True):
            call.tracer.tick()
            value, at = inside.apply(function, [value, item], [at, item_at]), call.at("list")
    return value


@host(
    "apply",
    "function list",
    "calling",
    "Calls a function with the items of a list as its arguments.",
    "(apply + (list 1 2 3))",
    strict=False,
)
def _apply(call: Call) -> Value:
    function, (items, forms) = _function(call), _listed(call)
    with _Inside(call) as inside:
        return inside.apply(function, items, forms)


@host("funcall", "function &rest arguments", "calling", "Calls a function.", "(funcall gelu x)", strict=False)
def _funcall(call: Call) -> Value:
    function = _function(call)
    evaluator = evaluator_of(call)
    forms = [call.rest_at(index) for index in range(len(call.raw_rest))]
    return apply(evaluator, function, list(call.raw_rest), forms, call.form)


@host("identity", "value", "calling", "Its argument.", "(identity x)", strict=False)
def _identity(call: Call) -> Value:
    return call.raw("value")
