"""Diagnostics of the whole workspace, pulled: those of open documents as they are pulled one by one, and of all files below its
folders as `sexpgpu check` finds them on the disk.

Such a request stays open: it is answered when something is another than what the client has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sexpgpu.cli.gather import below
from sexpgpu.files import DISK
from sexpgpu.source import Source
from sexpgpu_lsp.analyses import AnalysisFailed
from sexpgpu_lsp.diagnostics import Report
from sexpgpu_lsp.documents import Document, Stamp, Used, World
from sexpgpu_lsp.uris import file_key, key_of, key_path, uri_of
from sexpgpu_lsp.worker import DEPENDENT
from sexpgpu_lsp.workspace import MOST_FILES, MOST_FOLDERS, folders

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

LOOK = 1.0
"""Seconds between two looks at the files while a request stays open."""

Item = types.WorkspaceFullDocumentDiagnosticReport | types.WorkspaceUnchangedDocumentDiagnosticReport


class _Known(NamedTuple):
    """What was made from which states of files."""

    used: dict[str, Used]
    report: Report | None

    def fresh(self, world: World) -> bool:
        """Whether all of them are in the same state."""
        return all(_state(world, key) == state for key, state in self.used.items())


class Everywhere:
    """The files that no editor has open, each analysed once in each of its states."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: dict[str, _Known] = {}
        self._ignored: frozenset[str] = frozenset()
        self._looking = asyncio.Lock()

    async def pull(self, previous: dict[str, str]) -> list[Item]:
        """All reports, given what the client has: by URI the result. Waits until one of them is another."""
        while True:
            async with self._looking:
                items = await self._look(previous)
            if not previous or not all(isinstance(item, types.WorkspaceUnchangedDocumentDiagnosticReport) for item in items):
                return items
            await asyncio.sleep(LOOK)

    async def _look(self, previous: dict[str, str]) -> list[Item]:
        server = self._server
        publisher = server.publisher
        roots = folders(server)
        publisher.everywhere(roots)
        paths = await asyncio.to_thread(lambda: {file_key(path): path for path in _files(roots)})
        if self._ignored != server.analyses.ignore:
            self._ignored = server.analyses.ignore
            self._known.clear()
        for key in [key for key in self._known if key not in paths]:
            del self._known[key]
            publisher.forget(key)
        for key, path in paths.items():
            await self._examine(key, path)

        given = {key_of(uri): (uri, result) for uri, result in previous.items()}
        items: list[Item] = []
        for document in list(server.documents.world.documents.values()):
            _, result = given.pop(document.key, ("", None))
            try:
                report = await publisher.pulled(document, result)
            except (AnalysisFailed, JsonRpcException):
                continue
            items.append(_item(document.uri, document.version, report))
        opened = server.documents.world.documents
        for key in [*publisher.found_in(paths), *(key for key in given if key not in paths)]:
            if key not in opened:
                uri, result = given.get(key, (uri_of(key_path(key)) if key in paths else "", None))
                items.append(_item(uri, None, publisher.result(key, uri, result)))
        return items

    async def _examine(self, key: str, path: str) -> None:
        server = self._server
        world = server.documents.world
        if key in world.documents:
            self._known.pop(key, None)
            return
        known = self._known.get(key)
        if known is not None and known.fresh(world):
            return

        def work() -> _Known:
            state = Stamp.of(path)
            try:
                document = Document(uri_of(path), key, None, Source.decode(path, DISK.read(path)))
            except OSError:
                return _Known({key: state}, None)
            used, analysis = server.analyses.closed(world, document)
            used[key] = state
            return _Known(used, None if analysis is None else server.publisher.report(world, document, analysis))

        known = self._known[key] = await server.worker.run(DEPENDENT, work)
        if known.report is not None:
            server.publisher.take_closed(known.report)
        else:
            server.publisher.forget(key)


def register(server: Server) -> None:
    """Answer workspace/diagnostic."""
    everywhere = Everywhere(server)

    async def answer(params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
        return types.WorkspaceDiagnosticReport(await everywhere.pull({each.uri: each.value for each in params.previous_result_ids}))

    server.answers(types.WORKSPACE_DIAGNOSTIC)(answer)


def _files(roots: Iterable[str]) -> Iterable[str]:
    for root in roots:
        yield from islice(below(root, MOST_FOLDERS), MOST_FILES)


def _state(world: World, key: str) -> Used:
    source = world.source(key)
    return Stamp.of(key_path(key)) if source is None else source


def _item(uri: str, version: int | None, report: types.DocumentDiagnosticReport) -> Item:
    if isinstance(report, types.RelatedUnchangedDocumentDiagnosticReport):
        return types.WorkspaceUnchangedDocumentDiagnosticReport(uri=uri, version=version, result_id=report.result_id)
    return types.WorkspaceFullDocumentDiagnosticReport(uri=uri, version=version, result_id=report.result_id, items=report.items)
