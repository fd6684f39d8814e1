"""The kinds of value that a declaration's key may want, and how a declaration is read by the table.

A kind gives the value that the program holds, or raises `Unfit` with what it wanted.
"""

from __future__ import annotations

from collections.abc import Callable

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Edit, Fix, Related, Rule
from sexpgpu.graph.nodes import Node
from sexpgpu.language.evaluator import Evaluator
from sexpgpu.language.frames import Environment, Trace
from sexpgpu.language.nearest import nearest
from sexpgpu.language.plists import entry
from sexpgpu.language.values import (
    NIL,
    Absent,
    Function,
    Keyword,
    List,
    Made,
    Nil,
    Unknown,
    Value,
    is_number,
    keyword,
    kind_of,
)
from sexpgpu.program.declarations import Declaration, Key
from sexpgpu.reader.forms import BadForm, Form, KeywordForm, ListForm, NumberForm, StringForm, SymbolForm


class Unfit(Exception):
    """A value that a key does not take: what it wanted, and what it was given where that is a part of the value."""

    def __init__(self, wanted: str, given: Value | None = None) -> None:
        super().__init__(wanted)
        self.wanted = wanted
        self.given = given


Check = Callable[[Value], Value]
KINDS: dict[str, Check] = {}


def _kind(*names: str) -> Callable[[Check], Check]:
    def enter(check: Check) -> Check:
        for name in names:
            KINDS[name] = check
        return check

    return enter


def _integer(least: int, wanted: str) -> Check:
    def check(value: Value) -> Value:
        if type(value) is int and value >= least:
            return value
        raise Unfit(wanted)

    return check


KINDS["positive"] = _integer(1, "an integer of 1 or more")
KINDS["trips"] = KINDS["positive"]
KINDS["count"] = _integer(0, "an integer of 0 or more")
_WHOLE = ("positive", "trips", "count", "integer", "stack")


@_kind("integer")
def _any_integer(value: Value) -> Value:
    if type(value) is int and -(1 << 63) <= value < 1 << 63:
        return value
    raise Unfit("an integer of 64 bits")


@_kind("boolean")
def _boolean(value: Value) -> Value:
    if isinstance(value, bool):
        return value
    raise Unfit("true or false")


@_kind("positive-number")
def _positive_number(value: Value) -> Value:
    if isinstance(value, Nil) or (isinstance(value, (int, float)) and is_number(value) and 0 < value < float("inf")):
        return value
    raise Unfit("a number above 0")


@_kind("decay")
def _decay(value: Value) -> Value:
    if isinstance(value, Nil) or (isinstance(value, float) and 0 < value < 1):
        return value
    raise Unfit("a number between 0 and 1, such as 0.999")


def _choice(*names: str) -> Check:
    listed = " or ".join(f":{name}" for name in names)

    def check(value: Value) -> Value:
        if isinstance(value, Keyword) and value.name in names:
            return value
        raise Unfit(listed)

    return check


KINDS["precision"] = _choice("f32", "bf16")
KINDS["on-nan"] = _choice("stop", "skip", "ignore")


@_kind("stack")
def _stack(value: Value) -> Value:
    if value is keyword("auto") or (type(value) is int and value >= 1):
        return value
    raise Unfit("an integer of 1 or more, or :auto")


@_kind("function")
def _function(value: Value) -> Value:
    if isinstance(value, (Function, Nil)):
        return value
    raise Unfit("a function")


@_kind("names")
def _names(value: Value) -> Value:
    if isinstance(value, Nil):
        return List((), vector=True)
    if not isinstance(value, List):
        raise Unfit('a vector of strings, such as ["norm"]')
    for item in value.items:
        if not isinstance(item, (str, Unknown)):
            raise Unfit("strings, the names of diagnostics", item)
    return value


@_kind("best")
def _best(value: Value) -> Value:
    if isinstance(value, (Nil, str)):
        return value
    if isinstance(value, List) and len(value.items) == 2 and isinstance(value.items[0], str):
        direction = value.items[1]
        if isinstance(direction, Keyword) and direction.name in ("max", "min"):
            return value
    raise Unfit('a metric\'s name, such as "eval/loss", or (list "eval/accuracy" :max)')


