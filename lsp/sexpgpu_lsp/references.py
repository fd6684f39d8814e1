"""Everywhere that one thing stands: references, highlights, and another name for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sexpgpu.analysis import Analysis
from sexpgpu.ide.occurrences import Occurrence, Seen, elsewhere, in_order, occurrences, subject
from sexpgpu.ide.rename import Refused, check_name, check_subject
from sexpgpu_lsp.actions import versions, workspace_edit
from sexpgpu_lsp.analyses import AnalysisFailed, View
from sexpgpu_lsp.convert import UriOf
from sexpgpu_lsp.documents import Document
from sexpgpu_lsp.uris import file_key

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

_REFUSED = types.LSPErrorCodes.RequestFailed.value


class Found(NamedTuple):
    """A subject as every analysis sees it that has something to do with it, that of the document first, and all its occurrences."""

    seen: list[Seen]
    places: list[Occurrence]


def register(server: Server) -> None:
    """Answer references, documentHighlight, prepareRename and rename."""

    async def refer(params: types.ReferenceParams) -> list[types.Location] | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter

        def question(views: Iterator[View]) -> list[types.Location] | None:
            found = _everywhere(server, document, next(views), converter.offset(document.source, params.position))
            if found is None:
                return None
            uri = uri_for(server, document)
            wanted = [each for each in found.places if params.context.include_declaration or not each.writes]
            return [types.Location(uri(each.span.source), converter.range(each.span)) for each in wanted]

        return await server.ask(document, question)

    async def highlight(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter

        def question(views: Iterator[View]) -> list[types.DocumentHighlight] | None:
            analysis, module = next(views)
            found = subject(analysis, module, converter.offset(document.source, params.position))
            if found is None:
                return None
            return [
                types.DocumentHighlight(
                    range=converter.range(each.span),
                    kind=types.DocumentHighlightKind.Write if each.writes else types.DocumentHighlightKind.Read,
                )
                for each in occurrences(analysis, found)
                if each.span.source is document.source
            ]

        return await server.ask(document, question)

    async def prepare(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter

        def question(views: Iterator[View]) -> types.PrepareRenamePlaceholder | None:
            found = _everywhere(server, document, next(views), converter.offset(document.source, params.position))
            if found is None:
                return None
            _check(found)
            at = found.seen[0].subject
            return types.PrepareRenamePlaceholder(range=converter.range(at.at), placeholder=at.name)

        return await server.ask(document, question)

    async def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter
        versioned = versions(server.client_capabilities)

        def question(views: Iterator[View]) -> types.WorkspaceEdit:
            found = _everywhere(server, document, next(views), converter.offset(document.source, params.position))
            if found is None:
                raise refused("nothing stands here that has a name of the file")
            new = _check(found, params.new_name)
            edits = [] if new == found.seen[0].subject.name else [(each.part, new) for each in found.places]
            world, uri = server.documents.world, uri_for(server, document)
            return workspace_edit(server, world, document, uri, edits, versioned)

        return await server.ask(document, question)

    server.answers(types.TEXT_DOCUMENT_REFERENCES)(refer)
    server.answers(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)(highlight)
    server.answers(types.TEXT_DOCUMENT_PREPARE_RENAME)(prepare)
    server.answers(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))(rename)


def others(server: Server, document: Document) -> Iterator[Analysis]:
    """The analyses of the other open documents. Belongs to the worker."""
    world = server.documents.world
    for other in world.documents.values():
        if other.key != document.key:
            with suppress(AnalysisFailed):
                yield server.analyses.of(world, other)


def uri_for(server: Server, document: Document) -> UriOf:
    """The URI of a source of any analysis, as the client writes it where it has told."""
    world = server.documents.world
    named = {each.source: each.uri for each in world.documents.values()}
    by_path = server.publisher.uri_for(world, document)
    return lambda source: named.get(source) or by_path(source)


def _everywhere(server: Server, document: Document, view: View, offset: int) -> Found | None:
    """What stands at an offset of a document, in it, its loads, and the open files that have one of these in common."""
    analysis, module = view
    found = subject(analysis, module, offset)
    if found is None:
        return None
    seen = [Seen(analysis, found, occurrences(analysis, found))]
    places = seen[0].places
    for other in others(server, document):
        for more in elsewhere(other, found, places):
            seen.append(more)
            places = in_order([*more.places, *places])
    return Found(seen, places)


def refused(reason: str) -> JsonRpcException:
    """The error that shows a reason to whoever asked."""
    return JsonRpcException(reason, _REFUSED)


def _check(found: Found, new: str | None = None) -> str:
    """The new name as it is to be written. An error says why there can be no other name, or not this one."""
    seen = found.seen
    if seen[0].subject.kind == "key":
        # What no run reaches knows little of its keys.
        seen = [each for each in seen if each.analysis.program.run is not None] or seen
    try:
        for each in seen:
            check_subject(each)
        names = [check_name(each, new) for each in seen if new is not None and new != each.subject.name]
    except Refused as reason:
        raise refused(str(reason)) from None
    texts: dict[str, str] = {}
    for source in (place.part.source for place in found.places):
        if texts.setdefault(file_key(source.name), source.text) != source.text:
            raise refused(f"{source.name} is changing; try again")
    return names[0] if names else found.seen[0].subject.name
