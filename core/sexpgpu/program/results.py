"""What a contract function returned, and where the file says so."""

from __future__ import annotations

from typing import NamedTuple

from sexpgpu.diagnostics.finding import Rule
from sexpgpu.graph.nodes import Node
from sexpgpu.language.control import SPECIAL
from sexpgpu.language.evaluator import Evaluator
from sexpgpu.language.frames import Trace
from sexpgpu.language.values import (
    UNKNOWN,
    Absent,
    Closure,
    Function,
    Keyword,
    List,
    Nil,
    Plist,
    Unknown,
    Value,
    key_text,
    kind_of,
    written_names,
)
from sexpgpu.reader.forms import Form, ListForm

_TAIL = ("let", "let*", "progn", "scope")
_CHOICE = ("if", "when", "unless", "cond", "and", "or")


def last_expression(evaluator: Evaluator, trace: Trace, function: Value, at: Form) -> Form:
    """The expression in tail position that made a function's value; `at` where the function has no body of its own."""
    if not isinstance(function, Closure) or function.form.top.source.builtin:
        return at
    form: Form = function.body[-1]
    while isinstance(form, ListForm) and form.head in SPECIAL and form not in evaluator.marks.ordinary:
        if form.head in _TAIL and len(form.items) > 2:
            form = form.items[-1]
        elif form.head in _CHOICE and form in trace.taken:
            form = trace.taken[form]
        else:
            break
    return form


class Entry(NamedTuple):
    """One entry of a returned plist: where its name and value are written (the last expression, where no `list` writes them)."""

    name: str
    value: Value
    at: Form
    name_at: Form
    written: bool
    string: bool = False


class Returned:
    """A returned plist of tensors, entry by entry; what is no tensor is reported, and its value unknown.

    `open` says that there may be entries which are not known.
    """

    __slots__ = ("entries", "open", "whole")

    def __init__(self, entries: list[Entry], *, open: bool = False) -> None:
        self.entries = {entry.name: entry for entry in entries}
        self.open = open
        self.whole: Plist | None = None


def returned_tensors(
    evaluator: Evaluator,
    trace: Trace,
    function: Value,
    value: Value,
    at: Form,
    rule: Rule,
    who: str,
    *,
    empty: bool = False,
    strings: bool = False,
) -> Returned:
    """Check that a contract function returned a plist of tensors, with a keyword (or, with `strings`, a string) before each.

    `rule` speaks of what it returned instead, at the entry's value where a `list` in tail position writes it, else at the last
    expression; the graph is not traced whole then. `empty` allows one without entries.
    """
    last = last_expression(evaluator, trace, function, at)
    if isinstance(value, Unknown) or spent(value):
        return Returned([], open=True)
    if isinstance(value, Plist) and value.open and not value.items:
        return Returned([], open=True)
    if isinstance(value, List) and any(isinstance(name, Unknown) for name in value.items[::2]):
        return Returned([], open=True)
    wrong = _wrong(value, strings)
    if wrong == _EMPTY and empty:
        return Returned([])
    if wrong or not isinstance(value, List):
        trace.graph.whole = False
        evaluator.report(rule, last, f"{who} returns a plist of tensors, and this {wrong}", "return (list :name tensor …)")
        return Returned([], open=True)
    returned = Returned(_entries(evaluator, trace, value, last, rule, who))
    if isinstance(value, Plist):
        returned.whole, returned.open = value, value.open
    return returned


_EMPTY = "is empty"


def _wrong(value: Value, strings: bool) -> str:
    """What makes a value no plist with a keyword before each value, said of `this`; of one without entries, that it is empty."""
    if isinstance(value, Absent) or not isinstance(value, (Nil, List)):
        return f"is {kind_of(value)}"
    if isinstance(value, Nil) or not value.items:
        return _EMPTY
    allowed = (Keyword, str) if strings else (Keyword,)
    strange = next((name for name in value.items[::2] if not isinstance(name, allowed)), None)
    if strange is not None:
        return f"has {kind_of(strange)} where a keyword should stand"
    return "ends with a keyword that has no value" if len(value.items) % 2 else ""


def _entries(evaluator: Evaluator, trace: Trace, value: List, last: Form, rule: Rule, who: str) -> list[Entry]:
    written = value.made_by is last and isinstance(last, ListForm)
    names = written_names(value)
    entries: list[Entry] = []
    for index in range(0, len(value.items), 2):
        name, item = value.items[index], value.items[index + 1]
        assert isinstance(name, (Keyword, str))
        text = key_text(name)
        at = last.items[index + 2] if written and isinstance(last, ListForm) else last
        if spent(item):
            trace.graph.whole, item = False, UNKNOWN
        if not isinstance(item, (Node, Unknown)):
            what = f"the number {item}" if isinstance(item, (int, float)) and not isinstance(item, bool) else kind_of(item)
            help = (
                f"write (full [] {str(item).lower()}) to make a tensor of it"
                if isinstance(item, (int, float))
                else "return (list :name tensor …)"
            )
            evaluator.report(rule, at, f"{who} returns a plist of tensors, and its entry :{text} is {what}", help)
            trace.graph.whole, item = False, UNKNOWN
        entries.append(Entry(text, item, at, names.get(text, last), written, isinstance(name, str)))
    return entries


def spent(value: Value) -> bool:
    """Whether a value is an absent entry that was reported before; if it was not, it counts as reported from here on."""
    return isinstance(value, Absent) and not value.use()


def output(trace: Trace, name: str, node: Node) -> None:
    """Make a node an output of the graph."""
    if node.index < 0:
        trace.graph.add(node)
    trace.graph.outputs[name] = node


def accepts(function: Value, count: int) -> bool:
    """Whether a function can be called with that many arguments."""
    return isinstance(function, Function) and function.signature.takes(count)
