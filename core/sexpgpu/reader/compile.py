"""Write `terminals.py` from `grammar.lark`: `python -m sexpgpu.reader.compile`. The only module of the core that loads lark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lark import Token

_HERE = os.path.dirname(os.path.abspath(__file__))
GRAMMAR = os.path.join(_HERE, "grammar.lark")
TERMINALS = os.path.join(_HERE, "terminals.py")

_HEAD = '''"""The terminals of grammar.lark, in the order in which they are tried.

Generated: after a change of the grammar, run `python -m sexpgpu.reader.compile`.
"""

from __future__ import annotations

# fmt: off
TERMINALS: dict[str, str] = {
'''
_WIDTH = 110


class _Keep:
    """Makes lark keep a terminal that no rule mentions."""

    always_accept = ("RUN",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        return stream


def render() -> str:
    """The text of `terminals.py` that the grammar asks for."""
    from lark import Lark

    with open(GRAMMAR, encoding="utf-8") as file:
        terminals = Lark(file, parser="lalr", postlex=_Keep()).terminals
    # The order of lark's own lexer.
    ordered = sorted(terminals, key=lambda each: (-each.priority, -each.pattern.max_width, -len(each.pattern.value), each.name))
    return _HEAD + "".join(_entry(each.name, each.pattern.to_regexp()) for each in ordered) + "}\n"


def _entry(name: str, pattern: str) -> str:
    pieces = [""]
    for character in pattern:
        if len(ascii(pieces[-1] + character)) > _WIDTH:
            pieces.append("")
        pieces[-1] += character
    if len(pieces) == 1:
        return f'    "{name}": {pattern!a},\n'
    return f'    "{name}": (\n' + "".join(f"        {piece!a}\n" for piece in pieces) + "    ),\n"


if __name__ == "__main__":
    with open(TERMINALS, "w", encoding="utf-8") as file:
        file.write(render())
