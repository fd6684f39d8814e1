"""`sexpgpu fmt`: what is written, what is said, and the exit status."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sexpgpu import cli
from support.command import sexpgpu

Fmt = Callable[..., tuple[int, str, str]]

CROOKED = "(def  x 1)\n(defun f (y)\n y)\n"
STRAIGHT = "(def x 1)\n(defun f (y)\n  y)\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test stands in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def fmt(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch):
    """Run `fmt` with arguments and give the exit status, standard output and standard error; `given` is standard input."""

    def run(*arguments: str, given: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        status = cli.main(["fmt", *arguments])
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return run


def test_files_are_formatted_in_their_place(fmt: Fmt) -> None:
    Path("a.sx").write_text(CROOKED)
    Path("b.sx").write_text(STRAIGHT)
    before = os.stat("b.sx").st_mtime_ns
    assert fmt() == (0, "", "1 of 2 files formatted\n")
    assert Path("a.sx").read_text() == STRAIGHT
    assert os.stat("b.sx").st_mtime_ns == before
    assert fmt() == (0, "", "")
    assert sorted(os.listdir()) == ["a.sx", "b.sx"]


def test_folders_leave_out_what_git_ignores_and_named_files_are_taken(fmt: Fmt) -> None:
    Path("runs").mkdir()
    Path(".gitignore").write_text("runs/\n")
    Path("runs/a.sx").write_text(CROOKED)
    Path("b.txt").write_text(CROOKED)
    assert fmt() == (0, "", "sexpgpu: no .sx files in .\n")
    assert fmt("b.txt", "runs/a.sx") == (0, "", "2 of 2 files formatted\n")


def test_check_names_what_would_change(fmt: Fmt) -> None:
    Path("a.sx").write_text(CROOKED)
    Path("b.sx").write_text(STRAIGHT)
    assert fmt("--check", "b.sx") == (0, "", "")
    assert fmt("--check") == (1, "would format a.sx\n", "1 of 2 files would be formatted\n")
    assert Path("a.sx").read_text() == CROOKED


def test_diff_is_a_patch(fmt: Fmt) -> None:
    Path("a.sx").write_text(CROOKED.rstrip())
    assert fmt("--diff") == (
        1,
        "--- a.sx\n+++ a.sx\n@@ -1,3 +1,3 @@\n-(def  x 1)\n+(def x 1)\n (defun f (y)\n- y)\n\\ No newline at end of file\n+  y)\n",
        "1 of 1 file would be formatted\n",
    )
    assert Path("a.sx").read_text() == CROOKED.rstrip()
    assert fmt("--diff", "--check")[0] == 1


def test_what_does_not_read_is_a_finding_and_stays(fmt: Fmt) -> None:
    Path("a.sx").write_text("(def  x 1\n")
    Path("b.sx").write_text(CROOKED)
    status, out, err = fmt()
    assert (status, out) == (1, "")
    assert err.startswith("a.sx:1:1: error[E-READ-001] ")
    assert "\nsexpgpu: a.sx does not read, and is left as it is\n1 of 2 files formatted\n" in err
    assert Path("a.sx").read_text() == "(def  x 1\n"
    assert Path("b.sx").read_text() == STRAIGHT


def test_bytes_that_are_no_text_stay(fmt: Fmt) -> None:
    Path("a.sx").write_bytes(b"(def  x \xff)\n")
    status, _, err = fmt("a.sx")
    assert status == 1
    assert "E-READ-006" in err
    assert Path("a.sx").read_bytes() == b"(def  x \xff)\n"


@pytest.mark.parametrize("before", [CROOKED, "\ufeff" + CROOKED, CROOKED.replace("\n", "\r\n"), CROOKED.replace("\n", "\r")])
def test_line_ends_and_byte_order_mark_stay(fmt: Fmt, before: str) -> None:
    Path("a.sx").write_bytes(before.encode())
    assert fmt("a.sx")[0] == 0
    end = "\r\n" if "\r\n" in before else before[-1]
    assert Path("a.sx").read_bytes() == ("\ufeff" * before.startswith("\ufeff") + STRAIGHT.replace("\n", end)).encode()


def test_standard_input_goes_to_standard_output(fmt: Fmt) -> None:
    assert fmt("-", given=CROOKED.replace("\n", "\r\n").encode()) == (0, STRAIGHT.replace("\n", "\r\n"), "1 of 1 file formatted\n")
    assert fmt("-", given=STRAIGHT.encode()) == (0, STRAIGHT, "")
    assert fmt("--check", "-", given=CROOKED.encode())[:2] == (1, "would format <stdin>\n")
    assert fmt("--diff", "-", "--stdin-filename", "x/a.sx", given=CROOKED.encode())[1].startswith("--- x/a.sx\n+++ x/a.sx\n")


def test_standard_input_that_does_not_read_comes_back(fmt: Fmt) -> None:
    status, out, err = fmt("-", "--stdin-filename", "a.sx", given=b"(def  x")
    assert (status, out) == (1, "(def  x")
    assert err.startswith("a.sx:1:1: error[E-READ-001] ")


def test_missing_files_and_usage(fmt: Fmt) -> None:
    Path("a.sx").write_text(CROOKED)
    assert fmt("a.sx", "no.sx") == (2, "", "sexpgpu: no.sx: no such file or folder\n1 of 1 file formatted\n")
    assert fmt("--stdin-filename", "a.sx")[0] == 2
    assert fmt("--dif")[0] == 2


def test_a_link_stays_one_and_permissions_stay(fmt: Fmt) -> None:
    Path("real.sx").write_text(CROOKED)
    os.chmod("real.sx", 0o640)
    os.symlink("real.sx", "a.sx")
    assert fmt("a.sx")[0] == 0
    assert os.path.islink("a.sx")
    assert Path("real.sx").read_text() == STRAIGHT
    assert os.stat("real.sx").st_mode & 0o777 == 0o640


def test_a_file_that_cannot_be_written_stays(fmt: Fmt, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.sx").write_text(CROOKED)

    def full(_from: str, _to: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert fmt("a.sx")[::2] == (2, "sexpgpu: a.sx: no space left on device\n1 of 1 file formatted\n")
    assert os.listdir() == ["a.sx"]
    assert Path("a.sx").read_text() == CROOKED


def test_in_a_process_of_its_own(folder: Path) -> None:
    done = sexpgpu("fmt", "-", cwd=folder, given=CROOKED)
    assert (done.returncode, done.stdout) == (0, STRAIGHT)