@_kind("mesh")
def _mesh(value: Value) -> Value:
    if isinstance(value, Nil):
        return value
    wanted = "a plist of :data and :fsdp, each with a number of devices or -1, and :exact true"
    if not isinstance(value, List) or len(value.items) % 2:
        raise Unfit(wanted)
    rest = 0
    for index in range(0, len(value.items), 2):
        key, extent = value.items[index], value.items[index + 1]
        if not isinstance(key, Keyword) or key.name not in ("data", "fsdp", "exact"):
            raise Unfit("the axes :data and :fsdp, or :exact", key)
        if key.name == "exact":
            if not isinstance(extent, bool):
                raise Unfit("true or false as :exact", extent)
        elif type(extent) is not int or (extent < 1 and extent != -1):
            raise Unfit(f"a number of devices, or -1 for what is left, as :{key.name}", extent)
        rest += extent == -1
    if rest > 1:
        raise Unfit("-1 for one axis only")
    return value


@_kind("pretrained")
def _pretrained(value: Value) -> Value:
    if isinstance(value, (Nil, str)) or (isinstance(value, Made) and value.group == "pretrained"):
        return value
    raise Unfit('a safetensors file, such as "base.safetensors"')


@_kind("fields")
def _fields(value: Value) -> Value:
    wanted = "a plist of specs, such as (list :row (spec [8] :i32))"
    if not isinstance(value, List) or not value.items or len(value.items) % 2:
        raise Unfit(wanted)
    seen: set[Value] = set()
    for index in range(0, len(value.items), 2):
        key, spec = value.items[index], value.items[index + 1]
        if isinstance(key, Unknown) or isinstance(spec, Unknown):
            continue
        if not isinstance(key, Keyword):
            raise Unfit("a keyword as the name of each field", key)
        if key in seen:
            raise Unfit(f"the field {key!r} once")
        seen.add(key)
        if not isinstance(spec, Made) or spec.group != "spec":
            raise Unfit(f"a spec for the field {key!r}, such as (spec [8] :i32)", spec)
    return value


@_kind("source")
def _source(value: Value) -> Value:
    if isinstance(value, Made) and value.group == "source":
        return value
    raise Unfit("a source, such as (npz …) or (synthetic n (lambda (index) …))")


@_kind("stages")
def _stages(value: Value) -> Value:
    if not isinstance(value, List) or not value.items:
        raise Unfit("a list of sources, one for each stage")
    for item in value.items:
        if not isinstance(item, Unknown) and not (isinstance(item, Made) and item.group == "source"):
            raise Unfit("a source for each stage", item)
    return value


class Read:
    """A declaration as it was read: each key's value (defaults filled in, what was unfit absent), and where both are written."""

    __slots__ = ("form", "keys", "known", "twice", "unknown_key", "values", "written")

    def __init__(self, form: ListForm) -> None:
        self.form = form
        self.values: dict[str, Value] = {}
        self.keys: dict[str, Form] = {}
        self.written: dict[str, Form] = {}
        self.known = True
        """No key was unknown, missing or unfit."""
        self.unknown_key = False
        self.twice = False

    @property
    def confused(self) -> bool:
        """A key is unknown or written twice, so that one which is not there may be meant by it."""
        return self.unknown_key or self.twice

    @property
    def head(self) -> Form:
        return self.form.items[0]


def pairs(form: ListForm, named: bool | None) -> list[tuple[KeywordForm, Form]]:
    """The keys of a declaration with their values."""
    items = form.items[1:]
    if items and (named or (named is None and isinstance(items[0], SymbolForm))):
        items = items[1:]
    return [(key, value) for key, value in zip(items[::2], items[1::2], strict=False) if isinstance(key, KeywordForm)]


def read_declaration(
    evaluator: Evaluator,
    declaration: Declaration,
    form: ListForm,
    environment: Environment,
    *,
    shape_rule: Rule = rules.DECLARATION_KEY,
) -> Read:
    """Read a declaration by its table. `shape_rule` speaks of unknown and missing keys and of values that are no function."""
    return read_keys(evaluator, declaration, form, pairs(form, declaration.named), environment, shape_rule)


