"""Print the table of measurements; exit 1 where a budget is passed."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench import analysing, cold


def main() -> int:
    kept = True
    print(f"{'what':<46}{'ms':>9}   budget")
    with tempfile.TemporaryDirectory() as folder:
        for measured in (cold.rows(Path(folder)), analysing.rows()):
            for what, milliseconds, budget, within in measured:
                verdict = {None: "", True: "kept", False: "PASSED"}[within]
                print(f"{what:<46}{milliseconds:>9.1f}   {budget:<24}{verdict}", flush=True)
                kept = kept and within is not False
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
