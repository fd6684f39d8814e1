"""What `.gitignore` files leave out, as git reads them (gitignore(5)): the last pattern that fits decides, those of a deeper folder
come later, and nothing inside a folder that is left out comes back.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

_FILE = ".gitignore"
_EXCLUDE = os.path.join(".git", "info", "exclude")


class Pattern(NamedTuple):
    """One line of a `.gitignore`: fits paths (`/` between names) relative to its folder."""

    fits: re.Pattern[str]
    excludes: bool
    folders_only: bool


class Ignores:
    """The patterns in force inside one folder, as a chain up to the repository's root."""

    __slots__ = ("_folder", "_patterns", "_up")

    def __init__(self, folder: str, patterns: list[Pattern], up: Ignores | None) -> None:
        self._folder = folder
        self._patterns = patterns
        self._up = up

    @classmethod
    def at(cls, folder: str) -> Ignores:
        """Those for a folder where a walk begins: its own, and its parents' up to the root of the repository that it is in."""
        folder = os.path.abspath(folder)
        parents = [folder]
        while not os.path.exists(os.path.join(parents[-1], ".git")):
            parent = os.path.dirname(parents[-1])
            if parent == parents[-1]:  # in no repository: only what stands in and below the folder counts
                parents = [folder]
                break
            parents.append(parent)
        ignores = cls(parents[-1], _read(os.path.join(parents[-1], _EXCLUDE)), None)
        for parent in reversed(parents):
            ignores = cls(parent, _read(os.path.join(parent, _FILE)), ignores)
        return ignores

    def inside(self, name: str) -> Ignores:
        """Those for a folder inside this one."""
        folder = os.path.join(self._folder, name)
        patterns = _read(os.path.join(folder, _FILE))
        return Ignores(folder, patterns, self)

    def leave_out(self, name: str, *, folder: bool) -> bool:
        """Whether a file or folder directly inside this one is left out."""
        path = _bytewise(os.fsencode(name))
        ignores: Ignores | None = self
        while ignores is not None:
            for pattern in reversed(ignores._patterns):
                if (folder or not pattern.folders_only) and pattern.fits.fullmatch(path):
                    return pattern.excludes
            if ignores._up is not None and ignores._up._folder != ignores._folder:
                path = f"{_bytewise(os.fsencode(os.path.basename(ignores._folder)))}/{path}"
            ignores = ignores._up
        return False


def _read(path: str) -> list[Pattern]:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return []
    patterns = (parse(_bytewise(line)) for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    return [pattern for pattern in patterns if pattern]


def _bytewise(path: bytes) -> str:
    """One character a byte: `?` is one byte to git, whatever the encoding."""
    return path.decode("latin-1")


def parse(line: str) -> Pattern | None:
    """The pattern that a line says; None for an empty line, a comment, or a pattern that fits nothing."""
    text = line.removesuffix("\r")
    while text.endswith(" ") and not _escaped(text):
        text = text[:-1]
    if not text or text.startswith("#"):
        return None
    excludes = not text.startswith("!")
    text = text if excludes else text[1:]
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    if not text:
        return None
    anchored = "/" in text
    expression = _expression(text.removeprefix("/"))
    if expression is None:
        return None
    try:
        return Pattern(re.compile(expression if anchored else f"(?:.*/)?{expression}", re.DOTALL), excludes, folders_only)
    except re.error:
        return None


def _escaped(text: str) -> bool:
    """Whether the last character has a backslash before it that is not escaped itself."""
    before = text[:-1]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _expression(glob: str) -> str | None:
    """The regular expression of a glob; None for one that fits nothing."""
    parts: list[str] = []
    at = 0
    while at < len(glob):
        character = glob[at]
        at += 1
        if character == "*":
            first = at - 1
            while glob[at : at + 1] == "*":
                at += 1
            whole = at - first > 1 and (first == 0 or glob[first - 1] == "/")  # a name of stars alone crosses folders
            if whole and glob[at : at + 1] == "/":
                parts.append("(?:.*/)?")
                at += 1
            elif whole and at == len(glob):
                parts.append(".*" if first == 0 else ".+")
            else:
                parts.append("[^/]*")
        elif character == "?":
            parts.append("[^/]")
        elif character == "[":
            found = _class(glob, at)
            if found is None:
                return None
            part, at = found
            parts.append(part)
        elif character == "\\":
            if at == len(glob):
                return None
            parts.append(re.escape(glob[at]))
            at += 1
        else:
            parts.append(re.escape(character))
    return "".join(parts)


_NAMED = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r"\x20\t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r"\x20\t\r\n\f\v",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


def _class(glob: str, at: int) -> tuple[str, int] | None:
    """The regular expression of a bracket expression whose `[` stands before `at`, and where it ends; None without an end."""
    negated = glob[at : at + 1] in ("!", "^")
    at += negated
    items: list[str] = []
    first = True
    while at < len(glob) and (glob[at] != "]" or first):
        first = False
        named = re.compile(r"\[:([a-z]*):\]").match(glob, at)
        if named:
            if named[1] not in _NAMED:
                return None
            items.append(_NAMED[named[1]])
            at = named.end()
            continue
        low, at = _member(glob, at)
        if glob[at : at + 1] == "-" and at + 1 < len(glob) and glob[at + 1] != "]":
            high, at = _member(glob, at + 1)
            # Of a range that is backwards git still takes the first character.
            items.append(f"{re.escape(low)}-{re.escape(max(low, high))}")
        else:
            items.append(re.escape(low))
    if at >= len(glob):
        return None
    inside = "".join(items)
    return (f"[^/{inside}]" if negated else f"(?!/)[{inside}]"), at + 1


def _member(glob: str, at: int) -> tuple[str, int]:
    if glob[at] == "\\" and at + 1 < len(glob):
        return glob[at + 1], at + 2
    return glob[at], at + 1
