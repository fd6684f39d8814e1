"""Whole commands, cold: `sexpgpu check` of 300 lines beside other checkers on 300 lines of Python, taking turns, medians."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.programs import python_file, run_file

ROOT = Path(__file__).parents[2]
ROUNDS = 11


def other_checkers() -> Path:
    """The folder of the other checkers' commands, installed on first use into an environment of their own."""
    folder = ROOT / "build" / "bench-venv"
    done = folder / ".installed"
    if not done.exists():
        print("installing other checkers into build/bench-venv …", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*pip, "basedpyright", "mypy", "pyrefly"], check=True)
        done.touch()
    return folder / "bin"


def rows(folder: Path) -> Iterator[tuple[str, float, str, bool | None]]:
    """Rows of the table: what, milliseconds, budget, whether it is kept."""
    ours, theirs = folder / "run.sx", folder / "layers.py"
    ours.write_text(run_file(), "utf-8")
    theirs.write_text(python_file(), "utf-8")
    others = other_checkers()
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "sexpgpu check": [str(Path(sys.executable).with_name("sexpgpu")), "check", str(ours)],
        "pyrefly": [str(others / "pyrefly"), "check", str(theirs)],
        "mypy": [str(others / "mypy"), str(theirs)],
        "basedpyright": [str(others / "basedpyright"), "--level", "error", str(theirs)],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(ROUNDS + 1):
        for name, command in commands.items():
            begun = time.perf_counter()
            done = subprocess.run(
                command, check=False, cwd=folder, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"}
            )
            if turn:  # the first turn fills caches
                times[name].append(1000 * (time.perf_counter() - begun))
            if done.returncode:
                raise SystemExit(f"{name}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    medians = {name: statistics.median(found) for name, found in times.items()}
    for name, median in medians.items():
        ours_row = name == "sexpgpu check"
        budget = f"≤ pyrefly's {medians['pyrefly']:.0f} ms" if ours_row else ""
        yield (
            f"{name}, 300 lines, cold" if name[-4:] != "pass" else name,
            median,
            budget,
            median <= medians["pyrefly"] if ours_row else None,
        )
