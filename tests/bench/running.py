"""The server while runs that it has started train at full load: hover, as somebody asks who goes on reading. The processor's time
is the server's, of the mean question with all that came in meanwhile."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import Row, Times
from bench.programs import transformer
from sexpgpu.source import Source
from support.editor import SERVER, Wire, uri_for
from support.runs import run_environment
from support.tiny import tiny

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "char-gpt.sx"
STEPS = 1_000_000  # more than it gets to
QUESTIONS = 200
PAUSE = 0.05  # seconds between two questions
BUDGET = 50


def rows(folder: Path) -> Iterator[Row]:
    """Start runs through the server, in a folder that is their own, and ask while they train."""
    chance = random.Random(0)
    (folder / "reference.u8").write_bytes(bytes(chance.choices(range(96), k=400_000)))
    texts = {"a transformer that trains": EXAMPLE.read_text("utf-8"), "a run telling of every step": tiny()}
    with Wire(SERVER, env=run_environment()) as wire:
        wire.initialize(rootUri=uri_for(folder))
        long = Source("long.sx", transformer())
        uri = uri_for(folder / long.name)
        wire.open(uri, long.text)
        yield asked(wire, uri, long).row("hover through the server, p95", None, 0.95)
        for number, (what, text) in enumerate(texts.items()):
            trained = uri_for(folder / f"trained-{number}.sx")
            wire.open(trained, text)
            run = command(wire, "run", uri=trained, steps=STEPS)["run"]
            while wire.read().get("params", {}).get("event", {}).get("kind") != "progress":
                pass
            before = step(wire, run)
            times = asked(wire, uri, long)
            assert step(wire, run) > before
            command(wire, "stop", run=run)
            yield times.row(f"hover beside {what}, p50")
            yield times.row(f"hover beside {what}, p95", BUDGET, 0.95)


def command(wire: Wire, name: str, **argument: Any) -> Any:
    """The answer to a command."""
    return wire.ask("workspace/executeCommand", {"command": f"sexpgpu.{name}", "arguments": [argument]}, name)["result"]


def step(wire: Wire, run: str) -> int:
    """How far a run is."""
    return next(each["step"] for each in command(wire, "runs")["runs"] if each["run"] == run)


def asked(wire: Wire, uri: str, source: Source) -> Times:
    """How long it takes until hovers at random places are answered."""
    chance, times = random.Random(0), Times()
    worked = processor(wire.process.pid)
    for number in range(QUESTIONS):
        time.sleep(PAUSE)
        line, character = source.position(chance.randrange(len(source.text)))
        params = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        begun = time.perf_counter()
        answer = wire.ask("textDocument/hover", params, f"hover-{number}")
        times.add(time.perf_counter() - begun, 0.0)
        assert "error" not in answer, answer
    times.processor = [1000 * (processor(wire.process.pid) - worked) / QUESTIONS] * QUESTIONS
    return times


def processor(process: int) -> float:
    """The seconds that a process has worked, where the system tells."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
