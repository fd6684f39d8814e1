"""Messages as bytes: framing, a thread that reads and one that writes. Nothing here knows what a message says.

The streams are file descriptors or a socket, not Python's files: a thread that waits in one of those keeps the process from ending.
"""

from __future__ import annotations

import os
import queue
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

_LENGTH = re.compile(rb"^content-length[ \t]*:[ \t]*(\d+)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_HEADER_END = b"\r\n\r\n"
_LONGEST_HEADER = 2**16
_LONGEST_BODY = 2**28
_PIECE = 2**16
_LAST_WORDS = 0.5  # seconds
_STUCK = 1.0  # seconds


class Stream(NamedTuple):
    """Two ends: `read` gives some bytes, none at the end; `write` takes all it is given. Raise OSError when the other has gone."""

    read: Callable[[], bytes]
    write: Callable[[bytes], None]


def standard_streams() -> Stream:
    """Standard input and output, taken from everybody else in this process: what prints goes to standard error, what reads gets
    nothing."""
    given, taken = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (given, taken):
            msvcrt.setmode(descriptor, os.O_BINARY)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr

    def write(data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(taken, rest) :]

    return Stream(lambda: os.read(given, _PIECE), write)


def socket_streams(connection: socket.socket) -> Stream:
    """Both directions of a connection."""
    return Stream(lambda: connection.recv(_PIECE), connection.sendall)


def frames(read: Callable[[], bytes]) -> Iterator[bytes]:
    """The bodies of the messages, until the stream ends. A header without a length is skipped; what is too long to be a message
    ends the stream."""
    waiting = bytearray()
    length: int | None = None
    while True:
        if length is None:
            end = waiting.find(_HEADER_END)
            if end >= 0:
                match = _LENGTH.search(waiting, 0, end + 2)
                length = int(match[1]) if match is not None else None
                del waiting[: end + len(_HEADER_END)]
                if length is None:
                    continue
        if length is not None and len(waiting) >= length:
            yield bytes(waiting[:length])
            del waiting[:length]
            length = None
            continue
        if (length is not None and length > _LONGEST_BODY) or (length is None and len(waiting) > _LONGEST_HEADER):
            return
        try:
            piece = read()
        except OSError:
            return
        if not piece:
            return
        waiting += piece


def read_in_thread(stream: Stream, receive: Callable[[bytes], object], ended: Callable[[], object]) -> None:
    """Give each message to `receive`, in a thread of its own; when there will be no more, call `ended`."""

    def run() -> None:
        try:
            for body in frames(stream.read):
                receive(body)
            ended()
        except RuntimeError:  # the loop that they belong to is closed
            return

    threading.Thread(target=run, name="reader", daemon=True).start()


class Writer:
    """Writes in a thread of its own, so that a client that does not read keeps nobody waiting."""

    def __init__(self, stream: Stream, broken: Callable[[], object]) -> None:
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._stream = stream
        self._broken = broken
        self._since: float | None = None
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Write a whole message, some time."""
        self._queue.put(data)

    @property
    def stuck(self) -> bool:
        """Whether the client has stopped reading: it has not taken a message for long."""
        since = self._since
        return since is not None and time.monotonic() - since > _STUCK

    def close(self) -> None:
        """Wait, not long, until all that was written is out."""
        self._queue.put(None)
        self._thread.join(_LAST_WORDS)

    def _run(self) -> None:
        while (data := self._queue.get()) is not None:
            self._since = time.monotonic()
            try:
                self._stream.write(data)
                self._since = None
            except (OSError, ValueError):
                with suppress(RuntimeError):  # the loop is closed already
                    self._broken()
                return
