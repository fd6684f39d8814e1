"""The process of a run: a file in the run's folder names it, and holds a lock for as long as it lives.

A lock ends with its process however that ends, so that a number in the file is never taken for that of another process. Where there
are no such locks (Windows) the file itself says that the run goes on, and is believed.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

PROCESS = "process"


class Held:
    """This process, as that of the run in a folder, until `release`. Raises OSError where the folder cannot be written."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, PROCESS)
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        if _lock(self._file):
            os.write(self._file, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """The run is over."""
        with suppress(OSError):
            os.remove(self._path)
        os.close(self._file)


def process_of(folder: str) -> int | None:
    """The number of the process of the run in a folder; None where it does not go on."""
    try:
        file = os.open(os.path.join(folder, PROCESS), os.O_RDWR)
    except OSError:
        return None
    try:
        return None if _lock(file) else int(os.read(file, 32))
    except (OSError, ValueError):
        return None
    finally:
        os.close(file)


def _lock(file: int) -> bool:
    """Lock a file for as long as it is open here; whether nobody else had. A file system without locks is one where nobody has."""
    if sys.platform == "win32":
        return os.fstat(file).st_size == 0
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
