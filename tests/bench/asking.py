"""What an editor asks of an analysis that stands, on 1,000 lines: hover anywhere, the colours of all tokens and of a screen."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Iterator

from bench import Row, Times
from bench.programs import transformer
from sexpgpu.analysis import Options, analyse
from sexpgpu.ide.hints import hints
from sexpgpu.ide.hover import hover
from sexpgpu.ide.tokens import Layouts, tokens
from sexpgpu.source import Source
from sexpgpu_lsp.tokens import encoded

QUESTIONS = 200
WHOLE = 40
SCREEN = 50  # lines


def rows() -> Iterator[Row]:
    """Time questions in this process, without the way to the editor and back."""
    source = Source("run.sx", transformer())
    analysis = analyse(source, options=Options(record=True))
    module = analysis.unit.main
    chance = random.Random(0)
    starts = source.line_starts
    first = [chance.randrange(len(starts) - SCREEN) for _ in range(QUESTIONS)]

    def screen(number: int) -> tuple[int, int]:
        return starts[first[number]], starts[first[number] + SCREEN]

    def colours(start: int = 0, end: int | None = None) -> object:
        return encoded(source, tokens(analysis, module, start, end, layouts), "utf-16", multiline=False)

    layouts: Layouts = {}
    colours()  # the server keeps the layouts of forms that do not change
    yield timed("hover on 1,000 lines, p95", QUESTIONS, lambda _: hover(analysis, module, chance.randrange(len(source.text))))
    yield timed("tokens of 1,000 lines, p95", WHOLE, lambda _: colours())
    yield timed("tokens of a screen in 1,000 lines, p95", QUESTIONS, lambda number: colours(*screen(number)))
    yield timed("hints of a screen in 1,000 lines, p95", QUESTIONS, lambda number: hints(analysis, module, *screen(number)))


def timed(what: str, count: int, ask: Callable[[int], object]) -> Row:
    """The row of the slowest but one in twenty."""
    times = Times()
    gc.collect()
    for number in range(count):
        processor, begun = time.process_time(), time.perf_counter()
        ask(number)
        times.add(time.perf_counter() - begun, time.process_time() - processor)
    return times.row(what, 10, 0.95)
