"""Print the table of measurements; exit 1 where a budget is not kept."""

from __future__ import annotations

import sys
import tempfile
from itertools import chain
from pathlib import Path

from bench import analysing, asking, cold, running, serving


def main() -> int:
    kept = True
    print(f"{'what':<46}{'ms':>9}{'processor':>11}   budget")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for row in chain(cold.rows(home), analysing.rows(), asking.rows(), serving.rows(home), running.rows(home)):
            verdict = row.budget and (row.budget + ("" if row.kept else ": not kept"))
            print(f"{row.what:<46}{row.wall:>9.1f}{row.processor:>11.1f}   {verdict}".rstrip(), flush=True)
            kept = kept and row.kept
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
