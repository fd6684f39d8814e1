"""The events of a run: one JSON object a line, in the run's folder and wherever else somebody listens (protocol, Events)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, TextIO

import numpy as np


class Events:
    """Writes every event to all `sinks`, each line flushed. A sink whose reader has gone is dropped; the run goes on. One that
    cannot be written for another reason is dropped too, and that is raised once all others have the event."""

    def __init__(self, sinks: Iterable[TextIO]) -> None:
        self._sinks = list(sinks)

    def emit(self, kind: str, step: int, **more: Any) -> None:
        """Write an event. Values that JSON has no number for (nan, inf) become null. Raises OSError where a disk is full."""
        event = {"kind": kind, "time": now(), "step": step, **{name: _plain(value) for name, value in more.items()}}
        line = json.dumps(event, ensure_ascii=False, allow_nan=False) + "\n"
        failure: OSError | None = None
        for sink in list(self._sinks):
            try:
                sink.write(line)
                sink.flush()
            except (BrokenPipeError, ValueError):
                self._sinks.remove(sink)
            except OSError as error:
                self._sinks.remove(sink)
                failure = error
        if failure is not None:
            raise failure


def now() -> str:
    """The time in ISO 8601, UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
