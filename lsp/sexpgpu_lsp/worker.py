"""The one thread in which all analyses are made and asked. Jobs wait in a queue: the more urgent first, then in order."""

from __future__ import annotations

import asyncio
import itertools
import queue
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

QUERY, EDITED, DEPENDENT = range(3)
"""How urgent a job is: somebody waits for the answer; somebody is typing; something else has changed."""

_STACK = 64 * 2**20


class _Job(NamedTuple):
    urgency: int
    number: int
    work: Callable[[], Any]
    future: asyncio.Future[Any]


class Worker:
    """Runs jobs one at a time. The thread does not keep the process alive, whatever it is doing."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._jobs: queue.PriorityQueue[_Job] = queue.PriorityQueue()
        self._numbers = itertools.count()
        before = threading.stack_size(_STACK)  # deep files nest calls deeply, and some systems give threads half a megabyte
        try:
            threading.Thread(target=self._run, name="analysis", daemon=True).start()
        finally:
            threading.stack_size(before)

    def run(self, urgency: int, work: Callable[[], T]) -> asyncio.Future[T]:
        """Do `work` when its turn comes; a future that is cancelled before then is not worked for."""
        future: asyncio.Future[T] = self._loop.create_future()
        self._jobs.put(_Job(urgency, next(self._numbers), work, future))
        return future

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            if job.future.cancelled():
                continue
            result, error = None, None
            try:
                result = job.work()
            except Exception as raised:  # noqa: BLE001  whoever waits is told
                error = raised
            try:
                self._loop.call_soon_threadsafe(_settle, job.future, result, error)
            except RuntimeError:  # the loop is closed: nobody waits any more
                return
            del job, result, error


def _settle(future: asyncio.Future[Any], result: object, error: Exception | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
