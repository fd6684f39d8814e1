"""Where things stand, how long files are, what a folder says of itself, and what must not be written anywhere."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from support.claims import ROOT

SOURCE_ROOTS = ["core", "lsp", "backend"]
LONGEST = 400


def tracked(*suffixes: str) -> list[Path]:
    """Files under version control, or new and not ignored, with one of the suffixes."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    files = (ROOT / name for name in listed.stdout.split("\0") if name.endswith(suffixes))
    return sorted(file for file in files if file.is_file() and "fixtures" not in file.relative_to(ROOT).parts)


@pytest.mark.claim("D9")
def test_the_top_level_is_the_agreed_one() -> None:
    missing = [
        name for name in ("pyproject.toml", "lsp", "core", "backend", "editors", "tests", "docs") if not (ROOT / name).exists()
    ]
    assert not missing


def test_files_are_short_enough_to_read() -> None:
    lines = {file.relative_to(ROOT).as_posix(): file.read_bytes().count(b"\n") for file in tracked(".py", ".sx", ".ts", ".lua")}
    assert not {name: count for name, count in lines.items() if count > LONGEST}


def test_every_package_says_what_it_is() -> None:
    folders = {file.parent for file in tracked(".py", ".sx", ".md", ".lark") if file.relative_to(ROOT).parts[0] in SOURCE_ROOTS}
    silent: list[str] = []
    for folder in sorted(folders):
        if not any(folder.glob("*.py")):
            continue
        start = folder / "__init__.py"
        said = ast.get_docstring(ast.parse(start.read_text("utf-8"))) if start.exists() else None
        if not said or len(said) < 40:
            silent.append(folder.relative_to(ROOT).as_posix())
    assert not silent, "a first docstring that tells a newcomer what stands in the folder is missing"


FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w.~/-])/(?:work|root|home|Users)/\w"),
    "something left to do": re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b|raise NotImplementedError|not wired yet"),
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what: str) -> None:
    found: list[str] = []
    for file in tracked(".py", ".sx", ".md", ".toml", ".lark", ".lua", ".ts", ".json", ".yml", "Makefile", "run"):
        if file != Path(__file__):
            text = file.read_text("utf-8")
            found += [f"{file.relative_to(ROOT)}: {match[0]}" for match in FORBIDDEN[what].finditer(text)]
    assert not found


def test_no_test_is_skipped() -> None:
    """A test that cannot run is no test: what it needs belongs into the environment that `make test` makes."""
    found: list[str] = []
    for file in tracked(".py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("skip", "skipif", "xfail", "importorskip"):
                found.append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert not found


@pytest.mark.claim("D10")
def test_it_is_built_on_what_was_agreed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    named = {
        where: {re.split(r"[<>=\[]", package)[0] for package in packages}
        for where, packages in {**extras, "core": project["dependencies"]}.items()
    }
    assert named["core"] == {"lark"}
    assert named["lsp"] == {"pygls", "lsprotocol"}
    assert {"jax", "jaxlib"} <= named["jax"]
    assert {"pytest", "pytest-lsp"} <= named["dev"]
