"""Units of texts in memory, and what the passes before evaluation say about them."""

from __future__ import annotations

from sexpgpu.diagnostics.finding import Diagnostic, Finding, resolve
from sexpgpu.language.static import Marks, check_static
from sexpgpu.program.build import build_unit
from sexpgpu.program.cache import Cache
from sexpgpu.program.unit import Unit
from sexpgpu.source import Source
from support.drawn import marks_of, redraw, strip


class Texts:
    """Files by path, in place of a disk. None stands for a file that may not be read."""

    def __init__(self, texts: dict[str, str | bytes | None]) -> None:
        self.texts = texts
        self.reads: list[str] = []

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        self.reads.append(path)
        if path not in self.texts:
            raise FileNotFoundError(2, "No such file or directory", path)
        text = self.texts[path]
        if text is None:
            raise PermissionError(13, "Permission denied", path)
        data = text.encode() if isinstance(text, str) else text
        return data[start : None if length is None else start + length]

    def size(self, path: str) -> int:
        return len(self.read(path))


class Checked:
    """A unit with its marks, and all findings of the passes before evaluation."""

    def __init__(self, unit: Unit, marks: Marks, findings: list[Finding]) -> None:
        self.unit = unit
        self.marks = marks
        self.findings = findings

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return sorted((resolve(finding) for finding in self.findings), key=lambda d: (d.span.source.name, d.span.start, d.code))

    @property
    def codes(self) -> list[str]:
        """The codes of all that is no hint, in the order of the text."""
        return [diagnostic.code for diagnostic in self.diagnostics if diagnostic.rule.severity != "hint"]


def checked(text: str, files: dict[str, str | bytes | None] | None = None, cache: Cache | None = None) -> Checked:
    """Read, build and check a text that stands at `main.sx`, beside these files."""
    cache = cache or Cache()
    unit, findings = build_unit(Source("main.sx", text), Texts(files or {}), cache.known)
    marks = Marks()
    return Checked(unit, marks, findings + check_static(unit, marks, cache.static))


def assert_drawn(drawn: str, files: dict[str, str | bytes | None] | None = None) -> Checked:
    """Assert that the passes before evaluation find in `main.sx` what is drawn in it."""
    found = checked(strip(drawn)[0], files)
    assert redraw(drawn, marks_of(found.diagnostics, found.unit.main.source)) == drawn
    return found
