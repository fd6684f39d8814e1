"""The analyses of the open documents. All of it belongs to the worker's thread: a new analysis moves the forms of the last one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sexpgpu.analysis import Analysis, Options, analyse
from sexpgpu.program.cache import Cache
from sexpgpu.program.unit import Module
from sexpgpu.project import ProjectError, Projects
from sexpgpu.source import Source
from sexpgpu_lsp.documents import Document, OpenFiles, Stamp, Used, World
from sexpgpu_lsp.log import log
from sexpgpu_lsp.uris import file_key, key_path


class AnalysisFailed(Exception):
    """The analysis of a document raised, which it never should; that has been logged."""


class Analysed(NamedTuple):
    """The analysis of a document, and the texts that it is made from: what it asked of files, by key. `analysis` is None where it
    raised."""

    document: Document
    analysis: Analysis | None
    used: dict[str, Used]

    def fresh(self, world: World) -> bool:
        """Whether every text of the editor's that it is made from is still what it was."""
        if world.source(self.document.key) is not self.document.source:
            return False
        return all(world.source(key) is (state if isinstance(state, Source) else None) for key, state in self.used.items())


class View(NamedTuple):
    """A document as an analysis sees it: its own, or that of a file which loads it."""

    analysis: Analysis
    module: Module


class Analyses:
    """The latest analysis of each open document."""

    def __init__(self) -> None:
        self._kept: dict[str, Analysed] = {}
        self._last: dict[str, Analysed] = {}
        self._whole: dict[str, Analysis] = {}
        self._caches: dict[str, Cache] = {}
        self._complaints: set[str] = set()
        self._untold: set[str] = set()
        self.ignore: frozenset[str] = frozenset()
        """Codes that the client's settings silence."""

    def of(self, world: World, document: Document) -> Analysis:
        """The analysis of a document of the world. Raises AnalysisFailed."""
        kept = self._kept.get(document.key)
        if kept is None or not kept.fresh(world):
            kept = self._analyse(world, document)
        if kept.analysis is None:
            raise AnalysisFailed(document.uri)
        return kept.analysis

    def prepare(self, key: str) -> None:
        """Have ready what questions about the latest analysis of a document need, while nobody waits."""
        kept = self._kept.get(key)
        if kept is not None and kept.analysis is not None:
            _ = kept.analysis.values

    def views(self, world: World, document: Document) -> Iterator[View]:
        """A document as its own analysis sees it, then as those of open files see it that load it."""
        analysis = self.of(world, document)
        yield View(analysis, analysis.unit.main)
        for key, kept in self._kept.items():
            if key != document.key and kept.analysis is not None and document.key in kept.used and kept.fresh(world):
                for module in kept.analysis.unit.modules:
                    if file_key(module.path) == document.key and module.source.text == document.source.text:
                        yield View(kept.analysis, module)

    def recent(self, document: Document) -> list[View]:
        """A document as the last analyses of it saw it, the latest first: its text may have changed since. The last of a text that
        read whole is among them, and those of files that load it. None at all before the first.

        Any thread may ask: what is said of them must hold while the forms move that the next analysis keeps."""
        key = document.key
        last = self._last.get(key)
        own = [each for each in (last and last.analysis, self._whole.get(key)) if each is not None]
        views = [View(each, each.unit.main) for each in dict.fromkeys(own)]
        for other, known in list(self._last.items()):
            if other != key and known.analysis is not None and key in known.used:
                modules = known.analysis.unit.modules
                views += [View(known.analysis, each) for each in modules if file_key(each.path) == key]
        return views

    def closed(self, world: World, document: Document) -> tuple[dict[str, Used], Analysis | None]:
        """The analysis of a document that no editor has open, which is not kept, and the other files that it is made from;
        None where it raised."""
        files = OpenFiles(world)
        try:
            return files.used, analyse(document.source, files, Options(ignore=self.ignore | self._ignored(document, files)))
        except Exception as error:  # noqa: BLE001  the server goes on, whatever a file brings about
            log.error("analysing %s failed: %s: %s", document.uri, type(error).__name__, error, exc_info=error)
            return files.used, None

    def stale(self, world: World) -> list[str]:
        """The open documents whose analysis is missing, made from texts that have changed, or made for a question and not told."""
        for key in [key for key in self._kept if key not in world.documents]:
            self._drop(key)
        documents = world.documents
        return [key for key in documents if (kept := self._kept.get(key)) is None or key in self._untold or not kept.fresh(world)]

    def told(self, key: str) -> None:
        """What the analysis of a document found is on its way to the client."""
        self._untold.discard(key)

    def outdated(self) -> dict[str, Stamp | None]:
        """The files of the disk that are no longer what an analysis took them for, by key, and what they are now."""
        now: dict[str, Stamp | None] = {}
        outdated: dict[str, Stamp | None] = {}
        for kept in self._kept.values():
            for key, state in kept.used.items():
                if not isinstance(state, Source):
                    if key not in now:
                        now[key] = Stamp.of(key_path(key))
                    if now[key] != state:
                        outdated[key] = now[key]
        return outdated

    def forget(self, outdated: Mapping[str, Stamp | None]) -> None:
        """Have what was made from other states of these files made anew when it is asked for."""
        for key, kept in list(self._kept.items()):
            if any(each in kept.used and kept.used[each] != now for each, now in outdated.items()):
                del self._kept[key]

    def forget_all(self) -> None:
        """Have every analysis made anew when it is asked for."""
        self._kept.clear()

    def _analyse(self, world: World, document: Document) -> Analysed:
        key = document.key
        self._kept.pop(key, None)  # its forms are about to move
        self._untold.add(key)
        files = OpenFiles(world)
        analysis: Analysis | None = None
        try:
            ignored = self.ignore | self._ignored(document, files)
            options = Options(record=True, ignore=ignored, cache=self._caches.setdefault(key, Cache()))
            analysis = analyse(document.source, files, options)
            if document.read_only:
                analysis.diagnostics = []  # the language's own files may do what others may not
        except Exception as error:  # noqa: BLE001  the server goes on, whatever a file brings about
            self._caches.pop(key, None)
            log.error("analysing %s failed: %s: %s", document.uri, type(error).__name__, error, exc_info=error)
        kept = self._kept[key] = Analysed(document, analysis, files.used)
        if analysis is not None:
            self._last[key] = kept
            if not any(top.broken for top in analysis.unit.main.reading.forms):
                self._whole[key] = analysis
        return kept

    def _ignored(self, document: Document, files: OpenFiles) -> frozenset[str]:
        try:
            return Projects(files).above(document.source.name).ignore
        except ProjectError as error:
            if str(error) not in self._complaints:
                self._complaints.add(str(error))
                log.warning("%s", error)
            return frozenset()

    def _drop(self, key: str) -> None:
        self._kept.pop(key, None)
        self._last.pop(key, None)
        self._whole.pop(key, None)
        self._untold.discard(key)
        self._caches.pop(key, None)
