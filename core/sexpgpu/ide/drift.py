"""How far a text has moved on from the one that was analysed last, and what it defines by now. Only the text is asked, for somebody
is typing."""

from __future__ import annotations

import re

from sexpgpu.reader.terminals import TERMINALS

# Brackets and white space come and go around the word that is being typed, and name nothing.
_EDGES = " \t\r\n()[]\"'"
_ONE_WORD = re.compile(r"""[\s()\[\]"']*[^\s()\[\]"';]*[\s()\[\]"']*""")
# It begins with what is easily found: any other pattern takes as long as the rest of a completion.
_DEFINED = re.compile(rf"\n\(def(un|model|loader|)\s+({TERMINALS['SYMBOL']})")


def settled(text: str, start: int, end: int, analysed: str) -> bool:
    """Whether a text is the one that was analysed, but for the word from `start` to `end`, which is being typed."""
    before, after = text[:start].rstrip(_EDGES), text[end:].lstrip(_EDGES)
    rest = len(analysed) - len(after)
    if rest < len(before) or not analysed.startswith(before) or not analysed.endswith(after):
        return False
    return _ONE_WORD.fullmatch(analysed, len(before), rest) is not None


def defined(text: str) -> dict[str, str]:
    """The names that forms in column 0 define, and the heads of these."""
    return {name: f"def{kind}" for kind, name in _DEFINED.findall(f"\n{text}")}
