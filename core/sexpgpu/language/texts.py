"""Host functions on strings, predicates, `assert` and `print`."""

from __future__ import annotations

from sexpgpu.diagnostics import rules
from sexpgpu.graph.nodes import Node, typed
from sexpgpu.language.effects import UsedWhole
from sexpgpu.language.fault import LimitPassed, UnknownArgument
from sexpgpu.language.host import evaluator_of, host
from sexpgpu.language.values import (
    UNKNOWN,
    Absent,
    Function,
    Keyword,
    List,
    Made,
    Model,
    Nil,
    Plist,
    Symbol,
    Unknown,
    Value,
    keyword,
    kind_of,
    truthy,
)
from sexpgpu.ops.call import Call, item_forms
from sexpgpu.reader.forms import Form

MOST_CHARACTERS = 100_000


def _bounded(call: Call, text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        raise LimitPassed(f"a string of more than {MOST_CHARACTERS:,} characters")
    call.tracer.tick(len(text) // 1000)
    return text


def shown(call: Call, value: Value, *, quoted: bool = False) -> str:
    """A value as text: a string as it is (or `quoted`), a tensor as its type, all else as it is written."""
    match value:
        case str():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
            return f'"{escaped}"' if quoted else value
        case bool():
            return "true" if value else "false"
        case int() | float() | Nil() | Keyword() | Symbol():
            return repr(value)
        case List():
            call.tracer.tick(len(value.items))
            parts: list[str] = []
            total = 0
            for item in value.items:
                parts.append(shown(call, item, quoted=True))
                total += len(parts[-1]) + 1
                if total > MOST_CHARACTERS:
                    raise LimitPassed(f"a string of more than {MOST_CHARACTERS:,} characters")
            return f"[{' '.join(parts)}]" if value.vector else f"({' '.join(parts)})"
        case Node():
            return typed(value.shape, value.dtype)
        case Model():
            return f"<model {value.name}>"
        case Function():
            return f"<function {value.name}>"
        case Made():
            return f"<{value.name}>"
        case Unknown():
            raise UnknownArgument
        case _:
            return repr(value)


def _text(call: Call, value: Value, at: int) -> str:
    if isinstance(value, Node):
        of_tensor = "a tensor has no text before the run; `print` shows its shape and dtype"
        raise call.wrong_kind(value, call.rest_at(at), "text", staged=False, of_tensor=of_tensor)
    return shown(call, value)


@host("str", "&rest values", "text", "Its arguments as text, joined.", '(str "loss-" 3)')
def _str(call: Call) -> Value:
    return _bounded(call, "".join(_text(call, value, index) for index, value in enumerate(call.raw_rest)))


@host("format", "template &rest values", "text", "The template with each `{}` replaced by an argument.", '(format "layer {}" 3)')
def _format(call: Call) -> Value:
    pieces = call.string("template").split("{}")
    values = call.raw_rest
    if len(pieces) - 1 != len(values):
        message = f"the template has {len(pieces) - 1} `{{}}`, and {len(values)} value{'s' * (len(values) != 1)} for them"
        raise call.fault(rules.TYPE_KIND, "template", message, "write one {} for each value")
    texts = [_text(call, value, index) for index, value in enumerate(values)]
    return _bounded(call, pieces[0] + "".join(text + piece for text, piece in zip(texts, pieces[1:], strict=True)))


@host("keyword", "string", "text", "The keyword of that name.", '(keyword "row")')
def _keyword(call: Call) -> Value:
    return keyword(call.string("string").removeprefix(":"))


@host("starts-with", "string prefix", "text", "Whether a string begins with another.", '(starts-with path "model/embed")')
def _starts_with(call: Call) -> Value:
    return call.string("string").startswith(call.string("prefix"))


@host("ends-with", "string suffix", "text", "Whether a string ends with another.", '(ends-with path "bias")')
def _ends_with(call: Call) -> Value:
    return call.string("string").endswith(call.string("suffix"))


@host("contains", "string part", "text", "Whether a string holds another.", '(contains path "norm")')
def _contains(call: Call) -> Value:
    return call.string("part") in call.string("string")


# Predicates


@host(
    "null",
    "value",
    "predicates",
    "Whether a value is nil; asks whether an entry exists without reading it.",
    "(null (getf ctx :tokens))",
)
def _null(call: Call) -> Value:
    return isinstance(call.value("value"), Nil)


@host("not", "value", "predicates", "Whether a value is nil or false.", "(not (null x))")
def _not(call: Call) -> Value:
    value = call.value("value")
    if isinstance(value, Node):
        evaluator_of(call).trace.incomplete = True
        message = f"`not` decides on the host, before the run, and this is {kind_of(value)}"
        raise call.fault(
            rules.STAGE_TENSOR, "value", message, "write (logical-not …), which decides for each element during the run"
        )
    return not truthy(value)


@host("equal", "a b", "predicates", "Whether two host values are alike, lists item by item.", "(equal (shape x) [4 8])")
def _equal(call: Call) -> Value:
    return _alike(call, (call.value("a"), call.at("a")), (call.value("b"), call.at("b")))


def _alike(call: Call, *both: tuple[Value, Form]) -> bool:
    """Whether two values are alike, each given with the form that wrote it."""
    call.tracer.tick()
    for value, at in both:
        if isinstance(value, Unknown):
            raise UnknownArgument
        if isinstance(value, Node):
            message = f"`equal` compares host values, and this is {kind_of(value)}"
            raise call.fault(rules.STAGE_TENSOR, at, message, "write (= x y), which compares element by element during the run")
    (a, a_at), (b, b_at) = both
    if isinstance(a, List) and isinstance(b, List):
        pairs = zip(zip(a.items, item_forms(a, a_at), strict=True), zip(b.items, item_forms(b, b_at), strict=True), strict=False)
        return len(a.items) == len(b.items) and all(_alike(call, x, y) for x, y in pairs)
    if isinstance(a, Nil) or isinstance(b, Nil):
        empty = [value for value in (a, b) if isinstance(value, Nil) or (isinstance(value, List) and not value.items)]
        return len(empty) == 2
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, Symbol) and isinstance(b, Symbol):
        return a.name == b.name
    if isinstance(a, (int, float, str)) and isinstance(b, (int, float, str)):
        return a == b
    return a is b


def _is(name: str, doc: str, example: str, *kinds: type) -> None:
    @host(name, "value", "predicates", doc, example)
    def _rule(call: Call) -> Value:
        value = call.value("value")
        return isinstance(value, kinds) and not (name == "number?" and isinstance(value, bool))


_is("number?", "Whether a value is a host number.", "(number? 3)", int, float)
_is("string?", "Whether a value is a string.", '(string? "a")', str)
_is("keyword?", "Whether a value is a keyword.", "(keyword? :row)", Keyword)
_is("list?", "Whether a value is a list or vector; nil is the empty one.", "(list? [1 2])", List, Nil)
_is("tensor?", "Whether a value is a tensor.", "(tensor? x)", Node)
_is("function?", "Whether a value is a function or model.", "(function? gelu)", Function)


# Speaking


@host(
    "assert",
    "condition message",
    "checks",
    "Stops with a message of your own where a condition does not hold before the run.",
    '(assert (= (mod width heads) 0) "width must divide by heads")',
)
def _assert(call: Call) -> Value:
    condition = call.value("condition")
    if isinstance(condition, Absent):
        condition = False
    if isinstance(condition, Node):
        raise call.wrong_kind(condition, call.at("condition"), "a condition")
    message = call.string("message")
    if truthy(condition):
        return True
    raise call.fault(rules.ASSERT_FAILED, None, message)


@host(
    "print",
    "[label] value",
    "checks",
    "Shows a host value, or a tensor's shape and dtype, where the file is checked; gives the value. `label` may be left out: "
    "`(print x)`.",
    '(print "hidden" x)',
    strict=False,
)
def _print(call: Call) -> Value:
    label, value = call.raw("label") if call.supplied("label") else None, call.raw("value")
    if isinstance(value, Unknown):
        return UNKNOWN
    if isinstance(value, Plist):
        evaluator_of(call).do(UsedWhole(value))
    text = shown(call, value, quoted=True)
    if label is not None and not isinstance(label, Unknown):
        text = f"{shown(call, label)}: {text}"
    evaluator_of(call).tell(call.form, text)
    return value
