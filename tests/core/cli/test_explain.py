"""`sexpgpu explain`: the run told from its graphs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import sexpgpu
from support.drawn import FIXTURES

TEXT = """(defloader rows
  :batch 4
  :fields (list :x (spec [8] :f32))
  :source (synthetic 64 (lambda (index) (list :x (full [8] 0.5)))))

(defmodel model (x) (linear :out x 8))

(defgenerate
  :trips 3
  :init (lambda (batch ctx) (list :z (field batch :x)))
  :step (lambda (state trip ctx) (list :z (model (getf state :z))))
  :finish (lambda (state ctx) (list :made (getf state :z))))

(defun prepare (batch ctx) (list :x (field batch :x) :y (field batch :made)))

(defun objective (inputs ctx)
  (metric "loss" (mean (square (- (model (getf inputs :x)) (getf inputs :y))))))

(defpass held :loader rows :every 5)

(defoptimizer (sgd :lr 0.1))

(defrun small :steps 20)
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "small.sx"
    path.write_text(TEXT, "utf-8")
    return str(path)


@pytest.mark.claim("G33")
def test_the_training_step_lists_the_generator_with_its_trips(file: str) -> None:
    done = sexpgpu("explain", file)
    assert done.returncode == 0
    step = done.stdout[done.stdout.index("training step") : done.stdout.index("pass held")]
    names = ("generate.init", "generate.step × 3", "generate.finish", "prepare", "objective", "optimizer")
    order = [step.index(f"\n  {name}") for name in names]
    assert order == sorted(order)
    rows = [row.strip() for row in step.splitlines()]
    at = next(number for number, row in enumerate(rows) if row.startswith("generate.step × 3"))
    assert rows[at].endswith(", 2 parameters")
    assert rows[at + 1 : at + 4] == ["2 operators: matmul, +", "in   state/z f32[4 8]", "out  :z f32[4 8]"]


@pytest.mark.claim("G31")
def test_the_memory_line_shows_the_largest_generator_phase(file: str) -> None:
    report = json.loads(sexpgpu("explain", file, "--json").stdout)
    largest = max(count for name, count in report["memory"].items() if name.startswith("generate."))
    line = next(line for line in sexpgpu("explain", file).stdout.splitlines() if line.startswith("memory:"))
    assert line.endswith(f"generation {largest / 1024:.1f} KiB")


def test_a_pass_is_listed_with_what_it_runs(file: str) -> None:
    report = json.loads(sexpgpu("explain", file, "--json").stdout)
    (held,) = report["passes"]
    assert (held["name"], held["loader"], held["every"], held["batches"]) == ("held", "rows", 5, None)
    assert [graph["name"] for graph in held["graphs"]] == [
        "generate.init",
        "generate.step",
        "generate.finish",
        "held.prepare",
        "held.objective",
    ]


def test_the_memory_is_told_by_what_stays_and_what_each_phase_adds(file: str) -> None:
    report = json.loads(sexpgpu("explain", file, "--json").stdout)
    stays = report["stays"]
    assert stays == {"parameters": 4 * 72, "optimizer state": 0, "batch": 4 * 32}
    for name, count in report["memory"].items():
        assert report["own"][name] <= count - stays["parameters"]
    text = sexpgpu("explain", file).stdout
    assert "throughout: parameters 0.3 KiB, batch 0.1 KiB\n" in text


def test_the_averages_of_a_run_are_told_by_themselves(tmp_path: Path) -> None:
    path = tmp_path / "small.sx"
    path.write_text(TEXT.replace(":steps 20", ":steps 20 :ema 0.9"), "utf-8")
    stays = json.loads(sexpgpu("explain", str(path), "--json").stdout)["stays"]
    assert stays == {"parameters": 4 * 72, "average (:ema)": 4 * 72, "optimizer state": 0, "batch": 4 * 32}
    assert "throughout: parameters 0.3 KiB, average (:ema) 0.3 KiB, batch 0.1 KiB\n" in sexpgpu("explain", str(path)).stdout


