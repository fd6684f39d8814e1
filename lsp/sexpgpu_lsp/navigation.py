"""Finding one's way: where a name is defined, and the outline of a file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from lsprotocol import types

from sexpgpu.ide.definition import Target, definitions
from sexpgpu.ide.glimpse import is_open, target
from sexpgpu.ide.recall import View as Known
from sexpgpu.ide.symbols import Kind, Symbol, symbols
from sexpgpu_lsp.analyses import View
from sexpgpu_lsp.convert import Converter

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

KINDS: dict[Kind, types.SymbolKind] = {
    "constant": types.SymbolKind.Constant,
    "function": types.SymbolKind.Function,
    "model": types.SymbolKind.Class,
    "loader": types.SymbolKind.Array,
    "generator": types.SymbolKind.Constructor,
    "pass": types.SymbolKind.Interface,
    "optimizer": types.SymbolKind.Operator,
    "run": types.SymbolKind.Event,
    "file": types.SymbolKind.File,
    "key": types.SymbolKind.Property,
}


def register(server: Server) -> None:
    """Answer definition and documentSymbol."""

    async def define(params: types.DefinitionParams) -> list[types.LocationLink] | list[types.Location] | types.Location | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter
        links = _links(server.client_capabilities)

        def question(views: Iterator[View]) -> list[types.LocationLink] | list[types.Location] | types.Location | None:
            offset = converter.offset(document.source, params.position)
            first = next(views)
            found: list[Target] = []
            for view in chain([first], views):
                found = found or definitions(*view, offset)
            if not found and is_open(Known(*first), offset):
                near = target([Known(*each) for each in server.analyses.recent(document)], document.source, offset)
                found = [near] if near is not None else []
            if not found:
                return None
            uri = server.publisher.uri_for(server.documents.world, document)
            if links:
                return [
                    types.LocationLink(
                        target_uri=uri(each.name.source),
                        target_range=converter.range(each.whole),
                        target_selection_range=converter.range(each.name),
                        origin_selection_range=converter.range(each.origin),
                    )
                    for each in found
                ]
            places = [types.Location(uri=uri(each.name.source), range=converter.range(each.name)) for each in found]
            return places[0] if len(places) == 1 else places

        return await server.ask(document, question)

    async def outline(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | list[types.SymbolInformation] | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter
        nested = _nests(server.client_capabilities)

        def question(views: Iterator[View]) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
            found = symbols(next(views).module)
            if nested:
                return [_nested(converter, symbol) for symbol in found]
            return [
                types.SymbolInformation(
                    name=symbol.name,
                    kind=converter.client.symbol(KINDS[symbol.kind]),
                    location=types.Location(document.uri, converter.range(symbol.whole)),
                )
                for symbol in found
            ]

        return await server.ask(document, question)

    server.answers(types.TEXT_DOCUMENT_DEFINITION)(define)
    server.answers(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(outline)


def _nested(converter: Converter, symbol: Symbol) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=symbol.name,
        kind=converter.client.symbol(KINDS[symbol.kind]),
        detail=symbol.detail or None,
        range=converter.range(symbol.whole),
        selection_range=converter.range(symbol.name_span),
        children=[_nested(converter, child) for child in symbol.children] or None,
    )


def _links(client: types.ClientCapabilities) -> bool:
    text = client.text_document
    return text is not None and text.definition is not None and bool(text.definition.link_support)


def _nests(client: types.ClientCapabilities) -> bool:
    text = client.text_document
    outline = text.document_symbol if text is not None else None
    return outline is not None and bool(outline.hierarchical_document_symbol_support)
