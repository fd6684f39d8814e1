"""Beyond the open documents: the files of the workspace in which a thing may stand, too, since they load a file in which it does.

What a file loads is found in its text, so that few files have to be analysed: those alone that may have something to add.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from sexpgpu.analysis import Analysis, Options, analyse
from sexpgpu.cli.gather import below
from sexpgpu.files import DISK
from sexpgpu.ide.occurrences import Occurrence, Seen, Subject, elsewhere, in_order, named_by_calls
from sexpgpu.ide.search import loads
from sexpgpu.language.marks import Local
from sexpgpu.program.unit import Definition, provided
from sexpgpu.source import Source
from sexpgpu_lsp.documents import Document, OpenFiles, Stamp, World
from sexpgpu_lsp.log import log
from sexpgpu_lsp.uris import file_key, key_path, path_of
from sexpgpu_lsp.worker import QUERY
from sexpgpu_lsp.workspace import MOST_FILES, MOST_FOLDERS, folders

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

T = TypeVar("T")

_EVALUATED = ("key", "metric", "diagnostic")
"""What may turn out to be the same as another where more is evaluated."""


class _Text(NamedTuple):
    """A text that may load others: in which state it was read, and the keys of what it loads."""

    state: object
    text: str
    loads: tuple[str, ...]


class Reach:
    """The texts of the workspace's files, as long as they do not change. Works outside of the loop, one search at a time."""

    def __init__(self) -> None:
        self._known: dict[str, _Text] = {}
        self._lock = threading.Lock()

    def closed(
        self, world: World, paths: Iterable[str], about: set[str] | None, seen: set[str], names: tuple[str, ...]
    ) -> list[str]:
        """Of the files at these paths those that are not open, load a file that it is `about` (or are one), and have one of the
        names in a file that has not been `seen` yet: there or in what they load. Without `about`, all that have one themselves."""
        with self._lock:
            found: list[str] = []
            texts: dict[str, _Text | None] = {}

            def text(key: str) -> _Text | None:
                if key not in texts:
                    texts[key] = self._text(world, key)
                return texts[key]

            for path in paths:
                key = file_key(path)
                if key in world.documents:
                    continue
                reached = _reached(key, text) if about is not None else {key}
                if about is None or not about.isdisjoint(reached):
                    known = (each for each in map(text, reached - seen) if each is not None)
                    if any(name in each.text for each in known for name in names):
                        found.append(path)
            for key in self._known.keys() - texts.keys():
                del self._known[key]
            return found

    def _text(self, world: World, key: str) -> _Text | None:
        source = world.source(key)
        state: object = source
        path = key_path(key)
        if source is None:
            state = Stamp.of(path)
            if state is None:
                return None
        known = self._known.get(key)
        if known is None or known.state != state:
            try:
                source = source or Source.decode(path, DISK.read(path))
            except OSError:
                return None
            known = self._known[key] = _Text(state, source.text, tuple(file_key(each) for each in loads(source)))
        return known


def _reached(key: str, text: Callable[[str], _Text | None]) -> set[str]:
    """The keys of a file and of all that it loads."""
    reached: set[str] = set()
    waiting = [key]
    while waiting:
        key = waiting.pop()
        if key not in reached:
            reached.add(key)
            found = text(key)
            waiting.extend(found.loads if found is not None else ())
    return reached


class Beyond(NamedTuple, Generic[T]):
    """A subject, which closed files may know better, all its occurrences, and what was made of it as each closed file sees it."""

    subject: Subject
    places: list[Occurrence]
    looks: list[T]


async def beyond(
    server: Server,
    document: Document,
    found: Subject,
    places: list[Occurrence],
    names: tuple[str, ...],
    look: Callable[[str, list[Seen]], T],
) -> Beyond[T]:
    """What `look` makes of a subject as each closed file sees it that has something to do with it, and all its occurrences, those
    in closed files among them. One file at a time is a job of the worker, which has others in between.

    `places` are the occurrences that the analyses of open documents see.
    """
    if isinstance(found.what, Local) and not named_by_calls(found.what):
        return Beyond(found, places, [])
    everywhere = isinstance(found.what, Definition) and found.what is provided(found.name)
    given = tuple(_around(server, document))
    looks: list[T] = []
    done: set[str] = set()
    seen: set[str] = set()

    def work(world: World, path: str, found: Subject, known: list[Occurrence]) -> Beyond[T] | None:
        analysis = closed(world, path)
        more = elsewhere(analysis, found, known) if analysis is not None else []
        if not more:
            return None
        return Beyond(more[0].subject, [place for each in more for place in each.places], [look(path, more)])

    while True:
        world = server.documents.world
        about = None if everywhere else {file_key(each.part.source.name) for each in places}
        if not done and found.kind not in _EVALUATED:
            seen = set(about or ())
        paths = await asyncio.to_thread(server.reach.closed, world, _files(given), about, seen, names)
        waiting = [path for path in paths if path not in done]
        if not waiting:
            return Beyond(found, places, looks)
        for path in waiting:
            done.add(path)
            result = await server.worker.run(QUERY, partial(work, world, path, found, places))
            if result is not None:
                looks += result.looks
                if result.subject.name != found.name:  # this file knows more of it
                    found, places = result.subject, []
                places = in_order([*result.places, *places])


def outside(server: Server, places: Iterable[Occurrence]) -> str | None:
    """A path in which something stands that is neither open nor in a folder of the workspace; None where there is no folder."""
    roots = [os.path.join(os.path.realpath(root), "") for root in folders(server)]
    opened = server.documents.world.documents
    for path in dict.fromkeys(each.part.source.name for each in places):
        if file_key(path) not in opened and roots and not os.path.realpath(path).startswith(tuple(roots)):
            return path
    return None


def closed(world: World, path: str) -> Analysis | None:
    """The analysis of a file that is not open; None where there is none. Belongs to the worker."""
    try:
        return analyse(Source.decode(path, DISK.read(path)), OpenFiles(world), Options(record=True))
    except OSError:
        return None
    except Exception as error:  # noqa: BLE001  one file's trouble is not another's
        log.error("analysing %s failed: %s: %s", path, type(error).__name__, error, exc_info=error)
        return None


def _around(server: Server, document: Document) -> Iterator[tuple[str, int]]:
    """The folders to search, and how many folders of each: those of the workspace, and that of a document which is in none."""
    roots = folders(server)
    yield from ((root, MOST_FOLDERS) for root in roots)
    path = path_of(document.uri)
    if path is not None and not path.startswith(tuple(os.path.join(root, "") for root in roots)):
        yield os.path.dirname(path), 1


def _files(given: Iterable[tuple[str, int]]) -> Iterator[str]:
    known: set[str] = set()
    for root, most in given:
        for path in islice(below(root, most), MOST_FILES):
            if path not in known:
                known.add(path)
                yield path
