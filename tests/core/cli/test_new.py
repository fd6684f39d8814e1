"""`sexpgpu new`."""

from __future__ import annotations

from pathlib import Path

import pytest

from sexpgpu import cli
from sexpgpu.analysis import analyse
from sexpgpu.source import Source


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("given", ["tiny", "tiny.sx", "deep/tiny"])
def test_writes_a_file_and_says_what_to_do_next(capsys: pytest.CaptureFixture[str], given: str) -> None:
    Path("deep").mkdir()
    path = f"{given.removesuffix('.sx')}.sx"
    assert cli.main(["new", given]) == 0
    assert capsys.readouterr() == (f"wrote {path}\n\nnext:\n  sexpgpu check {path}\n  sexpgpu run {path}\n", "")
    text = Path(path).read_text("utf-8")
    assert "(defrun tiny\n" in text
    assert "first-run" not in text


def test_what_it_writes_is_clean_and_whole() -> None:
    assert cli.main(["new", "tiny"]) == 0
    analysis = analyse(Source.decode("tiny.sx", Path("tiny.sx").read_bytes()))
    assert analysis.diagnostics == []
    assert analysis.program.run is not None
    assert analysis.program.objective is not None
    assert list(analysis.program.passes) == ["eval"]


def test_overwrites_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.sx").write_text("(def x 1)")
    assert cli.main(["new", "mine"]) == 2
    assert capsys.readouterr() == ("", "sexpgpu: mine.sx is there already, and is left as it is; choose another name\n")
    assert Path("mine.sx").read_text() == "(def x 1)"


@pytest.mark.parametrize("name", ["1st", "a b", "a(b", "nil", ".sx", "deep/", "-", "a:b", "ä"])
def test_names_that_no_run_can_have(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert cli.main(["new", name]) == 2
    assert "cannot be the name of a run: it is a letter, then letters, digits, - and _, as first-run" in capsys.readouterr().err
    assert list(Path().iterdir()) == []


def test_a_folder_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["new", "no/where"]) == 2
    assert capsys.readouterr().err == "sexpgpu: no/where.sx: cannot be written: no such file or directory\n"
