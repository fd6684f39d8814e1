"""Runs from the editor: what is started, stopped and told of. A run is a child process; this one never trains."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from lsprotocol import types

from sexpgpu_lsp.log import log
from sexpgpu_lsp.runs_child import Child, End, Event
from sexpgpu_lsp.runs_guard import Guard
from sexpgpu_lsp.runs_report import Progress, Text, errors_found
from sexpgpu_lsp.runs_why import kills, more, why

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

EVENT = "sexpgpu/event"

GRACE = 30.0  # seconds that a run has to write its checkpoint before it is killed
SILENCE = 60.0  # seconds after which a run that has said nothing is worth a word
_PATIENCE = 10  # times the longest silence so far, which is as good a reason to wait
_LOGGED = 2**13  # characters
_ERRORS = 100  # of one run
_KEPT = 100  # runs that are over
_MANY = ("metric", "diagnostic", "progress")
"""Kinds of events that are not kept for a client which has stopped reading: `events.jsonl` in the run's folder has them."""
_OVER = ("finished", "stopped", "failed")


class Asked(NamedTuple):
    """What to run: the texts, the run's name, the values that stand in for the file's, and what to do should memory not suffice."""

    text: Text
    name: str
    steps: int | None
    device: str | None
    advice: str


class Run:
    """One run. `state` is `starting`, what its last event of kind `run` said, `stopping` or, at the end, one of finished, stopped,
    failed; `said` is what its last event said, `why` says why it failed."""

    def __init__(self, number: str, folder: str, asked: Asked) -> None:
        self.number = number
        self.folder = folder
        self.text = asked.text
        self.name = asked.name
        self.advice = asked.advice
        self.started = time.time()
        self.heard = time.monotonic()
        self.silence = 0.0
        self.kills = kills()
        self.state = "starting"
        self.said = ""
        self.why = ""
        self.step = 0
        self.steps = asked.steps
        self.metrics: dict[str, dict[str, Any]] = {}
        self.child: Child | None = None
        self.progress: Progress | None = None
        self.errors: list[Event] = []
        self.told = self.stopping = self.forced = False
        self.timers: list[asyncio.TimerHandle] = []

    @property
    def over(self) -> bool:
        """Whether its process has ended."""
        return self.child is None

    def facts(self) -> dict[str, Any]:
        """What `sexpgpu.runs` answers of it."""
        return {
            "run": self.number,
            "uri": self.text.document.uri,
            "name": self.name,
            "folder": self.folder,
            "state": self.state,
            "running": not self.over,
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.started)),
            "step": self.step,
            "steps": self.steps,
            "metrics": self.metrics,
            **({"message": self.why} if self.why else {}),
        }


