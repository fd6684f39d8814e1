"""The evaluation of special forms. Their shapes are checked before (`static.py`), so here every part is where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING

from sexpgpu.diagnostics import rules
from sexpgpu.graph.nodes import Node
from sexpgpu.language.effects import Took, UsedWhole
from sexpgpu.language.fault import LimitPassed, UnknownArgument
from sexpgpu.language.frames import Environment, Scope
from sexpgpu.language.parameters import parse_parameters
from sexpgpu.language.quotes import quoted
from sexpgpu.language.shapes import key_parts
from sexpgpu.language.values import (
    NIL,
    Absent,
    Closure,
    Keyword,
    List,
    Made,
    Nil,
    Plist,
    Unknown,
    Value,
    kind_of,
    truthy,
)
from sexpgpu.ops.operands import absent_fault
from sexpgpu.reader.forms import Form, ListForm, SymbolForm, VectorForm

if TYPE_CHECKING:
    from sexpgpu.language.evaluator import Evaluator

_regions = count(1)
"""Numbers for the regions that are computed again: kept nodes have theirs from earlier analyses, so no number comes twice."""

Special = Callable[["Evaluator", ListForm, Environment], Value]
SPECIAL: dict[str, Special] = {}


def _special(name: str) -> Callable[[Special], Special]:
    def enter(evaluate: Special) -> Special:
        SPECIAL[name] = evaluate
        return evaluate

    return enter


_INSTEAD = {
    "if": "where",
    "when": "where",
    "unless": "where",
    "cond": "where",
    "and": "logical-and",
    "or": "logical-or",
    "not": "logical-not",
}


def decide(evaluator: Evaluator, value: Value, at: Form, by: str) -> bool | None:
    """What a host value decides; None where it is unknown. A tensor cannot: it has no value before the run."""
    if isinstance(value, Unknown):
        evaluator.trace.incomplete = True
        evaluator.unknown()
        return None
    if isinstance(value, Node):
        message = f"`{by}` decides on the host, before the run, and this is {kind_of(value)}"
        instead = _INSTEAD[by]
        how = "(where condition then else)" if instead == "where" else f"({instead} …)"
        help = f"write {how}, which decides for each element during the run"
        if at.top.source.builtin:
            help = "give a value that is known before the run, such as true, false or nil"
        evaluator.report(rules.STAGE_TENSOR, at, message, help)
        evaluator.trace.incomplete = True
        return None
    return truthy(value)


def _took(evaluator: Evaluator, form: Form, part: Form, environment: Environment) -> Value:
    value = evaluator.evaluate(part, environment)
    _take(evaluator, form, part)
    return value


def _take(evaluator: Evaluator, form: Form, part: Form) -> None:
    """Note which part gave a conditional's value, where that may be the contract function's."""
    if evaluator.frame.calls is None:
        evaluator.do(Took(form, part))


def _took_body(evaluator: Evaluator, form: Form, parts: Sequence[Form], environment: Environment) -> Value:
    value = evaluator.body(parts, environment)
    if parts:
        _take(evaluator, form, parts[-1])
    return value


@_special("quote")
def _quote(_evaluator: Evaluator, form: ListForm, _environment: Environment) -> Value:
    return quoted(form.items[1])


@_special("if")
def _if(evaluator: Evaluator, form: ListForm, environment: Environment) -> Value:
    test = form.items[1]
    answer = decide(evaluator, evaluator.evaluate(test, environment), test, "if")
    if answer is None:
        return evaluator.unknown()
    branch = 2 if answer else 3
    return _took(evaluator, form, form.items[branch], environment) if branch < len(form.items) else NIL


@_special("when")
def _when(evaluator: Evaluator, form: ListForm, environment: Environment) -> Value:
    test = form.items[1]
    answer = decide(evaluator, evaluator.evaluate(test, environment), test, "when")
    if answer is None:
        return evaluator.unknown()
    return _took_body(evaluator, form, form.items[2:], environment) if answer else NIL


@_special("unless")
def _unless(evaluator: Evaluator, form: ListForm, environment: Environment) -> Value:
    test = form.items[1]
    answer = decide(evaluator, evaluator.evaluate(test, environment), test, "unless")
    if answer is None:
        return evaluator.unknown()
    return NIL if answer else _took_body(evaluator, form, form.items[2:], environment)


@_special("cond")
def _cond(evaluator: Evaluator, form: ListForm, environment: Environment) -> Value:
    for clause in form.items[1:]:
        assert isinstance(clause, ListForm)
        evaluator.tick()
        test = clause.items[0]
        value = evaluator.evaluate(test, environment)
        if len(clause.items) == 1 and isinstance(value, Node) and clause is form.items[-1]:
            return value
        answer = decide(evaluator, value, test, "cond")
        if answer is None:
            return evaluator.unknown()
        if answer:
            if len(clause.items) == 1:
                _take(evaluator, form, test)
                return value
            return _took_body(evaluator, form, clause.items[1:], environment)
    return NIL


def _connective(evaluator: Evaluator, form: ListForm, environment: Environment, by: str, ends: bool) -> Value:
    """`and` and `or`: the first operand that decides, else the last, which decides nothing and may be a tensor."""
    value: Value = by == "and" or NIL
    for operand in form.items[1:]:
        value = evaluator.evaluate(operand, environment)
        _take(evaluator, form, operand)
        if operand is form.items[-1]:
            break
        answer = decide(evaluator, value, operand, by)
        if answer is None:
            return evaluator.unknown()
        if answer is ends:
            break
    return value


@_special("and")
def _and(evaluator: Evaluator, form: ListForm, environment: Environment) -> Value:
    return _connective(evaluator, form, environment, "and", False)


@_special("or")
def _or(evaluator: Evaluator, form: ListForm, environment: Environment) -> Value:
    return _connective(evaluator, form, environment, "or", True)


@_special("let")
def _let(evaluator: Evaluator, form: ListForm, environment: Environment) -> Value:
    variables = {name: evaluator.evaluate(value, environment) for name, value in _bindings(form)}
    return evaluator.body(form.items[2:], environment.inner(variables))


@_special("let*")
def _let_star(evaluator: Evaluator, form: ListForm, environment: Environment) -> Value:
    for name, value in _bindings(form):
        environment = environment.inner({name: evaluator.evaluate(value, environment)})
    return evaluator.body(form.items[2:], environment)


def _bindings(form: ListForm) -> list[tuple[str, Form]]:
    bindings = form.items[1]
    pairs: list[tuple[str, Form]] = []
    for binding in bindings.items if isinstance(bindings, (ListForm, VectorForm)) else ():
        assert isinstance(binding, (ListForm, VectorForm)) and isinstance(binding.items[0], SymbolForm)
        pairs.append((binding.items[0].name, binding.items[1]))
    return pairs


@_special("lambda")
def _lambda(evaluator: Evaluator, form: ListForm, environment: Environment) -> Value:
    parameters = form.items[1]
    made = Closure("lambda", parse_parameters(parameters).signature, parameters, form.items[2:], environment, form)
    return evaluator.known_closure(made) if environment.parent is None else made


@_special("progn")
def _progn(evaluator: Evaluator, form: ListForm, environment: Environment) -> Value:
    return evaluator.body(form.items[1:], environment)


@_special("dotimes")
def _dotimes(evaluator: Evaluator, form: ListForm, environment: Environment) -> Value:
    name, count_form = _loop(form)
    count = evaluator.evaluate(count_form, environment)
    if isinstance(count, Unknown):
        evaluator.trace.incomplete = True
        return evaluator.unknown()
    if type(count) is not int or count < 0:
        evaluator.trace.incomplete = True
        return _no_loop(evaluator, count, count_form, "`dotimes` needs a whole number of turns")
    return _turns(evaluator, form, environment, name, range(count))


@_special("dolist")
def _dolist(evaluator: Evaluator, form: ListForm, environment: Environment) -> Value:
    name, list_form = _loop(form)
    items = evaluator.evaluate(list_form, environment)
    if isinstance(items, Unknown):
        evaluator.trace.incomplete = True
        return evaluator.unknown()
    if isinstance(items, Nil) and not isinstance(items, Absent):
        return NIL
    if not isinstance(items, List):
        evaluator.trace.incomplete = True
        return _no_loop(evaluator, items, list_form, "`dolist` needs a list")
    if isinstance(items, Plist):
        evaluator.do(UsedWhole(items))
    return _turns(evaluator, form, environment, name, items.items)


def _loop(form: ListForm) -> tuple[str, Form]:
    head = form.items[1]
    assert isinstance(head, (ListForm, VectorForm)) and isinstance(head.items[0], SymbolForm)
    return head.items[0].name, head.items[1]


def _no_loop(evaluator: Evaluator, value: Value, at: Form, needs: str) -> Value:
    if isinstance(value, Absent):
        try:
            return evaluator.report_fault(absent_fault(value, at, needs))
        except UnknownArgument:
            return evaluator.unknown()
    if isinstance(value, Node):
        message = f"{needs} that is known before the run, and this is {kind_of(value)}"
        return evaluator.report(rules.STAGE_TENSOR, at, message, "loop over a host number: the loop unrolls into the graph")
    what = value if type(value) is int else kind_of(value)
    return evaluator.report(rules.TYPE_KIND, at, f"{needs}, and this is {what}")


def _turns(evaluator: Evaluator, form: ListForm, environment: Environment, name: str, values: Sequence[Value]) -> Value:
    """A host loop unrolls: each turn evaluates the body anew. Gives the list of the body's values."""
    from sexpgpu.language.evaluator import MOST_ITEMS

    results: list[Value] = []
    for value in values:
        evaluator.tick()
        if len(results) >= MOST_ITEMS:
            raise LimitPassed(f"a list of more than {MOST_ITEMS:,} items")
        results.append(evaluator.body(form.items[2:], environment.inner({name: value})))
    return List(results) if results else NIL


