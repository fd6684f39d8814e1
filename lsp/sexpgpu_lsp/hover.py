"""Hover: what stands under the cursor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from sexpgpu.ide.hover import Hover, hover
from sexpgpu_lsp.analyses import View
from sexpgpu_lsp.convert import markup

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server


def register(server: Server) -> None:
    """Answer hover."""

    async def answer(params: types.HoverParams) -> types.Hover | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter
        as_markdown = _shows_markdown(server.client_capabilities)

        def question(views: Iterator[View]) -> types.Hover | None:
            found = _best(views, converter.offset(document.source, params.position))
            if found is None:
                return None
            return types.Hover(contents=markup(found.parts, as_markdown), range=converter.range(found.span))

        return await server.ask(document, question)

    server.answers(types.TEXT_DOCUMENT_HOVER)(answer)


def _best(views: Iterator[View], offset: int) -> Hover | None:
    """What the first view has to say that knows a value there: functions of a file may run only where it is loaded."""
    first: Hover | None = None
    for analysis, module in views:
        found = hover(analysis, module, offset)
        if found is not None and found.typed:
            return found
        first = first or found
    return first


def _shows_markdown(client: types.ClientCapabilities) -> bool:
    """Whether the client shows Markdown: one that does not say what it shows is expected to."""
    text = client.text_document
    formats = text.hover.content_format if text is not None and text.hover is not None else None
    return not formats or types.MarkupKind.Markdown in formats
