"""Print the table of measurements; exit 1 where a budget is not kept."""

from __future__ import annotations

import sys
import tempfile
from itertools import chain
from pathlib import Path

from bench import analysing, asking, cold, running


def main() -> int:
    kept = True
    print(f"{'what':<46}{'ms':>9}{'processor':>11}   budget")
    with tempfile.TemporaryDirectory() as folder:
        for row in chain(cold.rows(Path(folder)), analysing.rows(), asking.rows(), running.rows(Path(folder))):
            verdict = row.budget and (row.budget + ("" if row.kept else ": not kept"))
            print(f"{row.what:<46}{row.wall:>9.1f}{row.processor:>11.1f}   {verdict}".rstrip(), flush=True)
            kept = kept and row.kept
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
