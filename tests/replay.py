"""Editing for hours: `python tests/replay.py core [EDITS] [SEED]` analyses files as they are edited and compares each analysis
that builds on the one before with one from nothing; `python tests/replay.py composed [EDITS] [SEED]` does so with runs that are
composed at random, whose parts are moved, renamed, doubled and dropped; `python tests/replay.py server [EDITS] [SEED]` makes the
edits in an editor at a server of its own, in turns one that is pushed to and one that pulls, and compares what it shows.

The same seed makes the same edits. It ends at the first difference, with what was edited last and the text.
"""

from __future__ import annotations

import sys
import tempfile
import time
import traceback
from pathlib import Path

from support.composed import follow
from support.replay import replay
from support.retracing import Differs, followers

SESSION = 10_000
COMPOSED = 20


def core(count: int = 5_000, seed: int = 0) -> int:
    """Follow files in this process."""
    made, begun = 0, time.monotonic()
    for name, steps, follower in followers(seed):
        for _ in range(steps):
            try:
                follower.step()
            except Differs as differs:
                print(f"seed {seed}, edit {made} ({name}): {differs}")
                return 1
            made += 1
        if made >= count:
            break
    print(f"{made:,} edits, {time.monotonic() - begun:.0f} s: no difference")
    return 0


def composed(count: int = 5_000, seed: int = 0) -> int:
    """Follow composed runs in this process, twenty edits each."""
    begun = time.monotonic()
    for number in range(seed, seed + -(-count // COMPOSED)):
        try:
            follow(number, COMPOSED)
        except Differs as differs:
            print(f"seed {number}: {differs}")
            return 1
    print(f"{count:,} edits, {time.monotonic() - begun:.0f} s: no difference")
    return 0


def server(count: int = 50_000, seed: int = 0) -> int:
    """Sessions of ten thousand edits each."""
    for number, begun in enumerate(range(0, count, SESSION)):
        with tempfile.TemporaryDirectory() as folder:
            pull = bool(number % 2)
            try:
                edits = min(SESSION, count - begun)
                print(replay(Path(folder), seed + number, edits, encoding="utf-8" if pull else "utf-16", pull=pull), flush=True)
            except AssertionError:
                print(f"session {seed + number}, {'pulled' if pull else 'pushed'}\n{traceback.format_exc()}")
                return 1
    return 0


if __name__ == "__main__":
    where, *numbers = sys.argv[1:] or [""]
    if where not in ("core", "composed", "server"):
        sys.exit(__doc__)
    sys.exit({"core": core, "composed": composed, "server": server}[where](*map(int, numbers)))
