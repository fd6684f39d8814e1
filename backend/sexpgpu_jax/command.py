"""`sexpgpu run`: check a file, then train it. Everything that can go wrong is said in words; `log.txt` has the rest."""

from __future__ import annotations

import argparse
import contextlib
import errno
import logging
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from sexpgpu.analysis import Analysis, Options, analyse
from sexpgpu.cli.gather import unreadable
from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.colour import wants_colour, width_of
from sexpgpu.diagnostics.finding import Diagnostic, Finding, resolve
from sexpgpu.diagnostics.formats import Report, render
from sexpgpu.files import DISK, Files
from sexpgpu.language.values import Keyword
from sexpgpu.program.build import build_unit
from sexpgpu.source import Source, Span
from sexpgpu_jax.display import Display, display
from sexpgpu_jax.events import Events
from sexpgpu_jax.faults import RunFault
from sexpgpu_jax.folder import LOG as LOG_FILE
from sexpgpu_jax.folder import Folder, FolderTaken, fresh_path
from sexpgpu_jax.identity import identity
from sexpgpu_jax.memory import is_out_of_memory, out_of_memory
from sexpgpu_jax.refuse import Refusal, refusals
from sexpgpu_jax.signals import Signals, Stopped
from sexpgpu_jax.whole import whole

LOG = logging.getLogger("sexpgpu_jax")
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


def run_command(args: argparse.Namespace) -> int:
    """Run what `args` say (`file out resume steps seed set device events progress`, `files` where not the disk).

    Returns 0 when the run is done, 1 after diagnostics or a failed run, 2 for wrong usage, 130 or 143 when a signal stopped it.
    """
    with _events_alone(args.events == "-") as listener:
        files: Files = getattr(args, "files", DISK)
        try:
            source = Source.decode(args.file, files.read(args.file))
        except OSError as error:
            return _complain(unreadable(args.file, error), 2)
        if args.resume is not None:
            return _complain("--resume: resuming is not built yet; without it the file runs from step 0", 2)
        analysis = analyse(source, files, Options(dict(args.set or {})))
        # A file that a run needs and that is not there is an error of its own a moment later: it is told once.
        _show([found for found in analysis.diagnostics if not analysis.ok or found.rule is not rules.DATA_MISSING])
        if not analysis.ok:
            return 1
        program = analysis.program
        if program.run is None:
            return _complain(f"{args.file} declares no run; write (defrun :steps …)", 1)
        for key, value in (("steps", args.steps), ("seed", args.seed)):
            if value is not None:
                program.run.settings[key] = value
        refused = refusals(program)
        if refused:
            _refuse(refused, args.file, Events([listener] if listener is not None else []))
            return 1
        try:
            path = Path(args.out) if args.out else fresh_path(Path("runs"), program.run.name or Path(args.file).stem)
            folder = Folder(path)
        except FolderTaken as error:
            return _complain(str(error), 2)
        except OSError as error:
            return _complain(f"{error.filename}: {(error.strerror or str(error)).lower()}", 2)
        try:
            status = _train(args, analysis, files, folder, listener)
        finally:
            folder.close()
        from sexpgpu_jax.compiling import still_compiling

        if still_compiling():
            for stream in (sys.stdout, sys.stderr, listener):
                if stream is not None:
                    stream.flush()
            os._exit(status)
        return status


def _train(args: argparse.Namespace, analysis: Analysis, files: Files, folder: Folder, listener: TextIO | None) -> int:
    from sexpgpu_jax.runtime import NoDevice, cache_folder, configure

    program = analysis.program
    run = whole(program.run)
    events = Events([sink for sink in (folder.events, listener) if sink is not None])
    shown = display(args.progress, run.integer("steps"))
    shown.say(f"run {folder.path}")
    outcome = _Outcome(events, shown)
    with Signals() as signals:
        try:
            unit, _ = build_unit(analysis.source, files)
            folder.keep_sources([module.source for module in unit.modules])
            configure(args.device, cache_folder())
            from sexpgpu_jax.train import Training

            same = identity(unit, program, dict(args.set or {}))
            who = outcome.who = {"identity": same, "file": args.file, "devices": _devices(), "versions": _versions()}
            events.emit("run", 0, state="started", **who)
            if isinstance(run.settings.get("stack"), Keyword):
                LOG.info("stacking microbatches is not built yet: :stack :auto runs one at a time, to the same bits")
            outcome.training = training = Training(program, events, shown, signals)
            training.compile()
            events.emit("run", 0, state="compiled", **who)
            training.run()
            final = folder.save_final(training.parameters())
            events.emit("run", training.progress.step, state="finished", **who)
            shown.say(f"finished at step {training.progress.step}; parameters in {final}")
            return 0
        except NoDevice as error:
            return outcome.failed(str(error), 2)
        except Stopped as stop:
            return outcome.stopped(stop)
        except RunFault as fault:
            return outcome.faulted(fault)
        except Exception as error:  # a run that fails ends in a sentence; the log has the trace
            LOG.exception("the run failed")
            if is_out_of_memory(error):
                return outcome.faulted(out_of_memory(program, error))
            if isinstance(error, OSError) and error.errno in _NO_ROOM:
                return outcome.failed(f"nothing can be written into {folder.path}: {os.strerror(error.errno).lower()}", 1)
            reason = " ".join(str(error).split())
            where = f"the trace is in {folder.path / LOG_FILE}"
            return outcome.failed(f"internal error: {type(error).__name__}: {reason[:300]} ({where})", 1)
        finally:
            shown.close()


