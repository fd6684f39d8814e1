"""The folders of the workspace, which come and go, and searching them: the definitions of their files and of the open documents, by
name."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types

from sexpgpu.cli.gather import below
from sexpgpu.files import DISK
from sexpgpu.ide.search import definitions, rank
from sexpgpu.source import Source
from sexpgpu_lsp.convert import Converter
from sexpgpu_lsp.documents import World
from sexpgpu_lsp.navigation import KINDS
from sexpgpu_lsp.uris import file_key, uri_of

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

MOST_FILES = 2_000
MOST_FOLDERS = 5_000
_MOST_BYTES = 2**20
_MOST_FOUND = 500
_LONGEST = 2.0  # seconds of looking at files; what was not reached is the next search's


class _Known(NamedTuple):
    """The symbols of a file, and the state of it that has them: the source of an open document, or the disk's time and size."""

    state: object
    symbols: list[types.SymbolInformation]


class Search:
    """What was found in files, as long as they do not change. Works outside of the loop, one search at a time."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}
        self._lock = threading.Lock()

    def __call__(self, query: str, world: World, folders: Iterable[str], converter: Converter) -> list[types.SymbolInformation]:
        """The symbols that a query may mean, the best first."""
        with self._lock:
            symbols = [*self._opened(world, converter), *self._on_disk(world, folders, converter)]
        ranked = [(found, symbol) for symbol in symbols if (found := rank(query, symbol.name)) is not None]
        ranked.sort(key=lambda each: (each[0], len(each[1].name), each[1].name))
        return [symbol for _, symbol in ranked[:_MOST_FOUND]]

    def _opened(self, world: World, converter: Converter) -> Iterator[types.SymbolInformation]:
        for key, document in world.documents.items():
            known = self._known.get(key)
            if known is None or known.state is not document.source:
                symbols = _symbols(document.source, document.uri, "", converter)
                known = self._known[key] = _Known(document.source, symbols)
            yield from known.symbols

    def _on_disk(self, world: World, folders: Iterable[str], converter: Converter) -> Iterator[types.SymbolInformation]:
        until = time.monotonic() + _LONGEST
        seen = set(world.documents)
        for folder in folders:
            for path in islice(below(folder, MOST_FOLDERS), MOST_FILES):
                key = file_key(path)
                if key not in seen and time.monotonic() < until:
                    seen.add(key)
                    yield from self._file(key, path, os.path.relpath(path, folder), converter)
        for key in [key for key in self._known if key not in seen]:
            del self._known[key]

    def _file(self, key: str, path: str, shown: str, converter: Converter) -> list[types.SymbolInformation]:
        try:
            status = os.stat(path)
            state = status.st_mtime_ns, status.st_size
            known = self._known.get(key)
            if known is None or known.state != state:
                source = Source.decode(path, DISK.read(path, 0, _MOST_BYTES))
                known = self._known[key] = _Known(state, _symbols(source, uri_of(path), shown, converter))
        except OSError:
            return []
        return known.symbols


def register(server: Server) -> None:
    """Answer workspace/symbol, and follow the folders of the workspace."""
    search = Search()

    async def answer(params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        documents = server.documents
        return await asyncio.to_thread(search, params.query, documents.world, folders(server), documents.converter)

    def moved(params: types.DidChangeWorkspaceFoldersParams) -> None:
        event = params.event
        server.documents.move([each.uri for each in event.added], [each.uri for each in event.removed])

    server.answers(types.WORKSPACE_SYMBOL)(answer)
    server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(moved)


def folders(server: Server) -> list[str]:
    """The folders that the client works in, as far as they are on the disk."""
    return list(server.documents.folders.values())


def _symbols(source: Source, uri: str, shown: str, converter: Converter) -> list[types.SymbolInformation]:
    return [
        types.SymbolInformation(
            name=found.name,
            kind=converter.client.searched(KINDS[found.kind]),
            location=types.Location(uri, converter.range(found.at)),
            container_name=shown or None,
        )
        for found in ([] if source.builtin else definitions(source))
    ]
