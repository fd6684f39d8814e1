"""`sexpgpu check`: the diagnostics of files and folders."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TextIO

from sexpgpu.analysis import Analysis, Options, analyse
from sexpgpu.cli import complain
from sexpgpu.cli.arguments import Parser, add_colour, add_set
from sexpgpu.cli.gather import gather
from sexpgpu.diagnostics.colour import wants_colour, width_of
from sexpgpu.diagnostics.columns import visible_line
from sexpgpu.diagnostics.finding import Diagnostic
from sexpgpu.diagnostics.formats import FORMATS, Report, ordered, place, render
from sexpgpu.diagnostics.ignore import CodeError, ignorable
from sexpgpu.diagnostics.rules import PRINTED
from sexpgpu.files import DISK
from sexpgpu.language.nearest import nearest
from sexpgpu.project import ProjectError, Projects
from sexpgpu.settings import SettingError
from sexpgpu.source import BYTE_ORDER_MARK, Source

_STANDARD_INPUT = "-"
_UNNAMED = "<stdin>"


def parser() -> Parser:
    """What `check` takes."""
    parser = Parser(
        "check",
        "Say what is wrong with files, without running them. Exit status: 0 no errors, 1 errors, 2 nothing was checked as asked.",
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files, folders (all *.sx below), or - for standard input; default: ."
    )
    formats = "; ".join(f"{name}: {says}" for name, says in FORMATS.items())
    parser.add_argument("--format", choices=tuple(FORMATS), default="full", help=f"{formats} (default: full)")
    parser.add_argument("--output", metavar="FILE", help="write there, not to standard output")
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="CODES",
        help="warnings, information and hints not to say, as W-GEN-001,H-NAME-001",
    )
    parser.add_argument("--strict", action="store_true", help="warnings too give exit status 1")
    add_set(parser)
    parser.add_argument("--types", action="store_true", help="also print the shape and dtype of every binding")
    parser.add_argument("--fix", action="store_true", help="first make every change to the files that is safe and mends something")
    parser.add_argument("--stdin-filename", metavar="NAME", help="what standard input is called, and where its loads begin")
    add_colour(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    """Check, and write what was found."""
    try:
        check = _Check(args)
    except CodeError as error:
        complain(f"--ignore: {error}")
        return 2
    if args.types and args.format == "json":
        complain("--types prints text: use it with --format full or concise")
        return 2
    paths: list[str] = args.paths or ["."]
    if args.fix and _STANDARD_INPUT in paths:
        complain("--fix changes files: standard input is none")
        return 2
    if args.stdin_filename and _STANDARD_INPUT not in paths:
        complain("--stdin-filename names what is read for the path -, which is not there")
        return 2
    files, missing = gather(path for path in paths if path != _STANDARD_INPUT)
    for path in missing:
        check.failed(path, "no such file or folder", _nearest_file(path))
    try:
        if _STANDARD_INPUT in paths:
            check.text(args.stdin_filename or _UNNAMED, sys.stdin.buffer.read())
        for file in files:
            check.file(file)
    except ProjectError as error:
        complain(str(error))
        return 2
    if not check.files and not check.status:
        complain(f"no .sx files in {', '.join(paths)}")
    return check.write()


class _Check:
    """What has been found so far."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.ignore = ignorable(code.strip() for codes in args.ignore for code in codes.split(",") if code.strip())
        self.projects = Projects()
        self.files = 0
        self.fixes = 0
        self.status = 0
        self.types: dict[tuple[str, int], str] = {}
        # A loaded file is checked with each file that loads it: what is found there twice is one finding.
        self.found: dict[tuple[str, str, int, int, str], Diagnostic] = {}

    def failed(self, path: str, reason: str, help: str = "") -> None:
        """A path that cannot be checked: the others still are."""
        complain(f"{path}: {reason}{help}")
        self.status = 2

    def file(self, path: str) -> None:
        """Check a file."""
        try:
            data = DISK.read(path)
        except OSError as error:
            self.failed(path, (error.strerror or str(error)).lower())
            return
        self.text(path, data)

    def text(self, name: str, data: bytes) -> None:
        """Check bytes that stand, or are taken to stand, in a file of that name. Raises ProjectError."""
        ignore = self.ignore | self.projects.above(name).ignore
        source = Source.decode(name, data)
        try:
            options = Options(self.args.set, record=self.args.types or self.args.fix or self.with_fixes, ignore=ignore)
            analysis = analyse(source, DISK, options)
            if self.args.fix and source.bad_byte is None:
                analysis = self.fixed(name, data, analysis, options)
        except SettingError as error:
            self.failed(name, str(error))
            return
        except Exception as error:
            error.add_note(f"while checking {name}")
            raise
        self.files += 1
        for each in self.told(analysis):
            span = each.span
            printed = each.message if each.rule is PRINTED else ""  # one place may print many values
            self.found.setdefault((_identity(span.source), each.code, span.start, span.end, printed), each)
        if self.args.types:
            for span, bound, text in analysis.types():
                where = place(span.source.name, *span.source.position(span.start, "utf-32"))
                self.types[_identity(span.source), span.start] = f"{where}: {bound} : {visible_line(text)}\n"

    @property
    def with_fixes(self) -> bool:
        """Whether the report shows what may mend a finding, edit by edit."""
        return self.args.format == "json"

    def told(self, analysis: Analysis) -> list[Diagnostic]:
        """What was found, with all that may mend it where the report shows that."""
        if not self.with_fixes:
            return analysis.diagnostics
        from sexpgpu.fixes import with_fixes

        return [with_fixes(analysis, each) for each in analysis.diagnostics]

    def fixed(self, name: str, data: bytes, analysis: Analysis, options: Options) -> Analysis:
        """Make the safe changes to a file, and give its analysis as it is then."""
        from sexpgpu.cli.fmt import replace_file
        from sexpgpu.fixes import fixed

        done = fixed(analysis, DISK, options)
        if done.edits:
            mark = BYTE_ORDER_MARK if data.startswith(BYTE_ORDER_MARK.encode()) else ""
            try:
                replace_file(name, (mark + done.text).encode())
            except OSError as error:
                self.failed(name, f"cannot be written: {(error.strerror or str(error)).lower()}")
                return analysis
            self.fixes += done.count
        return done.analysis

    def write(self) -> int:
        """Write the report and give the exit status."""
        diagnostics = ordered(self.found.values())
        if self.args.fix and (self.fixes or not self.status):
            print(f"{self.fixes} {'finding' if self.fixes == 1 else 'findings'} fixed", file=sys.stderr)
        if not self.args.output:
            self.report(diagnostics, sys.stdout)
        else:
            try:
                with open(self.args.output, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                    self.report(diagnostics, file)
            except OSError as error:
                self.failed(self.args.output, f"cannot be written: {(error.strerror or str(error)).lower()}")
        bad = ("error", "warning") if self.args.strict else ("error",)
        return self.status or int(any(each.rule.severity in bad for each in diagnostics))

    def report(self, diagnostics: list[Diagnostic], stream: TextIO) -> None:
        colour = wants_colour(self.args.color, stream)
        stream.write("".join(text for _, text in sorted(self.types.items())))
        if self.files or not self.status or self.args.format != "full":  # what is missing has been said
            stream.write(render(self.args.format, Report(diagnostics, self.files, colour, width_of(stream))))


def _identity(source: Source) -> str:
    return source.name if source.builtin else os.path.abspath(source.name)


def _nearest_file(path: str) -> str:
    """`; did you mean …?` when a file of nearly that name stands in the folder."""
    folder, name = os.path.split(path)
    try:
        near = nearest(name, os.listdir(folder or "."), 1)
    except OSError:
        return ""
    return f"; did you mean {os.path.join(folder, near[0])}?" if near else ""
