"""A run as a child process: its events as they come, its end, and two ways to end it.

Two threads wait for it, one for what it writes and one for its end; everything they hear is told in the loop. What it writes to
standard output is read as events and never passed on as it is; standard error goes to a file without a name, so that a run that
outlives the server has somewhere to write.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any, NamedTuple, TypeVar, cast

from sexpgpu_lsp.runs_guard import force

T = TypeVar("T")
Event = dict[str, Any]

COMMAND = [sys.executable, "-P", "-m", "sexpgpu"]  # -P: no module of the folder that it runs in
_PIECE = 2**14
_LONGEST_LINE = 2**20
_WAITING = 16  # pieces that the loop may be behind
_LAST_WORDS = 0.5  # seconds that what a dead process wrote may take to arrive
_MOST_ERRORS = 2**24  # bytes of standard error that are kept while it runs
_LOOK_AT_ERRORS = 1.0  # seconds
_TAIL = 2**15  # bytes of standard error: a crash lists all threads after what it says
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class End(NamedTuple):
    """The end of a process: its exit status, negative for a signal, and the last lines of its standard error."""

    status: int
    tail: list[str]


class Child:
    """A process that has begun. `heard` gets its events, `ended` its end, both in the loop; nothing comes after the end."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: str,
        given: bytes,
        heard: Callable[[Event], object],
        ended: Callable[[End], object],
    ) -> None:
        """Begin a process in a folder, with `given` as its standard input. Raises OSError."""
        self._loop = asyncio.get_running_loop()
        self._heard, self._tell_end = heard, ended
        self._room = threading.Semaphore(_WAITING)
        self._status: int | None = None
        self._silent = self._over = False
        self._before = b""
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed at the end of the process
        _append(self._errors)
        try:
            with tempfile.TemporaryFile() as standard_input:
                standard_input.write(given)
                standard_input.seek(0)
                self._process = subprocess.Popen(
                    [*COMMAND, *arguments],
                    bufsize=0,
                    stdin=standard_input,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    cwd=folder,
                    env={**os.environ, "PYTHONIOENCODING": "utf-8:backslashreplace", "NO_COLOR": "1", "PYTHONFAULTHANDLER": "1"},
                    start_new_session=True,
                )
        except BaseException:
            self._errors.close()
            raise
        for work in (self._read, self._wait):
            threading.Thread(target=work, name=f"run {self.number}", daemon=True).start()
        self._bound_errors()

    @property
    def number(self) -> int:
        """The process's number."""
        return self._process.pid

    def stop(self) -> None:
        """Ask it to end: a run abandons the step in flight and writes a checkpoint."""
        if self._status is None:
            with suppress(OSError):
                self._process.terminate()

    def kill(self) -> None:
        """End it and what it has started, whatever they are doing."""
        if self._status is None:
            force(self.number)

    # In threads

    def _read(self) -> None:
        output = self._process.stdout
        assert output is not None
        waiting = b""
        with suppress(OSError, RuntimeError):  # the loop may have gone
            while piece := output.read(_PIECE):
                *lines, waiting = (waiting + piece).split(b"\n")
                waiting = b"" if len(waiting) > _LONGEST_LINE else waiting
                self._post(events_in(lines))
            self._post(events_in([waiting]))
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._quiet)
        output.close()

    def _post(self, events: list[Event]) -> None:
        if events:
            self._room.acquire()
            self._loop.call_soon_threadsafe(self._take, events)

    def _wait(self) -> None:
        status = self._process.wait()
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._exited, status)

    # In the loop

    def _bound_errors(self) -> None:
        """Of what somebody writes without end only the last is kept."""
        if self._over:
            return
        self._loop.call_later(_LOOK_AT_ERRORS, self._bound_errors)
        with suppress(OSError):
            size = os.fstat(self._errors.fileno()).st_size
            if size > _MOST_ERRORS:
                self._errors.seek(size - _TAIL)
                self._before = self._errors.read(_TAIL)
                self._errors.truncate(0)

    def _take(self, events: list[Event]) -> None:
        self._room.release()
        for event in events:
            if not self._over:
                self._heard(event)

    def _quiet(self) -> None:
        self._silent = True
        if self._status is not None:
            self._end()

    def _exited(self, status: int) -> None:
        self._status = status
        if self._silent:
            self._end()
        else:  # something that it started may hold its output open for ever
            self._loop.call_later(_LAST_WORDS, self._end)

    def _end(self) -> None:
        if not self._over and self._status is not None:
            self._over = True
            self._tell_end(End(self._status, self._last_lines()))

    def _last_lines(self) -> list[str]:
        with self._errors as errors:
            size = errors.seek(0, os.SEEK_END)
            errors.seek(max(0, size - _TAIL))
            written = errors.read(_TAIL)
        whole = size <= _TAIL and not self._before
        text = (self._before + written)[-_TAIL:].decode("utf-8", "replace")
        lines = _COLOURS.sub("", text).splitlines()
        return [line.rstrip() for line in lines[0 if whole else 1 :] if line.strip()]


def _append(file: IO[bytes]) -> None:
    """Whoever writes into the file writes at its end, wherever that is by then."""
    if sys.platform != "win32":
        import fcntl

        fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_APPEND)


def events_in(lines: Sequence[bytes]) -> list[Event]:
    """The events among lines. Anything else on standard output, from whichever library, is none of the editor's business."""
    events: list[Event] = []
    for line in lines:
        if line.lstrip()[:1] == b"{" and len(line) <= _LONGEST_LINE:
            try:
                event = json.loads(line, parse_constant=lambda _: None)  # what JSON has no number for
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict) and isinstance(cast("Event", event).get("kind"), str):
                events.append(cast("Event", event))
    return events


def in_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """What `work` gives, done in a thread that keeps nobody from leaving."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: Any, error: Exception | None) -> None:
        if not future.done():
            future.set_result(result) if error is None else future.set_exception(error)

    def run() -> None:
        result, failure = None, None
        try:
            result = work()
        except Exception as error:  # noqa: BLE001  whoever waits is told
            failure = error
        with suppress(RuntimeError):  # the loop has gone
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=run, name="file work", daemon=True).start()
    return future
