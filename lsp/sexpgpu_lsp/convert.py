"""Between the protocol and the core: the only place that knows in which units a client counts, and of protocol types for spans."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lsprotocol import types

from sexpgpu.diagnostics.finding import Diagnostic, Severity
from sexpgpu.diagnostics.rules import PRINTED
from sexpgpu.ide.markup import Part, markdown, plain, rule_link
from sexpgpu.source import Encoding, Position, Source, Span

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
    """Positions, ranges and what is made of them, in the encoding that was agreed with the client."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding: Encoding = encoding

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
        """A diagnostic as an editor shows it: its help stands below its message, its page is a link on its code."""
        return types.Diagnostic(
            range=self.range(found.span),
            message=f"{found.message}\nhelp: {found.help}" if found.help else found.message,
            severity=_SEVERITY[found.rule.severity],
            code=found.code,
            code_description=types.CodeDescription(href=rule_link(found.code)),
            source=NAME,
            tags=[types.DiagnosticTag.Unnecessary] if found.rule.unnecessary else None,
            related_information=[
                types.DiagnosticRelatedInformation(
                    location=types.Location(uri=uri_of(note.span.source), range=self.range(note.span)), message=note.message
                )
                for note in found.related
            ]
            or None,
        )

    def edits(self, edits: Iterable[tuple[Span, str]]) -> list[types.TextEdit]:
        """Text edits for spans and what replaces them."""
        return [types.TextEdit(range=self.range(span), new_text=text) for span, text in edits]


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
