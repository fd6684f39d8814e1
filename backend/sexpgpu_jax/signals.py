"""SIGINT and SIGTERM: the first asks the run to stop where it next looks, a second ends the process at once."""

from __future__ import annotations

import os
import signal
from types import FrameType, TracebackType
from typing import Any


class Stopped(Exception):
    """The run was asked to stop by that signal."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number

    @property
    def status(self) -> int:
        """The exit status that says so: 130 for SIGINT, 143 for SIGTERM."""
        return 128 + self.number


class Signals:
    """Handlers for the time of a `with` block. `look` raises Stopped once a signal has come."""

    NUMBERS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self._came: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
        for number in self.NUMBERS:
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self._came is not None:
            os._exit(128 + number)
        self._came = number

    @property
    def came(self) -> bool:
        """Whether a signal has come."""
        return self._came is not None

    def look(self) -> None:
        """Raise Stopped if a signal has come."""
        if self._came is not None:
            raise Stopped(self._came)
