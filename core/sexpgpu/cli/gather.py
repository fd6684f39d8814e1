"""From the paths of a command line to the files to read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from sexpgpu.cli.gitignore import Ignores

SUFFIX = ".sx"


def gather(paths: Iterable[str]) -> tuple[list[str], list[str]]:
    """The files that paths name, each once, and the paths that name nothing.

    A file is taken whatever it is called; of a folder all `.sx` files below it, without hidden ones, hidden folders and what
    `.gitignore` files leave out. Symbolic links to folders are not followed.
    """
    files: dict[str, str] = {}
    missing: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            for file in below(path):
                shown = os.path.normpath(file)
                files.setdefault(os.path.abspath(shown), shown)
        elif os.path.exists(path):
            shown = os.path.normpath(path)
            files.setdefault(os.path.abspath(shown), shown)
        else:
            missing.append(path)
    return list(files.values()), missing


def unreadable(path: str, error: OSError) -> str:
    """Why a file that a command takes cannot be read. Of a folder, which of its files could be meant."""
    if not os.path.isdir(path):
        return f"{path}: {(error.strerror or str(error)).lower()}"
    inside = min((os.path.normpath(file) for file in below(path, 1)), default="")
    return f"{path} is a folder, and one file is asked for" + (f", as {inside}" if inside else "; there is no .sx file in it")


def below(folder: str, most: int | None = None) -> Iterator[str]:
    """The `.sx` files below a folder, of which `most` folders are looked into. A folder that may not be read has none."""
    waiting = [(folder, Ignores.at(folder))]
    while waiting and most != 0:
        folder, ignores = waiting.pop()
        most = None if most is None else most - 1
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if not ignores.leave_out(entry.name, folder=True):
                    waiting.append((entry.path, ignores.inside(entry.name)))
            elif entry.name.endswith(SUFFIX) and entry.is_file() and not ignores.leave_out(entry.name, folder=False):
                yield entry.path