class Runs:
    """All runs of this server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._runs: dict[str, Run] = {}
        self._guard = Guard(GRACE)

    def get(self, number: str) -> Run | None:
        return self._runs.get(number)

    def running(self, key: str) -> list[Run]:
        """Those of a document that go on, the first first."""
        return [run for run in self._runs.values() if not run.over and run.text.document.key == key]

    def facts(self) -> list[dict[str, Any]]:
        """All of them, the first first."""
        return [run.facts() for run in self._runs.values()]

    def start(self, asked: Asked) -> Run:
        """Begin a run. Raises OSError where there is no place for its folder, or no process can begin."""
        document = asked.text.document
        base = self._base(document.source.name)
        folder = _reserve(base, asked.name)
        run = Run(self._number(os.path.basename(folder)), folder, asked)
        arguments = ["run", document.source.name, "--texts", "-", "--events", "-", "--progress", "none", "--out", folder]
        for option, value in (("--steps", asked.steps), ("--device", asked.device)):
            arguments += [] if value is None else [option, str(value)]
        texts = {source.name: source.text for source in asked.text.sources.values()}
        try:
            run.child = Child(
                arguments,
                base,
                json.dumps(texts).encode(),
                lambda event: self._heard(run, event),
                lambda end: self._ended(run, end),
            )
        except OSError:
            _give_back(folder)
            raise
        self._runs[run.number] = run
        if not self._detached():
            self._watch(run.child)
        self._server.publisher.drop(document.key)
        run.progress = Progress(self._server, f"sexpgpu/{run.number}", f"run {run.name}")
        self._look_again(run, SILENCE)
        self._server.refresh.send("lenses")
        return run

    def stop(self, run: Run) -> None:
        """Have a run stop: gracefully, and by force after a grace time or when asked again."""
        if run.child is None:
            return
        if run.stopping:
            self._force(run)
            return
        run.stopping = True
        run.state = "stopping"
        run.child.stop()
        self._put_off(run)
        run.timers = [asyncio.get_running_loop().call_later(GRACE, self._force, run)]
        if run.progress is not None:
            run.progress.report("stopping", None, time.monotonic())
        self._server.refresh.send("lenses")

    def cancelled(self, token: Any) -> None:
        """The user pressed the button of a progress."""
        run = self.get(str(token).removeprefix("sexpgpu/"))
        if run is not None:
            self.stop(run)

    def leave(self) -> None:
        """The server is about to go. What is watched then will be stopped."""
        detached = self._detached()
        for run in self._runs.values():
            if run.child is not None:
                if detached:
                    self._guard.forget(run.child.number)
                else:
                    self._watch(run.child)

    def _heard(self, run: Run, event: Event) -> None:
        now = time.monotonic()
        run.silence, run.heard = 0.0 if event["kind"] == "run" else max(run.silence, now - run.heard), now
        step = event.get("step")
        if isinstance(step, int):
            run.step = step
        kind = event["kind"]
        if kind == "run" and isinstance(event.get("state"), str):
            run.said = event["state"]
            run.state = "stopping" if run.stopping and run.said not in _OVER else run.said
        elif kind == "metric":
            run.metrics[str(event.get("name"))] = {key: event.get(key) for key in ("value", "step", "stage")}
        elif kind == "progress" and isinstance(event.get("steps"), int):
            run.steps = event["steps"]
        elif kind == "error" and len(run.errors) < _ERRORS:
            run.errors.append(event)
            found = errors_found(self._server, run.text, run.errors)
            if found:
                self._server.publisher.put(run.text.document, found)
        if kind not in _MANY or not getattr(self._server.connection.writer, "stuck", False):
            self._server.connection.notify(EVENT, {"run": run.number, "event": event})
        if run.progress is not None and kind in ("run", "progress"):
            run.progress.report(*_shown(run, event), now)

    def _ended(self, run: Run, end: End) -> None:
        if run.child is not None:
            self._guard.forget(run.child.number)
        run.child = None
        self._put_off(run)
        if run.forced or (run.stopping and run.state not in _OVER):
            run.state = "stopped"
        elif run.state not in _OVER or (run.state == "finished" and end.status != 0):
            run.state = "stopped" if end.status in (130, 143) else "failed"
        if run.state == "failed":
            run.why = why(end, run.errors[-1] if run.errors else None, run.advice, more(run.kills, kills()))
            self._tell(run, types.MessageType.Error, f"run {run.name} failed: {run.why}")
            if end.tail:
                tail = "\n".join(end.tail)[-_LOGGED:]
                says = f"run {run.number} wrote last:\n{tail}"
                self._server.window_log_message(types.LogMessageParams(types.MessageType.Log, says))
        elif run.forced:
            run.why = f"it did not stop by itself and was killed; what it had done since its last checkpoint is lost ({run.folder})"
            self._tell(run, types.MessageType.Warning, f"run {run.name}: {run.why}")
        if run.progress is not None:
            run.progress.end(run.state if run.state != "finished" else f"finished at step {run.step}{_loss(run.metrics)}")
        if run.said != run.state:  # its process could not say so
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            event = {"kind": "run", "time": now, "step": run.step, "state": run.state, "message": run.why}
            self._server.connection.notify(EVENT, {"run": run.number, "event": event})
        _give_back(run.folder)
        over = [number for number, each in self._runs.items() if each.over]
        for number in over[:-_KEPT]:
            del self._runs[number]
        self._server.refresh.send("lenses")

    def _force(self, run: Run) -> None:
        if run.child is not None:
            run.forced = True
            run.child.kill()

    def _put_off(self, run: Run) -> None:
        for timer in run.timers:
            timer.cancel()

    def _look_again(self, run: Run, later: float) -> None:
        run.timers = [asyncio.get_running_loop().call_later(later, self._look, run)]

    def _look(self, run: Run) -> None:
        """Has it said something of late? If not, that is said once: the user may wait, or stop it."""
        if run.child is None or run.stopping:
            return
        silent, allowed = time.monotonic() - run.heard, max(SILENCE, _PATIENCE * run.silence)
        if silent < allowed:
            self._look_again(run, allowed - silent)
            return
        maybe = {
            "starting": "it may still be loading JAX or waiting for its device",
            "started": "it may still be compiling",
        }.get(run.state, f"its last word was of step {run.step}, and it may hang")
        says = f"run {run.name} has said nothing for {_duration(silent)}: {maybe}; it can be stopped"
        self._server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, says))
        if run.progress is not None:
            run.progress.report(f"silent for {_duration(silent)}", None, time.monotonic())

    def _tell(self, run: Run, kind: types.MessageType, message: str) -> None:
        if not run.told:
            run.told = True
            self._server.window_show_message(types.ShowMessageParams(kind, message))

    def _watch(self, child: Child) -> None:
        try:
            self._guard.watch(child.number)
        except OSError as error:
            log.warning("nobody will stop run %d when the server is killed: %s", child.number, error)

    def _detached(self) -> bool:
        return self._server.configuration.now.flag("run.detach")

    def _base(self, name: str) -> str:
        """The folder that a run's own folder is made below: the client's where the file is in it, otherwise the file's."""
        folder = self._server.documents.folder
        if folder is not None and os.path.abspath(name).startswith(os.path.join(folder, "")):
            return folder
        return os.path.dirname(os.path.abspath(name))

    def _number(self, name: str) -> str:
        return next(each for each in itertools.chain([name], (f"{name}+{n}" for n in itertools.count(2))) if each not in self._runs)


