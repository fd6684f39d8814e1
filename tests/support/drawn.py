"""Drawn fixtures: files with comments under the lines that they speak of.

    (metric "x" loss)
    ;^^^^^^ error[E-GEN-004]

One harness takes the marks out, has the rest checked, draws what was found and compares the whole text. Columns count code points;
a span over several lines is drawn on its first, to its end and with `^>`. A mark pins the message where it has one
(`error[E-GEN-004]: …`); hints are drawn only in a file that draws one. Column 0 cannot be marked: indent the form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from sexpgpu.analysis import analyse
from sexpgpu.diagnostics.finding import Diagnostic
from sexpgpu.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures"

_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n)|([^\r\n]+)\Z")
_MARK = re.compile(r"[ \t]*;[ \t]*(\^+>?)[ \t]+(error|warning|information|hint)\[([A-Z]-(?:[A-Z]+-)?\d{3})\](?:: (.*))?")


class Mark(NamedTuple):
    """A diagnostic as it is drawn: 0-based line and columns in code points; `end` is None where it goes on over lines."""

    line: int
    start: int
    end: int | None
    severity: str
    code: str
    message: str = ""


def strip(drawn: str) -> tuple[str, list[Mark], list[int]]:
    """The text without its marks, the marks, and which line of the drawn text each line of it was."""
    kept: list[str] = []
    numbers: list[int] = []
    marks: list[Mark] = []
    marked_last = False
    for number, match in enumerate(_LINE.finditer(drawn)):
        found = _MARK.fullmatch((match[1] or match[3] or "").rstrip()) if kept else None
        marked_last = found is not None
        if found is None:
            kept.append(match[0])
            numbers.append(number)
        else:
            start = found.start(1)
            end = None if found[1].endswith(">") else found.end(1)
            marks.append(Mark(len(kept) - 1, start, end, found[2], found[3], found[4] or ""))
    if marked_last and not drawn.endswith(("\r", "\n")):
        kept[-1] = kept[-1].rstrip("\r\n")
    return "".join(kept), marks, numbers


def draw(text: str, marks: Iterable[Mark]) -> str:
    """The text with a comment line for each mark, in the line's own kind of line end."""
    below: dict[int, list[Mark]] = {}
    for mark in sorted(marks, key=lambda mark: (mark.line, mark.start, mark.end or 1 << 30, mark.code)):
        below.setdefault(mark.line, []).append(mark)
    pieces: list[str] = []
    usual = "\n"
    for number, match in enumerate(_LINE.finditer(text)):
        content, end = match[1] or match[3] or "", match[2] or ""
        usual = end or usual
        pieces.append(usual.join([content, *(_drawing(content, mark) for mark in below.pop(number, ()))]) + end)
    assert not below, f"a mark on no line: {below}"
    return "".join(pieces)


def _drawing(content: str, mark: Mark) -> str:
    assert mark.start > 0, f"{mark} stands in column 0, where no mark can be drawn: indent the form"
    padding = re.sub(r"[^\t]", " ", content[1 : mark.start]).ljust(mark.start - 1)
    carets = "^" * max(1, (len(content) if mark.end is None else mark.end) - mark.start) + ">" * (mark.end is None)
    return f";{padding}{carets} {mark.severity}[{mark.code}]" + (f": {mark.message}" if mark.message else "")


def redraw(drawn: str, found: Iterable[Mark]) -> str:
    """The drawn text as it would be for what was found: messages and hints appear only where it has some."""
    text, marks, _ = strip(drawn)
    pinned = {(mark.line, mark.code) for mark in marks if mark.message}
    hints = any(mark.severity == "hint" for mark in marks)
    shown = [mark for mark in found if hints or mark.severity != "hint"]
    return draw(text, (mark if (mark.line, mark.code) in pinned else mark._replace(message="") for mark in shown))


def marks_of(diagnostics: Iterable[Diagnostic], source: Source) -> list[Mark]:
    """The diagnostics that stand in `source`, as marks."""
    marks: list[Mark] = []
    for diagnostic in diagnostics:
        if diagnostic.span.source is source:
            start, end = (source.position(offset, "utf-32") for offset in diagnostic.span[1:])
            last = end.character if end.line == start.line else None
            marks.append(Mark(start.line, start.character, last, diagnostic.rule.severity, diagnostic.code, diagnostic.message))
    return marks


def analysed(path: Path, data: bytes) -> list[Mark]:
    """What the core says about the bytes of a file that stands at `path`."""
    source = Source.decode(str(path), data)
    return marks_of(analyse(source).diagnostics, source)


def compare(path: Path, check: Callable[[Path, bytes], list[Mark]] = analysed, *, update: bool = False) -> None:
    """Check the fixture without its marks and assert that it is drawn as what was found; with `update` write it so instead."""
    drawn = path.read_bytes().decode("utf-8", "surrogateescape")
    order_mark = "\ufeff" * drawn.startswith("\ufeff")
    drawn = drawn.removeprefix(order_mark)
    again = redraw(drawn, check(path, (order_mark + strip(drawn)[0]).encode("utf-8", "surrogateescape")))
    if update and again != drawn:
        path.write_bytes((order_mark + again).encode("utf-8", "surrogateescape"))
    else:
        assert again == drawn


def fixtures(view: str) -> list[Path]:
    """The files of a view: a folder of `tests/fixtures`."""
    return sorted((FIXTURES / view).rglob("*.sx"))
