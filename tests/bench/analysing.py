"""The analysis inside a process: 1,000 lines with a 12-layer transformer, from nothing and after one character of an edit."""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Iterator

from bench.programs import transformer
from sexpgpu.analysis import Options, analyse
from sexpgpu.source import Source

FROM_NOTHING = 10
KEYSTROKES = 100


def rows() -> Iterator[tuple[str, float, str, bool | None]]:
    """Rows of the table: what, milliseconds, budget, whether it is kept."""
    text = transformer()
    analyse(Source("run.sx", text))  # reads the prelude and fills what is made once in a process
    whole = statistics.median(timed(lambda: analyse(Source("run.sx", text))) for _ in range(FROM_NOTHING))
    yield "analyse 1,000 lines from nothing", whole, "≤ 250 ms", whole <= 250
    options = Options(cache={})
    analyse(Source("run.sx", text), options=options)
    found: list[float] = []
    for edited in keystrokes(text, KEYSTROKES):
        found.append(timed(lambda edited=edited: analyse(Source("run.sx", edited), options=options)))
    half, most = statistics.median(found), statistics.quantiles(found, n=20)[-1]
    yield "analyse 1,000 lines after a keystroke, p50", half, "≤ 15 ms", half <= 15
    yield "analyse 1,000 lines after a keystroke, p95", most, "≤ 50 ms", most <= 50


def keystrokes(text: str, count: int) -> Iterator[str]:
    """The text as it is while somebody types: a character more at some place, then without it again."""
    source = random.Random(0)
    for turn in range(count):
        at = source.randrange(len(text))
        yield text[:at] + source.choice("a1 (") + text[at:] if turn % 2 == 0 else text


def timed(work: Callable[[], object]) -> float:
    """Milliseconds that the work takes."""
    gc.collect()
    begun = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begun)
