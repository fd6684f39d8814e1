"""What an answer to a reader is made of: pieces of the language and pieces of prose, written as Markdown or as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

LANGUAGE = "sx"
DOCS = "https://sexpgpu.041.io/docs/errors.md"


class Code(NamedTuple):
    """A piece of the language, on lines of its own."""

    text: str


class Prose(NamedTuple):
    """A paragraph of Markdown."""

    text: str


class Break(NamedTuple):
    """What follows is about something else."""


Part = Code | Prose | Break


def rule_link(code: str) -> str:
    """Where the page of a diagnostic code stands."""
    return f"{DOCS}#{code.lower()}"


def inline(text: str) -> str:
    """Text as code inside a line of Markdown, whatever backticks it holds."""
    text = " ".join(text.split())
    fence = _fence(text, 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def markdown(parts: Iterable[Part]) -> str:
    """The parts as Markdown."""
    shown: list[str] = []
    for part in parts:
        match part:
            case Code(text):
                fence = _fence(text, 3)
                shown.append(f"{fence}{LANGUAGE}\n{text}\n{fence}")
            case Prose(text):
                shown.append(text)
            case Break():
                shown.append("---")
    return "\n\n".join(shown)


def plain(parts: Iterable[Part]) -> str:
    """The parts as text for a reader that shows it as it is: without fences, links and marks of emphasis."""
    shown: list[str] = []
    for part in parts:
        match part:
            case Code(text):
                shown.append("\n".join(f"    {line}".rstrip() for line in text.split("\n")))
            case Prose(text):
                text = re.sub(r"\[([^\]]*)\]\(https?://[^)\s]*\)", r"\1", text)
                shown.append(re.sub(r"\*\*([^*]+)\*\*", r"\1", text))
            case Break():
                shown.append("")
    return "\n\n".join(shown)


def _fence(text: str, least: int) -> str:
    """More backticks than stand in a row anywhere in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)
