"""The examples of the docs train as they say: what `make demo` shows, end to end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.claims import ROOT


def trained(example: str, folder: Path) -> list[dict]:
    """Run an example as a user does; the events that it leaves."""
    command = [sys.executable, "-m", "sexpgpu", "run", f"docs/examples/{example}.sx", "--out", str(folder), "--progress", "none"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (folder / "events.jsonl").read_text("utf-8").splitlines()]


def metric(events: list[dict], name: str) -> list[float]:
    return [event["value"] for event in events if event["kind"] == "metric" and event["name"] == name]


@pytest.mark.claim("G1", "G13")
def test_training_on_what_the_student_wrote_drives_the_loss_down(tmp_path: Path) -> None:
    events = trained("tiny-generate", tmp_path / "run")
    losses = metric(events, "train/loss")
    assert losses[-1] < losses[0] / 10
    drawn = subprocess.run(
        [sys.executable, "-m", "sexpgpu_jax.curve", str(tmp_path / "run")], check=True, capture_output=True, text=True
    )
    assert "train/loss" in drawn.stdout
    assert drawn.stdout.count("•") > 20


@pytest.mark.claim("C1", "C10", "C11", "C12")
def test_the_curriculum_moves_on_when_the_pass_was_easy(tmp_path: Path) -> None:
    events = trained("curriculum", tmp_path / "run")
    changes = [event for event in events if event["kind"] == "annotation" and event["text"].startswith("stage ")]
    assert [change["text"] for change in changes][:1] == ["stage 0 -> 1"]
    easy = next(event for event in events if event.get("name") == "stage-so-far/loss" and event["value"] < 0.1)
    assert changes[0]["step"] == easy["step"]
    assert {event["stage"] for event in events if event["kind"] == "metric" and event["step"] > easy["step"]} == {1}
    assert metric(events, "curriculum/stage")
