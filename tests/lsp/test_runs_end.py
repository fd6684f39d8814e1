"""When the editor goes, however it goes, its runs are stopped gracefully, and none is left; unless they were to go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.editor import PATIENCE, Wire, server_environment, uri_for
from support.runs import alive, run_environment, server_for
from support.tiny import tiny


def begin(wire: Wire, folder: Path, **settings: Any) -> tuple[int, Path]:
    """A run that goes on: its process and its folder."""
    wire.initialize(initializationOptions=settings)
    uri = uri_for(folder / "a.sx")
    wire.open(uri, tiny())
    answer = wire.ask("workspace/executeCommand", {"command": "sexpgpu.run", "arguments": [{"uri": uri}]}, "run")
    while True:
        event = wire.read().get("params", {}).get("event", {})
        if event.get("kind") == "process":
            return event["number"], Path(answer["result"]["folder"])


def leave(wire: Wire, how: str) -> None:
    if how == "exit":
        wire.ask("shutdown")
        wire.notify("exit")
    elif how == "close":
        assert wire.process.stdin is not None
        wire.process.stdin.close()
    else:
        wire.process.send_signal(getattr(signal, how))


def gone(process: int, within: float = PATIENCE) -> bool:
    deadline = time.monotonic() + within
    while alive(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(process)


@pytest.mark.parametrize("how", ["exit", "close", "SIGTERM", "SIGKILL"])
def test_runs_are_stopped_gracefully_and_the_server_does_not_wait(tmp_path: Path, how: str) -> None:
    with Wire(server_for("waits")) as wire:
        process, folder = begin(wire, tmp_path)
        leave(wire, how)
        wire.goes(within=1.0)
        assert gone(process)
        assert (folder / "checkpoint").read_text() == "whole"
        assert '"stopped"' in (folder / "events.jsonl").read_text().splitlines()[-1]


@pytest.mark.claim("D5")
def test_the_real_backend_stops_too(tmp_path: Path) -> None:
    with Wire(server_for("real"), env=run_environment()) as wire:
        wire.initialize()
        uri = uri_for(tmp_path / "a.sx")
        wire.open(uri, tiny(run="(defrun :steps 100000000 :report-every 1000)"))
        answer = wire.ask("workspace/executeCommand", {"command": "sexpgpu.run", "arguments": [{"uri": uri}]}, "run")
        while wire.read().get("params", {}).get("event", {}).get("kind") != "progress":
            pass
        leave(wire, "SIGKILL")
        wire.goes(within=1.0)
        events = Path(answer["result"]["folder"]) / "events.jsonl"
        deadline = time.monotonic() + PATIENCE
        while '"stopped"' not in (last := events.read_text().splitlines()[-1]) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert json.loads(last)["state"] == "stopped"


@pytest.mark.parametrize("how", ["exit", "SIGKILL"])
def test_a_run_that_does_not_stop_is_killed_after_a_time(tmp_path: Path, how: str) -> None:
    with Wire(server_for("stubborn", GRACE=0.5)) as wire:
        process, _ = begin(wire, tmp_path)
        leave(wire, how)
        wire.goes(within=1.0)
        assert gone(process, 10.0)


def test_runs_are_stopped_when_the_editor_died(tmp_path: Path) -> None:
    editor = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with Wire(server_for("waits")) as wire:
        try:
            wire.ask("initialize", {"processId": editor.pid, "rootUri": None, "capabilities": {}}, 0)
            wire.notify("initialized")
            uri = uri_for(tmp_path / "a.sx")
            wire.open(uri, tiny())
            wire.ask("workspace/executeCommand", {"command": "sexpgpu.run", "arguments": [{"uri": uri}]}, "run")
            process = 0
            while not process:
                event = wire.read().get("params", {}).get("event", {})
                process = event.get("number", 0)
        finally:
            editor.kill()
            editor.wait()
        assert wire.goes(within=PATIENCE) == 1
        assert gone(process)


@pytest.mark.parametrize("how", ["exit", "close", "SIGKILL"])
def test_a_detached_run_goes_on_and_finds_where_to_write(tmp_path: Path, how: str) -> None:
    with Wire(server_for("waits")) as wire:
        process, folder = begin(wire, tmp_path, run={"detach": True})
        try:
            leave(wire, how)
            wire.goes(within=1.0)
            time.sleep(0.5)
            assert alive(process)
        finally:
            os.kill(process, signal.SIGTERM)
        assert gone(process)
        assert (folder / "checkpoint").read_text() == "whole"


def test_the_setting_of_the_moment_counts(tmp_path: Path) -> None:
    with Wire(server_for("waits")) as wire:
        process, _ = begin(wire, tmp_path, run={"detach": True})
        wire.notify("workspace/didChangeConfiguration", settings={"sexpgpu": {"run": {"detach": False}}})
        leave(wire, "exit")
        assert gone(process)
    with Wire(server_for("waits")) as wire:
        process, _ = begin(wire, tmp_path)
        wire.notify("workspace/didChangeConfiguration", settings={"sexpgpu": {"run": {"detach": True}}})
        leave(wire, "exit")
        wire.goes(within=1.0)
        time.sleep(0.5)
        assert alive(process)
        os.kill(process, signal.SIGTERM)
        assert gone(process)


def test_nobody_keeps_watch_once_the_server_and_its_runs_have_gone(tmp_path: Path) -> None:
    marker = f"sexpgpu-test-{os.getpid()}-{time.monotonic_ns()}"
    os.environ["SEXPGPU_TEST_MARKER"] = marker
    try:
        with Wire(server_for("waits")) as wire:
            begin(wire, tmp_path)
            leave(wire, "exit")
            wire.goes(within=1.0)
    finally:
        del os.environ["SEXPGPU_TEST_MARKER"]
    deadline = time.monotonic() + PATIENCE
    while (left := _with_environment(marker)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def _with_environment(marker: str) -> list[int]:
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_a_command_in_flight_does_not_disturb_the_shutdown(tmp_path: Path) -> None:
    with Wire(server_for("good")) as wire:
        wire.initialize()
        wire.open("untitled:busy", "(def a (dotimes (i 60000) (* i i)))")
        uri = uri_for(tmp_path / "a.sx")
        wire.open(uri, tiny())
        params = {"command": "sexpgpu.run", "arguments": [{"uri": uri}]}
        wire.body(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "workspace/executeCommand", "params": params}).encode())
        assert wire.ask("shutdown", None, 2)["result"] is None
        wire.notify("exit")
        assert wire.goes(within=1.0) == 0


def test_the_module_of_the_watch_needs_the_standard_library_alone() -> None:
    program = (
        "import sys, sexpgpu_lsp.runs_guard as g; print(sorted({'pygls', 'lsprotocol', 'sexpgpu.analysis'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=server_environment())
    assert done.stdout.strip() == "[]"
