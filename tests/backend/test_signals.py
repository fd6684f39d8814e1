"""SIGINT and SIGTERM: the step in flight is abandoned, the run says so, and the exit status tells which signal it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sexpgpu_jax.signals import Signals, Stopped
from support.tiny import tiny

ROOT = Path(__file__).parents[2]

LONG = tiny(run="(defrun :steps 10000000 :report-every 100)")

SLOW_TRIPS = tiny(
    generate="""(defgenerate :trips 100000
  :init (lambda (batch ctx) (list :h (ones [400 400])))
  :step (lambda (state trip ctx) (list :h (tanh (matmul (getf state :h) (getf state :h)))))
  :finish (lambda (state ctx) (list :h (mean (getf state :h)))))""",
    prepare="(defun prepare (batch ctx) (list :x (field batch :x) :y (field batch :y) :h (field batch :h)))",
    objective="""(defun objective (inputs ctx)
  (metric "loss" (+ (getf inputs :h) (mean (square (- (model (getf inputs :x)) (getf inputs :y)))))))""",
)

SLOW_PASS = tiny(passes="(defpass eval :loader train :every 1 :batches 4)", run="(defrun :steps 10000000)")


@contextmanager
def running(folder: Path, text: str, until: str) -> Iterator[subprocess.Popen[str]]:
    """A run in a process of its own, once its events hold `until`."""
    (folder / "a.sx").write_text(text)
    path = os.pathsep.join(str(ROOT / part) for part in ("core", "lsp", "backend"))
    environment = {**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "sexpgpu", "run", "a.sx", "--out", "out", "--progress", "none"]
    process = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    events = folder / "out" / "events.jsonl"
    try:
        for _ in range(1200):
            if events.exists() and until in events.read_text():
                break
            assert process.poll() is None, process.stderr.read() if process.stderr else ""
            time.sleep(0.1)
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("text", "until", "number", "status"),
    [
        (LONG, "train/loss", signal.SIGINT, 130),
        (SLOW_TRIPS, "compiled", signal.SIGTERM, 143),
        (SLOW_PASS, '"step": 1,', signal.SIGTERM, 143),
        (LONG, "started", signal.SIGTERM, 143),
    ],
    ids=["training", "trips", "pass", "compiling"],
)
def test_a_signal_stops_the_run_wherever_it_is(tmp_path: Path, text: str, until: str, number: int, status: int) -> None:
    with running(tmp_path, text, until) as process:
        if text is SLOW_TRIPS:
            time.sleep(1)
        process.send_signal(number)
        began = time.monotonic()
        _, said = process.communicate(timeout=60)
        assert process.returncode == status, said
        assert time.monotonic() - began < 20
    events = [json.loads(line) for line in (tmp_path / "out" / "events.jsonl").read_text().splitlines()]
    assert (events[-1]["kind"], events[-1]["state"]) == ("run", "stopped")
    assert f"stopped by {signal.Signals(number).name} after step {events[-1]['step']}" in said
    assert "Traceback" not in said


def test_a_second_signal_ends_the_process_at_once(tmp_path: Path) -> None:
    with running(tmp_path, LONG, "train/loss") as process:
        process.send_signal(signal.SIGSTOP)  # so that both come before it looks
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=60)
        assert process.returncode in (130, 143)


def test_looking() -> None:
    with Signals() as signals:
        signals.look()
        assert not signals.came
        os.kill(os.getpid(), signal.SIGTERM)
        assert signals.came
        with pytest.raises(Stopped) as caught:
            signals.look()
    assert caught.value.status == 143
    assert str(caught.value) == "SIGTERM"
    assert signal.getsignal(signal.SIGTERM) is not signals._handle
