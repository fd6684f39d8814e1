"""The only door to the file system: everything that reads a file takes one of these."""

from __future__ import annotations

import errno
import os
import stat
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
        # Opening a pipe or a terminal would wait for somebody to write.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", path)
        with open(path, "rb") as file:
            file.seek(start)
            return file.read() if length is None else file.read(length)

    def size(self, path: str) -> int:
        return os.stat(path).st_size


DISK = Disk()


class Texts:
    """Texts in front of the disk, by absolute path: files as an editor has them, or standard input under a name."""

    def __init__(self, texts: dict[str, bytes]) -> None:
        self._texts = texts

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        data = self._texts.get(os.path.abspath(path))
        if data is None:
            return DISK.read(path, start, length)
        return data[start:] if length is None else data[start : start + length]

    def size(self, path: str) -> int:
        data = self._texts.get(os.path.abspath(path))
        return DISK.size(path) if data is None else len(data)


def beside(written_in: str, path: str) -> str:
    """A path that a file writes, seen from where that file stands."""
    return path if os.path.isabs(path) else os.path.normpath(os.path.join(os.path.dirname(written_in), path))
