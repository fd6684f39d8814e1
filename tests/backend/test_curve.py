"""The chart of a run's loss."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sexpgpu_jax.curve import draw, main, read_metric


def folder(tmp_path: Path, values: list[float | None]) -> Path:
    lines = [
        json.dumps({"kind": "metric", "step": 10 * n, "name": "train/loss", "value": v, "stage": 0})
        for n, v in enumerate(values, 1)
    ]
    (tmp_path / "events.jsonl").write_text("\n".join([*lines, '{"kind": "metric", "st']))
    return tmp_path


def test_a_falling_loss_falls(tmp_path: Path) -> None:
    points = read_metric(folder(tmp_path, [4.0, 3.0, None, 2.0, 1.0]), "train/loss")
    assert points == [(10, 4.0), (20, 3.0), (40, 2.0), (50, 1.0)]
    rows = draw(points, width=5, height=4).splitlines()
    assert rows[:4] == ["4 ┤•", "  ┤ •", "  ┤   •", "1 ┤    •"]
    assert rows[-1] == "first 4 at step 10, last 1 at step 50"


@pytest.mark.parametrize("values", [[2.5], [2.5, 2.5, 2.5]])
def test_what_does_not_move_is_drawn_too(tmp_path: Path, values: list[float | None]) -> None:
    assert "first 2.5 at step 10, last 2.5 at" in draw(read_metric(folder(tmp_path, values), "train/loss"))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder(tmp_path, [4.0, 1.0]))]) == 0
    assert "train/loss" in capsys.readouterr().out
    assert main([str(tmp_path), "eval/none"]) == 2
    assert "has no metric eval/none" in capsys.readouterr().err
    assert main([str(tmp_path / "none")]) == 2
    assert "is no run" in capsys.readouterr().err
    assert main([]) == 2
