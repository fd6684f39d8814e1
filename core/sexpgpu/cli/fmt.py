"""`sexpgpu fmt`: white space of files and folders in place."""

from __future__ import annotations

import argparse
import os
import sys

from sexpgpu.cli import complain
from sexpgpu.cli.arguments import Parser
from sexpgpu.cli.gather import gather
from sexpgpu.diagnostics.finding import resolve
from sexpgpu.diagnostics.formats import Report, render
from sexpgpu.files import DISK
from sexpgpu.format import formatted
from sexpgpu.reader import read
from sexpgpu.source import BYTE_ORDER_MARK, LINE_END, Source

_STANDARD_INPUT = "-"
_UNNAMED = "<stdin>"


def parser() -> Parser:
    """What `fmt` takes."""
    parser = Parser(
        "fmt",
        "Put the white space of files in place: indentation, spaces, blank lines. Tokens and comments are never changed. "
        "Exit status: 0 formatted, 1 a file does not read, or with --check or --diff would change, 2 a file is missing.",
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files, folders (all *.sx below), or - for standard input; default: ."
    )
    parser.add_argument("--check", action="store_true", help="write nothing, and name the files that would change")
    parser.add_argument("--diff", action="store_true", help="write nothing, and show what would change")
    parser.add_argument("--stdin-filename", metavar="NAME", help="what standard input is called")
    return parser


def run(args: argparse.Namespace) -> int:
    """Format, or say what would change."""
    paths: list[str] = args.paths or ["."]
    if args.stdin_filename and _STANDARD_INPUT not in paths:
        complain("--stdin-filename names what is read for the path -, which is not there")
        return 2
    format = _Format(args.check, args.diff)
    files, missing = gather(path for path in paths if path != _STANDARD_INPUT)
    for path in missing:
        format.failed(path, "no such file or folder")
    if _STANDARD_INPUT in paths:
        format.input(args.stdin_filename or _UNNAMED, sys.stdin.buffer.read())
    for file in files:
        format.file(file)
    if not format.files and not format.status and _STANDARD_INPUT not in paths:
        complain(f"no .sx files in {', '.join(paths)}")
    return format.end()


class _Format:
    """What has been done so far. Findings and the summary go to standard error: standard output may be a patch, or a text."""

    def __init__(self, check: bool, diff: bool) -> None:
        self.check = check
        self.diff = diff
        self.files = 0
        self.changed = 0
        self.status = 0

    def failed(self, path: str, reason: str) -> None:
        """A path that cannot be formatted: the others still are."""
        complain(f"{path}: {reason}")
        self.status = 2

    def input(self, name: str, data: bytes) -> None:
        """Format standard input; unless it is only to be checked, the result goes to standard output."""
        after = self.text(name, data)
        if not (self.check or self.diff):
            sys.stdout.flush()
            sys.stdout.buffer.write(after)
            sys.stdout.buffer.flush()

    def file(self, path: str) -> None:
        """Format a file in its place."""
        try:
            before = DISK.read(path)
            after = self.text(path, before)
            if after != before and not (self.check or self.diff):
                replace_file(path, after)
        except OSError as error:
            self.failed(path, (error.strerror or str(error)).lower())

    def text(self, name: str, data: bytes) -> bytes:
        """Format bytes, and show what that changes. What does not read is a finding, and comes back as it is."""
        self.files += 1
        source = Source.decode(name, data)
        reading = read(source)
        if reading.findings:
            findings = [resolve(finding) for finding in reading.findings]
            sys.stderr.write(render("concise", Report(findings)))
            complain(f"{name} does not read, and is left as it is")
            self.status = self.status or 1
            return data
        after = formatted(source, reading)
        if after == source.text:
            return data
        self.changed += 1
        if self.diff:
            sys.stdout.write(_diff(name, source.text, after))
        elif self.check:
            print(f"would format {name}")
        mark = BYTE_ORDER_MARK if data.startswith(BYTE_ORDER_MARK.encode()) else ""
        return (mark + after).encode()

    def end(self) -> int:
        """Say how many files changed, and give the exit status."""
        only_said = self.check or self.diff
        if self.changed:
            would = "would be formatted" if only_said else "formatted"
            print(f"{self.changed} of {self.files} {'file' if self.files == 1 else 'files'} {would}", file=sys.stderr)
        return self.status or int(only_said and self.changed > 0)


def replace_file(path: str, data: bytes) -> None:
    """Write a file so that, whatever happens, the old or the new text stands there. Raises OSError."""
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        with open(beside, "xb") as file:
            file.write(data)
        os.chmod(beside, os.stat(path).st_mode & 0o7777)
        os.replace(beside, path)
    except OSError:
        if os.path.exists(beside):
            os.remove(beside)
        raise


def _diff(name: str, before: str, after: str) -> str:
    """A unified diff."""
    from difflib import unified_diff

    shown: list[str] = []
    for line in unified_diff(_lines(before), _lines(after), name, name):
        shown.append(line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n")
    return "".join(shown)


def _lines(text: str) -> list[str]:
    """The lines with their ends."""
    lines: list[str] = []
    start = 0
    for match in LINE_END.finditer(text):
        lines.append(text[start : match.end()])
        start = match.end()
    return [*lines, text[start:]] if start < len(text) else lines
