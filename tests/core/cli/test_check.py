"""`sexpgpu check`: what is checked, what is said, and the exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sexpgpu import cli
from support.command import environment, sexpgpu

Check = Callable[..., tuple[int, str, str]]

BAD = "(def x y)\n"
WARNED = "(def sum 1)\n"
HINTED = "(defun f (x) 1)\n"
CLEAN = "(def x 1)\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test stands in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def write(**files: str) -> None:
    """Write files: `a__b="…"` is `a/b.sx`."""
    for name, text in files.items():
        path = Path(name.replace("__", "/") + ".sx")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="")


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]):
    """Run `check` with arguments and give the exit status, standard output and standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = cli.main(["check", *arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.mark.claim("D8")
@pytest.mark.parametrize(
    ("text", "arguments", "status", "summary"),
    [
        (CLEAN, [], 0, "no findings in 1 file"),
        (BAD, [], 1, "1 error in 1 file"),
        (WARNED, [], 0, "1 warning in 1 file"),
        (WARNED, ["--strict"], 1, "1 warning in 1 file"),
        (HINTED, ["--strict"], 0, "1 hint in 1 file"),
        (BAD + WARNED, [], 1, "1 error, 1 warning in 1 file"),
        (WARNED, ["--ignore", "W-NAME-001", "--strict"], 0, "no findings in 1 file"),
        (WARNED + HINTED, ["--ignore", "W-NAME-001, H-NAME-001"], 0, "no findings in 1 file"),
        (WARNED + HINTED, ["--ignore", "W-NAME-001", "--ignore", "H-NAME-001"], 0, "no findings in 1 file"),
    ],
)
def test_exit_status_and_summary(check: Check, text: str, arguments: list[str], status: int, summary: str) -> None:
    write(a=text)
    done, out, err = check("a.sx", *arguments)
    assert (done, err) == (status, "")
    assert out.endswith(f"{summary}\n")


def test_full_is_the_default(check: Check) -> None:
    write(runs__a="(def wide 1)\n\n(def x\n\t(+ wdie 1))\n")
    status, out, _ = check("runs/a.sx")
    assert status == 1
    head, *rest = out.split("\n")
    assert head.startswith("error[E-NAME-001]: ")
    assert rest[:4] == [" --> runs/a.sx:4:5", "  |", "4 |     (+ wdie 1))", "  |        ^^^^"]
    assert "wide" in out.split("= help:")[1]


def test_concise(check: Check) -> None:
    write(b=BAD, a=WARNED)
    _, out, _ = check("b.sx", "a.sx", "--format", "concise")
    first, second = out.splitlines()
    assert first.startswith("a.sx:1:6: warning[W-NAME-001] ")
    assert second.startswith("b.sx:1:8: error[E-NAME-001] ")


def test_json(check: Check) -> None:
    write(a="(def 𝒳 (+ 1 wide))\n(def wdie 1)\n")
    _, out, _ = check("--format", "json", "a.sx")
    (entry,) = json.loads(out)
    assert entry["help"]
    assert {key: entry[key] for key in ("file", "code", "severity", "range")} == {
        "file": "a.sx",
        "code": "E-NAME-001",
        "severity": "error",
        "range": {"start": {"line": 0, "character": 13}, "end": {"line": 0, "character": 17}},
    }
    assert entry.keys() == {"file", "code", "severity", "message", "range", "help", "related", "fixes"}


def test_folders_and_the_current_one(check: Check) -> None:
    write(b=BAD, deep__er__a=BAD, out__x=BAD)
    Path(".git").mkdir()
    Path(".gitignore").write_text("out/\n")
    for arguments in ([], ["."], ["deep", "b.sx"], [".", "b.sx", "./deep/../b.sx"]):
        _, out, _ = check(*arguments, "--format", "concise")
        assert [line.partition(":")[0] for line in out.splitlines()] == ["b.sx", "deep/er/a.sx"]


def test_a_missing_file_is_2_and_the_others_are_checked(check: Check) -> None:
    write(a=BAD)
    status, out, err = check("no/where.sx", "aa.sx", "a.sx", "--format", "concise")
    assert status == 2
    assert err == "sexpgpu: no/where.sx: no such file or folder\nsexpgpu: aa.sx: no such file or folder; did you mean a.sx?\n"
    assert out.startswith("a.sx:1:8: error")


def test_a_folder_without_files(check: Check) -> None:
    status, out, err = check()
    assert (status, out, err) == (0, "no findings in 0 files\n", "sexpgpu: no .sx files in .\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ignore", "W-NAME-1"], "sexpgpu: --ignore: W-NAME-1 is no diagnostic code; did you mean W-NAME-001?\n"),
        (["--ignore", "E-NAME-001"], "sexpgpu: --ignore: E-NAME-001 is an error, and errors cannot be ignored\n"),
        (["--format", "json", "--types"], "sexpgpu: --types prints text: use it with --format full or concise\n"),
        (["--format", "jsn"], "argument --format: invalid choice: 'jsn' (choose from 'full', 'concise', 'json')\n"),
        (["--stdin-filename", "b.sx"], "sexpgpu: --stdin-filename names what is read for the path -, which is not there\n"),
        (["--set", "x=(1"], "sexpgpu: a.sx: --set x: '(1' is not one value"),
        (
            ["--set", "x=wide"],
            "sexpgpu: a.sx: --set x: `wide` is not defined; a string is written --set 'x=\"wide\"', a keyword --set x=:wide",
        ),
        (["--set", "x=(reverse 1 2)"], "sexpgpu: a.sx: --set x: `reverse` takes 1 argument, and 2 are given"),
        (["--output", "no/where.txt"], "sexpgpu: no/where.txt: cannot be written: no such file or directory\n"),
    ],
)
def test_usage_errors(check: Check, arguments: list[str], message: str) -> None:
    write(a=CLEAN)
    status, _, err = check("a.sx", *arguments)
    assert status == 2
    assert message in err


