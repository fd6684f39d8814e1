"""A run as its events tell it (protocol, Events). Lines that are no events are passed over: the last may be half written."""

from __future__ import annotations

import json
import os
import re
from typing import Any, NamedTuple, cast

from sexpgpu.records.process import PROCESS, process_of

EVENTS = "events.jsonl"
OVER = ("finished", "stopped", "failed")
KILLED = "killed"
CHECKPOINT = "checkpoint "
_STAGE = re.compile(r"stage (\d+) -> (\d+)")


class Point(NamedTuple):
    """A value of a metric at a step, in a stage; None for one that is not finite."""

    step: int
    value: float | None
    stage: int | None


class Record:
    """What has been recorded of one run: `state` of its last `run` event, `killed` where its process ended before it could say so;
    `curves` by the metric's name in the order of steps, the `annotations` and checkpoints as `(step, text)`, the messages of its
    `errors`."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.name = os.path.basename(os.path.abspath(folder))
        self.state = ""
        self.file = ""
        self.devices: list[str] = []
        self.started = ""
        self.last = ""
        self.step = 0
        self.steps: int | None = None
        self.curves: dict[str, list[Point]] = {}
        self.annotations: list[tuple[int, str]] = []
        self.errors: list[tuple[int, str]] = []

    @property
    def stages(self) -> list[tuple[int, int]]:
        """From which step on the run was in which stage, where it changed at all."""
        found: list[tuple[int, int]] = []
        for step, text in self.annotations:
            change = _STAGE.fullmatch(text)
            if change is not None:
                found += [] if found else [(0, int(change[1]))]
                found.append((step, int(change[2])))
        return found

    def take(self, event: dict[str, Any]) -> None:
        """Add what an event says."""
        kind, step = event.get("kind"), event.get("step")
        if not isinstance(step, int) or isinstance(step, bool):
            return
        self.last = str(event.get("time") or self.last)
        self.started = self.started or self.last
        self.step = step
        if kind == "run":
            self._run(step, event)
        elif kind in ("metric", "diagnostic"):
            value, stage = event.get("value"), event.get("stage")
            if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
                point = Point(step, None if value is None else float(value), stage if isinstance(stage, int) else None)
                self.curves.setdefault(str(event.get("name")), []).append(point)
        elif kind == "progress":
            steps = event.get("steps")
            self.steps = steps if isinstance(steps, int) else self.steps
        elif kind == "annotation":
            self.annotations.append((step, str(event.get("text", ""))))
        elif kind == "checkpoint":
            self.annotations.append((step, f"{CHECKPOINT}{os.path.basename(str(event.get('path', '')))}".rstrip()))
        elif kind == "error":
            code = event.get("code")
            self.errors.append((step, str(event.get("message", "")) + (f" [{code}]" if isinstance(code, str) else "")))

    def _run(self, step: int, event: dict[str, Any]) -> None:
        self.state = str(event.get("state", ""))
        self.file = str(event.get("file") or self.file)
        devices = event.get("devices")
        if isinstance(devices, list):
            self.devices = [str(device) for device in cast("list[object]", devices)]
        if self.state == "resumed":  # what came after its checkpoint is done again
            self.curves = {name: [point for point in points if point.step <= step] for name, points in self.curves.items()}
            self.annotations = [each for each in self.annotations if each[0] <= step]
            self.errors = []


def read_run(folder: str) -> Record:
    """The record of the run in a folder. Raises OSError where there is none."""
    record = Record(folder)
    with open(os.path.join(folder, EVENTS), encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                event = json.loads(line, parse_constant=lambda _: None)
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                record.take(cast("dict[str, Any]", event))
    left = os.path.exists(os.path.join(folder, PROCESS))
    if left and record.state not in OVER and process_of(folder) is None:
        record.state = KILLED
    return record


def run_folders(folder: str) -> list[str]:
    """The folders of runs right below a folder, the oldest first. Raises OSError where it is none."""
    found = [entry.path for entry in os.scandir(folder) if os.path.isfile(os.path.join(entry.path, EVENTS))]
    return sorted(found, key=lambda path: (os.stat(os.path.join(path, EVENTS)).st_mtime_ns, path))
