"""The only door to the file system: everything that reads a file takes one of these."""

from __future__ import annotations

import os
from typing import Protocol


class Files(Protocol):
    """Read access by path; a test or an editor puts its own texts in front of the disk."""

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Bytes of a file from `start`. Raises OSError."""
        ...

    def size(self, path: str) -> int:
        """Size in bytes. Raises OSError, FileNotFoundError among them."""
        ...


class Disk:
    """The files of this machine."""

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        with open(path, "rb") as file:
            file.seek(start)
            return file.read() if length is None else file.read(length)

    def size(self, path: str) -> int:
        return os.stat(path).st_size


DISK = Disk()


def beside(written_in: str, path: str) -> str:
    """A path that a file writes, seen from where that file stands."""
    return path if os.path.isabs(path) else os.path.normpath(os.path.join(os.path.dirname(written_in), path))
