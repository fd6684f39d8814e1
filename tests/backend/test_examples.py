"""The examples of the docs are clean, and train as they say."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sexpgpu import cli
from sexpgpu.analysis import analyse
from sexpgpu.source import Source
from support.claims import ROOT

FOLDER = ROOT / "docs" / "examples"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.sx"))
DATA = {"digits": "digits.npz", "text": "reference.u8"}
"""What each script writes."""


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples, and with the data that their scripts write."""
    folder = tmp_path_factory.mktemp("examples")
    for name in EXAMPLES:
        shutil.copy(FOLDER / f"{name}.sx", folder)
    for script in DATA:
        write(script, folder)
    return folder


def write(script: str, folder: Path) -> None:
    """What `python docs/examples/SCRIPT.py FOLDER` does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [f"{script}.py", str(folder)])
        runpy.run_path(str(FOLDER / f"{script}.py"), run_name="__main__")


def findings(path: Path) -> list[str]:
    return [found.code for found in analyse(Source(str(path), path.read_text("utf-8"))).diagnostics]


def trained(path: Path, out: Path, *options: str) -> list[dict]:
    """Run a file as a user does; the events that it leaves."""
    assert cli.main(["run", str(path), "--out", str(out), "--progress", "none", *options]) == 0
    return [json.loads(line) for line in (out / "events.jsonl").read_text("utf-8").splitlines()]


def metric(events: list[dict], name: str) -> list[float]:
    return [event["value"] for event in events if event["kind"] == "metric" and event["name"] == name]


def changes(events: list[dict]) -> list[tuple[int, str]]:
    """The step and the text of each annotation."""
    return [(event["step"], event["text"]) for event in events if event["kind"] == "annotation"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_clean(examples: Path, name: str) -> None:
    assert findings(examples / f"{name}.sx") == []


def test_without_its_data_an_example_draws_one_warning(tmp_path: Path) -> None:
    found = {name: findings(Path(shutil.copy(FOLDER / f"{name}.sx", tmp_path))) for name in EXAMPLES}
    assert {name: codes for name, codes in found.items() if codes} == {"char-gpt": ["W-DATA-001"], "digits": ["W-DATA-001"]}


@pytest.mark.parametrize("script", DATA)
def test_a_script_writes_the_same_again(examples: Path, tmp_path: Path, script: str) -> None:
    write(script, tmp_path / "new")
    assert (tmp_path / "new" / DATA[script]).read_bytes() == (examples / DATA[script]).read_bytes()


@pytest.mark.claim("G1", "G13")
def test_training_on_what_the_student_wrote_drives_the_loss_down(tmp_path: Path) -> None:
    """What `make demo` shows, end to end."""
    command = [sys.executable, "-m", "sexpgpu", "run", "docs/examples/tiny-generate.sx"]
    done = subprocess.run([*command, "--out", str(tmp_path / "run")], cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in (tmp_path / "run" / "events.jsonl").read_text("utf-8").splitlines()]
    assert events[-1]["step"] == 200
    losses, accuracies = metric(events, "train/loss"), metric(events, "train/accuracy")
    assert losses[-1] < losses[0] / 4
    assert accuracies[0] < 0.3
    assert accuracies[-1] > 0.9
    drawn = subprocess.run(
        [sys.executable, "-m", "sexpgpu_jax.curve", str(tmp_path / "run")], check=True, capture_output=True, text=True
    )
    assert "train/loss" in drawn.stdout
    assert drawn.stdout.count("•") > 20


@pytest.mark.claim("C1", "C10", "C11", "C12")
def test_the_curriculum_moves_on_when_the_pass_was_easy(examples: Path, tmp_path: Path) -> None:
    events = trained(examples / "curriculum.sx", tmp_path / "run", "--steps", "120")
    assert [text for _, text in changes(events)][:1] == ["stage 0 -> 1"]
    easy = next(event for event in events if event.get("name") == "stage-so-far/loss" and event["value"] < 0.1)
    assert changes(events)[0][0] == easy["step"]
    assert {event["stage"] for event in events if event["kind"] == "metric" and event["step"] > easy["step"]} == {1}
    assert metric(events, "curriculum/stage")


@pytest.mark.claim("C3")
def test_the_run_of_the_tour_goes_on_to_all_digits_and_learns_them(examples: Path, tmp_path: Path) -> None:
    events = trained(examples / "tour.sx", tmp_path / "run")
    assert [text for _, text in changes(events)] == ["stage 0 -> 1"]
    assert metric(events, "eval/accuracy")[-1] > 0.9


def test_the_student_comes_close_to_its_teacher(examples: Path, tmp_path: Path) -> None:
    events = trained(examples / "distill.sx", tmp_path / "run", "--steps", "30")
    losses = metric(events, "train/loss")
    assert losses[-1] < losses[0] / 2


def test_the_pool_is_cut_to_what_is_worse_than_the_rest(examples: Path, tmp_path: Path) -> None:
    events = trained(examples / "pool.sx", tmp_path / "run", "--steps", "30")
    worst, losses = metric(events, "train/worst"), metric(events, "train/loss")
    assert len(losses) == 3
    assert all(one > mean for one, mean in zip(worst, losses, strict=True))
    assert len(metric(events, "eval/found")) == 2


@pytest.mark.claim("C3", "C4")
def test_the_digits_get_harder_as_they_are_known(examples: Path, tmp_path: Path) -> None:
    events = trained(examples / "digits.sx", tmp_path / "run", "--steps", "100")
    assert [text for _, text in changes(events)] == ["stage 0 -> 1", "stage 1 -> 2"]
    assert metric(events, "eval/accuracy")[-1] > 0.8
    assert metric(events, "curriculum/stage")[-1] == 2


def test_the_transformer_learns_and_counts_its_tokens(examples: Path, tmp_path: Path) -> None:
    events = trained(examples / "char-gpt.sx", tmp_path / "run", "--steps", "20", "--set", "width=64")
    before, after = metric(events, "eval/bits")
    assert after < before - 1
    assert [event["tokens_per_second"] > 0 for event in events if event["kind"] == "progress"] == [True, True]
