"""What runs have left: their events read back, listed, and drawn as a page that needs nothing else."""

from __future__ import annotations

import os
import re
import signal
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sexpgpu.records import page, process_of, read_run
from sexpgpu.records.plot import labels, ticks
from support.command import python, sexpgpu
from support.held import event, going, metric, recorded


def small(folder: Path) -> Path:
    return recorded(
        folder,
        event("run", 0, state="started", file="a <b>.sx", devices=["cpu:0 cpu"]),
        *(metric("train/loss", step, 1 / step) for step in range(1, 21)),
        metric("train/odd", 3, None),
        metric("eval/loss", 10, 0.5),
        event("progress", 20, steps=40),
        event("annotation", 5, stage=1, text="stage 0 -> 1"),
        event("annotation", 15, stage=0, text="stage 1 -> 0"),
        event("checkpoint", 10, path="x/checkpoints/10"),
        event("error", 20, code="E-RUN-001", message="not <finite>"),
        event("run", 20, state="failed"),
    )


def drawn(html: str) -> list[ElementTree.Element]:
    """The drawings of a page, each of which must be well-formed."""
    return [ElementTree.fromstring(each) for each in re.findall(r"<svg.*?</svg>", html, re.DOTALL)]


def test_the_record_of_a_run(tmp_path: Path) -> None:
    record = read_run(str(small(tmp_path / "r")))
    assert (record.name, record.state, record.step, record.steps) == ("r", "failed", 20, 40)
    assert [point.value for point in record.curves["train/loss"]] == [1 / step for step in range(1, 21)]
    assert record.stages == [(0, 0), (5, 1), (15, 0)]
    assert record.annotations[-1] == (10, "checkpoint 10")
    assert record.errors == [(20, "not <finite> [E-RUN-001]")]


def test_lines_that_are_no_events_are_passed_over(tmp_path: Path) -> None:
    lines = ["", "nonsense", "[1]", "{}", '{"kind": "metric"}', event("metric", 1), metric("a", 2, 1.0), '{"kind": "metric", "st']
    deep = "[" * 100_000
    record = read_run(str(recorded(tmp_path / "r", *lines, deep, '{"kind": "metric", "step": 3, "name": "a", "value": NaN}')))
    assert [point[:2] for point in record.curves["a"]] == [(2, 1.0), (3, None)]
    assert "<svg" in page(record)


def test_what_a_resumed_run_does_again_counts_once(tmp_path: Path) -> None:
    lines = [*(metric("train/loss", step, float(step)) for step in range(1, 6)), event("run", 3, state="resumed")]
    record = read_run(str(recorded(tmp_path / "r", *lines, metric("train/loss", 4, 40.0))))
    assert [point[:2] for point in record.curves["train/loss"]] == [(1, 1.0), (2, 2.0), (3, 3.0), (4, 40.0)]


def test_the_page_has_a_chart_for_each_name_with_its_stages_and_notes(tmp_path: Path) -> None:
    html = page(read_run(str(small(tmp_path / "r"))))
    charts = drawn(html)
    assert len(charts) == 2
    assert "loss" in html
    lines = charts[0].findall("polyline")
    assert [len((each.get("points") or "").split()) for each in lines] == [20, 1]
    assert len({each.get("stroke") for each in lines}) == 2
    texts = [each.text for each in charts[0].findall("text")]
    assert texts[:3] == ["stage 0", "stage 1", "stage 0"]
    assert len(charts[0].findall("line[@class='note']")) == 2
    assert [each.findtext("title") for each in charts[0].findall("polygon")] == ["step 10: checkpoint 10"]
    assert "train/odd, 1 not finite" in html
    assert "step 20: not &lt;finite&gt; [E-RUN-001]" in html
    assert "a &lt;b&gt;.sx" in html


