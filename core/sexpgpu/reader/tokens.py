"""Tokens: one regular expression that finds them, made of the grammar's terminals, and what the words among them mean.

A word is a run of characters up to the next delimiter. Numbers, keywords, symbols and constants are words; finding a word needs one
character class, and what it is, is asked once for each spelling (`Words`).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from sexpgpu.reader.forms import BadForm, ConstantForm, Form, KeywordForm, NumberForm, SymbolForm, TopForm
from sexpgpu.reader.terminals import TERMINALS

LINE_ENDS = "\r\n"

_ORDER = (
    "OPEN_LIST",
    "CLOSE_LIST",
    "BLOCK_OPEN",
    "DATUM_COMMENT",
    "RUN",
    "OPEN_VECTOR",
    "CLOSE_VECTOR",
    "STRING",
    "QUOTE",
    "LINE_COMMENT",
)
# `lastindex` of a match says which it is. Behind the grammar's terminals: a quotation mark that no other ends, and the end.
OPEN_LIST, CLOSE_LIST, BLOCK_OPEN, DATUM_COMMENT, RUN, OPEN_VECTOR, CLOSE_VECTOR, STRING, QUOTE, LINE_COMMENT = range(1, 11)
UNENDED, END = 11, 12
# A closer's kind is its opener's and 1.
OPENERS = frozenset((OPEN_LIST, OPEN_VECTOR))
CLOSERS = frozenset((CLOSE_LIST, CLOSE_VECTOR))
PREFIXES = frozenset((QUOTE, DATUM_COMMENT))

# A token with the white space before it: matches follow each other without a gap, up to the empty one at the end of the text.
TOKEN = re.compile(f"(?:{TERMINALS['WHITE_SPACE']})?+(?:" + "|".join(f"({TERMINALS[name]})" for name in _ORDER) + r"""|(")|(\Z))""")

# Patterns that few texts need are left to be compiled when they are.
WORD = TERMINALS["RUN"]
WHITE_SPACE = TERMINALS["WHITE_SPACE"]
CONTROL = r"[\x00-\x1f\x7f-\x9f]+"
_BLOCK_EDGE = f"({TERMINALS['BLOCK_OPEN']})|{TERMINALS['BLOCK_CLOSE']}"
_ESCAPE = r"""\\(?:u\{([0-9A-Fa-f]{1,6})\}|([nt"\\])|u(?:\{[^}\s"\\]{0,16}\}?)?|[^\r\n]?)|\r\n?"""
_SIMPLE = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}

# An integer may have 4,096 bits (language §3). A literal beyond them reads as this number or its negative, so that whoever
# evaluates it can say so, and reading it takes no longer than its length.
HUGE_BITS = 4096
HUGE = 1 << HUGE_BITS
_DIGITS_AT_ONCE = 500
_MOST_DIGITS = 1300

Make = Callable[[TopForm, int, int, Any], Form]


def end_of_block(text: str, start: int) -> int | None:
    """Where the block comment that begins at `start` ends; None if it never does."""
    depth = 0
    for edge in re.compile(_BLOCK_EDGE).finditer(text, start):
        depth += 1 if edge[1] else -1
        if depth == 0:
            return edge.end()
    return None


def unescape(written: str) -> str | tuple[int, int]:
    """The value of a string as it is written between its quotation marks, or where the first escape stands that is none."""
    bad: list[tuple[int, int]] = []

    def value(escape: re.Match[str]) -> str:
        code, simple = escape.groups()
        if simple:
            return _SIMPLE[simple]
        if code:
            number = int(code, 16)
            if number < 0x110000 and not 0xD800 <= number < 0xE000:
                return chr(number)
        elif escape[0][0] == "\r":
            return "\n"
        bad.append(escape.span())
        return ""

    result = re.sub(_ESCAPE, value, written)
    return bad[0] if bad else result


def integer(word: str) -> int:
    """The value of an integer literal, `HUGE` or its negative if it has more than 4,096 bits."""
    if len(word) < _DIGITS_AT_ONCE:
        return int(word, 16 if "x" in word else 10)
    digits = word.lstrip("+-").replace("_", "")
    base = 16 if digits.startswith("0x") else 10
    digits = digits[2:].lstrip("0") if base == 16 else digits.lstrip("0")
    value = HUGE
    if len(digits) <= _MOST_DIGITS:
        value = 0
        # Python refuses to convert many digits at once.
        for start in range(0, len(digits), _DIGITS_AT_ONCE):
            piece = digits[start : start + _DIGITS_AT_ONCE]
            value = value * base ** len(piece) + int(piece, base)
    value = min(value, HUGE)
    return -value if word[0] == "-" else value


def _bad(top: TopForm, start: int, end: int, _: None) -> BadForm:
    return BadForm(top, start, end)


_MEANINGS: dict[str, tuple[Make, Callable[[str], object]]] = {
    "CONSTANT": (ConstantForm, {"nil": None, "true": True, "false": False}.__getitem__),
    "FLOAT": (NumberForm, float),
    "INTEGER": (NumberForm, integer),
    "KEYWORD": (KeywordForm, operator.itemgetter(slice(1, None))),
    "SYMBOL": (SymbolForm, str),
}
_MEANING = re.compile("|".join(f"(?P<{name}>{TERMINALS[name]})" for name in _MEANINGS))


class Words(dict[str, tuple[Make, object]]):
    """What a word is: the kind of form that it makes and that form's value. A word that is no token makes a BadForm."""

    def __missing__(self, word: str) -> tuple[Make, object]:
        found = _MEANING.fullmatch(word)
        if found is None or found.lastgroup is None:
            known = _bad, None
        else:
            make, value = _MEANINGS[found.lastgroup]
            known = make, value(word)
        self[word] = known
        return known
