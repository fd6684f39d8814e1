"""Runs as their folders tell of them: events written down, and a process that says it is such a run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.command import environment

HOLDS = """import json, signal, sys, time
from sexpgpu.records.process import Held
folder, how = sys.argv[1:]
held = Held(folder)
def stop(*_):
    with open(folder + "/events.jsonl", "a") as events:
        print(json.dumps({"kind": "run", "time": "2026-01-01T00:00:00Z", "step": 7, "state": "stopped"}), file=events)
    held.release()
    sys.exit(143)
signal.signal(signal.SIGTERM, stop if how == "good" else signal.SIG_IGN)
print("holds", flush=True)
time.sleep(60)
"""


def event(kind: str, step: int, **more: Any) -> str:
    return json.dumps({"kind": kind, "time": f"2026-01-01T00:00:{step % 60:02}.000Z", "step": step, **more})


def metric(name: str, step: int, value: float | None) -> str:
    return event("metric", step, name=name, value=value, stage=0)


def recorded(folder: Path, *lines: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text("\n".join(lines))
    return folder


@contextmanager
def going(folder: Path, how: str = "good") -> Iterator[subprocess.Popen[str]]:
    """A process that says it is the run in a folder."""
    recorded(folder, event("run", 0, state="started"), metric("train/loss", 3, 1.0), "")
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(folder), how], stdout=subprocess.PIPE, text=True, env=environment()
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "holds\n"
        yield process
    finally:
        process.kill()
        process.communicate()
