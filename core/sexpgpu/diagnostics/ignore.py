"""Warnings, information and hints that a file or a project asks not to hear. Errors are never silenced.

In a file: `; sexpgpu: ignore[CODE, CODE]` at the end of the line where the finding begins, or alone on the line above. What follows
the bracket is free for a reason. In a project: the table `[tool.sexpgpu]` (`sexpgpu.project`); on the command line: `--ignore`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable

from sexpgpu.diagnostics.finding import Diagnostic
from sexpgpu.diagnostics.rules import RULES
from sexpgpu.language.nearest import nearest
from sexpgpu.source import Source

Comments = Callable[[Source], Iterable[tuple[int, int]]]
"""The comments of a source, as offsets: where each begins and ends."""

_IGNORE = re.compile(r";\s*sexpgpu:\s*ignore\[([^\]\r\n]*)\]")
_WORD = "sexpgpu:"  # a text without it has no such comment


class CodeError(ValueError):
    """A code that cannot be ignored; the message says why."""


def ignorable(codes: Iterable[str]) -> frozenset[str]:
    """The codes, when each is one that can be ignored. Raises CodeError."""
    checked: set[str] = set()
    for code in codes:
        rule = RULES.get(code)
        if rule is None:
            near = nearest(code, RULES, 1)
            raise CodeError(f"{code} is no diagnostic code" + (f"; did you mean {near[0]}?" if near else ""))
        if rule.severity == "error":
            raise CodeError(f"{code} is an error, and errors cannot be ignored")
        checked.add(code)
    return frozenset(checked)


def apply_ignores(diagnostics: Iterable[Diagnostic], codes: frozenset[str], comments: Comments) -> list[Diagnostic]:
    """What is left to say when the `codes`, and what comments in the files ask for, are not heard."""
    lines: dict[Source, dict[int, frozenset[str]]] = {}
    kept: list[Diagnostic] = []
    for diagnostic in diagnostics:
        if diagnostic.rule.severity != "error":
            source = diagnostic.span.source
            if diagnostic.code in codes:
                continue
            if source not in lines:
                lines[source] = ignored(source, comments(source)) if _WORD in source.text else {}
            if diagnostic.code in lines[source].get(bisect_right(source.line_starts, diagnostic.span.start) - 1, ()):
                continue
        kept.append(diagnostic)
    return kept


def ignored(source: Source, comments: Iterable[tuple[int, int]]) -> dict[int, frozenset[str]]:
    """The codes that comments silence, by 0-based line."""
    lines: dict[int, frozenset[str]] = {}
    alone: dict[int, frozenset[str]] = {}
    for start, end in comments:
        text = source.text[start:end]
        found = _IGNORE.search(text) if text.startswith(";") else None
        if found:
            codes = frozenset(code.strip() for code in found[1].split(","))
            line = bisect_right(source.line_starts, start) - 1
            where = lines if source.text[source.line_starts[line] : start].strip() else alone
            where[line] = codes
    for line, codes in alone.items():
        below = line + 1
        while below in alone:  # several, one on each line, speak of the line below them all
            below += 1
        lines[below] = lines.get(below, frozenset()) | codes
    return lines
