"""Slips of the finger: one change to a text, of the kinds that happen while typing."""

from __future__ import annotations

import random
import re
from pathlib import Path

from support.drawn import FIXTURES, fixtures, strip

EXAMPLES = FIXTURES.parent.parent / "docs" / "examples"

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[()\[\]]|[^\s()\[\]"]+')
_STRANGE = ["nil", "12x", "7", "2.5", '"text', "#|", "'", ":", "\x00", "\u2028", "🙂", "(", ")", "[", "]", "(lambda"]


def slipped(text: str, source: random.Random) -> str:
    """The text with a token deleted, doubled, replaced, cut short or misspelt, or with its end cut off."""
    tokens = list(_TOKEN.finditer(text))
    if not tokens:
        return text + source.choice(_STRANGE)
    token, other = source.choice(tokens), source.choice(tokens)
    start, end = token.span()
    return source.choice(
        [
            text[:start] + text[end:],
            text[:end] + " " + token[0] + text[end:],
            text[:start] + other[0] + text[end:],
            text[:start] + source.choice(_STRANGE) + text[end:],
            text[: source.randrange(len(text))],
            text[:start] + token[0][:-1] + text[end:],
            text[:start] + token[0] + source.choice("xyz-") + text[end:],
        ]
    )


def spoilt(count: int, seed: int) -> list[tuple[Path, str]]:
    """That many spoilt texts, each with one to three slips, with the path that it stands at."""
    files = [*fixtures("diagnostics"), *sorted(EXAMPLES.glob("*.sx"))]
    texts = [strip(path.read_bytes().decode("utf-8-sig"))[0] for path in files]
    source = random.Random(seed)
    found: list[tuple[Path, str]] = []
    for _ in range(count):
        index = source.randrange(len(files))
        text = texts[index]
        for _ in range(source.choice([1, 1, 2, 3])):
            text = slipped(text, source)
        found.append((files[index], text))
    return found