@_special("scope")
def _scope(evaluator: Evaluator, form: ListForm, environment: Environment) -> Value:
    name_form = form.items[1]
    name = evaluator.evaluate(name_form, environment)
    settings, body = key_parts(form, 2)
    values = {key.name: (evaluator.evaluate(value, environment), value) for key, value in settings}
    part = path_part(evaluator, name, name_form)
    if part is None:
        return evaluator.unknown()
    frame = evaluator.frame
    before = frame.scope
    frame.scope = _inside(evaluator, before, part, values)
    result = evaluator.body(body, environment)
    frame.scope = before
    return result


def path_part(evaluator: Evaluator, name: Value, at: Form) -> str | None:
    """One part of a parameter's path: a keyword, a string or an integer; None after a report where it is none."""
    if isinstance(name, Unknown):
        return None
    if isinstance(name, Keyword):
        return name.name
    if isinstance(name, str) or type(name) is int:
        return str(name)
    if isinstance(name, Node):
        evaluator.report(rules.STAGE_TENSOR, at, f"a path needs a name that is known before the run, and this is {kind_of(name)}")
    else:
        evaluator.report(rules.TYPE_KIND, at, f"a path is made of keywords, strings and integers, and this is {kind_of(name)}")
    return None


def _inside(evaluator: Evaluator, outer: Scope, part: str, settings: dict[str, tuple[Value, Form]]) -> Scope:
    frozen = outer.frozen or _flag(evaluator, settings, "frozen")
    remat = outer.remat
    if _flag(evaluator, settings, "remat"):
        remat = next(_regions)
    pretrained, entry = outer.pretrained, (*outer.entry, part)
    given = settings.get("pretrained")
    if given is not None:
        value, at = given
        made = pretrained_file(value, at)
        if made is not None:
            pretrained, entry = made, ()
        elif not isinstance(value, (Unknown, Nil)):
            evaluator.report(rules.TYPE_KIND, at, f"`:pretrained` names a safetensors file, and this is {kind_of(value)}")
    return Scope((*outer.names, part), frozen, remat, pretrained, entry)


def pretrained_file(value: Value, at: Form) -> Made | None:
    """The parameter file that a `:pretrained` key names, by its path alone or with more."""
    if isinstance(value, str):
        return Made("pretrained", "pretrained", {"path": value, "prefix": ""}, {"path": at}, at)
    return value if isinstance(value, Made) and value.group == "pretrained" else None


def _flag(evaluator: Evaluator, settings: dict[str, tuple[Value, Form]], key: str) -> bool:
    if key not in settings:
        return False
    value, at = settings[key]
    if isinstance(value, bool):
        return value
    if not isinstance(value, (Nil, Unknown)):
        evaluator.report(rules.TYPE_KIND, at, f"`:{key}` is true or false, and this is {kind_of(value)}")
    return False
