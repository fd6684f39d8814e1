"""Hover: what stands under the cursor."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from lsprotocol import types

from sexpgpu.ide.glimpse import glimpse, is_open
from sexpgpu.ide.hover import Hover, hover
from sexpgpu.ide.recall import View as Known
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
            offset = converter.offset(document.source, params.position)
            first = next(views)
            found = _best(chain([first], views), offset)
            if (found is None or not found.typed) and is_open(Known(*first), offset):
                known = [Known(*each) for each in server.analyses.recent(document)]
                found = glimpse(known, document.source, offset) or found
            if found is None:
                return None
            return types.Hover(contents=markup(found.parts, as_markdown), range=converter.range(found.span))

        return await server.ask(document, question)

    server.answers(types.TEXT_DOCUMENT_HOVER)(answer)


def _best(views: Iterator[View], offset: int) -> Hover | None:
    """What the first view has to say that knows a value there: functions of a file may run only where it is loaded. Where none
    does, the most that one has to say."""
    most: Hover | None = None
    for analysis, module in views:
        found = hover(analysis, module, offset)
        if found is not None and found.typed:
            return found
        if found is not None and (most is None or len(found.parts) > len(most.parts)):
            most = found
    return most


def _shows_markdown(client: types.ClientCapabilities) -> bool:
    """Whether the client shows Markdown: one that does not say what it shows is expected to."""
    text = client.text_document
    formats = text.hover.content_format if text is not None and text.hover is not None else None
    return not formats or types.MarkupKind.Markdown in formats
