"""When documents are analysed: the first change after quiet at once, a burst now and then, what depends on them afterwards."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from sexpgpu_lsp.diagnostics import Report
from sexpgpu_lsp.log import log
from sexpgpu_lsp.worker import DEPENDENT, EDITED

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server


_BREATH = 0.001  # seconds: what is sent with a change is answered, and what was found is out, before the processor is taken again


class Schedule:
    """At most one analysis of a document waits or runs; what changes meanwhile is seen by the next."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._begun: dict[str, float] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._again: dict[str, int] = {}
        self._settling: asyncio.Task[None] | None = None
        self._unsettled = False

    def edited(self, key: str) -> None:
        """A document was opened or changed."""
        if key in self._timers:
            return
        loop = asyncio.get_running_loop()
        quiet = self._server.configuration.now.debounce
        wait = self._begun.get(key, -quiet) + quiet - loop.time()
        self._timers[key] = loop.call_later(max(wait, _BREATH), self._due, key)

    def anew(self) -> None:
        """Analyse every document once more: something has changed for all of them."""
        forgotten = self._server.worker.run(EDITED, self._server.analyses.forget_all)
        forgotten.add_done_callback(lambda _: self.settle())

    def settle(self) -> None:
        """Analyse every open document that something has changed for."""
        self._unsettled = True
        if self._settling is None or self._settling.done():
            self._settling = asyncio.get_running_loop().create_task(self._settle())

    async def _settle(self) -> None:
        server = self._server
        while self._unsettled:
            self._unsettled = False
            for key in await server.worker.run(DEPENDENT, lambda: server.analyses.stale(server.documents.world)):
                self._start(key, DEPENDENT)

    def _due(self, key: str) -> None:
        self._timers.pop(key, None)
        self._start(key, EDITED)

    def _start(self, key: str, urgency: int) -> None:
        if key in self._running:
            self._again[key] = min(urgency, self._again.get(key, urgency))
            return
        loop = asyncio.get_running_loop()
        self._begun[key] = loop.time()
        self._running[key] = loop.create_task(self._run(key, urgency))

    async def _run(self, key: str, urgency: int) -> None:
        server = self._server
        report: Report | None = None
        stale: list[str] = []
        try:
            report, stale = await server.worker.run(urgency, lambda: server.publisher.examine(key))
        except Exception as error:  # noqa: BLE001  one document's trouble is not another's
            log.error("looking at %s failed: %s: %s", key, type(error).__name__, error, exc_info=error)
        del self._running[key]
        again = self._again.pop(key, None)
        if report is not None:
            server.publisher.take(report, edited=EDITED in (urgency, again))
            asyncio.get_running_loop().call_later(_BREATH, self._afterwards, key)
            if urgency == DEPENDENT or any(other != key and other in server.documents.world.documents for other in report.found):
                server.refresh.compare()
        document = server.documents.world.documents.get(key)
        if document is None:
            self._begun.pop(key, None)
        elif again is not None and (report is None or report.document != document):
            self._start(key, again)
        for other in stale:
            if other != key:
                self._start(other, DEPENDENT)

    def _afterwards(self, key: str) -> None:
        """The diagnostics are out, if there were any to show: now there is time for what was not needed for them."""
        server = self._server
        server.worker.run(DEPENDENT, lambda: server.analyses.prepare(key))
        server.garbage.analysed()
