"""An array of objects for programs; lines and characters from 0, characters in UTF-16 units, `end` exclusive, as in LSP."""

from __future__ import annotations

import json

from sexpgpu.diagnostics.finding import Diagnostic, TextFix
from sexpgpu.diagnostics.formats import Report
from sexpgpu.source import Span


def render(report: Report) -> str:
    """The findings as JSON, in ASCII, so that no terminal or locale can spoil it."""
    return json.dumps([_diagnostic(each) for each in report.diagnostics], indent=2) + "\n"


def _diagnostic(each: Diagnostic) -> dict[str, object]:
    return {
        "file": each.span.source.name,
        "code": each.code,
        "severity": each.rule.severity,
        "message": each.message,
        "range": _range(each.span),
        "help": each.help,
        "related": [{"file": note.span.source.name, "message": note.message, "range": _range(note.span)} for note in each.related],
        "fixes": [_fix(fix) for fix in each.fixes],
    }


def _fix(fix: TextFix) -> dict[str, object]:
    return {
        "title": fix.title,
        "applicability": "safe" if fix.safe else "unsafe",
        "edits": [{"range": _range(edit.span), "newText": edit.text} for edit in fix.edits],
    }


def _range(span: Span) -> dict[str, dict[str, int]]:
    start = span.source.position(span.start)
    end = span.source.position(span.end)
    return {
        "start": {"line": start.line, "character": start.character},
        "end": {"line": end.line, "character": end.character},
    }
