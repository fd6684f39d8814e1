"""Diagnostics made by hand, at pieces of a source that are found by their text."""

from __future__ import annotations

from sexpgpu.diagnostics.finding import Diagnostic, Note, TextEdit, TextFix
from sexpgpu.diagnostics.rules import RULES
from sexpgpu.source import Source, Span


def span(source: Source, piece: str, occurrence: int = 1) -> Span:
    """Where a piece of text stands, its nth occurrence."""
    start = -1
    for _ in range(occurrence):
        start = source.text.index(piece, start + 1)
    return Span(source, start, start + len(piece))


def diagnostic(
    code: str,
    at: Span,
    message: str = "a message",
    help: str = "",
    related: tuple[tuple[Span, str], ...] = (),
    fixes: tuple[TextFix, ...] = (),
) -> Diagnostic:
    """A diagnostic at a span, with notes given as span and message."""
    return Diagnostic(RULES[code], at, message, help, tuple(Note(*note) for note in related), fixes)


def fix(title: str, *edits: tuple[Span, str], safe: bool = True) -> TextFix:
    """A fix with its edits given as span and text."""
    return TextFix(title, tuple(TextEdit(*edit) for edit in edits), safe)
