"""Out of memory: what the plan of the run asks for, beside what there is."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from sexpgpu.diagnostics import rules
from sexpgpu.plan.memory import gib, plan_memory
from sexpgpu.program.model import Program
from sexpgpu_jax.faults import RunFault

_CONTROL_GROUP = ("memory.max", "memory/memory.limit_in_bytes")
_WORDS = ("RESOURCE_EXHAUSTED", "Cannot allocate memory", "failed to map segment")  # of XLA, the system, its loader of libraries
_SAID = 200


def is_out_of_memory(error: BaseException) -> bool:
    """Whether that is what an exception speaks of."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in _WORDS)


def out_of_memory(program: Program, error: BaseException) -> RunFault:
    """The fault of a run that did not get the memory it asked for: E-RUN-002 at its `defrun`."""
    has, plan = available(), plan_memory(program)
    there = f"; the device has {gib(has)}" if has else ""
    needs = f"; the plan asks for {gib(plan.largest.bytes)} in `{plan.largest.name}`" if plan else ""
    said = " ".join(str(error).split())[:_SAID].removeprefix("RESOURCE_EXHAUSTED: ")
    message = f"the device is out of memory{needs}{there}" + (f" ({said})" if said else "")
    help = "a smaller :batch takes less, and more :microbatches make up for it in each update"
    if plan:
        help += "; the plan: " + ", ".join(f"{phase.name} {gib(phase.bytes)}" for phase in plan.phases)
    return RunFault(rules.RUN_OUT_OF_MEMORY, message, program.run.form if program.run is not None else None, help)


def available() -> int | None:
    """The bytes of the run's device; of a processor those of this machine that a process here may take. None where nobody tells."""
    from sexpgpu_jax.runtime import the_device

    try:
        device = the_device()
    except Exception:  # noqa: BLE001  JAX itself may have found no room
        return min(_machine(), default=None)
    stats = device.memory_stats() or {}
    if "bytes_limit" in stats:
        return int(stats["bytes_limit"])
    return min(_machine(), default=None) if device.platform == "cpu" else None


def _machine() -> list[int]:
    """What bounds the memory of this process."""
    bounds: list[int] = []
    for name in _CONTROL_GROUP:
        with suppress(OSError, ValueError):  # there is none, or it is "max"
            bounds.append(int(Path("/sys/fs/cgroup", name).read_text("utf-8")))
    if sys.platform != "win32":
        import resource

        with suppress(OSError, ValueError):
            bounds.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            bounds.append(limit)
    return bounds
