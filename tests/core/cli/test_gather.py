"""Which files a folder gives. The cases agree with `git ls-files -o --exclude-standard`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sexpgpu.cli.gather import gather

TREE = """
a.sx b.sx notes.txt .hidden.sx .venv/x.sx build/out.sx build/keep.sx runs/a.sx runs/deep/a.sx runs/deep/b.sx runs/tmp/x.sx
odd/a].sx odd/#x.sx odd/!x.sx odd/a.sx odd/ä.sx
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    for name in TREE.split():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


ALL = {name for name in TREE.split() if name.endswith(".sx") and not name.startswith(".")}


def found(*paths: str) -> set[str]:
    files, missing = gather(paths)
    assert not missing
    return {path.replace(os.sep, "/") for path in files}


@pytest.mark.parametrize(
    ("patterns", "left_out"),
    [
        ("", ""),
        ("# a.sx\n\n\\#x.sx\n", "odd/#x.sx"),
        ("a.sx", "a.sx runs/a.sx runs/deep/a.sx odd/a.sx"),
        ("/a.sx", "a.sx"),
        ("runs/a.sx", "runs/a.sx"),
        ("deep/a.sx", ""),
        ("build", "build/out.sx build/keep.sx"),
        ("build/", "build/out.sx build/keep.sx"),
        ("a.sx/", ""),
        ("build/\n!build/keep.sx", "build/out.sx build/keep.sx"),
        ("build/*\n!build/keep.sx", "build/out.sx"),
        ("*.sx\n!a.sx\n!/runs", " ".join(sorted(name for name in ALL if not name.endswith("/a.sx") and name != "a.sx"))),
        ("!a.sx\na.sx", "a.sx runs/a.sx runs/deep/a.sx odd/a.sx"),
        ("runs/*/a.sx", "runs/deep/a.sx"),
        ("runs/*", "runs/a.sx runs/deep/a.sx runs/deep/b.sx runs/tmp/x.sx"),
        ("runs/**", "runs/a.sx runs/deep/a.sx runs/deep/b.sx runs/tmp/x.sx"),
        ("runs/**/a.sx", "runs/a.sx runs/deep/a.sx"),
        ("**/deep", "runs/deep/a.sx runs/deep/b.sx"),
        ("**/tmp/", "runs/tmp/x.sx"),
        ("r**s/a.sx", "runs/a.sx"),
        ("odd/?.sx", "odd/a.sx"),
        ("odd/[a-b]*", "odd/a].sx odd/a.sx"),
        ("odd/[!a#]*", "odd/!x.sx odd/ä.sx"),
        ("odd/?[]]*", "odd/a].sx"),
        ("odd/[[:alpha:]].sx", "odd/a.sx"),
        ("odd/[a", ""),
        ("\\!x.sx", "odd/!x.sx"),
        ("odd/a.sx   ", "odd/a.sx"),
        ("odd/a.sx\\ ", ""),
        ("odd/ä.sx\r\n", "odd/ä.sx"),
    ],
)
def test_gitignore(tree: Path, patterns: str, left_out: str) -> None:
    (tree / ".gitignore").write_bytes(patterns.encode())
    assert ALL - found(".") == set(left_out.split())


def test_a_deeper_file_has_the_last_word(tree: Path) -> None:
    (tree / ".gitignore").write_text("a.sx\ntmp/\n")
    (tree / "runs" / ".gitignore").write_text("!a.sx\n/deep/b.sx\n!tmp/\n")
    assert ALL - found(".") == {"a.sx", "odd/a.sx", "runs/deep/b.sx"}


def test_files_above_the_folder_count_up_to_the_repository(tree: Path) -> None:
    (tree / ".gitignore").write_text("/runs/deep/a.sx\n")
    (tree / ".git" / "info").mkdir()
    (tree / ".git" / "info" / "exclude").write_text("tmp\n")
    assert found("runs") == {"runs/a.sx", "runs/deep/b.sx"}
    (tree / "runs" / ".git").mkdir()
    assert found("runs") == {"runs/a.sx", "runs/deep/a.sx", "runs/deep/b.sx", "runs/tmp/x.sx"}


def test_what_is_named_is_taken(tree: Path) -> None:
    (tree / ".gitignore").write_text("*\n")
    assert found("notes.txt", "./a.sx", "build/../a.sx", ".hidden.sx") == {"notes.txt", "a.sx", ".hidden.sx"}
    (tree / ".gitignore").write_text("build\n")
    assert found("build") == {"build/out.sx", "build/keep.sx"}


def test_links_do_not_lead_round(tree: Path) -> None:
    (tree / "runs" / "again").symlink_to(tree, target_is_directory=True)
    (tree / "dangling.sx").symlink_to(tree / "nothing")
    (tree / "link.sx").symlink_to(tree / "a.sx")
    assert found(".") == {*ALL, "link.sx"}


def test_names_of_nothing() -> None:
    assert gather(["nowhere", "no/where.sx"]) == ([], ["nowhere", "no/where.sx"])
