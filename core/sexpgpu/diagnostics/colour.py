"""The colours of a terminal, by what they stand for, and the question whether there are any."""

from __future__ import annotations

import os
from typing import Literal, TextIO

When = Literal["auto", "always", "never"]
Style = Literal["", "error", "warning", "information", "hint", "related", "frame", "strong", "code"]

_CODES: dict[Style, str] = {
    "error": "1;31",
    "warning": "1;33",
    "information": "1;36",
    "hint": "1;32",
    "related": "1;34",
    "frame": "1;34",
    "strong": "1",
    "code": "36",
}
_WIDEST = 140
_NARROWEST = 40


def paint(text: str, style: Style, colour: bool) -> str:
    """The text in a style; as it is without colour."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if colour and style and text else text


def wants_colour(when: When, stream: TextIO) -> bool:
    """Whether to colour what goes to a stream. A flag is stronger than NO_COLOR, that than FORCE_COLOR, that than the terminal."""
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def width_of(stream: TextIO) -> int:
    """Cells in a line of the terminal behind a stream; 140 where there is none."""
    try:
        return max(_NARROWEST, os.get_terminal_size(stream.fileno()).columns or _WIDEST)
    except (OSError, ValueError):
        return _WIDEST