def test_output_goes_to_a_file(check: Check) -> None:
    write(a=BAD)
    assert check("a.sx", "--format", "concise", "--output", "report.txt") == (1, "", "")
    assert Path("report.txt").read_text().startswith("a.sx:1:8: error[E-NAME-001]")


def test_colour_on_demand(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    write(a=BAD)
    plain = check("a.sx")[1]
    assert "\x1b" not in plain
    assert "\x1b[1;31merror[E-NAME-001]\x1b[0m" in check("a.sx", "--color", "always")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;31m" in check("a.sx")[1]
    assert check("a.sx", "--color", "never")[1] == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert check("a.sx")[1] == plain
    assert "\x1b[1;31m" in check("a.sx", "--color", "always")[1]


def test_standard_input() -> None:
    write(runs__lib="(def wide 1)\n")
    done = sexpgpu(
        "check", "-", "--stdin-filename", "runs/a.sx", "--format", "concise", given='(load "lib.sx")\n(def x wide)\n(def y z)\n'
    )
    assert done.returncode == 1
    assert done.stdout.startswith("runs/a.sx:3:8: error[E-NAME-001]")
    assert done.stdout.count("\n") == 1
    done = sexpgpu("check", "-", "--format", "concise", given=BAD)
    assert done.stdout.startswith("<stdin>:1:8: error[E-NAME-001]")


def test_what_a_loaded_file_says_is_said_once(check: Check) -> None:
    write(lib__shared=BAD + WARNED, a='(load "lib/shared.sx")\n', b='(load "./lib/shared.sx")\n', lib__c='(load "shared.sx")\n')
    for arguments in (["."], ["b.sx", "a.sx"], ["lib/shared.sx", "a.sx"], ["./lib/../a.sx", str(Path("lib/shared.sx").absolute())]):
        entries = json.loads(check("--format", "json", *arguments)[1])
        assert [(Path(entry["file"]).name, entry["code"]) for entry in entries] == [
            ("shared.sx", "E-NAME-001"),
            ("shared.sx", "W-NAME-001"),
        ]


def test_every_value_that_a_place_prints_is_shown(check: Check) -> None:
    write(a="(defun show (x) (print x))\n(def a (show 1))\n(def b (show 2))\n")
    _, out, _ = check("a.sx", "--format", "concise")
    assert out.count("information[I-PRINT-001]") == 2


def test_set_replaces_a_definition(check: Check) -> None:
    write(a='(def width 4)\n(assert (= width 4) "four")\n')
    assert check("a.sx")[0] == 0
    assert check("a.sx", "--set", "width=4")[0] == 0
    status, out, _ = check("a.sx", "--set", "width=5")
    assert status == 1
    assert "E-ASSERT-001" in out


def test_set_of_a_name_that_one_file_does_not_have(check: Check) -> None:
    write(a=BAD, b="(def width 4)\n")
    status, out, err = check("--set", "width=5", "--format", "concise")
    assert status == 2
    assert err.startswith("sexpgpu: a.sx: --set width: ")
    assert out == ""


def test_types_are_printed_before_the_report(check: Check) -> None:
    write(a='(def wide 4)\n(defun f (x)\n  (let ((y (* x wide)))\n    y))\n(def text "\\n\x1b")\n(def z (f 2))\n')
    status, out, _ = check("a.sx", "--types")
    assert status == 0
    assert out.splitlines() == [
        "a.sx:1:6: wide : 4",
        "a.sx:2:11: x : 2",
        "a.sx:3:10: y : 8",
        'a.sx:5:6: text : "␊␛"',
        "a.sx:6:6: z : 8",
        "no findings in 1 file",
    ]


def test_comments_and_projects_silence(check: Check) -> None:
    write(a="(def sum 1) ; sexpgpu: ignore[W-NAME-001]\n", b="; sexpgpu: ignore[W-NAME-001]\n" + WARNED)
    write(c='(def text "; sexpgpu: ignore[W-NAME-001]")' + WARNED, quiet__d=WARNED)
    Path("quiet/sexpgpu.toml").write_text('[tool.sexpgpu]\nignore = ["W-NAME-001"]\n')
    _, out, _ = check("--format", "concise")
    assert [line.partition(":")[0] for line in out.splitlines()] == ["c.sx"]


def test_a_broken_project_file(check: Check) -> None:
    write(a=CLEAN)
    Path("pyproject.toml").write_text('[tool.sexpgpu]\nignore = ["W-NAME-01"]\n')
    status, out, err = check("a.sx")
    assert (status, out) == (2, "")
    assert err == ("sexpgpu: pyproject.toml: ignore in [tool.sexpgpu]: W-NAME-01 is no diagnostic code; did you mean W-NAME-001?\n")


def test_an_internal_error_names_the_file(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("oh")

    monkeypatch.setattr("sexpgpu.cli.check.analyse", broken)
    write(a=CLEAN)
    assert check("a.sx") == (2, "", "sexpgpu: internal error: ValueError: oh (while checking a.sx)\n")


def test_bytes_that_are_no_text(check: Check) -> None:
    Path("a.sx").write_bytes(b"\xef\xbb\xbf(def x 1)\n(def \xff 2)\n")
    status, out, _ = check("a.sx", "--format", "concise")
    assert status == 1
    assert out.startswith("a.sx:2:6: error[E-READ-006]")


def test_any_terminal_gets_valid_json() -> None:
    write(ä="(def x ü)\n")
    done = sexpgpu("check", "--format", "json", env=environment(PYTHONIOENCODING="ascii"))
    (entry,) = json.loads(done.stdout)
    assert entry["file"] == "ä.sx"
    assert "ü" in entry["message"]


def test_text_from_the_file_cannot_steer_the_terminal(check: Check) -> None:
    write(a='(print "\x1b[2J\u202e")\n(def x "\x1b[2J" y)\n')
    for format in ("full", "concise"):
        _, out, _ = check("a.sx", "--format", format)
        assert "I-PRINT-001" in out
        assert "\x1b" not in out
        assert "\u202e" not in out