def _shown(run: Run, event: Event) -> tuple[str, int | None]:
    """The message and the percentage of a run's progress."""
    if run.stopping:
        return "stopping", None
    if event["kind"] == "run":
        return {"started": "compiling", "compiled": "training"}.get(run.state, run.state), 0
    steps = f"/{run.steps}" if run.steps else ""
    eta = event.get("eta_seconds")
    left = f" · {_duration(eta)} left" if isinstance(eta, int | float) else ""
    done = min(100, 100 * run.step // run.steps) if run.steps else None
    return f"step {run.step}{steps}{_loss(run.metrics)}{left}", done


def _loss(metrics: Mapping[str, Mapping[str, Any]]) -> str:
    """The training loss, or the first of training's metrics where none has that name."""
    name = "train/loss" if "train/loss" in metrics else next((each for each in metrics if each.startswith("train/")), "")
    value = metrics.get(name, {}).get("value")
    return f" · {name.removeprefix('train/')} {value:.4g}" if isinstance(value, int | float) else ""


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60:02} min"


def _reserve(base: str, name: str) -> str:
    """A new folder `runs/NAME-TIME`, numbered where several begin in one second. Raises OSError."""
    safe = re.sub(r"[^\w.+-]+", "_", name).lstrip(".") or "run"
    os.makedirs(os.path.join(base, "runs"), exist_ok=True)
    stem = os.path.join(base, "runs", f"{safe}-{time.strftime('%Y%m%d-%H%M%S')}")
    for number in itertools.count(1):
        folder = stem if number == 1 else f"{stem}-{number}"
        with suppress(FileExistsError):
            os.mkdir(folder)
            return folder
    raise AssertionError


def _give_back(folder: str) -> None:
    """Remove the folder of a run that left nothing in it."""
    for path in (folder, os.path.dirname(folder)):
        with suppress(OSError):
            os.rmdir(path)
