"""`sexpgpu run`: what it writes, what it says, how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from support.programs import Ran, program_of, run
from support.tiny import tiny

ROOT = Path(__file__).parents[2]


def sexpgpu(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command line, in a process of its own."""
    path = os.pathsep.join(str(ROOT / part) for part in ("core", "lsp", "backend"))
    environment = {**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu"}
    return subprocess.run(
        [sys.executable, "-m", "sexpgpu", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A run with all kinds of events in it."""
    text = tiny(
        prepare="(defun prepare (batch ctx) (counter :tokens 6) (list :x (field batch :x) :y (field batch :y)))",
        objective="""(defun objective (inputs ctx)
  (diagnostic "size" (mean (getf inputs :y)))
  (diagnostic "other" (mean (getf inputs :y)))
  (metric "loss" (mean (square (- (model (getf inputs :x)) (getf inputs :y))))))""",
        passes="(defpass eval :loader train :every 4)",
        run='(defrun small :steps 7 :report-every 3 :diagnostics ["size"] :diagnostics-every 5)',
    )
    return run(tmp_path_factory.mktemp("command"), text)


@pytest.mark.claim("D5")
def test_the_events_of_a_run_in_order(ran: Ran) -> None:
    assert ran.status == 0
    told = [(e["kind"], e["step"], e.get("state") or e.get("name")) for e in ran.events]
    assert told == [
        ("run", 0, "started"),
        ("run", 0, "compiled"),
        ("metric", 0, "eval/loss"),
        ("metric", 0, "curriculum/stage"),
        ("metric", 3, "train/loss"),
        ("progress", 3, None),
        ("metric", 4, "eval/loss"),
        ("metric", 4, "curriculum/stage"),
        ("diagnostic", 5, "train/size"),
        ("metric", 6, "train/loss"),
        ("progress", 6, None),
        ("metric", 7, "train/loss"),
        ("progress", 7, None),
        ("metric", 7, "eval/loss"),
        ("metric", 7, "curriculum/stage"),
        ("run", 7, "finished"),
    ]


def test_every_event_has_what_the_protocol_says(ran: Ran) -> None:
    more: dict[str, set[str]] = {
        "run": {"state", "identity", "file", "devices", "versions"},
        "metric": {"name", "value", "stage"},
        "diagnostic": {"name", "value"},
        "progress": {"steps", "records_per_second", "tokens_per_second", "step_seconds", "eta_seconds"},
    }
    times = []
    for event in ran.events:
        assert set(event) == {"kind", "time", "step"} | more[event["kind"]]
        times.append(datetime.fromisoformat(event["time"]))
        assert times[-1].utcoffset() is not None
        assert event["time"].endswith("Z")
    assert times == sorted(times)
    assert len({event["identity"] for event in ran.of("run")}) == 1
    assert {"python", "jax"} <= set(ran.of("run")[0]["versions"])


def test_the_folder_holds_the_files_as_they_were_run_and_the_last_parameters(ran: Ran) -> None:
    assert (ran.folder / "source" / "run.sx").read_text() == (ran.folder.parent / "run.sx").read_text()
    final = load_file(ran.folder / "final.safetensors")
    assert {path: value.shape for path, value in final.items()} == {"model/w": (3,)}
    assert "pass eval at step 4" in (ran.folder / "log.txt").read_text()


def test_loaded_files_are_kept_too(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    model = tiny().split("\n\n")[1]
    (tmp_path / "parts" / "model.sx").write_text(model)
    ran = run(tmp_path, tiny(model='(load "parts/model.sx")'))
    assert ran.status == 0
    assert (ran.folder / "source" / "model.sx").read_text() == model


def test_events_on_standard_output_and_nothing_else(tmp_path: Path) -> None:
    head = "(defun objective (inputs ctx)"
    (tmp_path / "a.sx").write_text(tiny().replace(head, f"{head} (print 1)"))
    done = sexpgpu("run", "a.sx", "--events", "-", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines == (tmp_path / "out" / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["state"] for line in lines if '"run"' in line] == ["started", "compiled", "finished"]
    assert "I-PRINT-001" in done.stderr


def test_plain_progress_goes_to_standard_error_and_the_folder_has_a_name_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "first.sx").write_text(tiny(run="(defrun :steps 4 :report-every 2)"))
    done = sexpgpu("run", "first.sx", "--progress", "plain", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "step 2/4  loss " in done.stderr
    assert "records/s" in done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.startswith("first-20")
    assert f"finished at step 4; parameters in {Path('runs') / folder.name / 'final.safetensors'}" in done.stderr


def test_a_file_with_errors_does_not_wait_for_jax(tmp_path: Path) -> None:
    (tmp_path / "a.sx").write_text(tiny(optimizer=""))
    path = os.pathsep.join(str(ROOT / part) for part in ("core", "backend"))
    code = "import sys; from sexpgpu.cli import main; status = main(['run', 'a.sx']); print(status, 'jax' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False"]
    assert "E-CONTRACT-001" in done.stderr


@pytest.mark.parametrize("how", ["auto", "plain", "none"])
def test_progress_does_not_touch_the_values(tmp_path: Path, how: str) -> None:
    assert run(tmp_path, tiny(), progress=how).metric("train/loss") == run(tmp_path / "other", tiny()).metric("train/loss")


def test_steps_seed_and_settings_of_the_command_line(tmp_path: Path) -> None:
    text = "(def rate 0.05)\n" + tiny(optimizer="(defoptimizer (sgd :lr rate))")
    plain = run(tmp_path / "plain", text)
    assert len(run(tmp_path / "steps", text, steps=5).metric("train/loss")) == 5
    assert run(tmp_path / "seed", text, seed=3).metric("train/loss") != plain.metric("train/loss")
    slower = run(tmp_path / "set", text, set={"rate": "0.0"})
    assert slower.metric("train/loss")[0] == plain.metric("train/loss")[0]
    assert slower.metric("train/loss") != plain.metric("train/loss")


# What goes wrong


def test_a_file_with_errors_is_shown_and_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(tmp_path, tiny(optimizer="(defoptimizer (sdg :lr 0.05))"))
    assert ran.status == 1
    assert not ran.folder.exists()
    shown = capsys.readouterr().err
    assert "error[E-NAME-001]" in shown
    assert "sdg" in shown


def test_usage_is_told_from_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, tiny(), file="none.sx").status == 2
    assert "none.sx: no such file or directory" in capsys.readouterr().err
    first = run(tmp_path, tiny())
    assert first.status == 0
    assert run(tmp_path, tiny()).status == 2
    assert "holds a run already; name another folder with --out" in capsys.readouterr().err
    assert run(tmp_path / "library", tiny(run="")).status == 1
    assert "declares no run" in capsys.readouterr().err


def test_a_device_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(tmp_path, tiny(), device="tpu")
    assert ran.status == 2
    assert "there is no tpu device here" in capsys.readouterr().err


def test_a_fault_of_ours_is_a_sentence_and_the_log_has_the_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sexpgpu_jax import train

    def broken(*_: Any) -> None:
        raise ZeroDivisionError("a cog is loose")

    monkeypatch.setattr(train.Training, "run", broken)
    ran = run(tmp_path, tiny())
    shown = capsys.readouterr().err
    assert ran.status == 1
    assert "internal error: ZeroDivisionError: a cog is loose" in shown
    assert "Traceback" not in shown
    assert "Traceback" in (ran.folder / "log.txt").read_text()
    assert ran.states()[-1] == "failed"


SUM = "(sum (* x (param :w [3] :init (init-ones))) :axes [1])"
PARQUET = tiny().split("\n\n")[0].split(":source")[0] + ':source (parquet "a.parquet"))'


@pytest.mark.parametrize("raised", [RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes."), MemoryError("9 bytes")])
def test_out_of_memory_has_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: Exception) -> None:
    from sexpgpu_jax import train

    def full(*_: Any) -> None:
        raise raised

    monkeypatch.setattr(train.Training, "run", full)
    ran = run(tmp_path, tiny())
    assert ran.status == 1
    (error,) = ran.of("error")
    assert error["code"] == "E-RUN-002"
    assert "the plan asks for 0.1 KiB in `training`; the device has " in error["message"]
    assert "9 bytes" in error["message"]
    assert "; the plan: prepare 0.0 KiB, training 0.1 KiB, update " in error["help"]
    assert error["range"]["start"]["character"] == 0


@pytest.mark.parametrize(
    ("part", "written", "says"),
    [
        ("run", "(defrun :steps 3 :microbatches 2 :stack 2)", "stacking microbatches"),
        ("run", "(defrun :steps 3 :precision :bf16)", "the precision :bf16"),
        ("run", "(defrun :steps 3 :mesh (list :data 4))", "a mesh of several devices"),
        ("run", "(defrun :steps 3 :ema 0.99)", "an average of the parameters"),
        ("run", "(defrun :steps 3 :checkpoint-every 2)", "writing checkpoints"),
        ("run", '(defpass eval :loader train :every 1) (defrun :steps 3 :keep-best "eval/loss")', "keeping the best checkpoint"),
        ("model", f'(defmodel model (x) :pretrained "a.safetensors" {SUM})', "loading pretrained parameters"),
        ("model", f"(defmodel model (x) (scope :a :remat true {SUM}))", "recomputing in the backward pass"),
        ("loader", PARQUET, "reading Parquet files"),
    ],
)
def test_what_is_not_built_yet_is_refused_at_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], part: str, written: str, says: str
) -> None:
    ran = run(tmp_path, tiny(**{part: written}))
    shown = capsys.readouterr().err
    assert ran.status == 1
    assert not ran.folder.exists()
    assert f"{says} is not built yet" in shown
    assert f"{tmp_path / 'run.sx'}:" in shown
    assert "  help: " in shown


def test_stack_auto_runs_one_at_a_time_and_the_log_says_so(tmp_path: Path) -> None:
    ran = run(tmp_path, tiny(run="(defrun :steps 2 :microbatches 2 :stack :auto)"))
    assert ran.status == 0
    assert ":stack :auto runs one at a time" in (ran.folder / "log.txt").read_text()


# Identity


def identity_of(tmp_path: Path, text: str, **options: Any) -> str:
    return run(tmp_path, text, **{"steps": 1, **options}).of("run")[0]["identity"]


def test_the_identity_is_what_a_file_means(tmp_path: Path) -> None:
    text = tiny(run="(defrun :steps 3 :report-every 1 :seed 1)")
    same = [
        text,
        "; a comment\n" + text.replace(" ", "  "),
        text.replace(":report-every 1", ":report-every 2"),
        text.replace(":steps 3", ":steps 4"),
        text.replace("0.05", "5e-2"),
    ]
    other = [
        text.replace("0.05", "0.06"),
        text.replace(":seed 1", ":seed 2"),
        text.replace(":report-every 1", ":report-every 1 :clip 1.0"),
        text.replace(":lr 0.05", ":lr (lambda (ctx) (* 0.05 (getf ctx :progress)))"),
    ]
    first, *others = (identity_of(tmp_path / f"same{index}", written) for index, written in enumerate(same))
    assert set(others) == {first}
    assert first not in {identity_of(tmp_path / f"other{index}", written) for index, written in enumerate(other)}


def test_steps_are_part_of_the_identity_where_a_graph_reads_them() -> None:
    from sexpgpu.program.build import build_unit
    from sexpgpu.source import Source
    from sexpgpu_jax.identity import identity

    def named(text: str) -> str:
        return identity(build_unit(Source("a.sx", text))[0], program_of(text), {})

    read = tiny(optimizer="(defoptimizer (sgd :lr (lambda (ctx) (* 0.05 (getf ctx :progress)))))")
    assert named(read) != named(read.replace(":steps 3", ":steps 4"))
    assert named(tiny()) == named(tiny().replace(":steps 3", ":steps 4"))


def test_the_final_parameters_are_those_after_the_last_step(tmp_path: Path) -> None:
    """One step of gradient descent on mean((w·x − y)²), by hand."""
    loader = tiny().split("\n\n")[0].replace(":batch 2", ":batch 8 :shuffle false")
    model = tiny().split("\n\n")[1].replace("(init-normal :std 1.0)", "(init-ones)")
    ran = run(tmp_path, tiny(loader=loader, model=model, run="(defrun :steps 1)"))
    index = np.arange(8, dtype=np.float64)
    x = (np.arange(3) + 1)[None] * index[:, None] * 0.1
    gradient = (2 * (x.sum(1) - index)[:, None] * x).mean(0)
    np.testing.assert_allclose(load_file(ran.folder / "final.safetensors")["model/w"], 1 - 0.05 * gradient, rtol=1e-5)