def test_the_page_needs_nothing_else_and_no_script(tmp_path: Path) -> None:
    found: list[str] = []

    class Looks(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.extend([tag, *(name for name, _ in attrs)])

    html = page(read_run(str(small(tmp_path / "r"))))
    Looks().feed(html)
    assert not {"script", "link", "img", "iframe", "src", "href", "onload"} & set(found)
    assert "http" not in html


def test_long_curves_keep_their_extremes_in_few_points(tmp_path: Path) -> None:
    values = [1.0] * 50_000
    values[31_111], values[40_007] = 99.0, -7.0
    lines = [metric("train/loss", step, value) for step, value in enumerate(values)]
    html = page(read_run(str(recorded(tmp_path / "r", *lines))))
    (chart,) = drawn(html)
    points = [tuple(map(float, each.split(","))) for each in (chart.findall("polyline")[0].get("points") or "").split()]
    assert len(points) < 1000
    assert points == sorted(points, key=lambda point: point[0])
    heights = [down for _, down in points]
    assert max(heights) - min(heights) > 200
    assert len(html) < 50_000
    means = [tuple(map(float, each.split(","))) for each in (chart.findall("polyline")[1].get("points") or "").split()]
    assert len(means) == 50
    assert max(down for _, down in means) - min(down for _, down in means) < 10


def test_a_stage_is_drawn_as_steps(tmp_path: Path) -> None:
    lines = [metric("curriculum/stage", step, float(step // 20)) for step in (0, 10, 20, 30)]
    (chart,) = drawn(page(read_run(str(recorded(tmp_path / "r", *lines)))))
    points = [tuple(map(float, each.split(","))) for each in (chart.findall("polyline")[0].get("points") or "").split()]
    assert all(before[0] == after[0] or before[1] == after[1] for before, after in pairwise(points))
    assert len({down for _, down in points}) == 2


@pytest.mark.parametrize("values", [[], [None], [0.0], [5.0, 5.0], [1e308, -1e308], [1e-300, 2e-300], [None, 1.0, None, 2.0, None]])
def test_values_of_any_kind_are_drawn(tmp_path: Path, values: list[float | None]) -> None:
    lines = [metric("train/loss", step, value) for step, value in enumerate(values)]
    html = page(read_run(str(recorded(tmp_path / "r", *lines))))
    assert len(drawn(html)) == (1 if values else 0)
    assert "nan" not in html
    assert "inf" not in html


@pytest.mark.parametrize(
    ("least", "greatest", "expected"),
    [
        (0, 10, [0, 2, 4, 6, 8, 10]),
        (0.13, 0.94, [0.2, 0.4, 0.6, 0.8]),
        (-3, 2, [-3, -2, -1, 0, 1, 2]),
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
    ],
)
def test_ticks_are_round(least: float, greatest: float, expected: list[float]) -> None:
    assert ticks(least, greatest) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        ([0.2, 0.4], ["0.2", "0.4"]),
        ([1.0, 1.00000002], ["1", "1.00000002"]),
        ([2e10, 4e10], ["2e+10", "4e+10"]),
        ([5.0, 5.0], ["5", "5"]),
    ],
)
def test_labels_tell_their_ticks_apart(values: list[float], expected: list[str]) -> None:
    assert labels(values) == expected


def test_the_command_lists_shows_and_plots(tmp_path: Path) -> None:
    small(tmp_path / "runs" / "first")
    recorded(tmp_path / "runs" / "second", event("run", 0, state="started"))
    (tmp_path / "runs" / "no-run").mkdir()
    listed = sexpgpu("runs", cwd=tmp_path)
    assert listed.returncode == 0
    assert [line.split()[:3] for line in listed.stdout.splitlines()] == [["first", "failed", "20/40"], ["second", "started", "0"]]
    assert "train/loss 0.05" in listed.stdout
    shown = sexpgpu("runs", "show", "first", cwd=tmp_path)
    assert "error at step 20: not <finite> [E-RUN-001]" in shown.stdout
    assert "stage 0 -> 1" in shown.stdout
    plotted = sexpgpu("runs", "plot", "runs/first", cwd=tmp_path)
    assert plotted.returncode == 0, plotted.stderr
    assert (tmp_path / "runs" / "first" / "plot.html").read_text().startswith("<!DOCTYPE html>")
    assert sexpgpu("runs", "plot", "first", "--output", "-", cwd=tmp_path).stdout.endswith("</html>\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["none"], "none: no such file"),
        (["show"], "which run?"),
        (["show", "none"], "there is no run"),
        (["plot", ".", "--output", "-"], "there is no run"),
        (["stop", "none"], "there is no run"),
        (["plot", "none", "--png"], "--png is not built yet"),
        (["shwo", "first"], "none of show, plot and stop"),
    ],
)
def test_runs_that_are_not_there(tmp_path: Path, arguments: list[str], says: str) -> None:
    done = sexpgpu("runs", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr


def test_a_run_is_stopped_from_the_command_line(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "first"
    with going(folder) as process:
        assert process_of(str(folder)) == process.pid
        assert "started" in sexpgpu("runs", cwd=tmp_path).stdout
        done = sexpgpu("runs", "stop", "first", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, "first stopped at step 7\n"), done.stderr
        assert process.wait(10) == 143
        assert process_of(str(folder)) is None
        again = sexpgpu("runs", "stop", "first", cwd=tmp_path)
        assert (again.returncode, again.stderr) == (2, "sexpgpu: first is not running: stopped\n")


def test_one_that_does_not_stop_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "first"
    with going(folder, "stubborn") as process:
        impatient = "import sys; from sexpgpu.cli import main, runs; runs._GRACE = 0.2; sys.exit(main(['runs', 'stop', 'first']))"
        done = python("-c", impatient, cwd=tmp_path)
        assert done.stdout == "first did not stop within 0.2 s and was killed\n", done.stderr
        assert process.wait(10) == -signal.SIGKILL
        assert sexpgpu("runs", cwd=tmp_path).stdout.split()[:2] == ["first", "killed"]


def test_a_run_whose_process_was_killed_does_not_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "first"
    with going(folder) as process:
        process.kill()
        process.wait()
        (folder / "process").write_text(f"{os.getpid()}\n")
        assert process_of(str(folder)) is None
        assert read_run(str(folder)).state == "killed"
        assert "first is not running: killed" in sexpgpu("runs", "stop", "first", cwd=tmp_path).stderr
        assert "killed" in page(read_run(str(folder)))
