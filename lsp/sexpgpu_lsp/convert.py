"""Between the protocol and the core: the only place that knows in which units a client counts, and of protocol types for spans."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from lsprotocol import types

from sexpgpu.diagnostics.finding import Diagnostic, Severity
from sexpgpu.diagnostics.rules import PRINTED
from sexpgpu.ide.markup import Part, markdown, plain, rule_link
from sexpgpu.source import Encoding, Position, Source, Span
from sexpgpu_lsp.client import Client

Change = types.TextDocumentContentChangeEvent
UriOf = Callable[[Source], str]

NAME = "sexpgpu"
_ENCODINGS: dict[str, Encoding] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}

_SEVERITY: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}


def encoding_of(capabilities: types.ClientCapabilities) -> Encoding:
    """The first of the client's encodings that is known here; UTF-16 where it names none."""
    general = capabilities.general
    offered = (general.position_encodings if general is not None else None) or ()
    for name in (str(getattr(each, "value", each)) for each in offered):
        if name in _ENCODINGS:
            return _ENCODINGS[name]
    return "utf-16"


class Converter:
    """Positions, ranges and what is made of them, in the encoding that was agreed with the client, as far as it knows them."""

    def __init__(self, encoding: Encoding, client: Client | None = None) -> None:
        self.encoding: Encoding = encoding
        self.client = client or Client(types.ClientCapabilities())

    def position(self, source: Source, offset: int) -> types.Position:
        """The position of an offset, clamped to the text."""
        line, character = source.position(offset, self.encoding)
        return types.Position(line, character)

    def offset(self, source: Source, position: types.Position) -> int:
        """The offset of a position, clamped to its line and to the text."""
        return source.offset(Position(position.line, position.character), self.encoding)

    def range(self, span: Span) -> types.Range:
        """The range of a span."""
        return types.Range(self.position(span.source, span.start), self.position(span.source, span.end))

    def changed(self, source: Source, change: Change) -> str:
        """The text of a source after a change. What a range says of its length is ignored: the positions decide."""
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            return change.text
        start = self.offset(source, change.range.start)
        end = max(start, self.offset(source, change.range.end))
        return source.text[:start] + change.text + source.text[end:]

    def diagnostic(self, found: Diagnostic, uri_of: UriOf) -> types.Diagnostic:
        """A diagnostic as an editor shows it: its help stands below its message, its page is a link on its code. So do related
        places in an editor that cannot show them.
        """
        lines = [found.message]
        if found.help:
            lines.append(f"help: {found.help}")
        if not self.client.related:
            lines += [f"{_place(found.span.source, note.span)}: {note.message}" for note in found.related]
        tags = [types.DiagnosticTag.Unnecessary] if found.rule.unnecessary else []
        return types.Diagnostic(
            range=self.range(found.span),
            message="\n".join(lines),
            severity=_SEVERITY[found.rule.severity],
            code=found.code,
            code_description=types.CodeDescription(href=rule_link(found.code)),
            source=NAME,
            tags=[tag for tag in tags if tag in self.client.tags] or None,
            related_information=[
                types.DiagnosticRelatedInformation(
                    location=types.Location(uri=uri_of(note.span.source), range=self.range(note.span)), message=note.message
                )
                for note in (found.related if self.client.related else ())
            ]
            or None,
        )

    def edits(self, edits: Iterable[tuple[Span, str]]) -> list[types.TextEdit]:
        """Text edits for spans and what replaces them."""
        return [types.TextEdit(range=self.range(span), new_text=text) for span, text in edits]


def _place(source: Source, span: Span) -> str:
    """Where a span stands, for a reader of a source."""
    line = f"line {span.source.position(span.start).line + 1}"
    return line if span.source is source else f"{os.path.basename(span.source.name)}, {line}"


def identity(found: types.Diagnostic) -> tuple[object, ...]:
    """What makes two diagnostics of one text the same finding. One place may print many values."""
    start, end = found.range.start, found.range.end
    printed = found.message if found.code == PRINTED.code else ""
    return start.line, start.character, end.line, end.character, found.code, printed


def markup(parts: Iterable[Part], as_markdown: bool) -> types.MarkupContent:
    """Parts of an answer, in the kind of text that the client shows."""
    if as_markdown:
        return types.MarkupContent(kind=types.MarkupKind.Markdown, value=markdown(parts))
    return types.MarkupContent(kind=types.MarkupKind.PlainText, value=plain(parts))
