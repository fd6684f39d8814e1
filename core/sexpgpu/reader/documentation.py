"""The comment block right above a form, which documents it."""

from __future__ import annotations

import re

from sexpgpu.reader.forms import Comment
from sexpgpu.reader.tokens import LINE_ENDS
from sexpgpu.source import BYTE_ORDER_MARK, LINE_END

_SEMICOLONS = r";+ ?"
_IGNORE = r";+\s*sexpgpu:\s*ignore\b"


def documentation(text: str, comments: list[Comment], behind: int, start: int) -> str:
    """The lines of `;` comments right above the line of the form at `start`, without semicolons and without requests to ignore
    something. `comments` are those before the form; what stands before `behind` belongs to another one.
    """
    lines: list[str] = []
    below = start
    for comment in reversed(comments):
        if comment.start < behind or text[comment.start] != ";" or len(LINE_END.findall(text, comment.end, below)) != 1:
            break
        if not _is_first(text, comment.start):
            break
        written = text[comment.start : comment.end]
        if not re.match(_IGNORE, written):
            lines.append(re.sub(_SEMICOLONS, "", written, count=1).rstrip())
        below = comment.start
    return "\n".join(reversed(lines)).strip("\n")


def _is_first(text: str, start: int) -> bool:
    """Whether nothing but white space stands before `start` on its line."""
    while start and text[start - 1] not in LINE_ENDS:
        start -= 1
        if not (text[start].isspace() or text[start] == BYTE_ORDER_MARK):
            return False
    return True
