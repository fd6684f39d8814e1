"""Diagnostics as text: one module a format, each with `render(report) -> str`. A new format is a row of the table and a module."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sexpgpu.diagnostics.columns import visible_line
from sexpgpu.diagnostics.finding import Diagnostic, Severity

FORMATS = {
    "full": "for people: the source, underlined, with what helps",
    "concise": "one line a finding",
    "json": "for programs: an array, positions as in LSP",
}
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "information", "hint")


class Report(NamedTuple):
    """What to show: `diagnostics` in the order to show them, how many `files` were checked, and how the reader sees it."""

    diagnostics: list[Diagnostic]
    files: int = 1
    colour: bool = False
    width: int = 140


def render(name: str, report: Report) -> str:
    """The report in the format of that name, which is one of `FORMATS`. Ends with a line end unless it is empty."""
    from importlib import import_module

    return import_module(f"{__name__}.{name}").render(report)


def ordered(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sorted by file, position and code."""
    return sorted(diagnostics, key=lambda each: (each.span.source.name, each.span.start, each.span.end, each.code))


def location(diagnostic: Diagnostic) -> str:
    """`path:line:column`, from 1, in characters: what a terminal makes a link of."""
    return place(diagnostic.span.source.name, *diagnostic.span.source.position(diagnostic.span.start, "utf-32"))


def place(name: str, line: int, character: int) -> str:
    """`path:line:column` of a 0-based position."""
    return f"{visible_line(name)}:{line + 1}:{character + 1}"