class _Outcome:
    """How a run that does not finish ends: its last events, what is said, the exit status."""

    def __init__(self, events: Events, shown: Display) -> None:
        self.training: Any = None
        self.who: dict[str, Any] = {}
        self._events = events
        self._shown = shown

    @property
    def _step(self) -> int:
        return 0 if self.training is None else self.training.progress.step

    def stopped(self, stop: Stopped) -> int:
        kept = "the step in flight was abandoned, and no checkpoint was written: they are not built yet"
        text = f"stopped by {stop} after step {self._step}; {kept}"
        self._events.emit("run", self._step, state="stopped", **self.who)
        self._shown.say(text)
        LOG.info("%s", text)
        return stop.status

    def faulted(self, fault: RunFault) -> int:
        more: dict[str, Any] = {"help": fault.help} if fault.help else {}
        if fault.at is not None:
            more |= _where(fault.at.span)
            finding = Finding(fault.rule, fault.at, fault.message, fault.help)
            _show([resolve(finding)])
        else:
            self._shown.say(f"error[{fault.rule.code}]: {fault.message}" + (f"\n  help: {fault.help}" if fault.help else ""))
        LOG.error("%s: %s", fault.rule.code, fault.message)
        self._events.emit("error", self._step, code=fault.rule.code, message=fault.message, **more)
        self._events.emit("run", self._step, state="failed", **self.who)
        return 1

    def failed(self, message: str, status: int) -> int:
        self._events.emit("error", self._step, code=None, message=message)
        self._events.emit("run", self._step, state="failed", **self.who)
        self._shown.say(f"sexpgpu: {message}")
        return status


@contextlib.contextmanager
def _events_alone(asked: bool) -> Iterator[TextIO | None]:
    """Standard output for events alone: what anything else prints there goes to standard error."""
    if not asked:
        yield None
        return
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        yield out


def _show(diagnostics: list[Diagnostic]) -> None:
    """Findings, as `check` shows them, on standard error. Hints are for editors."""
    worth = [each for each in diagnostics if each.rule.severity != "hint"]
    if worth:
        print(render("full", Report(worth, 1, wants_colour("auto", sys.stderr), width_of(sys.stderr))), end="", file=sys.stderr)


def _refuse(refused: list[Refusal], file: str, events: Events) -> None:
    """Say what the file asks for in vain. There is no folder yet: whoever listens to events is told alone."""
    for each in refused:
        print(f"{_place(each.at.span)}: {each.message}\n  help: {each.help}", file=sys.stderr)
        events.emit("error", 0, code=None, message=each.message, help=each.help, **_where(each.at.span))
    events.emit("run", 0, state="failed", file=file)


def _complain(message: str, status: int) -> int:
    print(f"sexpgpu: {message}", file=sys.stderr)
    return status


def _place(span: Span) -> str:
    line, character = span.source.position(span.start, "utf-32")
    return f"{span.source.name}:{line + 1}:{character + 1}"


def _where(span: Span) -> dict[str, Any]:
    """The file and the range of a span, as an event of an error has them; positions are those of LSP."""
    ends = {"start": span.start, "end": span.end}
    return {
        "file": span.source.name,
        "range": {name: span.source.position(offset)._asdict() for name, offset in ends.items()},
    }


def _devices() -> list[str]:
    from sexpgpu_jax.runtime import the_device

    default = the_device()
    return [f"{default.platform}:{default.id} {default.device_kind}"]


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version()}
    for package in ("sexpgpu", "jax", "jaxlib", "numpy", "optax"):
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
