"""The drawn fixtures, through the analysis and through `sexpgpu check`; and the harness that draws them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sexpgpu import cli
from support.claims import ROOT, claims_of
from support.drawn import FIXTURES, Mark, compare, draw, fixtures, redraw, strip


def cases(view: str) -> list[object]:
    """A parameter for each fixture, marked with the claims that it names."""
    return [
        pytest.param(
            path,
            id=path.relative_to(FIXTURES).as_posix(),
            marks=[pytest.mark.claim(*claims_of(path.read_text("utf-8", "replace")))],
        )
        for path in fixtures(view)
    ]


@pytest.mark.parametrize("path", [*cases("diagnostics"), *cases("bytes")])
def test_a_fixture_draws_what_the_analysis_finds(path: Path, update: bool) -> None:
    compare(path, update=update)


@pytest.mark.claim("D1", "D8")
def test_check_draws_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    folder = FIXTURES / "diagnostics"
    assert cli.main(["check", "--format", "json", str(folder)]) == 1
    found: dict[Path, list[Mark]] = {path: [] for path in fixtures("diagnostics")}
    for entry in json.loads(capsys.readouterr().out):
        path = (ROOT / entry["file"]).resolve()
        found[path].append(_mark(path, entry))
    assert not [path for path, marks in found.items() if redraw(_text(path), marks) != _text(path)]


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8-sig")


def _mark(path: Path, entry: dict) -> Mark:
    """An entry of the JSON as a mark of the text without marks: lines are counted anew, UTF-16 units become code points."""
    text, _, numbers = strip(_text(path))
    start, end = entry["range"]["start"], entry["range"]["end"]
    line = numbers.index(start["line"])
    content = draw(text, []).replace("\r\n", "\n").replace("\r", "\n").split("\n")[line].encode("utf-16-le")
    columns = [len(content[: 2 * position["character"]].decode("utf-16-le")) for position in (start, end)]
    last = columns[1] if end["line"] == start["line"] else None
    return Mark(line, columns[0], last, entry["severity"], entry["code"], entry["message"])


DRAWN = """\
(def x (+ 1 y))
;           ^ error[E-NAME-001]
\t(def 𝒳é (+ 漢 z))
;           ^ error[E-NAME-001]
;             ^ error[E-NAME-001]: `z` is not defined
  (def long
; ^^^^^^^^^> warning[W-NAME-001]
    1)
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("ended", [True, False])
def test_drawing_is_the_inverse_of_reading_marks(newline: str, ended: bool) -> None:
    drawn = DRAWN.replace("\n", newline)
    if not ended:
        drawn = drawn.removesuffix(newline) + newline + "  ok" + newline + "; ^^ error[E-NAME-001]"
    text, marks, numbers = strip(drawn)
    assert "^" not in text
    assert len(marks) == 4 + (not ended)
    assert [drawn.split(newline)[number] for number in numbers[:4]] == text.split(newline)[:4]
    assert draw(text, marks) == drawn


def test_columns_count_code_points() -> None:
    _, marks, _ = strip(" 𝒳é漢 x\n;    ^ error[E-NAME-001]\n")
    assert marks == [Mark(0, 5, 6, "error", "E-NAME-001")]


def test_tabs_are_kept_under_tabs() -> None:
    assert draw("(f\t\tx)", [Mark(0, 4, 5, "error", "E-NAME-001")]) == "(f\t\tx)\n; \t\t^ error[E-NAME-001]"


def test_a_message_is_drawn_only_where_one_was() -> None:
    found = [Mark(0, 1, 2, "error", "E-NAME-001", "new"), Mark(1, 1, 2, "error", "E-NAME-001", "new")]
    drawn = " x\n;^ error[E-NAME-001]: old\n y\n"
    assert redraw(drawn, found) == " x\n;^ error[E-NAME-001]: new\n y\n;^ error[E-NAME-001]\n"


def test_hints_are_drawn_only_where_one_was() -> None:
    hint = Mark(0, 1, 2, "hint", "H-NAME-001")
    assert redraw(" x\n", [hint]) == " x\n"
    assert redraw(" x\n;^ hint[H-NAME-001]\n", []) == " x\n"
    assert redraw(" x\n;^ hint[H-NAME-001]\n", [hint]) == " x\n;^ hint[H-NAME-001]\n"


def test_update_writes_and_comparing_fails(tmp_path: Path) -> None:
    file = tmp_path / "x.sx"
    file.write_bytes("\ufeff x\r\n;^ error[E-NAME-002]\r\n".encode())
    found = [Mark(0, 1, 2, "error", "E-NAME-001")]
    with pytest.raises(AssertionError, match="E-NAME-001"):
        compare(file, lambda _, data: found if data == "\ufeff x\r\n".encode() else [])
    compare(file, lambda *_: found, update=True)
    assert file.read_bytes() == "\ufeff x\r\n;^ error[E-NAME-001]\r\n".encode()
