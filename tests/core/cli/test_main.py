"""The command line as a whole: help, errors in words, pipes, packages that are missing."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from sexpgpu import cli
from sexpgpu.cli import lsp, run
from sexpgpu.cli.extra import PACKAGES
from support.claims import ROOT
from support.command import environment, python, sexpgpu


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    for command in cli.COMMANDS:
        assert f"\n  {command} " in out
        assert cli.main([command, "--help"]) == 0
        assert f"usage: sexpgpu {command}" in capsys.readouterr().out


def test_no_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    assert capsys.readouterr().err.startswith("usage: sexpgpu COMMAND")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chekc"], "sexpgpu: there is no command chekc; did you mean check?\n"),
        (["train"], f"sexpgpu: there is no command train; commands: {', '.join(cli.COMMANDS)}\n"),
        (["--chekc"], f"sexpgpu: there is no option --chekc; commands: {', '.join(cli.COMMANDS)}\n"),
        (["run"], "sexpgpu run: which file? as: sexpgpu run FILE\ntry: sexpgpu run --help\n"),
        (["run", "--resume", "runs/old"], "sexpgpu run: which file? as: sexpgpu run FILE\ntry: sexpgpu run --help\n"),
        (["run", "a.sx", "--steps", "0"], "argument --steps: 0 is no number of steps: 1 or more\n"),
        (["run", "a.sx", "--seed", "x"], "argument --seed: x is no integer\n"),
        (["run", "a.sx", "--set", "width"], "--set takes NAME=VALUE, as --set width=64; this is width\n"),
        (["run", "a.sx", "--dev", "cpu"], "unrecognized arguments: --dev"),
        (["lsp", "--tcp", "99999"], "argument --tcp: 99999 is no port: a number from 0 to 65535\n"),
    ],
)
def test_usage_errors(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_what_run_hands_to_the_backend() -> None:
    given = ["a.sx", "--out", "d", "--steps", "3", "--seed", "-1", "--set", "w=8", "--set", "d=(list 1 2)", "--set", "w=16"]
    args = run.parser().parse_args([*given, "--device", "cpu", "--events", "-", "--progress", "plain"])
    assert vars(args) == {
        "file": "a.sx",
        "out": "d",
        "steps": 3,
        "seed": -1,
        "set": {"w": "16", "d": "(list 1 2)"},
        "device": "cpu",
        "events": "-",
        "progress": "plain",
        "resume": None,
        "stdin_filename": None,
        "texts": None,
    }


@pytest.mark.parametrize(
    ("given", "file", "resume"),
    [
        (["a.sx"], "a.sx", None),
        (["a.sx", "--resume"], "a.sx", ""),
        (["a.sx", "--resume", "runs/old"], "a.sx", "runs/old"),
        (["--resume", "runs/old", "a.sx"], "a.sx", "runs/old"),
        (["--resume", "a.sx"], "a.sx", ""),
    ],
)
def test_resume_with_and_without_a_folder(monkeypatch: pytest.MonkeyPatch, given: list[str], file: str, resume: str | None) -> None:
    seen: list[argparse.Namespace] = []

    def with_extra(*arguments: object) -> int:
        args = arguments[-1]
        assert isinstance(args, argparse.Namespace)
        seen.append(args)
        return 0

    monkeypatch.setattr(run, "with_extra", with_extra)
    assert cli.main(["run", *given]) == 0
    assert [(args.file, args.resume) for args in seen] == [(file, resume)]


@pytest.mark.parametrize(
    ("package", "arguments", "message"),
    [
        ("pygls", ["lsp"], "the language server is built on pygls, and the package pygls is not installed"),
        ("optax", ["run", "a.sx"], "training runs on JAX, and the package optax is not installed"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], package: str, arguments: list[str], message: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert cli.main(arguments) == 2
    extra = "lsp" if package == "pygls" else "jax"
    assert capsys.readouterr() == ("", f"sexpgpu: {message}; write: pip install 'sexpgpu[{extra}]'\n")


def test_run_explains_a_setting_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", "tiny"]) == 0
    capsys.readouterr()
    assert cli.main(["run", "tiny.sx", "--set", "widht=8"]) == 2
    assert capsys.readouterr() == ("", "sexpgpu: tiny.sx: --set widht: the file has no (def widht …); did you mean width?\n")


def test_the_packages_of_extras_are_those_of_the_distribution() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for extra, packages in PACKAGES.items():
        assert sorted(re.split("[^a-z]", requirement)[0] for requirement in extras[extra]) == sorted(packages)


def test_an_internal_error_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(_: object) -> int:
        raise KeyError("a\nb")

    monkeypatch.setattr(lsp, "run", broken)
    monkeypatch.delenv("SEXPGPU_DEBUG", raising=False)
    assert cli.main(["lsp"]) == 2
    assert capsys.readouterr() == ("", "sexpgpu: internal error: KeyError: 'a\\nb'\n")
    monkeypatch.setenv("SEXPGPU_DEBUG", "1")
    assert cli.main(["lsp"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(lsp, "run", interrupted)
    assert cli.main(["lsp"]) == 130
    assert capsys.readouterr() == ("", "")


def test_a_reader_that_goes_away() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "sexpgpu", "rule"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_terminal_that_cannot_write_a_character(tmp_path: Path) -> None:
    done = sexpgpu("new", "ä", cwd=tmp_path, env=environment(PYTHONIOENCODING="ascii"))
    assert done.returncode == 2
    assert "\\xe4 cannot be the name of a run" in done.stderr


def test_commands_import_what_they_need_alone() -> None:
    done = python("-c", "import sys; from sexpgpu.cli import main; main(['rule', 'E-GEN-004']); print(*sorted(sys.modules))")
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "sexpgpu.cli.rule" in loaded
    others = {"sexpgpu.analysis", "sexpgpu.cli.check", "lark", "jax", "numpy", "rich", "pygls", "json", "tomllib", "dataclasses"}
    assert not loaded & others
