"""A backend for tests of the server: a process that behaves as its first argument says, without training.

It gets the arguments of `sexpgpu run` after its own, and the texts on standard input.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

TIME = "2026-01-01T00:00:00.000Z"
LONG = 60.0


def emit(kind: str, step: int = 0, **more: Any) -> None:
    line = json.dumps({"kind": kind, "time": TIME, "step": step, **more}) + "\n"
    if os.path.isdir(OUT):
        with open(os.path.join(OUT, "events.jsonl"), "a", encoding="utf-8") as file:
            file.write(line)
    with suppress(BrokenPipeError):
        sys.stdout.write(line)
        sys.stdout.flush()


def option(name: str) -> str:
    return ARGUMENTS[ARGUMENTS.index(name) + 1] if name in ARGUMENTS else ""


def steps(number: int) -> None:
    for step in range(1, number + 1):
        emit("metric", step, name="train/loss", value=1 / step, stage=0)
        emit("progress", step, steps=number, records_per_second=1.0, step_seconds=0.1, eta_seconds=(number - step) * 61.0)


def begin() -> None:
    emit("run", state="started", file=FILE)
    emit("run", state="compiled", file=FILE)


def last_words(number: int, _: object) -> None:
    """What a run does when it is asked to stop: it takes a moment, and leaves a checkpoint."""
    time.sleep(0.2)
    Path(OUT, "checkpoint").write_text("whole")
    emit("run", 1, state="stopped", file=FILE)
    sys.exit(128 + number)


def wait() -> None:
    time.sleep(LONG)


def main(how: str) -> int:
    if how == "good":
        begin()
        steps(4)
        emit("run", 4, state="finished", file=FILE)
    elif how == "told":  # what it was given, as an event
        emit("told", arguments=ARGUMENTS, texts=list(json.load(sys.stdin).items()), folder=os.getcwd(), path=sys.path[0])
        emit("run", state="finished", file=FILE)
    elif how in ("waits", "parents"):
        signal.signal(signal.SIGTERM, last_words)
        if how == "parents":
            subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({LONG})"])
        begin()
        steps(1)
        emit("process", number=os.getpid())
        wait()
    elif how == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        begin()
        emit("process", number=os.getpid())
        wait()
    elif how == "hangs":
        wait()
    elif how == "stalls":  # at the first step
        begin()
        steps(1)
        wait()
    elif how.startswith("SIG"):  # what ends it
        begin()
        steps(1)
        print("run /where/it/is", "the last words of some library", sep="\n", file=sys.stderr, flush=True)
        os.kill(os.getpid(), getattr(signal, how))
        wait()
    elif how == "aborts":  # as a library does that has no memory left
        begin()
        print("terminate called after throwing an instance of 'std::bad_alloc'", file=sys.stderr, flush=True)
        os.abort()
    elif how == "dies":  # before its first event
        sys.stdout.write('{"kind": "run", "ti')
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGSEGV)
    elif how == "raises":
        begin()
        raise ValueError("the reason")
    elif how == "refuses":
        print("sexpgpu: training runs on JAX, and the package jax is not installed; write: pip install", file=sys.stderr)
        return 2
    elif how == "silent":
        return 3
    elif how == "faults":
        begin()
        text = json.load(sys.stdin)[FILE]
        at = text.index("model (getf")
        line = text.count("\n", 0, at)
        start = {"line": line, "character": len(text[:at].rpartition("\n")[2].encode("utf-16-le")) // 2}
        span = {"start": start, "end": {**start, "character": start["character"] + 5}}
        emit("error", 1, code="E-RUN-001", message="the loss is not finite", file=FILE, range=span)
        emit("run", 1, state="failed", file=FILE)
        return 1
    elif how == "noisy":
        begin()
        write = sys.stdout.buffer.write
        write(b'Content-Length: 5\r\n\r\nhello\n\xff\xfe no text\n[1, 2]\n{"kind": 3}\n{"a": \n{"a":' + b"[" * 200_000 + b"\n")
        write(b"x" * 3_000_000 + b'\n{"kind": "odd", "step": 0, "value": NaN, "text": "\\ud800"}\n')
        sys.stdout.flush()
        emit("run", 4, state="finished", file=FILE)
    elif how == "chatters":  # on standard error, more than a pipe holds
        for number in range(40_000):
            print(f"warning {number}", file=sys.stderr)
        return 1
    elif how == "screams":  # more than anybody wants to keep
        begin()
        for _ in range(40):
            sys.stderr.write("warning\n" * 131_072)
        sys.stderr.flush()
        began = time.monotonic()
        while os.fstat(2).st_size > 2**24 and time.monotonic() - began < LONG:
            time.sleep(0.05)
        print("the last word", file=sys.stderr, flush=True)
        emit("kept", size=os.fstat(2).st_size)
        return 1
    elif how in ("floods", "pours"):  # events as fast as it can write them, or with pauses
        begin()
        for step in range(1, 30_001):
            print(json.dumps({"kind": "metric", "time": TIME, "step": step, "name": "train/loss", "value": 1.0, "stage": 0}))
            if how == "pours" and step % 10_000 == 0:
                time.sleep(1.5)
        sys.stdout.flush()
        emit("run", 30_000, state="finished", file=FILE)
    elif how == "twice":  # two errors, with what to do about them
        for line in (0, 1):
            span = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 3}}
            emit("error", 0, code=None, message=f"error {line}", help="write less", file=FILE, range=span)
        emit("run", 0, state="failed", file=FILE)
        return 1
    elif how == "leaves":  # something that keeps its output open
        begin()
        subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({LONG / 4})"])
        emit("run", 4, state="finished", file=FILE)
    return 0


if __name__ == "__main__":
    ARGUMENTS = sys.argv[2:]
    FILE, OUT = ARGUMENTS[1], option("--out")
    sys.exit(main(sys.argv[1]))
