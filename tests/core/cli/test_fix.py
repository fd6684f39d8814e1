"""`sexpgpu check --fix`: what it changes in files, what it leaves, and what it says."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from sexpgpu import cli
from sexpgpu.analysis import Options, analyse
from sexpgpu.fixes import fixed
from sexpgpu.source import Source

BAD = "(def a (+ (iota [2]) (zeros [2])))\n(def b (sqrt (+ (iota [2]) 1)))\n(def c (sum (zeros [2]) :axis 0))\n(def d 1.)\n"
GOOD = (
    "(def a (+ (cast (iota [2]) :f32) (zeros [2])))\n(def b (sqrt (cast (+ (iota [2]) 1) :float)))\n"
    "(def c (sum (zeros [2]) :axes 0))\n(def d 1.0)\n"
)


def test_what_is_safe_is_fixed_and_the_rest_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.sx"
    file.write_text(BAD + "(def e (sqrt dd))\n")
    assert cli.main(["check", "--fix", "--format", "concise", str(file)]) == 1
    told = capsys.readouterr()
    assert "4 findings fixed" in told.err
    assert told.out.count("E-NAME-001") == 1
    assert "E-DTYPE" not in told.out
    assert file.read_text() == GOOD + "(def e (sqrt dd))\n"
    assert cli.main(["check", "--fix", str(file)]) == 1
    assert "0 findings fixed" in capsys.readouterr().err


@pytest.mark.parametrize(("mark", "end"), [("", "\r\n"), ("\ufeff", "\n"), ("\ufeff", "\r"), ("", "\n")])
def test_line_ends_and_byte_order_marks_stay(tmp_path: Path, mark: str, end: str) -> None:
    file = tmp_path / "run.sx"
    file.write_bytes((mark + BAD.replace("\n", end)).encode())
    assert cli.main(["check", "--fix", str(file)]) == 0
    assert file.read_bytes() == (mark + GOOD.replace("\n", end)).encode()


def test_a_file_in_which_nothing_is_to_be_fixed_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "run.sx"
    file.write_text(GOOD)
    before = file.stat()
    assert cli.main(["check", "--fix", str(file)]) == 0
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_bytes_that_are_no_text_are_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "run.sx"
    data = BAD.encode() + b'(def f "\xff")\n'
    file.write_bytes(data)
    assert cli.main(["check", "--fix", str(file)]) == 1
    assert file.read_bytes() == data


def test_each_file_has_its_own_fixes(tmp_path: Path) -> None:
    (tmp_path / "part.sx").write_text(BAD)
    (tmp_path / "run.sx").write_text('(load "part.sx")\n(def e (+ d (sqrt (iota [2]))))\n')
    assert cli.main(["check", "--fix", str(tmp_path)]) == 0
    assert (tmp_path / "part.sx").read_text() == GOOD
    assert (tmp_path / "run.sx").read_text() == '(load "part.sx")\n(def e (+ d (sqrt (cast (iota [2]) :float))))\n'


def test_standard_input_is_no_file(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    assert cli.main(["check", "--fix", "-"]) == 2
    assert "standard input" in capsys.readouterr().err


def test_a_fix_that_brings_another_error_is_not_made() -> None:
    text = "(def a (ones [3 4] :f32y))\n(def b (matmul (ones [2 7] :f32) a))\n(def c (sum (zeros [2]) :axis 0))\n"
    source = Source("run.sx", text)
    done = fixed(analyse(source, options=Options(record=True)))
    assert done.text == text.replace(":axis", ":axes")
    assert done.count == 1
    assert [each.code for each in done.analysis.diagnostics] == ["E-TYPE-001"]


def test_the_json_report_has_all_fixes_edit_by_edit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.sx"
    file.write_text("(def a (4 * 2))\n")
    assert cli.main(["check", "--format", "json", str(file)]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    (fix,) = found["fixes"]
    assert fix["applicability"] == "safe"
    assert fix["title"] == "write (* 4 2)"
    assert [edit["newText"] for edit in fix["edits"]]
