"""Why a run failed, in words for whoever started it: from what it said itself, the way its process ended, and its last words."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from sexpgpu.plan.memory import Plan, gib
from sexpgpu_lsp.convert import NAME
from sexpgpu_lsp.runs_child import End, Event

_TOLD_LINES = 6
_TOLD = 600  # characters of last words
_LITTLE = 2**28  # bytes that cannot be what a machine had too little of

_SIGNALS = {
    "SIGSEGV": "the backend crashed (SIGSEGV): that is a fault in a native library, the driver or JAX, not in the file",
    "SIGABRT": "the backend gave up (SIGABRT): a native library, the driver or JAX, met something that it cannot go on from",
    "SIGBUS": "the backend crashed (SIGBUS): often the disk or shared memory is full",
    "SIGILL": "the backend crashed (SIGILL): a native library was built for another processor than this one",
    "SIGFPE": "the backend crashed (SIGFPE): that is a fault in a native library, the driver or JAX, not in the file",
    "SIGXCPU": "it used up the processor time that this system allows it (SIGXCPU)",
    "SIGXFSZ": "it wrote a larger file than this system allows it (SIGXFSZ)",
    "SIGHUP": "it was ended with its terminal or session (SIGHUP)",
}
_MEMORY = re.compile(
    r"bad_alloc|out of memory|cannot allocate memory|memory allocation .*failed|failed to map segment|resource_exhausted"
    r"|pthread_create\(?\)? failed|mmap error: 12|\bMemoryError\b",
    re.IGNORECASE,
)
_FULL = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_FATAL = "Fatal Python error: "
_FRAMES = re.compile(r"\s*@\s+0x|\s*File \"|\*\*\*|PC: @|(Current t|T)hread 0x|Extension modules: |run /|run [A-Z]:\\")


def advice(plan: Plan | None) -> str:
    """What to do about a run that has not enough memory, from what its plan asks for."""
    if plan is None:
        return "a smaller :batch takes less"
    asks = f"the plan asks for {gib(plan.largest.bytes)} in `{plan.largest.name}`"
    if plan.largest.bytes < _LITTLE:
        return f"{asks}, which is little: the rest went to JAX itself, which takes about 1 GiB, and to other programs"
    return f"{asks}, as `sexpgpu explain` shows; a smaller :batch takes less"


def why(end: End, error: Event | None, advice: str, kills: int | None) -> str:
    """A sentence or a few lines. `advice` is for a run that has not enough memory; `kills` is how many processes the system has
    ended for want of memory while the run went on, None where it does not tell."""
    if error is not None and isinstance(error.get("message"), str):
        code, help = error.get("code"), error.get("help")
        message = cast("str", error["message"]) + (f" [{code}]" if isinstance(code, str) else "")
        return f"{message}\nhelp: {help}" if isinstance(help, str) and help else message
    last = "\n".join(_worth_reading(end.tail))[-_TOLD:]
    name = _signal_name(-end.status) if end.status < 0 else ""
    if name == "SIGKILL" or end.status == 137:  # what a shell or a container says of it
        return f"it was killed (SIGKILL): {_killer(kills)} {advice}"
    reason = _SIGNALS.get(name, f"it was ended by a signal ({name})" if name else "")
    if _MEMORY.search(last):
        reason = f"the backend ran out of memory{f' ({name})' if name else ''}: {advice}"
    elif _FULL.search(last):
        reason = "there is no room left on the disk for what it writes"
    if not reason and not last:
        return f"it ended without a word (exit status {end.status})"
    return "\n".join(part for part in (reason, last) if part)


def _killer(kills: int | None) -> str:
    if kills == 0:
        limit = "a limit of memory or time, such as a container or a batch system sets"
        return f"by somebody, or by {limit}, for the system itself ended no process for want of memory; if it was memory,"
    likely = "" if kills else "most likely "
    return f"{likely}the machine ran out of memory, and the system ended its largest process;"


def kills() -> int | None:
    """How many processes the system has ended for want of memory since it began; None where it does not tell."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/vmstat").read_text("utf-8").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return None


def more(before: int | None, now: int | None) -> int | None:
    """How many there were between two such counts."""
    return None if before is None or now is None else now - before


def _worth_reading(tail: Sequence[str]) -> list[str]:
    """Of a stack trace of Python the exception, of a crash what was said before it, of anything else the last lines."""
    crash = next((number for number, line in enumerate(tail) if line.startswith(_FATAL)), None)
    if crash is not None:
        return [line for line in tail[:crash] if not _FRAMES.match(line)][-_TOLD_LINES:]
    for number in range(len(tail) - 1, -1, -1):
        if tail[number].startswith("Traceback (most recent"):
            rest = [line for line in tail[number + 1 :] if not line.startswith(" ")]
            return rest[-1:] or list(tail[-1:])
    said = [line for line in tail if not _FRAMES.match(line)]
    return [line.removeprefix(f"{NAME}: ") for line in said[-_TOLD_LINES:]]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
