"""Fuzzing: `python tests/fuzz.py [COUNT] [SEED]` analyses that many spoilt fixtures and examples.

An analysis never raises, and ends within two seconds. What breaks that is printed as a file to keep under `fixtures/regressions`.
"""

from __future__ import annotations

import sys
import time
import traceback

from sexpgpu.analysis import analyse
from sexpgpu.source import Source
from support.slips import spoilt

MOST_SECONDS = 2.0


def main(count: int = 20_000, seed: int = 0) -> int:
    worst, failed = 0.0, 0
    for path, text in spoilt(count, seed):
        start = time.process_time()
        try:
            analyse(Source(str(path), text))
        except Exception:  # noqa: BLE001
            failed += 1
            print(f"raised, from {path}:\n{text}\n{traceback.format_exc()}")
        taken = time.process_time() - start
        worst = max(worst, taken)
        if taken > MOST_SECONDS:
            failed += 1
            print(f"took {taken:.1f} s, from {path}:\n{text}")
    print(f"{count - failed} passed, {failed} failed; the slowest took {worst:.2f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
