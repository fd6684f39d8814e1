"""Edits as somebody makes them who works on a file: small ones that leave it readable, slips that are mended soon, and undoing.

A `Desk` has one text and a source of chance: each `step` is one `Change` of its text. `strange` adds what editors send now and
then: lone surrogates, NULs, all kinds of line ends, byte-order marks, characters beyond the first plane.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from sexpgpu.reader import read
from sexpgpu.reader.forms import TopForm
from sexpgpu.source import Source

_LONGEST_SPOILT = 4
_LONGEST_AWAY = 40
_MOST_UNDONE = 60

_ATOM = re.compile(r'"(?:[^"\\]|\\.)*"|;[^\n]*|[^\s()\[\]"\';]+')
_NUMBER = re.compile(r"(?<![^\s()\[\]'])-?\d[\d_.e-]*(?![^\s()\[\]])")
_KEYWORD = re.compile(r"(?<=[\s(\[]):[a-z][\w-]*")
_DTYPE = re.compile(r":(?:f32|f64|f16|bf16|i8|i32|i64|u8|bool)\b")
_PAIR = re.compile(r"\s:[a-z][\w-]*\s+(?:[^\s()\[\]\"]+|\[[^()\[\]]*\]|\"[^\"]*\")")
_HEADER = re.compile(r"\((?:defun|defmodel)\s+[^\s()]+\s+\(([^()\[\]]*)\)|\(lambda\s+\(([^()\[\]]*)\)")
_NAMED = re.compile(r"^\((?:def|defun|defmodel|defloader|defpass)\s+([^\s()\[\]\"]+)", re.MULTILINE)
_WORD_END = r"(?![^\s()\[\]\"';])"
_WORD_START = r"(?<![^\s()\[\]\"';])"
_DTYPES = [":f32", ":bf16", ":i32", ":i64", ":bool", ":f16"]
_WRAPPED = [
    "(progn {})", "(+ {} 0.0)", "(let ((zz {})) zz)", "(scope :zz {})", "(print {})", "(dropout {} 0.1)", "(cast {} :f32)",
    "(if true {} nil)", "(list {})", "(relu {})", "(sum {} :axes [0])", "(linear :zz {} 8)", "(reshape {} [-1])",
    "(+ {} (uniform []))",
    "(mapcar (lambda (zz) (+ zz 1)) (list {}))", "((lambda (zz) zz) {})",
]  # fmt: skip
_TYPED = [
    "(print width)", "(+ x 1)", "(let ((h x)) (gelu h))", '(metric "more" (mean x))', "(diagnostic \"size\" 1.0)",
    "(normal [2 3])", ":salt 3", "; a word\n", '"text"', "(getf ctx :step)", "(counter :more 3)", "(param :w [4 4])",
]  # fmt: skip
_PASTED = [
    "(def pasted 3)\n", "(defun pasted (x &optional (y 2) &key (z 3)) (+ x (* y z)))\n", "(print (uniform [2]))\n",
    "(def pasted-list (mapcar (lambda (i) (* i i)) (range 5)))\n", "(defpass pasted :every 7)\n", "(assert (< 1 2))\n",
    "; sexpgpu: ignore[W-NAME-001]\n", "(defrun pasted :steps 3)\n", "(def pasted\n", ")\n", "#| more\n   text |#\n", "#; (gone) ",
]  # fmt: skip
_STRANGE = [
    "\x00", "\ud800", "\udfff", '"\ud83d"', "🙂", '"🙂🙂"', "\ufeff", "\f", "\v", "\x85", "\u2028", "\u2029", "\r", "\r\n", "\n",
    "\t",
    '"\\u{d800}"', '"\\u{110000}"', '"\\u{1f642}"', "é", "; 𝒳 and 🙂\n", "#\\", "\x7f", "\x1b[31m", "a\u0301", "\u202e",
]  # fmt: skip


class Change(NamedTuple):
    """Replace a part of a text, by offsets; `what` says how it came about."""

    what: str
    start: int
    end: int
    text: str

    def of(self, text: str) -> str:
        """The text with the change."""
        return text[: self.start] + self.text + text[self.end :]

    def back(self, text: str) -> Change:
        """What undoes the change of that text."""
        return Change("undo", self.start, self.start + len(self.text), text[self.start : self.end])


class Desk:
    """A text at which somebody works. It is the text that was begun with every few dozen steps, and never long one that does not
    read."""

    def __init__(self, text: str, chance: random.Random, *, strange: bool = False) -> None:
        self.text = text
        self._original = text
        self._chance = chance
        self._edits = [*_EDITS, *([_strange] * (len(_EDITS) // 6) if strange else ())]
        self._waiting: list[Change] = []
        self._done: list[Change] = []
        self._undone: list[Change] = []
        self._reading = read(Source("", text))
        self._spoilt = self._away = 0

    def step(self) -> Change:
        """Make the next change."""
        change = self._next()
        undoing = change.what == "undo"
        inverse = change.back(self.text)
        self.text = change.of(self.text)
        if undoing:
            self._undone.append(inverse._replace(what="redo"))
        else:
            self._done = [*self._done[-_MOST_UNDONE:], inverse]
            if change.what != "redo":
                self._undone.clear()
        self._reading = read(Source("", self.text), self._reading)
        self._spoilt = self._spoilt + 1 if self._reading.findings else 0
        self._away = 0 if self.text == self._original else self._away + 1
        return change

    def _next(self) -> Change:
        chance = self._chance
        if self._away > _LONGEST_AWAY:
            self._waiting.clear()
            self._done.clear()
            return difference("return", self.text, self._original)
        if self._waiting:
            return self._waiting.pop(0)
        if self._done and (self._spoilt > _LONGEST_SPOILT or chance.random() < 0.15):
            return self._done.pop()
        if self._undone and chance.random() < 0.3:
            return self._undone.pop()
        while True:
            changes = list(chance.choice(self._edits)(self.text, chance, self._reading.forms))
            if changes and changes[0].of(self.text) != self.text:
                self._waiting = changes[1:]
                return changes[0]


def difference(what: str, old: str, new: str) -> Change:
    """The smallest change that makes one text of another."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    same = 0
    while same < min(len(old), len(new)) - start and old[len(old) - 1 - same] == new[len(new) - 1 - same]:
        same += 1
    return Change(what, start, len(old) - same, new[start : len(new) - same])


