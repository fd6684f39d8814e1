"""What a file's diagnostics say, in one form for every door they come through: the analysis, `sexpgpu check`, an editor."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from lsprotocol import types

from sexpgpu import cli
from sexpgpu.analysis import analyse
from sexpgpu.ide.markup import rule_link
from sexpgpu.source import Source, Span
from support.editor import uri_for

Place = tuple[int, int, int, int]


class Told(NamedTuple):
    """One diagnostic: places are lines and UTF-16 units, `related` holds files, places and messages."""

    place: Place
    code: str
    severity: str
    message: str
    help: str
    related: tuple[tuple[str, Place, str], ...]


def by_the_analysis(text: str, path: Path) -> list[Told]:
    """What the analysis of a text finds in it."""
    source = Source(str(path), text)
    return [
        Told(
            _span(each.span),
            each.code,
            each.rule.severity,
            each.message,
            each.help,
            tuple((os.path.realpath(note.span.source.name), _span(note.span), note.message) for note in each.related),
        )
        for each in analyse(source).diagnostics
        if each.span.source is source
    ]


def by_check(text: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Told]:
    """What `sexpgpu check --format json` finds in a text on its standard input."""
    given, printed = io.TextIOWrapper(io.BytesIO(text.encode())), io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", given)
        patch.setattr(sys, "stdout", printed)
        cli.main(["check", "--format", "json", "-", "--stdin-filename", str(path)])
    return [
        Told(
            _json(each["range"]),
            each["code"],
            each["severity"],
            each["message"],
            each["help"],
            tuple((os.path.realpath(note["file"]), _json(note["range"]), note["message"]) for note in each["related"]),
        )
        for each in json.loads(printed.getvalue())
        if os.path.realpath(each["file"]) == os.path.realpath(path)
    ]


def by_an_editor(found: Sequence[types.Diagnostic]) -> list[Told]:
    """What an editor was sent, which counts UTF-16 units and shows related places."""
    told: list[Told] = []
    for each in found:
        assert each.source == "sexpgpu"
        assert each.code_description == types.CodeDescription(rule_link(str(each.code)))
        assert each.severity is not None
        severity = each.severity.name.lower()
        message, _, help = each.message.partition("\nhelp: ")
        related = [(each.location.uri, _lsp(each.location.range), each.message) for each in each.related_information or ()]
        told.append(Told(_lsp(each.range), str(each.code), severity, message, help, tuple(related)))
    return told


def with_uris(told: Sequence[Told]) -> list[Told]:
    """The same with the files of related places as an editor names them."""
    return [each._replace(related=tuple((uri_for(Path(file)), *rest) for file, *rest in each.related)) for each in told]


def _span(span: Span) -> Place:
    start, end = (span.source.position(offset) for offset in (span.start, span.end))
    return start.line, start.character, end.line, end.character


def _json(span: Any) -> Place:
    start, end = span["start"], span["end"]
    return start["line"], start["character"], end["line"], end["character"]


def _lsp(span: types.Range) -> Place:
    return span.start.line, span.start.character, span.end.line, span.end.character
