"""From text to everything that is known about it, in one call.

text ──read──▶ forms ──declare──▶ unit ──trace──▶ program ──check──▶ diagnostics
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from sexpgpu.diagnostics.finding import Diagnostic, Finding, resolve
from sexpgpu.diagnostics.ignore import apply_ignores
from sexpgpu.files import DISK, Files
from sexpgpu.language.evaluator import Evaluator
from sexpgpu.language.marks import Marks
from sexpgpu.language.static import check_static
from sexpgpu.language.values import Value
from sexpgpu.program.assemble import assemble
from sexpgpu.program.build import build_unit
from sexpgpu.program.cache import Cache
from sexpgpu.program.model import Program
from sexpgpu.program.unit import Unit
from sexpgpu.reader.forms import Form
from sexpgpu.settings import read_settings
from sexpgpu.source import Source

if TYPE_CHECKING:
    from sexpgpu.ide.bindings import Binding


class Options:
    """How to analyse: `settings` replace top-level `def`s (`--set NAME=VALUE`), `record` keeps what each expression evaluated to,
    `ignore` silences warnings, information and hints by code. `cache` is what the last analysis of this file left, whose
    graphs go on into this one's: they must not be used any more."""

    __slots__ = ("cache", "ignore", "record", "settings")

    def __init__(
        self,
        settings: dict[str, str] | None = None,
        *,
        record: bool = False,
        ignore: frozenset[str] = frozenset(),
        cache: Cache | None = None,
    ) -> None:
        self.settings = settings or {}
        self.record = record
        self.ignore = ignore
        self.cache = cache


class Analysis:
    """What is known of a file: its `diagnostics` (those of loaded files too), sorted by file and position, its `program`, and for
    editors the `unit` of its forms, the `marks` that tell what each symbol stands for, and the `recording` of what each form
    evaluated to, in the order in which that was known."""

    def __init__(
        self,
        source: Source,
        unit: Unit,
        marks: Marks,
        program: Program,
        diagnostics: list[Diagnostic],
        recording: Sequence[tuple[Form, Value]],
    ) -> None:
        self.source = source
        self.unit = unit
        self.marks = marks
        self.program = program
        self.diagnostics = diagnostics
        self.recording = recording

    @cached_property
    def values(self) -> dict[Form, list[Value]]:
        """What each form evaluated to, once for each call path that led there. Empty without an analysis that recorded."""
        values: dict[Form, list[Value]] = {}
        for form, value in self.recording:
            values.setdefault(form, []).append(value)
        return values

    @property
    def ok(self) -> bool:
        """No errors: what the file says can be run."""
        return all(diagnostic.rule.severity != "error" for diagnostic in self.diagnostics)

    def types(self) -> list[Binding]:
        """Every binding with its shape and dtype. Needs an analysis that recorded."""
        from sexpgpu.ide.bindings import bindings

        return bindings(self)


def analyse(source: Source, files: Files = DISK, options: Options | None = None) -> Analysis:
    """Analyse a source. Total: bad input is diagnostics, never an exception.

    Raises SettingError where `options.settings` name no `def` of the file, or give no readable value: that is the caller's mistake.
    """
    options = options or Options()
    cache = options.cache or Cache()
    unit, findings = build_unit(source, files, cache.known)
    marks = Marks()
    findings += check_static(unit, marks, cache.static)
    cache.begin((options.settings, options.record))
    evaluator = Evaluator(marks, cache.calls, recording=options.record)
    builder = assemble(evaluator, unit, files, read_settings(options.settings, unit), cache)
    findings += evaluator.findings
    diagnostics = _shown(unit, findings, options.ignore)
    return Analysis(source, unit, marks, builder.program, diagnostics, evaluator.recording())


def _shown(unit: Unit, findings: list[Finding], ignore: frozenset[str]) -> list[Diagnostic]:
    """The findings as diagnostics: each code once at a span, without what comments and `ignore` silence, in order."""
    told: dict[tuple[str, Source, int, int, str], Diagnostic] = {}
    for finding in findings:
        diagnostic = resolve(finding)
        span = diagnostic.span
        text = diagnostic.message if diagnostic.code == "I-PRINT-001" else ""
        told.setdefault((diagnostic.code, span.source, span.start, span.end, text), diagnostic)
    order = {module.source: index for index, module in enumerate((unit.main, *unit.modules[:-1]))}
    diagnostics = sorted(told.values(), key=lambda d: (order.get(d.span.source, 0), d.span.start, d.span.end, d.code))
    return apply_ignores(diagnostics, ignore, lambda source: _comments(unit, source))


def _comments(unit: Unit, source: Source) -> list[tuple[int, int]]:
    """Where the comments of a source begin and end, those inside forms too."""
    for module in unit.modules:
        if module.source is source:
            within = [
                (form.origin + comment.start, form.origin + comment.end)
                for form in module.reading.forms
                for comment in form.comments
            ]
            return sorted([*((comment.start, comment.end) for comment in module.reading.comments), *within])
    return []
