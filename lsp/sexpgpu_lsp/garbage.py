"""When the interpreter looks for garbage: while nobody waits, not in the midst of an analysis that makes many lasting objects.

What the server itself is made of is never looked through again.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

from sexpgpu_lsp.worker import DEPENDENT, Worker

_YOUNG = (200_000, 50, 1_000_000)
"""How many new objects, and how many turns of these, the interpreter waits for before it looks by itself, in the midst of an
analysis or of an answer; never through all."""

_QUIET = 1.0  # seconds without an analysis
_MOST = 40  # analyses since the last look, without such a pause
_MANY = 100_000  # new objects since then: a recursion without end leaves many


class Garbage:
    """Looks for what analyses leave behind."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._analyses = 0
        self._timer: asyncio.TimerHandle | None = None

    @staticmethod
    def begin() -> None:
        """The server is there: from here on what is new is looked through."""
        gc.freeze()
        gc.set_threshold(*_YOUNG)

    def analysed(self) -> None:
        """An analysis has been made."""
        self._analyses += 1
        if self._timer is not None:
            self._timer.cancel()
        youngest, turns, _ = gc.get_count()  # the first starts again at 0 with each turn
        if self._analyses >= _MOST or youngest + turns * _YOUNG[0] >= _MANY:
            self._collect()
        else:
            self._timer = asyncio.get_running_loop().call_later(_QUIET, self._collect)

    def _collect(self) -> None:
        self._timer, self._analyses = None, 0
        work: Callable[[], int] = gc.collect
        self._worker.run(DEPENDENT, work)
