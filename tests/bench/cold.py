"""Whole commands, cold: `sexpgpu check` of 300 lines beside other checkers on 300 lines of Python, taking turns, medians."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench import Row, Times
from bench.programs import python_file, run_file

ROOT = Path(__file__).parents[2]
OTHERS = ("basedpyright", "mypy", "pyrefly", "ruff")
ROUNDS = 11


def other_checkers() -> Path:
    """The folder of the other checkers' commands, installed on first use into an environment of their own."""
    folder = ROOT / "build" / "bench-venv"
    done = folder / ".installed"
    if not done.exists() or done.read_text("utf-8").split() != [*OTHERS]:
        print("installing other checkers into build/bench-venv …", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run(
            [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "-qq", *OTHERS], check=True
        )
        done.write_text(" ".join(OTHERS), "utf-8")
    return folder / "bin"


def rows(folder: Path) -> Iterator[Row]:
    """Time the commands on files in `folder`."""
    ours, theirs = folder / "run.sx", folder / "layers.py"
    ours.write_text(run_file(), "utf-8")
    theirs.write_text(python_file(), "utf-8")
    others = other_checkers()
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "sexpgpu check, 300 lines, cold": [str(Path(sys.executable).with_name("sexpgpu")), "check", str(ours)],
        "pyrefly, 300 lines, cold": [str(others / "pyrefly"), "check", str(theirs)],
        "mypy, 300 lines, cold": [str(others / "mypy"), str(theirs)],
        "basedpyright, 300 lines, cold": [str(others / "basedpyright"), "--level", "error", str(theirs)],
    }
    times = {name: Times() for name in commands}
    for turn in range(ROUNDS + 1):
        for name, command in commands.items():
            wall, processor = run(command, folder)
            if turn:  # the first turn fills caches
                times[name].add(wall, processor)
    pyrefly = times["pyrefly, 300 lines, cold"].row("").wall
    for name, found in times.items():
        yield found.row(name, pyrefly if name.startswith("sexpgpu") else None)


def run(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds on the clock and of the processor that a command takes. It must succeed."""
    # A user's Python keeps the bytecode of what it has imported once.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {"NO_COLOR": "1"}
    before, begun = os.times(), time.perf_counter()
    done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True, env=environment)
    wall, after = time.perf_counter() - begun, os.times()
    if done.returncode:
        raise SystemExit(f"{command[0]}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return wall, after.children_user + after.children_system - before.children_user - before.children_system
