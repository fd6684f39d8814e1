"""Everywhere that one thing stands: references, highlights, and another name for it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sexpgpu.analysis import Analysis
from sexpgpu.ide.occurrences import Occurrence, Seen, Subject, elsewhere, in_order, occurrences, subject
from sexpgpu.ide.rename import Refused, check_name, check_subject
from sexpgpu_lsp.analyses import AnalysisFailed, View
from sexpgpu_lsp.changes import versions, workspace_edit
from sexpgpu_lsp.convert import UriOf
from sexpgpu_lsp.documents import Document
from sexpgpu_lsp.reach import Beyond, beyond, outside
from sexpgpu_lsp.uris import file_key

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

_REFUSED = types.LSPErrorCodes.RequestFailed.value


class Found(NamedTuple):
    """A subject as every analysis of an open document sees it that has something to do with it, and all its occurrences. `home` is
    the analysis by which it was found."""

    home: Analysis
    subject: Subject
    seen: list[Seen]
    places: list[Occurrence]


class Verdict(NamedTuple):
    """What one analysis says to another name: the reason against it, if there is one, and the name as it is to be written. `runs`
    tells whether it has a run: what none reaches knows little of its keys."""

    runs: bool
    against: str
    new: str


def register(server: Server) -> None:
    """Answer references, documentHighlight, prepareRename and rename."""

    async def refer(params: types.ReferenceParams) -> list[types.Location] | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter

        def question(views: Iterator[View]) -> Found | None:
            return _at(server, next(views), converter.offset(document.source, params.position))

        found = await server.ask(document, question)
        if found is None:
            return None
        places = await spread(server, document, found)
        uri = uri_for(server, document)
        wanted = [each for each in places if params.context.include_declaration or not each.writes]
        return [types.Location(uri(each.span.source), converter.range(each.span)) for each in wanted]

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
        _check_written(document)
        converter = server.documents.converter

        def question(views: Iterator[View]) -> tuple[Found, list[Verdict]] | None:
            found = _at(server, next(views), converter.offset(document.source, params.position))
            return None if found is None else (found, _verdicts(found))

        answer = await server.ask(document, question)
        if answer is None:
            return None
        (found, verdicts), about = answer, answer[0].subject
        if _unsure(about, verdicts):
            far = await _others(server, document, found)
            about = far.subject
            verdicts += chain.from_iterable(far.looks)
        _agreed(about, verdicts)
        return types.PrepareRenamePlaceholder(range=converter.range(about.at), placeholder=about.name)

    async def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None

        return await renamed(server, document, server.documents.converter.offset(document.source, params.position), params.new_name)

    server.answers(types.TEXT_DOCUMENT_REFERENCES)(refer)
    server.answers(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)(highlight)
    server.answers(types.TEXT_DOCUMENT_PREPARE_RENAME)(prepare)
    server.answers(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))(rename)


async def renamed(server: Server, document: Document, offset: int, new: str) -> types.WorkspaceEdit:
    """Another name for what stands at an offset of a document, in every file. An error says why there can be none, or not this."""
    _check_written(document)

    def question(views: Iterator[View]) -> tuple[Found, list[Verdict]]:
        found = _at(server, next(views), offset)
        if found is None:
            raise refused("nothing stands here that has a name of the file")
        return found, _verdicts(found, new)

    found, verdicts = await server.ask(document, question)
    if not _unsure(found.subject, verdicts):
        _agreed(found.subject, verdicts)
    far = await _others(server, document, found, new)
    name = _agreed(far.subject, [*verdicts, *chain.from_iterable(far.looks)])
    _check_texts(server, far.places)
    edits = [] if name == far.subject.name else [(each.part, name) for each in far.places]
    world, uri = server.documents.world, uri_for(server, document)
    return workspace_edit(server, world, document, uri, edits, versions(server.client_capabilities))


def _check_written(document: Document) -> None:
    if document.read_only:
        raise refused("this is one of the language's own files, which are only to be read")


def others(server: Server, analysis: Analysis) -> Iterator[Analysis]:
    """The analyses of open documents besides this one. Belongs to the worker."""
    world = server.documents.world
    for other in world.documents.values():
        with suppress(AnalysisFailed):
            each = server.analyses.of(world, other)
            if each is not analysis:
                yield each


def uri_for(server: Server, document: Document) -> UriOf:
    """The URI of a source of any analysis, as the client writes it where it has told."""
    world = server.documents.world
    named = {each.source: each.uri for each in world.documents.values()}
    by_path = server.publisher.uri_for(world, document)
    return lambda source: named.get(source) or by_path(source)


def everywhere(server: Server, analysis: Analysis, found: Subject) -> Found:
    """A subject of an analysis as this sees it, and the open files that have one of its files in common."""
    seen = [Seen(analysis, found, occurrences(analysis, found))]
    places = seen[0].places
    for other in others(server, analysis):
        for more in elsewhere(other, found, places):
            if more.subject.name != found.name:  # which knows more of it
                found, seen, places = more.subject, [], []
            seen.append(more)
            places = in_order([*more.places, *places])
    return Found(analysis, found, seen, places)


def _at(server: Server, view: View, offset: int) -> Found | None:
    """What stands at an offset of a document, and where else."""
    found = subject(*view, offset)
    return None if found is None else everywhere(server, view.analysis, found)


def refused(reason: str) -> JsonRpcException:
    """The error that shows a reason to whoever asked."""
    return JsonRpcException(reason, _REFUSED)


async def spread(server: Server, document: Document, found: Found) -> list[Occurrence]:
    """All occurrences of what was found in open documents, those in closed files among them."""
    names = (found.subject.name,)
    return (await beyond(server, document, found.subject, found.places, names, lambda _path, _seen: None)).places


async def _others(server: Server, document: Document, found: Found, new: str | None = None) -> Beyond[list[Verdict]]:
    """What closed files say to another name, and all occurrences."""

    def look(path: str, seen: list[Seen]) -> list[Verdict]:
        return [_verdict(each, new, f"{os.path.basename(path)}: ") for each in seen]

    names = (found.subject.name, *([new.strip(':"')] if new is not None else []))
    return await beyond(server, document, found.subject, found.places, names, look)


def _verdicts(found: Found, new: str | None = None) -> list[Verdict]:
    where = ("" if each.analysis is found.home else f"{os.path.basename(each.analysis.source.name)}: " for each in found.seen)
    return [_verdict(each, new, place) for each, place in zip(found.seen, where, strict=True)]


def _verdict(each: Seen, new: str | None, where: str) -> Verdict:
    """Belongs to the worker."""
    runs, name = each.analysis.program.run is not None, each.subject.name
    try:
        check_subject(each)
        return Verdict(runs, "", name if new is None or new == name else check_name(each, new))
    except Refused as reason:
        return Verdict(runs, f"{where}{reason}", name)


def _unsure(found: Subject, verdicts: list[Verdict]) -> bool:
    """Whether files that are not open may know better."""
    return found.kind == "key" and not any(each.runs for each in verdicts)


def _agreed(found: Subject, verdicts: list[Verdict]) -> str:
    """The new name as it is to be written. An error says why there can be no other name, or not this one."""
    if found.kind == "key":
        verdicts = [each for each in verdicts if each.runs] or verdicts
    for each in verdicts:
        if each.against:
            raise refused(each.against)
    return next((each.new for each in verdicts if each.new != found.name), found.name)


def _check_texts(server: Server, places: list[Occurrence]) -> None:
    """All that is to be written must be written in the texts that there are now, and where the editor is at home."""
    far = outside(server, places)
    if far is not None:
        name = os.path.basename(far)
        raise refused(f"it stands in {far} too, which is in none of the folders that are open: open {name}, or its folder")
    world = server.documents.world
    texts = {key: document.source.text for key, document in world.documents.items()}
    for source in (place.part.source for place in places):
        if texts.setdefault(file_key(source.name), source.text) != source.text:
            raise refused(f"{source.name} is changing; try again")