Tops = list[TopForm]
Edits = Iterator[Change]
"""The first change of them speaks of the text given, each other of the text behind the one before."""


def _one(pattern: re.Pattern[str], text: str, chance: random.Random) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return chance.choice(found) if found else None


def _group_end(text: str, start: int) -> int | None:
    """Where the bracket closes that opens at `start`, strings and comments left out of account as far as that matters here."""
    depth = 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|;[^\n]*|[()\[\]]', text[start:]):
        if match[0] in "([":
            depth += 1
        elif match[0] in ")]":
            depth -= 1
            if depth == 0:
                return start + match.end()
    return None


def _expression(text: str, chance: random.Random) -> tuple[int, int] | None:
    """Where some atom or list inside a form stands."""
    if chance.random() < 0.5:
        match = _one(_ATOM, text, chance)
        return None if match is None or match[0].startswith(";") else match.span()
    opening = _one(re.compile(r"(?<=[\s(\[])\("), text, chance)
    if opening is None:
        return None
    end = _group_end(text, opening.start())
    return None if end is None else (opening.start(), end)


def _number(text: str, chance: random.Random, tops: Tops) -> Edits:
    match = _one(_NUMBER, text, chance)
    if match is not None:
        new = chance.choice(["0", "1", "2", "3", "7", "16", "0.5", "-1", match[0] + "0", match[0][:-1] or "9"])
        yield Change("number", *match.span(), new)


def _dtype(text: str, chance: random.Random, tops: Tops) -> Edits:
    match = _one(_DTYPE, text, chance)
    if match is not None:
        yield Change("dtype", *match.span(), chance.choice(_DTYPES))


def _atom(text: str, chance: random.Random, tops: Tops) -> Edits:
    match, other = _one(_ATOM, text, chance), _one(_ATOM, text, chance)
    if match is not None and other is not None and not other[0].startswith(";"):
        yield Change("atom", *match.span(), other[0])


