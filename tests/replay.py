"""Editing for hours: `python tests/replay.py core [EDITS] [SEED]` analyses files as they are edited and compares each analysis
that builds on the one before with one from nothing.

The same seed makes the same edits. It ends at the first difference, with what was edited last and the text.
"""

from __future__ import annotations

import sys
import time

from support.retracing import Differs, followers


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


if __name__ == "__main__":
    where, *numbers = sys.argv[1:] or [""]
    if where != "core":
        sys.exit(__doc__)
    sys.exit({"core": core}[where](*map(int, numbers)))
