"""Runs of texts that are not on the disk: standard input under a name, and what an editor has in front of the disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import environment, sexpgpu
from support.tiny import tiny

ENVIRONMENT = environment("core", "backend", JAX_PLATFORMS="cpu")
WITHOUT_MODEL = tiny(model='(load "parts/model.sx")')
MODEL = tiny().split("\n\n")[1]


def texts(**given: str) -> str:
    return json.dumps({name.replace("_", "/") + ".sx": text for name, text in given.items()})


def test_standard_input_runs_as_the_file_that_it_is_named_after(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "model.sx").write_text(MODEL)
    (tmp_path / "a.sx").write_text("(this is an older save")
    arguments = ("run", "-", "--stdin-filename", "a.sx", "--out", "out", "--events", "-")
    done = sexpgpu(*arguments, cwd=tmp_path, env=ENVIRONMENT, given=WITHOUT_MODEL)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert (events[0]["file"], events[-1]["state"]) == ("a.sx", "finished")
    assert (tmp_path / "out" / "source" / "a.sx").read_text() == WITHOUT_MODEL


def test_texts_stand_in_front_of_the_disk_loaded_ones_too(tmp_path: Path) -> None:
    (tmp_path / "a.sx").write_text("(this is an older save")
    arguments = ("run", str(tmp_path / "a.sx"), "--texts", "-", "--out", "out", "--steps", "1")
    given = texts(a=WITHOUT_MODEL, parts_model=MODEL)
    done = sexpgpu(*arguments, cwd=tmp_path, env=ENVIRONMENT, given=given)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "source" / "model.sx").read_text() == MODEL


def test_what_is_wrong_in_standard_input_is_said_under_its_name(tmp_path: Path) -> None:
    done = sexpgpu("run", "-", "--stdin-filename", "sub/a.sx", cwd=tmp_path, env=ENVIRONMENT, given="(def a")
    assert done.returncode == 1
    assert "sub/a.sx:1:1" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "given", "says"),
    [
        (["a.sx", "--stdin-filename", "b.sx"], "", "which is not there"),
        (["-", "--texts", "-"], "{}", "not both"),
        (["a.sx", "--texts", "-"], "(def a 1)", "no JSON object"),
        (["a.sx", "--texts", "-"], '{"a.sx": 1}', "no JSON object"),
        (["a.sx", "--texts", "-"], "[" * 100_000, "no JSON object"),
        (["a.sx", "--texts", "-"], "{}", "a.sx: no such file"),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, arguments: list[str], given: str, says: str) -> None:
    done = sexpgpu("run", *arguments, cwd=tmp_path, env=ENVIRONMENT, given=given)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