def read_keys(
    evaluator: Evaluator,
    declaration: Declaration,
    form: ListForm,
    written: list[tuple[KeywordForm, Form]],
    environment: Environment,
    shape_rule: Rule = rules.DECLARATION_KEY,
) -> Read:
    """Evaluate and check keys and their values on the host; report what is unknown, written twice, missing or unfit."""
    read = Read(form)

    def work() -> Value:
        for key_form, value_form in written:
            _read_pair(evaluator, declaration, key_form, value_form, environment, read, shape_rule)
        return NIL

    evaluator.traced(Trace("", "host"), work)
    for key in declaration.keys.values():
        if key.name in read.keys:
            continue
        if key.required and not read.confused:
            evaluator.report(
                shape_rule, read.head, f"`{declaration.head}` needs :{key.name}, {key.doc}", f"write :{key.name} and its value"
            )
            read.known = False
        elif key.default is not None:
            read.values[key.name] = key.default
    return read


def _read_pair(
    evaluator: Evaluator,
    declaration: Declaration,
    key_form: KeywordForm,
    value_form: Form,
    environment: Environment,
    read: Read,
    shape_rule: Rule,
) -> None:
    key = declaration.keys.get(key_form.name)
    if key is None:
        read.unknown_key = True
        read.known = False
        _report_unknown(evaluator, declaration, key_form, shape_rule)
    elif key.name in read.keys:
        read.twice = True
        related = (Related(read.keys[key.name], "the first one"),)
        evaluator.report(rules.DECLARED_TWICE, key_form, f":{key.name} is written twice", "keep one of the two", related)
    else:
        read.keys[key.name] = key_form
        read.written[key.name] = value_form
        _read_value(evaluator, key, value_form, environment, read, shape_rule)


def _report_unknown(evaluator: Evaluator, declaration: Declaration, key: KeywordForm, rule: Rule) -> None:
    near = nearest(key.name, declaration.keys)
    have = " ".join(f":{name}" for name in declaration.keys)
    fixes = (Fix(f"write :{near[0]}", (Edit(key, f":{near[0]}"),)),) if near else ()
    evaluator.report(
        rule, key, f"`{declaration.head}` has no key :{key.name}", f"write :{near[0]}" if near else f"it has {have}", (), fixes
    )


def _read_value(evaluator: Evaluator, key: Key, form: Form, environment: Environment, read: Read, shape_rule: Rule) -> None:
    """Evaluate and check one key's value; the name of a loader is a name, not a value."""
    if key.kind == "loader":
        if isinstance(form, SymbolForm):
            read.values[key.name] = form.name
        else:
            read.known = False
            if isinstance(form, BadForm):
                return
            named = form.value if isinstance(form, StringForm) else form.name if isinstance(form, KeywordForm) else ""
            help = f"write {named}" if named else "write the name that defloader gives it"
            evaluator.report(rules.DECLARATION_KEY, form, f":{key.name} is the name of a loader, a symbol", help)
        return
    value = evaluator.evaluate(form, environment)
    if isinstance(value, Unknown):
        read.known = False
        return
    rule = rules.GENERATOR_TRIPS if key.kind == "trips" else shape_rule if key.kind == "function" else rules.DECLARATION_KEY
    try:
        if key.kind == "function" and isinstance(value, Nil) and (key.required or isinstance(value, Absent)):
            raise Unfit("a function")
        read.values[key.name] = KINDS[key.kind](value)
    except Unfit as unfit:
        read.known = False
        given = value if unfit.given is None else unfit.given
        what = given if is_number(given) else kind_of(given)
        message = f":{key.name} wants {unfit.wanted}, and " + ("this is" if unfit.given is None else "there is") + f" {what}"
        if isinstance(given, Node):
            message += ", which is not known before the run"
        whole = key.kind in _WHOLE and isinstance(given, float) and not isinstance(form, NumberForm)
        evaluator.report(rule, form, message, "`/` gives a float; write floor-div for whole numbers" if whole else "")


def plist_entry(value: Value, key: str) -> Value | None:
    """The value behind a keyword of a plist value."""
    return entry(value.items, keyword(key)) if isinstance(value, List) else None
