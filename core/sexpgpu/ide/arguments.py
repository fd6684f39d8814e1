"""Which parameter an argument is for, while the call is still being written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from sexpgpu.ide.places import lists_in
from sexpgpu.ide.recall import Recall
from sexpgpu.ide.roles import Place
from sexpgpu.language.parameters import Malformed, parse_parameters
from sexpgpu.language.signature import Signature
from sexpgpu.language.values import Function, Model
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, SymbolForm

Kind = Literal["positional", "rest", "keyword", "value", "none"]


_SAME = ("ema", "initial")  # of a model, what is called as the model is


class Argument(NamedTuple):
    """What an argument is: one by position, one of the rest, a keyword, or the value of the keyword `name`."""

    kind: Kind
    name: str = ""


class Callee(NamedTuple):
    """What a call calls. `what` is the kind of its definition, or `local`."""

    name: str
    what: str
    signature: Signature


def callee_of(head: Form, place: Place, recall: Recall) -> Callee | None:
    """What the head of a call stands for at a place, if its parameters are known."""
    if isinstance(head, SymbolForm) and head.name not in place.locals:
        definition = recall.definition(head.name)
        if definition is not None and definition.signature is not None:
            return Callee(head.name, definition.kind, definition.signature)
    if isinstance(head, ListForm) and len(head.items) > 1:
        if head.head in _SAME:
            return callee_of(head.items[1], place, recall)
        if head.head == "lambda":
            return _lambda(head)
    if isinstance(head, SymbolForm) and head.name in place.locals:
        made = _made(recall.path[0], place.locals[head.name])
        if made is not None:
            return made._replace(name=head.name)
    for value in recall.values(head, place):
        if isinstance(value, Function):
            what = "defmodel" if isinstance(value, Model) else "local"
            return Callee(head.name if isinstance(head, SymbolForm) else value.name, what, value.signature)
    return None


def _made(top: Form, name: SymbolForm) -> Callee | None:
    """What the binding of a local variable says itself that it is: a `lambda`."""
    for binding in lists_in(top):
        value = binding.items[1] if len(binding.items) == 2 and binding.items[0] is name else None
        if isinstance(value, ListForm) and value.head == "lambda" and len(value.items) > 1:
            return _lambda(value)
    return None


def _lambda(form: ListForm) -> Callee | None:
    try:
        return Callee("lambda", "local", parse_parameters(form.items[1]).signature)
    except Malformed:
        return None


def argument_at(signature: Signature, arguments: Sequence[Form], index: int, typed: str = "") -> Argument:
    """What the argument at an index is, behind those in front of it. `typed` is what has been written of it."""
    positional = signature.positional
    if index < len(positional):
        return Argument("positional", positional[index])
    if not signature.keys:
        return Argument("rest", signature.rest) if signature.rest is not None else Argument("none")
    before = arguments[index - 1] if index > len(positional) else None
    if (index - len(positional)) % 2 and isinstance(before, KeywordForm):
        return Argument("value", before.name)
    if signature.rest is not None and not typed.startswith(":"):
        return Argument("rest", signature.rest)
    return Argument("keyword", typed.removeprefix(":"))


def keywords_left(signature: Signature, arguments: Iterable[Form], behind: Iterable[str]) -> list[str]:
    """The keyword parameters that a call does not give yet, those it needs in front."""
    given = {each.name for each in arguments if isinstance(each, KeywordForm)} | set(behind)
    left = [name for name in signature.keys if name not in given]
    return sorted(left, key=lambda name: name not in signature.required_keys)
