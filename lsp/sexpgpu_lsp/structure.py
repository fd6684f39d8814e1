"""What the text alone tells: what to fold, what a selection grows to, which files are named."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from sexpgpu.ide.folding import Fold, folds
from sexpgpu.ide.links import links
from sexpgpu.ide.selection import selections
from sexpgpu_lsp.analyses import View
from sexpgpu_lsp.documents import World
from sexpgpu_lsp.uris import file_key, uri_of

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

_KINDS = {"": None, "comment": types.FoldingRangeKind.Comment, "imports": types.FoldingRangeKind.Imports}


def register(server: Server) -> None:
    """Answer foldingRange, selectionRange and documentLink."""

    async def fold(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        most = _most_folds(server.client_capabilities)

        def question(views: Iterator[View]) -> list[types.FoldingRange]:
            found = folds(next(views).module)
            if most is not None and len(found) > most:
                found = sorted(sorted(found, key=_length, reverse=True)[:most])
            return [types.FoldingRange(each.start, each.end, kind=_KINDS[each.kind]) for each in found]

        return await server.ask(document, question)

    async def grow(params: types.SelectionRangeParams) -> list[types.SelectionRange] | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter

        def around(view: View, position: types.Position) -> types.SelectionRange:
            offset = converter.offset(document.source, position)
            known: types.SelectionRange | None = None
            for span in reversed(selections(view.module, offset)):
                known = types.SelectionRange(range=converter.range(span), parent=known)
            if known is None:
                at = converter.position(document.source, offset)
                known = types.SelectionRange(range=types.Range(at, at))
            return known

        def question(views: Iterator[View]) -> list[types.SelectionRange]:
            view = next(views)
            return [around(view, position) for position in params.positions]

        return await server.ask(document, question)

    async def link(params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter

        def question(views: Iterator[View]) -> list[types.DocumentLink]:
            world = server.documents.world
            targets = [(each.span, _target(world, each.path)) for each in links(*next(views))]
            return [types.DocumentLink(range=converter.range(span), target=uri) for span, uri in targets if uri is not None]

        return await server.ask(document, question)

    server.answers(types.TEXT_DOCUMENT_FOLDING_RANGE)(fold)
    server.answers(types.TEXT_DOCUMENT_SELECTION_RANGE)(grow)
    server.answers(types.TEXT_DOCUMENT_DOCUMENT_LINK, types.DocumentLinkOptions(resolve_provider=False))(link)


def _length(fold: Fold) -> int:
    return fold.end - fold.start


def _target(world: World, path: str) -> str | None:
    """The URI of a file that is open or there, as the client writes it where it has told."""
    known = world.documents.get(file_key(path))
    if known is not None:
        return known.uri
    return uri_of(path) if "\0" not in path and os.path.isfile(path) else None


def _most_folds(client: types.ClientCapabilities) -> int | None:
    """How many folds the client wants at most."""
    text = client.text_document
    folding = text.folding_range if text is not None else None
    return None if folding is None else folding.range_limit
