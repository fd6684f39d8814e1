"""The documents that the editor has open, as immutable snapshots, and the disk seen through them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sexpgpu.files import DISK
from sexpgpu.source import BYTE_ORDER_MARK, Source
from sexpgpu_lsp.convert import Change, Converter
from sexpgpu_lsp.uris import PRELUDE, file_key, key_of, path_of, source_name


class Document(NamedTuple):
    """One state of an open document. A change makes another, with a source of its own: two states are the same if their sources
    are. `version` is the client's, which some never increment."""

    uri: str
    key: str
    version: int | None
    source: Source

    @property
    def read_only(self) -> bool:
        """Whether it is one of the language's own files, which an editor opens to show a definition."""
        return os.path.dirname(self.source.name) == PRELUDE


class World(NamedTuple):
    """All open documents at one moment, by key. Nothing in it changes any more."""

    documents: Mapping[str, Document]

    def source(self, key: str) -> Source | None:
        """The text of a document, None where it is not open."""
        document = self.documents.get(key)
        return None if document is None else document.source


class Documents:
    """The documents as the client sees them now. `world` is replaced by each change, so that any thread may read it."""

    def __init__(self) -> None:
        self.world = World({})
        self.converter = Converter("utf-16")
        self.folders: dict[str, str] = {}
        """The paths of the folders that the client works in, by the key of their URI, as far as they are on the disk."""

    @property
    def folder(self) -> str | None:
        """The first of the folders."""
        return next(iter(self.folders.values()), None)

    def move(self, added: Iterable[str], removed: Iterable[str] = ()) -> None:
        """The client works in other folders, given by URI."""
        folders = dict(self.folders)
        for uri in removed:
            folders.pop(key_of(uri), None)
        for uri in added:
            path = path_of(uri)
            if path is not None:
                folders[key_of(uri)] = path
        self.folders = folders

    def get(self, uri: str) -> Document | None:
        return self.world.documents.get(key_of(uri))

    def open(self, uri: str, version: int | None, text: str) -> Document:
        """A document was opened, maybe again."""
        name = source_name(uri, self.folder)
        document = Document(uri, key_of(uri), version, Source(name, text))
        self._put(document)
        return document

    def change(self, uri: str, version: int | None, changes: Sequence[Change]) -> Document | None:
        """A document after changes, each of which speaks of the text behind the one before; None where it is not open."""
        document = self.get(uri)
        if document is None:
            return None
        source = document.source
        for change in changes:
            source = Source(source.name, self.converter.changed(source, change))
        document = document._replace(version=version, source=source)
        self._put(document)
        return document

    def close(self, uri: str) -> Document | None:
        """A document was closed; None where it was not open."""
        document = self.get(uri)
        if document is not None:
            self.world = World({key: each for key, each in self.world.documents.items() if key != document.key})
        return document

    def _put(self, document: Document) -> None:
        self.world = World({**self.world.documents, document.key: document})


class Stamp(NamedTuple):
    """The state of a file on the disk: two that are the same tell of the same bytes. `young` is when it was looked at, where it had
    only just been written and a clock that is coarse may not tell it from what is written next; else 0. Times in nanoseconds."""

    device: int
    inode: int
    size: int
    written: int
    changed: int
    young: int

    @classmethod
    def of(cls, path: str) -> Stamp | None:
        """That of a path now; None where nothing is there, or nobody may look."""
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            return None
        now = time.time_ns()
        young = now if abs(now - found.st_mtime_ns) < _COARSE else 0
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, young)


Used = Source | Stamp | None
"""What was asked of a file: the text of an open document, or the state that its file was in, None where there was none."""

_COARSE = 20_000_000


class OpenFiles:
    """The disk with the open documents in front of it. `used` tells what was asked for, by key."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.used: dict[str, Used] = {}

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Bytes of a file from `start`. Raises OSError."""
        data = self._open(path)
        if data is None:
            return DISK.read(path, start, length)
        return data[start:] if length is None else data[start : start + length]

    def size(self, path: str) -> int:
        """Size in bytes. Raises OSError."""
        data = self._open(path)
        return DISK.size(path) if data is None else len(data)

    def _open(self, path: str) -> bytes | None:
        key = file_key(path)
        source = self._world.source(key)
        if source is None:
            if key not in self.used:  # before the first byte is read
                self.used[key] = Stamp.of(path)
            return None
        self.used[key] = source
        # A mark at the start of a file is no part of its text: one that is part of the text stands behind another.
        mark = BYTE_ORDER_MARK if source.text.startswith(BYTE_ORDER_MARK) else ""
        return (mark + source.text).encode("utf-8", "replace")