def test_what_a_schedule_reads_and_gives(tmp_path: Path) -> None:
    path = tmp_path / "small.sx"
    path.write_text(TEXT.replace(":lr 0.1", ":lr (lambda (ctx) (* 0.1 (- 1.0 (getf ctx :progress))))"), "utf-8")
    rows = [row.strip() for row in sexpgpu("explain", str(path)).stdout.splitlines()]
    at = next(number for number, row in enumerate(rows) if row.startswith("optimizer "))
    assert rows[at + 1 : at + 4] == ["2 operators: -, *", "in   ctx/progress f32[]", "out  :lr f32[]"]


def test_lines_are_not_longer_than_a_terminal_is_wide(tmp_path: Path) -> None:
    names = [f":a-rather-long-name-{number}" for number in range(12)]
    entries = " ".join(f"{name} (field batch :x)" for name in names)
    path = tmp_path / "wide.sx"
    path.write_text(TEXT.replace(":y (field batch :made)", f":y (field batch :made) {entries}"), "utf-8")
    text = sexpgpu("explain", str(path)).stdout
    assert all(f"{name} f32[4 8]" in text for name in names)
    assert max(map(len, text.splitlines())) <= 100


def test_what_is_not_built_is_said(file: str) -> None:
    done = sexpgpu("explain", file, "--compile")
    assert done.returncode == 0
    assert "--compile is not built yet" in done.stderr
    assert done.stdout == sexpgpu("explain", file).stdout


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    done = sexpgpu("explain", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "sexpgpu: . is a folder, and one file is asked for; there is no .sx file in it\n"
    (tmp_path / "a.sx").write_text(TEXT)
    assert sexpgpu("explain", ".", cwd=tmp_path).stderr == "sexpgpu: . is a folder, and one file is asked for, as a.sx\n"


def test_a_graph_of_a_file_with_errors_says_so(tmp_path: Path) -> None:
    path = tmp_path / "wrong.sx"
    path.write_text(TEXT.replace(":trips 3", ":trips 0"), "utf-8")
    done = sexpgpu("explain", str(path), "--graph", "prepare")
    assert done.stdout.startswith("prepare\n")
    assert "has errors" in done.stderr


def test_parameters_are_counted(file: str) -> None:
    report = json.loads(sexpgpu("explain", file, "--json").stdout)
    assert {each["path"]: each["size"] for each in report["parameters"]} == {"model/out/weight": 64, "model/out/bias": 8}


def test_one_graph_shows_types_and_places(file: str) -> None:
    done = sexpgpu("explain", file, "--graph", "generate.step")
    lines = done.stdout.splitlines()
    assert lines[0] == "generate.step"
    matmul = next(line for line in lines if " matmul " in line)
    assert ": f32[4 8]" in matmul
    assert "prelude:layers:" in matmul
    assert any(f"{file}:11:" in line for line in lines)


def test_a_graph_that_is_not_there_has_neighbours(file: str) -> None:
    done = sexpgpu("explain", file, "--graph", "generate.stop")
    assert done.returncode == 2
    assert "did you mean generate.step?" in done.stderr


def test_a_file_with_errors_is_not_explained(tmp_path: Path) -> None:
    path = tmp_path / "wrong.sx"
    path.write_text(TEXT.replace(":trips 3", ":trips 0"), "utf-8")
    done = sexpgpu("explain", str(path))
    assert done.returncode == 1
    assert "E-GEN-005" in done.stderr
    assert done.stdout == ""


def test_a_library_has_no_run(tmp_path: Path) -> None:
    path = tmp_path / "library.sx"
    path.write_text("(defun double (x) (* 2 x))\n", "utf-8")
    done = sexpgpu("explain", str(path))
    assert done.returncode == 2
    assert "no defrun" in done.stderr


@pytest.mark.parametrize("path", sorted((FIXTURES.parent.parent / "docs" / "examples").glob("*.sx")), ids=lambda path: path.name)
def test_every_example_is_explained(path: Path) -> None:
    report = json.loads(sexpgpu("explain", str(path), "--json").stdout)
    assert report["peak"] > 0
    assert report["step"]
