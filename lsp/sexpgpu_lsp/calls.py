"""The hierarchy of calls: what calls a function, and what it calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types

from sexpgpu.analysis import Analysis
from sexpgpu.ide.callers import Calls, Item, around, incoming, item, outgoing
from sexpgpu.ide.occurrences import Seen, Subject, elsewhere, occurrences, subject
from sexpgpu.program.unit import Definition, Module, provided
from sexpgpu.source import Span
from sexpgpu_lsp.analyses import View
from sexpgpu_lsp.convert import Converter, UriOf
from sexpgpu_lsp.documents import Document
from sexpgpu_lsp.navigation import KINDS
from sexpgpu_lsp.references import others, uri_for

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

_Question = Callable[[View, Document, types.CallHierarchyItem], Any]


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

    async def ask(given: types.CallHierarchyItem, question: _Question) -> Any:
        """An answer about an item, by the analysis in which it was found; where that document is closed, by that of its own."""
        data: object = given.data
        asked = cast("dict[str, object]", data).get("document") if isinstance(data, dict) else None
        document = (server.document(asked) if isinstance(asked, str) else None) or server.document(given.uri)
        if document is None:
            return None
        return await server.ask(document, lambda views: question(next(views), document, given))

    def calls_to(view: View, document: Document, given: types.CallHierarchyItem) -> list[types.CallHierarchyIncomingCall] | None:
        converter, uri = server.documents.converter, uri_for(server, document)
        found = _subject(view.analysis, converter, uri, given)
        if found is None:
            return None
        seen = [Seen(view.analysis, found, occurrences(view.analysis, found))]
        for other in others(server, document):
            seen += elsewhere(other, found, seen[0].places)
        return [
            types.CallHierarchyIncomingCall(
                _item(calls.item, converter, uri, document), [converter.range(at) for at in calls.places]
            )
            for calls in _merged([calls for each in seen for calls in incoming(each)], uri)
        ]

    def calls_from(view: View, document: Document, given: types.CallHierarchyItem) -> list[types.CallHierarchyOutgoingCall] | None:
        converter, uri = server.documents.converter, uri_for(server, document)
        module = _module(view.analysis, uri, given)
        caller = None if module is None else around(module, converter.offset(module.source, given.selection_range.start))
        if caller is None:
            return None
        return [
            types.CallHierarchyOutgoingCall(
                _item(calls.item, converter, uri, document), [converter.range(at) for at in calls.places]
            )
            for calls in outgoing(view.analysis, caller)
        ]

    async def called(params: types.CallHierarchyIncomingCallsParams) -> list[types.CallHierarchyIncomingCall] | None:
        return await ask(params.item, calls_to)

    async def calls(params: types.CallHierarchyOutgoingCallsParams) -> list[types.CallHierarchyOutgoingCall] | None:
        return await ask(params.item, calls_from)

    server.answers(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)(prepare)
    server.answers(types.CALL_HIERARCHY_INCOMING_CALLS)(called)
    server.answers(types.CALL_HIERARCHY_OUTGOING_CALLS)(calls)


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
