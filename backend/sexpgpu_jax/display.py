"""What somebody at a terminal sees of a run: one line that moves, plain lines, or nothing. It goes to standard error."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, Protocol


class Pace(NamedTuple):
    """How fast a run goes: seconds a step, records and tokens a second, and the seconds that are left."""

    step_seconds: float
    records_per_second: float
    tokens_per_second: float | None
    eta_seconds: float


class Display(Protocol):
    """Shows how far a run is. `report` comes with every report of training, `note` with what passes measured and what was decided
    on it, `say` with everything else worth a line."""

    def report(self, step: int, loss: float | None, pace: Pace) -> None: ...

    def note(self, step: int, text: str) -> None: ...

    def say(self, text: str) -> None: ...

    def close(self) -> None: ...


def display(how: str, steps: int) -> Display:
    """The display for `--progress`: `auto` moves on a terminal and is plain elsewhere."""
    if how == "none":
        return Silent()
    return Moving(steps) if how == "auto" and sys.stderr.isatty() else Plain(steps)


class Silent:
    """Nothing but what is said."""

    def report(self, step: int, loss: float | None, pace: Pace) -> None:
        pass

    def note(self, step: int, text: str) -> None:
        pass

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        pass


class Plain(Silent):
    """A line for each report and each note."""

    def __init__(self, steps: int) -> None:
        self._steps = steps

    def report(self, step: int, loss: float | None, pace: Pace) -> None:
        self.say(f"step {step}/{self._steps}  {_facts(loss, pace)}")

    def note(self, step: int, text: str) -> None:
        self.say(f"step {step}/{self._steps}  {text}")


class Moving:
    """One line that moves, with a bar, and the notes above it."""

    def __init__(self, steps: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._console = Console(stderr=True)
        columns: list[Any] = [TextColumn("step"), MofNCompleteColumn(), BarColumn(), TextColumn("{task.description}")]
        self._progress = Progress(*columns, console=self._console, transient=True)
        self._task = self._progress.add_task("compiling", total=steps)
        self._progress.start()

    def report(self, step: int, loss: float | None, pace: Pace) -> None:
        self._progress.update(self._task, completed=step, description=_facts(loss, pace))

    def note(self, step: int, text: str) -> None:
        self.say(f"step {step}  {text}")

    def say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False)

    def close(self) -> None:
        self._progress.stop()


def _facts(loss: float | None, pace: Pace) -> str:
    rate = (
        f"{pace.records_per_second:.4g} records/s" if pace.tokens_per_second is None else f"{pace.tokens_per_second:.4g} tokens/s"
    )
    parts = [f"loss {loss:.4f}"] if loss is not None else []
    return "  ".join([*parts, rate, f"{duration(pace.eta_seconds)} left"])


def duration(seconds: float) -> str:
    """`42 s`, `3 min 07 s`, `2 h 05 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
