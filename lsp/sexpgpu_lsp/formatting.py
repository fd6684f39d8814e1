"""Formatting: a whole document, a range, and the line that is being typed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from sexpgpu.format import format_edits, indent_for
from sexpgpu.source import Span
from sexpgpu_lsp.analyses import View
from sexpgpu_lsp.documents import Document

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

_ON_TYPE = types.DocumentOnTypeFormattingOptions(first_trigger_character="\n", more_trigger_character=[")", "]"])


def register(server: Server) -> None:
    """Answer formatting, rangeFormatting and onTypeFormatting. A text that does not read is left alone."""

    async def whole(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        return await _edits(server, server.document(params.text_document.uri), None)

    async def part(params: types.DocumentRangeFormattingParams) -> list[types.TextEdit] | None:
        return await _edits(server, server.document(params.text_document.uri), params.range)

    async def typed(params: types.DocumentOnTypeFormattingParams) -> list[types.TextEdit] | None:
        document = server.document(params.text_document.uri)
        if document is None or document.read_only:
            return None
        return await server.ask(document, lambda _: _indent(server, document, params.position))

    server.answers(types.TEXT_DOCUMENT_FORMATTING)(whole)
    server.answers(types.TEXT_DOCUMENT_RANGE_FORMATTING)(part)
    server.answers(types.TEXT_DOCUMENT_ON_TYPE_FORMATTING, _ON_TYPE)(typed)


async def _edits(server: Server, document: Document | None, within: types.Range | None) -> list[types.TextEdit] | None:
    if document is None or document.read_only:
        return None
    source, converter = document.source, server.documents.converter

    def question(_: Iterator[View]) -> list[types.TextEdit]:
        span = None
        if within is not None:
            span = Span(source, converter.offset(source, within.start), converter.offset(source, within.end))
        return converter.edits(format_edits(source, span))

    return await server.ask(document, question)


def _indent(server: Server, document: Document, position: types.Position) -> list[types.TextEdit]:
    """The edit that gives a line its indentation, if it has another: after a line end, or where a closer begins the line."""
    source, converter = document.source, server.documents.converter
    line = min(position.line, len(source.line_starts) - 1)
    start = source.line_starts[line]
    text = source.line(line)
    present = len(text) - len(text.lstrip(" \t"))
    closes_here = text.lstrip(" \t")[:1] in (")", "]")
    if not closes_here and converter.offset(source, position) > start + present:
        return []  # something else was typed, further in
    wanted = " " * indent_for(source, line)
    return converter.edits([(Span(source, start, start + present), wanted)]) if wanted != text[:present] else []
