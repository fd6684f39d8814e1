"""Silencing warnings, information and hints: by comments, by codes, by a project's table."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from sexpgpu.diagnostics.ignore import CodeError, apply_ignores, ignorable
from sexpgpu.files import Disk
from sexpgpu.project import Project, ProjectError, Projects
from sexpgpu.source import Source
from support.diagnosed import diagnostic, span


def comments(source: Source) -> list[tuple[int, int]]:
    """The comments of the sources below, in which `;` begins nothing else, but for `";"`."""
    return [match.span() for match in re.finditer(r'(?<!");[^\r\n]*', source.text)]


def left(text: str, *codes: str, ignore: frozenset[str] = frozenset()) -> list[str]:
    """Which of the codes are still said at the `q` of a text."""
    source = Source("a.sx", text)
    made = [diagnostic(code, span(source, "q")) for code in codes]
    return [each.code for each in apply_ignores(made, ignore, comments)]


@pytest.mark.parametrize(
    "text",
    [
        "(f q) ; sexpgpu: ignore[W-CTX-001]",
        "(f q) ; sexpgpu: ignore[H-NAME-001, W-CTX-001]",
        "(f q) ;;sexpgpu:ignore[ W-CTX-001 ] because",
        "(f q) ; this is meant; sexpgpu: ignore[W-CTX-001]",
        "; sexpgpu: ignore[W-CTX-001]\n(f q)",
        "(f\r\n  \t; sexpgpu: ignore[W-CTX-001]\r\n  q)",
        "; sexpgpu: ignore[W-CTX-001]\r(f q)",
        "; sexpgpu: ignore[W-CTX-001]\n; sexpgpu: ignore[H-NAME-001]\n(f q)",
        "(f q ; sexpgpu: ignore[W-CTX-001]\n  y)",
    ],
)
def test_a_comment_silences_its_code_on_the_line(text: str) -> None:
    assert left(text, "W-CTX-001", "W-GEN-001", "E-NAME-001") == ["W-GEN-001", "E-NAME-001"]


@pytest.mark.parametrize(
    "text",
    [
        "(f y) ; sexpgpu: ignore[W-CTX-001]\n(f q)",
        "; sexpgpu: ignore[W-CTX-001]\n\n(f q)",
        "(f q)\n; sexpgpu: ignore[W-CTX-001]",
        "(f q) ; sexpgpu: ignore[W-CTX-002]",
        "(f q) ; sexpgpu: ignore W-CTX-001",
        '(f q ";sexpgpu: ignore[W-CTX-001]")',
        "(f q y\n   z) ; sexpgpu: ignore[W-CTX-001]",
    ],
)
def test_it_silences_nothing_elsewhere(text: str) -> None:
    assert left(text, "W-CTX-001") == ["W-CTX-001"]


def test_errors_are_never_silenced() -> None:
    text = "(f q) ; sexpgpu: ignore[E-NAME-001, W-CTX-001, I-PRINT-001, H-NAME-001]"
    assert left(text, "E-NAME-001", "W-CTX-001", "I-PRINT-001", "H-NAME-001") == ["E-NAME-001"]
    assert left("(f q)", "E-NAME-001", "W-CTX-001", ignore=frozenset({"E-NAME-001", "W-CTX-001"})) == ["E-NAME-001"]


def test_comments_of_each_source_count_for_it_alone() -> None:
    a, b = Source("a.sx", "q ; sexpgpu: ignore[W-CTX-001]"), Source("b.sx", "q")
    made = [diagnostic("W-CTX-001", span(source, "q")) for source in (a, b)]
    assert apply_ignores(made, frozenset(), comments) == made[1:]


def test_codes_that_can_be_ignored() -> None:
    assert ignorable(["W-CTX-001", "H-NAME-001"]) == {"W-CTX-001", "H-NAME-001"}
    with pytest.raises(CodeError, match=r"^W-CTX-01 is no diagnostic code; did you mean W-CTX-001\?$"):
        ignorable(["W-CTX-01"])
    with pytest.raises(CodeError, match=r"^E-GEN-004 is an error, and errors cannot be ignored$"):
        ignorable(["E-GEN-004"])


def write(path: Path, text: str | bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_the_nearest_project_with_a_table_counts(tmp_path: Path) -> None:
    projects = Projects()
    outer = write(tmp_path / "pyproject.toml", '[tool.sexpgpu]\nignore = ["W-CTX-001"]\n')
    write(tmp_path / "a" / "pyproject.toml", "[tool.other]\n")
    write(tmp_path / "a" / "b" / "pyproject.toml", "not TOML, and none of our business")
    inner = write(tmp_path / "c" / "sexpgpu.toml", '\ufeff[tool.sexpgpu]\nignore = ["H-NAME-001"]\n')
    write(tmp_path / "c" / "pyproject.toml", "[tool.sexpgpu]\n")
    for path in ("x.sx", "a/x.sx", "a/b/x.sx", "a/b/not/there/x.sx"):
        assert projects.above(str(tmp_path / path)) == Project(frozenset({"W-CTX-001"}), outer), path
    assert projects.above(str(tmp_path / "c" / "d" / "x.sx")) == Project(frozenset({"H-NAME-001"}), inner)


@pytest.mark.parametrize(
    "text",
    [
        "[tool.sexpgpu]\nignore = ['W-CTX-001']",
        '[ tool . "sexpgpu" ]\nignore = ["W-CTX-001"]',
        '[tool]\nsexpgpu = {ignore = ["W-CTX-001"]}',
        '[tool]\n[tool.other]\nx = 1\n[tool.sexpgpu]\nignore = ["W-CTX-001"]',
        'tool.sexpgpu.ignore = ["W-CTX-001"]',
        'tool = {sexpgpu = {ignore = ["W-CTX-001"]}}',
    ],
)
def test_the_table_in_all_ways_of_toml(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "pyproject.toml", f"[project]\nname = 'sexpgpu'\n{text}" if text[0] == "[" else text)
    assert Projects().above(str(tmp_path / "x.sx")) == Project(frozenset({"W-CTX-001"}), path)


def test_files_in_an_editor_stand_before_the_disk(tmp_path: Path) -> None:
    path = write(tmp_path / "sexpgpu.toml", "[tool.sexpgpu]\n")

    class Edited(Disk):
        def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
            return super().read(path, start, length) + b'ignore = ["W-CTX-001"]'

    assert Projects().above(str(tmp_path / "x.sx")) == Project(frozenset(), path)
    assert Projects(Edited()).above(str(tmp_path / "x.sx")) == Project(frozenset({"W-CTX-001"}), path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.sexpgpu\n", "not valid TOML: expected ']' at the end of a table declaration (at line 1, column 14)"),
        (b"# \xff\n", "not valid TOML: not UTF-8"),
        ('ignore = ["W-CTX-001"]', "expected a table [tool.sexpgpu]"),
        ("[tool]\nsexpgpu = 1", "tool.sexpgpu must be a table"),
        ('[tool.sexpgpu]\nignroe = ["W-CTX-001"]', "[tool.sexpgpu] has no key ignroe; did you mean ignore?"),
        ("[tool.sexpgpu]\nstrict = true", "[tool.sexpgpu] has no key strict; there is ignore"),
        ('[tool.sexpgpu]\nignore = "W-CTX-001"', 'ignore in [tool.sexpgpu] must be a list of codes, as ["W-GEN-001"]'),
        ('[tool.sexpgpu]\nignore = ["E-GEN-004"]', "ignore in [tool.sexpgpu]: E-GEN-004 is an error, and errors cannot be ignored"),
    ],
)
def test_a_project_file_that_says_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | bytes, message: str
) -> None:
    write(tmp_path / "sexpgpu.toml", text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProjectError) as caught:
        Projects().above(os.path.join("runs", "x.sx"))
    assert str(caught.value) == f"sexpgpu.toml: {message}"
