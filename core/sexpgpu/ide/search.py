"""What a text defines and loads, without reading it as forms: enough to search many files for a name."""

from __future__ import annotations

import re
from typing import NamedTuple

from sexpgpu.files import beside
from sexpgpu.ide.symbols import HEADS, Kind
from sexpgpu.reader.tokens import end_of_block
from sexpgpu.source import BYTE_ORDER_MARK, Source, Span

_AT_START = r"""(?<![^\s()\[\]"';])"""
_PIECE = re.compile(
    rf"""(?P<datum>{_AT_START}\#;)|;[^\r\n]*|(?P<block>{_AT_START}\#\|)|"(?:[^"\\]|\\.)*"?"""
    rf"""|(?P<open>[(\[])(?:(?P<head>{"|".join(HEADS)})\s+(?P<name>[^\s()\[\]"';:][^\s()\[\]"';]*))?|(?P<close>[)\]])""",
    re.DOTALL,
)
_LOAD = re.compile(r"""\(load\s+"((?:[^"\\]|\\.)+)""", re.DOTALL)
_SEPARATORS = re.compile(r"[-_/.]")


class Found(NamedTuple):
    """A definition: its name, what it defines, and where the name stands."""

    name: str
    kind: Kind
    at: Span


def definitions(source: Source) -> list[Found]:
    """The named forms of the top level, in text order. An opener in column 0 begins one, whatever is open (language §1)."""
    found: list[Found] = []
    text = source.text
    at = depth = 0
    commented = False
    while (piece := _PIECE.search(text, at)) is not None:
        at = piece.end()
        if piece["block"]:
            at = end_of_block(text, piece.start()) or len(text)
        elif piece["datum"]:
            commented = depth == 0
        elif piece["open"]:
            if text[piece.start() - 1 : piece.start()] in ("", "\r", "\n", BYTE_ORDER_MARK):
                depth = 0
            if depth == 0 and piece["head"] and not commented:
                found.append(Found(piece["name"], HEADS[piece["head"]], Span(source, *piece.span("name"))))
            depth += 1
            commented = False
        elif piece["close"]:
            depth = max(0, depth - 1)
    return found


def loads(source: Source) -> list[str]:
    """The paths that a text may load. Those in comments are among them."""
    return [beside(source.name, path.replace('\\"', '"').replace("\\\\", "\\")) for path in _LOAD.findall(source.text)]


def rank(query: str, name: str) -> int | None:
    """How well a name answers a query, 0 best; None where it does not: the query's characters do not follow each other in it."""
    query, name = query.lower(), name.lower()
    if name.startswith(query):
        return int(name != query)
    if any(part.startswith(query) for part in _SEPARATORS.split(name)):
        return 2
    if query in name:
        return 3
    characters = iter(name)
    return 4 if all(character in characters for character in query) else None