def _keyword(text: str, chance: random.Random, tops: Tops) -> Edits:
    match, other = _one(_KEYWORD, text, chance), _one(_KEYWORD, text, chance)
    if match is not None and other is not None:
        yield Change("keyword", *match.span(), chance.choice([other[0], match[0] + "x", match[0][:-1] + "s", ":zz"]))


def _pair(text: str, chance: random.Random, tops: Tops) -> Edits:
    """A key with its value goes, is doubled, or comes from elsewhere."""
    match, other = _one(_PAIR, text, chance), _one(_PAIR, text, chance)
    if match is not None and other is not None:
        yield Change("pair", *match.span(), chance.choice(["", match[0] * 2, other[0], match[0] + other[0]]))


def _parameter(text: str, chance: random.Random, tops: Tops) -> Edits:
    """A parameter is renamed, in its whole form or at one end only."""
    header = _one(_HEADER, text, chance)
    names = [] if header is None else [name for name in (header[1] or header[2] or "").split() if not name.startswith("&")]
    if header is None or not names:
        return
    name = chance.choice(names)
    end = _group_end(text, header.start()) or len(text)
    if chance.random() < 0.3:
        end = header.end()
    piece = text[header.start() : end]
    new = chance.choice([f"{name}x", "zz", "x", "sum", "ctx"])
    yield Change("parameter", header.start(), end, re.sub(_WORD_START + re.escape(name) + _WORD_END, new, piece))


def _symbol(text: str, chance: random.Random, tops: Tops) -> Edits:
    """What the top level defines is renamed wherever it stands, or only where it is defined."""
    match = _one(_NAMED, text, chance)
    if match is None:
        return
    name, new = match[1], chance.choice([match[1] + "-2", "zz", match[1][:-1] or "z"])
    if chance.random() < 0.3:
        yield Change("name", *match.span(1), new)
    else:
        yield difference("rename", text, re.sub(_WORD_START + re.escape(name) + _WORD_END, new, text))


def _argument(text: str, chance: random.Random, tops: Tops) -> Edits:
    """An argument comes, goes or stands twice; a parameter, too."""
    place = _expression(text, chance)
    if place is not None:
        start, end = place
        other = _expression(text, chance)
        more = "" if other is None else text[slice(*other)]
        yield Change(
            "argument", start, end, chance.choice(["", f"{text[start:end]} {text[start:end]}", f"{more} {text[start:end]}"])
        )


def _wrapped(text: str, chance: random.Random, tops: Tops) -> Edits:
    place = _expression(text, chance)
    if place is not None:
        yield Change("wrap", *place, chance.choice(_WRAPPED).format(text[slice(*place)]))


def _unwrapped(text: str, chance: random.Random, tops: Tops) -> Edits:
    """A list becomes one of its parts."""
    opening = _one(re.compile(r"(?<=[\s(\[])\("), text, chance)
    end = None if opening is None else _group_end(text, opening.start())
    if opening is not None and end is not None:
        inner = _expression(text[opening.start() + 1 : end - 1], chance)
        if inner is not None:
            yield Change("unwrap", opening.start(), end, text[opening.start() + 1 : end - 1][slice(*inner)])


def _space(text: str, chance: random.Random, tops: Tops) -> Edits:
    """Everything behind it moves: a blank line or a comment above a form, or space inside one."""
    places = [top.origin for top in tops] or [0]
    at = chance.choice([*places, 0, chance.randrange(len(text) + 1)])
    new = chance.choice(["\n", "\n\n\n", "; a remark\n", "#| a block\n|# ", "; é 🙂\n", "#;(left out (of it)) "])
    yield Change("space", at, at, new if at in places or at == 0 else chance.choice([" ", "\n"]))


def _documentation(text: str, chance: random.Random, tops: Tops) -> Edits:
    """A string at the beginning of a function's body, another comment above it, or less of one."""
    header = _one(re.compile(r"\((?:defun|defmodel)\s+[^\s()]+\s+\([^()\[\]]*\)"), text, chance)
    if header is not None and chance.random() < 0.5:
        yield Change("docstring", header.end(), header.end(), f'\n  "Does it {chance.randrange(9)}."')
        return
    match = _one(re.compile(r"^;[^\n]*", re.MULTILINE), text, chance)
    if match is not None:
        yield Change("comment", *match.span(), chance.choice(["", "; other words", match[0] + " more", ";"]))


