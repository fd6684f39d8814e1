"""Compiling in the background, so that a signal is heard while XLA works."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from sexpgpu_jax.calls import DeviceCall

_EVERY = 0.05
_NAME = "compile"


def still_compiling() -> bool:
    """Whether a compilation that was left to itself is under way: then Python must not end as usual, for XLA works on."""
    return any(thread.name.startswith(_NAME) for thread in threading.enumerate())


def compile_all(calls: Sequence[DeviceCall], look: Callable[[], None], workers: int = 2) -> None:
    """Compile every call, a few at a time. `look` is called while that goes on, and raises to stop.

    What a compilation raises is raised here. Compilations that are under way when `look` raises are left to themselves.
    """
    waiting = list(reversed(calls))
    failures: list[BaseException] = []

    def work() -> None:
        while not failures:
            try:
                call = waiting.pop()
            except IndexError:
                return
            try:
                call.compile()
            except BaseException as error:  # noqa: BLE001  it is raised again in the thread that waits
                failures.append(error)

    threads = [threading.Thread(target=work, daemon=True, name=f"{_NAME}-{number}") for number in range(workers)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                look()
                thread.join(_EVERY)
        look()
    except BaseException:
        waiting.clear()
        raise
    if failures:
        raise failures[0]
