"""A process that outlives the server, to stop its runs: however the server goes, the pipe between them closes.

Run as a script it needs the standard library alone: lines `+PID` and `-PID` on standard input name the processes to stop.
At the end of the input each gets SIGTERM, and its group is killed when it is still there after a grace time.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress


class Guard:
    """The server's end. The process begins with the first run."""

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, process: int) -> None:
        """Stop this process when the server has gone. Raises OSError."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", os.path.abspath(__file__), str(self._grace)],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._tell(f"+{process}")

    def forget(self, process: int) -> None:
        """Leave this process alone: it has ended, or may go on without the server."""
        self._tell(f"-{process}")

    def _tell(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.write(f"{line}\n".encode())


def force(process: int) -> None:
    """Kill a process that leads a group, and the group."""
    with suppress(OSError):
        if os.name == "nt":
            os.kill(process, signal.SIGTERM)
        else:
            os.killpg(process, signal.SIGKILL)


def main(grace: float) -> None:
    """Wait for the end of the input, then stop what it named."""
    processes: set[int] = set()
    for line in sys.stdin:
        (processes.add if line.startswith("+") else processes.discard)(int(line[1:]))
    processes = {process for process in processes if _signal(process, signal.SIGTERM)}
    if os.name == "nt":
        return  # where that has ended them
    deadline = time.monotonic() + grace
    while processes and time.monotonic() < deadline:
        time.sleep(0.05)
        processes = {process for process in processes if _signal(process, 0)}
    for process in processes:
        force(process)


def _signal(process: int, number: int) -> bool:
    """Whether the process was there to get it."""
    try:
        os.kill(process, number)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main(float(sys.argv[1]))
