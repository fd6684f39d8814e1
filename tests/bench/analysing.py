"""The analysis inside a process: 1,000 lines with a 12-layer transformer, from nothing and after one character of an edit."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Iterator

from bench import Row, Times
from bench.programs import transformer
from sexpgpu.analysis import Options, analyse
from sexpgpu.program.cache import Cache
from sexpgpu.source import Source

FROM_NOTHING = 11
KEYSTROKES = 100


def rows() -> Iterator[Row]:
    """Time the analysis in this process."""
    text = transformer()
    analyse(Source("run.sx", text))  # reads the prelude and fills what is made once in a process
    whole, strokes = Times(), Times()
    for _ in range(FROM_NOTHING):
        timed(whole, text, None)
    yield whole.row("analyse 1,000 lines from nothing", 250)
    options = Options(cache=Cache())
    analyse(Source("run.sx", text), options=options)
    for edited in keystrokes(text, KEYSTROKES):
        timed(strokes, edited, options)
    yield strokes.row("analyse 1,000 lines after a keystroke, p50", 15)
    yield strokes.row("analyse 1,000 lines after a keystroke, p95", 50, 0.95)


def keystrokes(text: str, count: int) -> Iterator[str]:
    """The text as it is while somebody types: a character more at some place, then without it again."""
    source = random.Random(0)
    for turn in range(count):
        at = source.randrange(len(text))
        yield text[:at] + source.choice("a1 (") + text[at:] if turn % 2 == 0 else text


def timed(times: Times, text: str, options: Options | None) -> None:
    """Add how long the analysis of the text takes."""
    gc.collect()
    processor, begun = time.process_time(), time.perf_counter()
    analyse(Source("run.sx", text), options=options)
    times.add(time.perf_counter() - begun, time.process_time() - processor)
