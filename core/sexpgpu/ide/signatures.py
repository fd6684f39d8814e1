"""What the call that is being written takes, and which of its parameters the place stands at.

A call is known by its head alone, so that it may be open at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sexpgpu.ide.arguments import argument_at, callee_of, keywords_left
from sexpgpu.ide.cursor import Cursor, cursor_at, keywords_behind
from sexpgpu.ide.markup import Part, Prose
from sexpgpu.ide.recall import Recall, View
from sexpgpu.ide.roles import Place, place_of
from sexpgpu.language.host import HOST
from sexpgpu.language.shapes import Shape
from sexpgpu.language.signature import Signature
from sexpgpu.language.special import SPECIAL_FORMS, TOP_LEVEL
from sexpgpu.ops import OPS
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.reader.forms import Form, KeywordForm, ListForm
from sexpgpu.source import Source

_MORE = "…"
_OPENING = ("(", "[", "'")


class Parameter(NamedTuple):
    """A parameter: where it stands in the text of its signature, its name, and what is said of it."""

    start: int
    end: int
    name: str
    doc: str = ""


class Call(NamedTuple):
    """A way to write a call: the text, its parameters, what is said of it, and the index of the parameter that the place stands
    at (that behind the last where it stands at none)."""

    text: str
    parameters: tuple[Parameter, ...]
    doc: tuple[Part, ...]
    active: int


class Help(NamedTuple):
    """The ways to write a call, and the index of the one that is being written."""

    calls: tuple[Call, ...]
    active: int


def signature_help(views: Sequence[View], source: Source, offset: int) -> Help | None:
    """What the innermost call around an offset takes; None where none is known. `views` are what is known of the file, the latest
    first: its text may have moved on."""
    cursor = cursor_at(source, offset)
    if cursor is None or not cursor.path:
        return None
    recall = Recall(views, cursor.top, cursor.path)
    for length in range(len(cursor.path), 1, -1):
        inner = cursor.path[:length]
        around = inner[-2]
        if not isinstance(around, ListForm) or around.items[0] is inner[-1]:
            continue
        if length > 2 and place_of(inner[:-1]).role not in ("value", "head", "key"):
            continue
        place = place_of(inner)
        typed = cursor.typed if length == len(cursor.path) and cursor.kind == "word" else ""
        behind = keywords_behind(source.text, cursor.end) if length == len(cursor.path) else []
        begun = length < len(cursor.path) or (cursor.kind == "word" and _begun(source.text, cursor))
        return _help(recall, place, around, typed, behind, top=length == 2, begun=begun)
    return None


def _begun(text: str, cursor: Cursor) -> bool:
    """Whether a form that is no string stands at the place already."""
    return cursor.start < cursor.end or text[cursor.end : cursor.end + 1] in _OPENING


def _help(recall: Recall, place: Place, call: ListForm, typed: str, behind: list[str], *, top: bool, begun: bool) -> Help | None:
    name = place.head
    before = call.items[1 : place.at]
    if top and name in DECLARATIONS and name != "defmodel":
        return _declaration(place, name, before, typed, behind)
    row = (TOP_LEVEL if top else SPECIAL_FORMS).get(name)
    if row is not None:
        text, parameters = parts_of(row)
        return Help((Call(text, parameters, (Prose(row.doc),), _part(place, row, parameters, typed, begun)),), 0)
    callee = callee_of(call.items[0], place, recall)
    if callee is None:
        return None
    text, parameters = written(callee.name, callee.signature)
    active = _argument(callee.signature, parameters, before, typed, behind)
    return Help((Call(text, parameters, tuple(_doc(recall, callee.name, callee.what)), active),), 0)


def _doc(recall: Recall, name: str, what: str) -> list[Part]:
    row = OPS.get(name) if what == "operator" else HOST.get(name) if what == "host" else None
    if row is not None:
        return [Prose(row.doc)]
    definition = recall.definition(name) if what != "local" else None
    return [Prose(definition.documentation)] if definition is not None and definition.documentation else []


# Functions


def written(name: str, signature: Signature) -> tuple[str, tuple[Parameter, ...]]:
    """How a call is written, `(softmax x &key (axis -1))`, and where its parameters stand in that."""
    text = f"({name}"
    found: list[Parameter] = []

    def add(parameter: str, shown: str, doc: str = "") -> None:
        nonlocal text
        text += " "
        found.append(Parameter(len(text), len(text) + len(shown), parameter, doc))
        text += shown

    for each in signature.required:
        add(each, each)
    text += " &optional" if signature.optional else ""
    for each, default in signature.optional:
        add(each, f"({each} {default})")
    if signature.rest is not None:
        text += " &rest"
        add(signature.rest, signature.rest)
    text += " &key" if signature.keys else ""
    for each, default in signature.keys.items():
        add(each, each if each in signature.required_keys else f"({each} {default})")
    return text + ")", tuple(found)


def _argument(signature: Signature, parameters: Sequence[Parameter], before: Sequence[Form], typed: str, behind: list[str]) -> int:
    argument = argument_at(signature, before, len(before), typed)
    name = argument.name
    if argument.kind == "keyword" and name not in signature.keys:
        left = keywords_left(signature, before[len(signature.positional) :], behind)
        name = next((each for each in left if each.startswith(name)), "")
    found = _index(parameters, name, last=argument.kind in ("keyword", "value"))
    if found == len(parameters) and signature.rest is not None:
        return _index(parameters, signature.rest)  # what is none of the keys is one of the rest
    return found


def _index(parameters: Sequence[Parameter], name: str, *, last: bool = False) -> int:
    """The index of a parameter, of two of one name the first or the `last`; that behind all where there is none."""
    found = [index for index, each in enumerate(parameters) if each.name == name]
    return (found[-1] if last else found[0]) if found and name else len(parameters)


# Forms


def parts_of(row: Shape) -> tuple[str, tuple[Parameter, ...]]:
    """How a special form or a form of the top level is written, and where its parts stand in that; a key and its value are one."""
    text = row.shape
    found: list[Parameter] = []
    depth, start = 0, 0
    for index, character in enumerate(text):
        if (character == " " and depth == 1) or (character == ")" and depth == 1):
            part = text[start:index]
            if found and found[-1].name.startswith(":") and " " not in found[-1].name:
                key = found.pop()
                found.append(Parameter(key.start, index, f"{key.name} {part}"))
            elif start > 1 and part:
                found.append(Parameter(start, index, part))
            start = index + 1
        depth += (character == "(") - (character == ")")
    return text, tuple(found)


def _part(place: Place, row: Shape, parts: Sequence[Parameter], typed: str, begun: bool) -> int:
    """The part of a form that a place stands at, where maybe a form that is no string is `begun`."""
    key = f":{place.key}" if place.key else typed if place.role == "key" and typed.startswith(":") else ""
    if key:
        return next((index for index, each in enumerate(parts) if each.name.startswith(key)), len(parts))
    plain = [index for index, each in enumerate(parts) if not each.name.startswith(":") and each.name != _MORE]
    if not plain:
        return len(parts)
    at = place.at - 1
    if row.name == "defun" and at >= 2:
        return len(parts) - (1 if at > 2 or begun or place.role != "value" else 2)
    repeats = row.most is None
    if row.name in ("scope", "defmodel") and at >= len(plain) - 1:
        at = len(plain) - 1
    return plain[at] if at < len(plain) else plain[-1] if repeats else len(parts)


# Declarations


def _declaration(place: Place, head: str, before: Sequence[Form], typed: str, behind: list[str]) -> Help:
    """A declaration's keys, those that it needs marked; of `defoptimizer`, also the other way to write it."""
    declaration = DECLARATIONS[head]
    text = f"({head}"
    found: list[Parameter] = []
    if declaration.named is not False:
        found.append(Parameter(len(text) + 1, len(text) + 5, "name", "" if declaration.named else "may be left out"))
        text += " name"
    for key in declaration.keys.values():
        shown = f":{key.name}" if key.required else f"[:{key.name}]"
        found.append(Parameter(len(text) + 1, len(text) + 1 + len(shown), f":{key.name}", key.doc))
        text += f" {shown}"
    written_keys = {each.name for each in before if isinstance(each, KeywordForm)} | set(behind)
    wanted = f":{place.key}" if place.key else "name"
    if place.role == "key" or (place.role == "value" and not place.key) or typed.startswith(":"):
        left = [f":{name}" for name in declaration.keys if name not in declaration.settled(written_keys)]
        exact = typed if typed[1:] in declaration.keys else ""
        wanted = exact or next((each for each in left if each.startswith(typed or ":")), "")
    keyed = Call(f"{text})", tuple(found), (Prose(declaration.doc),), _index(found, wanted))
    if head != "defoptimizer":
        return Help((keyed,), 0)
    one = "(defoptimizer optimizer)"
    made = Parameter(14, 23, "optimizer", "one of the language's, such as (adamw :lr 0.001)")
    by_key = typed.startswith(":") or bool(before)
    return Help((Call(one, (made,), (Prose(TOP_LEVEL[head].doc),), int(by_key)), keyed), int(by_key))
