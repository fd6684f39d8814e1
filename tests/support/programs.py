"""Programs for tests of the backend: fields, sources and parameters without a file, and runs of `.sx` texts."""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path
from typing import Any

from sexpgpu.analysis import analyse
from sexpgpu.language.dtypes import DTYPES
from sexpgpu.language.values import List, Made, Value, keyword
from sexpgpu.program.model import Field, Parameter, Program
from sexpgpu.reader.forms import Form, SymbolForm, TopForm
from sexpgpu.source import Source


def place(name: str = "test.sx") -> Form:
    """A form that stands in a file of that name."""
    text = "here"
    return SymbolForm(TopForm(Source(name, text), 0, text), 0, len(text), text)


def fields(**types: tuple[tuple[int, ...], str]) -> dict[str, Field]:
    """Fields by name, each a shape and the name of a dtype."""
    return {name: Field(shape, DTYPES[dtype], place()) for name, (shape, dtype) in types.items()}


def made(group: str, name: str, arguments: dict[str, Any], written_in: str = "test.sx") -> Made:
    """A source or initializer; Python's lists and strings that begin with `:` become the language's."""
    at = place(written_in)
    return Made(group, name, {key: _value(value) for key, value in arguments.items()}, {}, at)


def _value(value: Any) -> Value:
    if isinstance(value, list):
        return List([_value(item) for item in value])
    return keyword(value[1:]) if isinstance(value, str) and value.startswith(":") else value


def parameter(path: str, shape: tuple[int, ...], init: str = "init-lecun", dtype: str = "f32", **arguments: float) -> Parameter:
    """A parameter that is made by that initializer."""
    return Parameter(
        path=path,
        shape=shape,
        dtype=DTYPES[dtype],
        init=made("initializer", init, arguments),
        frozen=False,
        pretrained=None,
        entry=path,
        form=place(),
        shown=place(),
        model="model",
    )


def program_of(text: str, name: str = "test.sx") -> Program:
    """The program that a text declares; asserts that it has no errors."""
    analysis = analyse(Source(name, text))
    assert analysis.ok, [f"{d.code}: {d.message}" for d in analysis.diagnostics]
    return analysis.program


class Ran:
    """A run that is over: its exit status, and its events."""

    def __init__(self, status: int, folder: Path) -> None:
        self.status = status
        self.folder = folder
        path = folder / "events.jsonl"
        self.events: list[dict[str, Any]] = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["kind"] == kind]

    def metric(self, name: str) -> list[tuple[int, float]]:
        """`(step, value)` of each event of that metric."""
        return [(event["step"], event["value"]) for event in self.of("metric") if event["name"] == name]

    def texts(self) -> list[tuple[int, str]]:
        """`(step, text)` of each annotation."""
        return [(event["step"], event["text"]) for event in self.of("annotation")]

    def states(self) -> list[str]:
        return [event["state"] for event in self.of("run")]

    def timeless(self) -> list[dict[str, Any]]:
        """The events without what differs between two equal runs."""
        return [
            {key: value for key, value in event.items() if key not in _TIMES}
            for event in self.events
            if event["kind"] != "progress"
        ]


_TIMES = frozenset({"time", "file"})


def run(folder: Path, text: str, **options: Any) -> Ran:
    """Train a text as `sexpgpu run` does, in `folder / run`."""
    from sexpgpu_jax.command import run_command

    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "run.sx"
    file.write_text(text, encoding="utf-8")
    out = folder / "run"
    given: dict[str, Any] = {
        "resume": None,
        "steps": None,
        "seed": None,
        "set": {},
        "device": None,
        "events": None,
        "progress": "none",
    }
    return Ran(run_command(argparse.Namespace(**{**given, "file": str(file), "out": str(out), **options})), out)


class Trained:
    """A program in training, in this process: `training` itself, and the events so far."""

    def __init__(self, written: str | Program) -> None:
        from sexpgpu_jax.display import Silent
        from sexpgpu_jax.events import Events
        from sexpgpu_jax.runtime import configure
        from sexpgpu_jax.signals import Signals
        from sexpgpu_jax.train import Training

        configure("cpu")
        program = program_of(written) if isinstance(written, str) else written
        self._lines = io.StringIO()
        self.training = Training(program, Events([self._lines]), Silent(), Signals())

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._lines.getvalue().splitlines()]
