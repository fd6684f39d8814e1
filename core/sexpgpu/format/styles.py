"""How lists are laid out: one row for each kind, and the table of which head has which.

What is known from the shape of a special or top-level form (`sexpgpu.language.special`) follows from it, so that a new form of a
known shape is laid out as its likes are. A head without a row is a call.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from sexpgpu.language import shapes
from sexpgpu.language.special import WORDS

WIDTH = 100

Keys = Literal["none", "trailing", "leading", "declared"]
_NONE = range(0)


class Style(NamedTuple):
    """How the parts of a list stand; the head is part 0.

    `indent` is how far behind its bracket a part stands that begins a line; with `below_first` it stands below part 1, where that
    is on the head's line. `special` parts behind the head stand 4 behind the bracket. No break is put before part 1 to `stays`;
    with `fill` a list that is too long is broken only where a line ends, not before each part.

    `keys` says which keywords have the part behind them for a value: those at the end of the list (from part `keys_from` on), those
    in front of the body, or, in a declaration, all from the first one on, each of which begins a line. `parts` and `each` lay out
    the lists inside: by place, and all others; None: by their own heads. In `data`, so are all lists inside.
    """

    indent: int = 2
    below_first: bool = False
    special: int = 0
    stays: int = 0
    fill: bool = False
    keys: Keys = "none"
    keys_from: int = 2
    parts: Mapping[int, Style] = MappingProxyType({})
    each: Style | None = None
    data: bool = False

    def inside(self, place: int) -> Style | None:
        """The style of a list that stands at a place of this one, if that does not depend on its head."""
        return DATA if self.data else self.parts.get(place, self.each)


def _body(special: int, parts: Mapping[int, Style] | None = None, keys: Keys = "none") -> Style:
    return Style(special=special, stays=special, parts=parts or {}, keys=keys)


TOP = Style(indent=1, stays=1 << 30)
DATA = Style(indent=1, fill=True, data=True)
VECTOR = Style(indent=1, fill=True)
CALL = Style(below_first=True, stays=1, keys="trailing")
KEYED_CALL = CALL._replace(keys_from=1)
BINDING = Style(stays=1)
BINDINGS = Style(indent=1, each=BINDING)
PARAMETERS = Style(indent=1, fill=True, each=BINDING)
CLAUSE = Style(indent=1)

# By the check of a form's shape, which knows its parts.
_BY_SHAPE: dict[shapes.Check, Style] = {
    shapes.bindings: _body(1, {1: BINDINGS}),
    shapes.loop: _body(1, {1: BINDING}),
    shapes.parameters: _body(1, {1: PARAMETERS}),
    shapes.clauses: CALL._replace(each=CLAUSE),
    shapes.scoped: _body(1, keys="leading"),
    shapes.named: _body(1),
    shapes.function: _body(2, {2: PARAMETERS}),
    shapes.model: _body(2, {2: PARAMETERS}, "leading"),
    shapes.declaration: _body(1, keys="declared"),
    shapes.run: Style(stays=1, keys="declared"),  # a name may be left out: one on a line of its own stands as keys do
    shapes.pairs: _body(0, keys="declared"),
    shapes.optimizer: _body(0, keys="declared"),
    shapes.path: CALL,
}
# By name, where a shape knows no more than how many parts there are, and calls that are not laid out as others: those that take
# nothing but keys, and `synthetic`, whose function is a body.
_BY_NAME: dict[str, Style] = {
    "when": _body(1),
    "unless": _body(1),
    "progn": _body(0),
    "quote": CALL._replace(parts={1: DATA}),
    "synthetic": _body(1),
    **dict.fromkeys(("list", "sgd", "adam", "adamw", "lion", "adafactor", "muon", "init-normal"), KEYED_CALL),
}
STYLES: dict[str, Style] = {
    **{name: _BY_SHAPE[row.check] for name, row in WORDS.items() if row.check is not None},
    **_BY_NAME,
}


def style_of(context: Style | None, vector: bool, head: str | None) -> Style:
    """The style of a list or vector. `context` is what the list around it says, `head` the symbol in front."""
    if context is DATA:
        return DATA
    if vector:
        return VECTOR
    return context or (STYLES.get(head, CALL) if head else CALL)


def key_places(style: Style, starts: Sequence[str], own_line: Container[int] = ()) -> range:
    """The places of the keys that have the next part for a value. `starts` are the first characters of the parts; those at
    `own_line` begin a line.

    A `list` of nothing but keywords has pairs only if none of the would-be values begins a line.
    """
    end = len(starts)
    if style.keys == "trailing":
        begin = end
        while begin - 2 >= style.keys_from and starts[begin - 2] == ":":
            begin -= 2
        values = range(begin + 1, end, 2)
        if begin == 1 and all(starts[place] == ":" for place in values) and any(place in own_line for place in values):
            return _NONE
        return range(begin, end - 1, 2)
    if style.keys == "leading":
        begin = style.special + 1
        if begin + 1 < end and starts[begin] == '"':
            begin += 1  # a model's documentation
        stop = begin
        while stop + 1 < end and starts[stop] == ":":
            stop += 2
        return range(begin, stop, 2)
    if style.keys == "declared":
        begin = next((place for place in range(1, end) if starts[place] == ":"), end)
        stop = begin
        while stop < end and starts[stop] == ":":
            stop += 2
        return range(begin, stop, 2)
    return _NONE
