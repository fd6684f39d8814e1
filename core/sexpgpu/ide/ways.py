"""How a function of the file is called, as somebody would write it, and what it then gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sexpgpu.graph.nodes import Node
from sexpgpu.ide.bindings import described, values_of
from sexpgpu.ide.literals import LITERALS
from sexpgpu.ide.markup import Code, Part, Prose
from sexpgpu.language.parameters import Malformed, ParameterList, parse_parameters
from sexpgpu.language.values import NIL, UNKNOWN, Function, List, Made, Nil, Plist, Unknown, Value
from sexpgpu.reader.forms import Form, SymbolForm

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.program.unit import Definition

CALLED = Prose("It is called as:")

_MOST_WAYS = 6
_MOST_CALLS = 2_000


class _Given(NamedTuple):
    """What a parameter was given, and whether a call need not say so."""

    value: Value
    spare: bool


def ways(analysis: Analysis, function: Definition) -> list[Part]:
    """How a function of the file is called, and what it then gives: each way once."""
    form = function.form
    if form is None or function.unknown or function.kind not in ("defun", "defmodel"):
        return []
    try:
        parameters = parse_parameters(form.items[2])
    except Malformed:
        return []
    columns = [_given(analysis, symbol, default) for symbol, default in _all(parameters)]
    results = _results(analysis, form.items[-1], len(columns[0]) if columns else 0)
    if not results or any(len(column) != len(results) for column in columns):
        return []
    nested = columns and len(results) > 1 and not isinstance(form.items[-1], LITERALS)
    if nested and (_names_itself(analysis, function) or any(isinstance(each.value, Function) for row in columns for each in row)):
        results = _in_order(analysis, next(_all(parameters))[0], form.items[-1])
    found: dict[str, None] = {}
    for index, result in enumerate(results[:_MOST_CALLS]):
        given = [column[index] for column in columns]
        gives = "" if isinstance(result, Unknown) else f" → {described(result)}"
        found.setdefault(f"({' '.join([function.name, *_arguments(parameters, given)])}){gives}")
        if len(found) > _MOST_WAYS:
            break
    lines = list(found)[:_MOST_WAYS] + ["…"] * (len(found) > _MOST_WAYS)
    return [CALLED, Code("\n".join(lines))]


def _all(parameters: ParameterList) -> Iterator[tuple[SymbolForm, Form | None]]:
    """Every parameter with its default: a required one has itself, which is never evaluated."""
    yield from ((symbol, symbol) for symbol in parameters.required)
    yield from (*parameters.optional, *parameters.keys)
    if parameters.rest is not None:
        yield parameters.rest, parameters.rest


def _results(analysis: Analysis, last: Form, calls: int) -> list[Value]:
    """What each call gave. A literal is never taken down: it is the same each time."""
    return values_of(analysis, last) * calls if isinstance(last, LITERALS) else values_of(analysis, last)


def _names_itself(analysis: Analysis, function: Definition) -> bool:
    """Whether a function is named in its own body, or in what that names."""
    seen: set[Definition] = set()
    waiting = [function]
    while waiting:
        each = waiting.pop()
        checked = analysis.marks.checked.get(each.top) if each.top is not None else None
        if checked is None or each.module is None:
            continue
        for space, name in checked.names:
            other = each.module.namespace(space).get(name)
            if other is function:
                return True
            if other is not None and other not in seen:
                seen.add(other)
                waiting.append(other)
    return False


def _in_order(analysis: Analysis, first: SymbolForm, last: Form) -> list[Value]:
    """What each call gave, in the order in which they began: one that calls the function again ends later than that."""
    results: list[Value] = []
    open_calls: list[int] = []
    for form, value in analysis.recording:
        if form is first:
            open_calls.append(len(results))
            results.append(UNKNOWN)
        elif form is last and open_calls:
            results[open_calls.pop()] = value
    return results


def _given(analysis: Analysis, symbol: SymbolForm, default: Form | None) -> list[_Given]:
    """What each call gave a parameter. A default that is a literal may be left out of a call, whether it was or not; any other
    was evaluated where it was needed, in the order of the calls."""
    values = analysis.values.get(symbol, [])
    if default is symbol:
        return [_Given(value, False) for value in values]
    if default is None or isinstance(default, LITERALS):
        [same] = [NIL] if default is None else values_of(analysis, default)
        return [_Given(value, _same(value, same)) for value in values]
    needed = iter(analysis.values.get(default, ()))
    waiting = next(needed, None)
    found: list[_Given] = []
    for value in values:
        spare = waiting is not None and _same(value, waiting)
        found.append(_Given(value, spare))
        waiting = next(needed, None) if spare else waiting
    return found


def _same(value: Value, other: Value) -> bool:
    """Whether a call may have either. Of two tensors nobody knows, unless they are one."""
    if value is other:
        return True
    if isinstance(value, Nil):
        return isinstance(other, Nil)
    return not isinstance(value, Node | List) and type(value) is type(other) and value == other


def _arguments(parameters: ParameterList, given: Sequence[_Given]) -> list[str]:
    """The arguments of a call, as they are written."""
    placed = list(given[: len(parameters.required) + len(parameters.optional)])
    behind = given[len(placed) :]
    rest: Sequence[Value] = ()
    if parameters.rest is not None and isinstance(last := behind[-1].value, List):
        rest = last.items
    keyed: list[str] = []
    if not rest:  # it would hold the keywords, too
        for (symbol, _), each in zip(parameters.keys, behind, strict=False):
            if not each.spare:
                keyed += [f":{symbol.name}", _written(each.value)]
    while placed and placed[-1].spare and not keyed and not rest:
        placed.pop()
    return [*(_written(each.value) for each in placed), *keyed, *map(_written, rest)]


def _written(value: Value) -> str:
    """A value as it may stand in a call."""
    match value:
        case Function():
            return value.name
        case Made():
            return f"({described(value)})"
        case List() if not value.vector and not isinstance(value, Plist) and value.items:
            return f"(list {described(value)[1:]}"
        case _:
            return described(value)
