"""The hierarchy of calls: what calls a function, and what it calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar, cast

from lsprotocol import types

from sexpgpu.analysis import Analysis
from sexpgpu.ide.callers import Calls, Item, around, incoming, item, outgoing
from sexpgpu.ide.occurrences import Seen, Subject, subject
from sexpgpu.program.unit import Definition, Module, provided
from sexpgpu.source import Span
from sexpgpu_lsp.analyses import View
from sexpgpu_lsp.convert import Converter, UriOf
from sexpgpu_lsp.documents import Document
from sexpgpu_lsp.navigation import KINDS
from sexpgpu_lsp.reach import beyond, closed
from sexpgpu_lsp.references import Found, everywhere, uri_for
from sexpgpu_lsp.uris import key_of, path_of

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

T = TypeVar("T")


def register(server: Server) -> None:
    """Answer prepareCallHierarchy, incomingCalls and outgoingCalls."""

    async def prepare(params: types.CallHierarchyPrepareParams) -> list[types.CallHierarchyItem] | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter

        def question(views: Iterator[View]) -> list[types.CallHierarchyItem] | None:
            analysis, module = next(views)
            found = item(analysis, module, converter.offset(document.source, params.position))
            if found is None:
                return None
            return [_item(found, converter, uri_for(server, document), document)]

        return await server.ask(document, question)

    async def ask(given: types.CallHierarchyItem, question: Callable[[Analysis, Document], T]) -> tuple[Document, T] | None:
        """An answer about an item, by the analysis in which it was found, of a file that is open or not; and the document that was
        asked about first."""
        data: object = given.data
        asked = cast("dict[str, object]", data).get("document") if isinstance(data, dict) else None
        document = (server.document(asked) if isinstance(asked, str) else None) or server.document(given.uri)
        if document is None:
            return None

        def work(views: Iterator[View]) -> T:
            analysis = next(views).analysis
            path = path_of(given.uri)
            if path is not None and _module(analysis, uri_for(server, document), given) is None:
                world = server.documents.world
                other = world.documents.get(key_of(given.uri))
                analysis = (closed(world, path) if other is None else server.analyses.of(world, other)) or analysis
            return question(analysis, document)

        return document, await server.ask(document, work)

    async def called(params: types.CallHierarchyIncomingCallsParams) -> list[types.CallHierarchyIncomingCall] | None:
        def question(analysis: Analysis, document: Document) -> tuple[Found, list[Calls]] | None:
            found = _subject(analysis, server.documents.converter, uri_for(server, document), params.item)
            if found is None:
                return None
            seen = everywhere(server, analysis, found)
            return seen, [calls for each in seen.seen for calls in incoming(each)]

        document, answer = await ask(params.item, question) or (None, None)
        if document is None or answer is None:
            return None
        found, known = answer
        far = await beyond(server, document, found.subject, found.places, (found.subject.name,), _incoming)
        converter, uri = server.documents.converter, uri_for(server, document)
        merged = _merged([*known, *(each for look in far.looks for each in look)], uri)
        return [
            types.CallHierarchyIncomingCall(_item(each.item, converter, uri, document), [converter.range(at) for at in each.places])
            for each in merged
        ]

    async def calls(params: types.CallHierarchyOutgoingCallsParams) -> list[types.CallHierarchyOutgoingCall] | None:
        def question(analysis: Analysis, document: Document) -> list[types.CallHierarchyOutgoingCall] | None:
            converter, uri = server.documents.converter, uri_for(server, document)
            module = _module(analysis, uri, params.item)
            caller = None
            if module is not None:
                caller = around(module, converter.offset(module.source, params.item.selection_range.start))
            if caller is None:
                return None
            return [
                types.CallHierarchyOutgoingCall(
                    _item(each.item, converter, uri, document), [converter.range(at) for at in each.places]
                )
                for each in outgoing(analysis, caller)
            ]

        _, answer = await ask(params.item, question) or (None, None)
        return answer

    server.answers(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)(prepare)
    server.answers(types.CALL_HIERARCHY_INCOMING_CALLS)(called)
    server.answers(types.CALL_HIERARCHY_OUTGOING_CALLS)(calls)


def _incoming(_: str, seen: list[Seen]) -> list[Calls]:
    return [calls for each in seen for calls in incoming(each)]


def _item(found: Item, converter: Converter, uri: UriOf, document: Document) -> types.CallHierarchyItem:
    return types.CallHierarchyItem(
        name=found.name,
        kind=converter.client.symbol(KINDS[found.kind]),
        uri=uri(found.at.source),
        range=converter.range(found.whole),
        selection_range=converter.range(found.at),
        detail=found.detail or None,
        data={"document": document.uri},
    )


def _module(analysis: Analysis, uri: UriOf, given: types.CallHierarchyItem) -> Module | None:
    """The module that an item stands in: one of the file's, or of the prelude."""
    for module in analysis.unit.modules:
        if uri(module.source) == given.uri:
            return module
    definition = provided(given.name)
    module = definition.module if definition is not None else None
    return module if module is not None and uri(module.source) == given.uri else None


def _subject(analysis: Analysis, converter: Converter, uri: UriOf, given: types.CallHierarchyItem) -> Subject | None:
    """The definition of an item; None of a function that only the runtime calls."""
    module = _module(analysis, uri, given)
    if module is None:
        return None
    offset = converter.offset(module.source, given.selection_range.start)
    if module not in analysis.unit.modules:
        definition = provided(given.name)
        assert definition is not None
        return Subject("definition", given.name, Span(module.source, offset, offset), definition)
    found = subject(analysis, module, offset)
    return found if found is not None and isinstance(found.what, Definition) else None


def _merged(found: list[Calls], uri: UriOf) -> list[Calls]:
    """Calls by caller, where several analyses saw some of them."""
    merged: dict[tuple[str, int], Calls] = {}
    for calls in found:
        key = (uri(calls.item.at.source), calls.item.at.start)
        known = merged.setdefault(key, Calls(calls.item, []))
        starts = {place.start for place in known.places}
        known.places.extend(place for place in calls.places if place.start not in starts)
    return list(merged.values())
