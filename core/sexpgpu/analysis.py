"""From text to everything that is known about it, in one call."""

from __future__ import annotations

from sexpgpu.diagnostics.finding import Diagnostic
from sexpgpu.files import DISK, Files
from sexpgpu.program.model import Program
from sexpgpu.source import Source


class Options:
    """How to analyse: `settings` replace top-level `def`s (`--set NAME=VALUE`), `record` keeps what each expression evaluated to,
    `ignore` silences warnings, information and hints by code."""

    __slots__ = ("ignore", "record", "settings")

    def __init__(self, settings: dict[str, str] | None = None, *, record: bool = False, ignore: frozenset[str] = frozenset()) -> None:
        self.settings = settings or {}
        self.record = record
        self.ignore = ignore


class Analysis:
    """What is known of a file: its `diagnostics` (those of loaded files too), sorted by file and position, and its `program`."""

    def __init__(self, source: Source, program: Program, diagnostics: list[Diagnostic]) -> None:
        self.source = source
        self.program = program
        self.diagnostics = diagnostics

    @property
    def ok(self) -> bool:
        """No errors: what the file says can be run."""
        return all(diagnostic.rule.severity != "error" for diagnostic in self.diagnostics)


def analyse(source: Source, files: Files = DISK, options: Options | None = None) -> Analysis:
    """Analyse a source. Total: bad input is diagnostics, never an exception."""
    raise AssertionError("not wired yet")
