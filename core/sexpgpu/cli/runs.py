"""`sexpgpu runs`: what runs have left in their folders."""

from __future__ import annotations

import argparse
import os
import sys
import time

from sexpgpu.cli import complain
from sexpgpu.cli.arguments import Parser
from sexpgpu.records import Record, page, process_of, read_run, run_folders

DEFAULT = "runs"
_SHOW, _PLOT, _STOP = "show", "plot", "stop"
_GRACE = 30.0  # seconds that a run has to write its checkpoint before it is killed


def parser() -> Parser:
    """What `runs` takes."""
    parser = Parser(
        "runs",
        "List runs, show one, draw its curves as a page, or stop it. Exit status: 0, or 2 where there is no such run.",
        usage="sexpgpu runs [DIR]\n       sexpgpu runs show RUN\n       sexpgpu runs plot RUN [--output FILE]\n"
        "       sexpgpu runs stop RUN",
    )
    parser.add_argument("what", nargs="?", default=DEFAULT, metavar="DIR | show | plot | stop", help=f"default: {DEFAULT}")
    parser.add_argument("run", nargs="?", metavar="RUN", help=f"a run's folder, or its name below {DEFAULT}")
    parser.add_argument("--output", metavar="FILE", help="where plot writes, - for standard output (default: RUN/plot.html)")
    parser.add_argument("--png", action="store_true", help="a picture in place of the page (not built yet)")
    return parser


def run(args: argparse.Namespace) -> int:
    """List, show, plot or stop."""
    what: str = args.what
    if args.png:
        complain("--png is not built yet; without it plot writes a page, which a browser shows and prints")
        return 2
    if what not in (_SHOW, _PLOT, _STOP):
        if args.run is not None:
            parser().error(f"{what} is none of show, plot and stop; to list the runs of a folder, name the folder alone")
        return _list(what)
    if args.run is None:
        parser().error(f"which run? as: sexpgpu runs {what} RUN")
    try:
        folder = _folder(args.run)
        record = read_run(folder)
    except OSError:
        complain(f"{args.run}: there is no run; `sexpgpu runs` lists those in {DEFAULT}")
        return 2
    if what == _SHOW:
        sys.stdout.write(_shown(record))
        return 0
    if what == _STOP:
        return _stop(record)
    return _write(page(record), args.output or os.path.join(folder, "plot.html"))


def _stop(record: Record) -> int:
    """Stop a run gracefully, and by force after a grace time."""
    import signal
    from contextlib import suppress

    process = process_of(record.folder)
    if process is None:
        complain(f"{record.name} is not running: {record.state or 'it has said nothing'}")
        return 2
    with suppress(ProcessLookupError):  # it has ended by itself meanwhile
        os.kill(process, signal.SIGTERM)
        deadline = time.monotonic() + _GRACE
        while process_of(record.folder) is not None:
            if time.monotonic() > deadline:
                os.kill(process, getattr(signal, "SIGKILL", signal.SIGTERM))
                print(f"{record.name} did not stop within {_GRACE:g} s and was killed")
                return 0
            time.sleep(0.05)
    record = read_run(record.folder)
    print(f"{record.name} {record.state} at step {_progress(record)}")
    return 0


def _write(html: str, path: str) -> int:
    if path == "-":
        sys.stdout.write(html)
        return 0
    try:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(html)
    except OSError as error:
        complain(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}")
        return 2
    print(path)
    return 0


def _folder(run: str) -> str:
    return run if os.path.isdir(run) else os.path.join(DEFAULT, run)


def _list(folder: str) -> int:
    try:
        records = [read_run(path) for path in run_folders(folder)]
    except OSError as error:
        complain(f"{folder}: {(error.strerror or str(error)).lower()}")
        return 2
    if not records:
        complain(f"no runs in {folder}")
    widest = max((len(record.name) for record in records), default=0)
    for record in records:
        print(f"{record.name:<{widest}}  {record.state or '-':<9} {_progress(record):<15} {_loss(record)}".rstrip())
    return 0


def _shown(record: Record) -> str:
    facts = {
        "state": record.state,
        "step": _progress(record),
        "file": record.file,
        "devices": ", ".join(record.devices),
        "from": record.started,
        "to": record.last,
        "folder": record.folder,
    }
    lines = [record.name, *(f"  {name:<8} {value}" for name, value in facts.items() if value)]
    lines += [f"  error at step {step}: {message}" for step, message in record.errors]
    if record.curves:
        widest = max(len(name) for name in record.curves)
        lines += ["metrics, the last and the least"]
        for name, points in record.curves.items():
            values = [point.value for point in points if point.value is not None]
            last = "not finite" if points[-1].value is None else f"{points[-1].value:.6g}"
            lines.append(f"  {name:<{widest}}  {last:<12} {f'{min(values):.6g}' if values else '-':<12} at step {points[-1].step}")
    if record.annotations:
        lines += ["notes", *(f"  step {step}: {text}" for step, text in record.annotations)]
    return "\n".join(lines) + "\n"


def _progress(record: Record) -> str:
    return f"{record.step}/{record.steps}" if record.steps else str(record.step)


def _loss(record: Record) -> str:
    """The last value of the first curve: training's, as a rule its loss."""
    for name, points in record.curves.items():
        if points[-1].value is not None:
            return f"{name} {points[-1].value:.6g}"
    return ""
