"""Events and progress as somebody sees them: lines that come at once, a bar on a terminal, times in words."""

from __future__ import annotations

import io
import json
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from sexpgpu_jax import folder as folders
from sexpgpu_jax.display import Moving, Pace, Plain, Silent, display, duration
from sexpgpu_jax.events import Events
from sexpgpu_jax.folder import fresh_path


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Gone(io.StringIO):
    """The reader of this has gone."""

    def write(self, _: str) -> int:
        raise BrokenPipeError


def test_a_reader_that_goes_does_not_end_the_run() -> None:
    kept = io.StringIO()
    events = Events([Gone(), kept])
    events.emit("metric", 1, name="train/loss", value=np.float32(0.5), stage=0)
    events.emit("metric", 2, name="train/loss", value=np.float32("nan"), stage=np.int64(1))
    first, second = map(json.loads, kept.getvalue().splitlines())
    assert (first["value"], first["step"]) == (0.5, 1)
    assert (second["value"], second["stage"]) == (None, 1)


@pytest.mark.parametrize(
    ("how", "terminal", "kind"), [("auto", True, Moving), ("auto", False, Plain), ("plain", True, Plain), ("none", True, Silent)]
)
def test_progress_goes_where_it_was_asked(monkeypatch: pytest.MonkeyPatch, how: str, terminal: bool, kind: type) -> None:
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    shown = display(how, 10)
    assert type(shown) is kind
    shown.report(5, 0.25, Pace(0.1, 20.0, 80.0, 0.5))
    shown.report(6, None, Pace(0.1, 20.0, None, 0.4))
    shown.note(6, "eval/loss [0.125]")
    shown.say("[said] as it is")
    shown.close()
    assert "[said] as it is" in stream.getvalue()
    assert ("eval/loss [0.125]" in stream.getvalue()) == (kind is not Silent)
    if kind is not Silent:
        assert "loss 0.2500" in stream.getvalue() or kind is Moving
        assert "20 records/s" in stream.getvalue()


@pytest.mark.parametrize(("seconds", "words"), [(0.4, "0 s"), (59.4, "59 s"), (187, "3 min 07 s"), (7500, "2 h 05 min")])
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_two_runs_of_one_second_have_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Still(datetime):
        @classmethod
        def now(cls, tz: object = None) -> Still:
            return cls(2030, 1, 2, 3, 4, 5)

    monkeypatch.setattr(folders, "datetime", Still)
    names = []
    for _ in range(3):
        path = fresh_path(tmp_path, "small")
        path.mkdir()
        names.append(path.name)
    assert names == ["small-20300102-030405", "small-20300102-030405-2", "small-20300102-030405-3"]