def _bracket(text: str, chance: random.Random, tops: Tops) -> Edits:
    """A bracket goes, comes or is of the other kind; it is mended a few steps later."""
    match = _one(re.compile(r"[()\[\]\"]"), text, chance)
    if match is not None:
        change = Change("bracket", *match.span(), chance.choice(["", match[0] * 2, chance.choice('()[]"')]))
        yield change
        if chance.random() < 0.7:
            yield change.back(text)._replace(what="mend")


def _deleted(text: str, chance: random.Random, tops: Tops) -> Edits:
    start = chance.randrange(len(text) + 1)
    yield Change("delete", start, min(len(text), start + chance.choice([1, 1, 2, 5, 20, 80])), "")


def _typed(text: str, chance: random.Random, tops: Tops) -> Edits:
    """Something is written character by character, where an expression begins; sometimes it is taken back so, too."""
    place = _expression(text, chance)
    at = place[0] if place is not None else chance.randrange(len(text) + 1)
    written = chance.choice(_TYPED) + " "
    if chance.random() < 0.4:
        yield Change("insert", at, at, written)
        return
    for index, character in enumerate(written):
        yield Change("type", at + index, at + index, character)
    for index in reversed(range(len(written) if chance.random() < 0.5 else 0)):
        yield Change("erase", at + index, at + index + 1, "")


def _pasted(text: str, chance: random.Random, tops: Tops) -> Edits:
    at = chance.choice([*(top.origin for top in tops), len(text)])
    yield Change("paste", at, at, chance.choice(_PASTED))


def _moved(text: str, chance: random.Random, tops: Tops) -> Edits:
    """Two neighbours change places, or a form goes somewhere else."""
    if len(tops) < 2:
        return
    if chance.random() < 0.6:
        index = chance.randrange(len(tops) - 1)
        one, two = tops[index], tops[index + 1]
        between = text[one.origin + len(one.text) : two.origin]
        yield Change("swap", one.origin, two.origin + len(two.text), two.text + between + one.text)
    else:
        top, to = chance.choice(tops), chance.choice(tops)
        rest = text[: top.origin] + text[top.origin + len(top.text) :]
        at = to.origin - (len(top.text) if to.origin > top.origin else 0)
        yield difference("move", text, rest[:at] + top.text + "\n" + rest[at:])


def _doubled(text: str, chance: random.Random, tops: Tops) -> Edits:
    if tops:
        top = chance.choice(tops)
        end = top.origin + len(top.text)
        yield Change("double", end, end, "\n" + top.text)


def _removed(text: str, chance: random.Random, tops: Tops) -> Edits:
    """A form is cut out, and most often put back."""
    if tops:
        top = chance.choice(tops)
        change = Change("cut", top.origin, top.origin + len(top.text), "")
        yield change
        if chance.random() < 0.7:
            yield change.back(text)._replace(what="put back")


def _quoted_out(text: str, chance: random.Random, tops: Tops) -> Edits:
    """A form is commented out, as a datum."""
    if tops:
        at = chance.choice(tops).origin
        yield Change("comment out", at, at, "#;")
        if chance.random() < 0.7:
            yield Change("comment in", at, at + 2, "")


def _strange(text: str, chance: random.Random, tops: Tops) -> Edits:
    if chance.random() < 0.05:
        yield difference("line ends", text, text.replace("\n", "\r\n") if "\r" not in text else text.replace("\r\n", "\n"))
    else:
        at = chance.choice([0, len(text), chance.randrange(len(text) + 1), chance.randrange(len(text) + 1)])
        change = Change("strange", at, at, chance.choice(_STRANGE))
        yield change
        if chance.random() < 0.5:
            yield change.back(text)._replace(what="mend")


_EDITS: list[Callable[[str, random.Random, Tops], Edits]] = [
    *[_number] * 4, *[_dtype] * 2, _atom, _atom, _keyword, _pair, _pair, *[_parameter] * 2, *[_symbol] * 2, *[_argument] * 2,
    *[_wrapped] * 3, _unwrapped, *[_space] * 3, *[_documentation] * 2, _bracket, _bracket, _deleted, _typed, _typed, _pasted,
    *[_moved] * 2, _doubled, *[_removed] * 2, _quoted_out,
]  # fmt: skip
