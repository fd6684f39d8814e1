"""A run's folder: its events, its log, the files as they were run, and what it leaves."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from sexpgpu.records.process import Held
from sexpgpu.source import Source

EVENTS = "events.jsonl"
LOG = "log.txt"
FINAL = "final.safetensors"


class FolderTaken(Exception):
    """The folder that was named holds a run already."""


class Folder:
    """The folder of a run that begins now. Raises FolderTaken, or OSError where it cannot be made."""

    def __init__(self, path: Path) -> None:
        if (path / EVENTS).exists():
            raise FolderTaken(f"{path} holds a run already; name another folder with --out")
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._held = Held(str(path))
        self.events = (path / EVENTS).open("a", encoding="utf-8", newline="\n")
        self.log = logging.getLogger("sexpgpu_jax")
        self._handler = logging.FileHandler(path / LOG, encoding="utf-8")
        self._handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        self.log.addHandler(self._handler)
        self.log.setLevel(logging.INFO)
        self.log.propagate = False

    def keep_sources(self, sources: Iterable[Source]) -> None:
        """Copy the texts that are run into `source/`, the loaded ones by their file's name."""
        folder = self.path / "source"
        folder.mkdir(exist_ok=True)
        for source in sources:
            if not source.builtin:
                target = folder / Path(source.name).name
                while target.exists():
                    target = target.with_name(f"{target.stem}_{target.suffix}")
                target.write_text(source.text, encoding="utf-8", newline="")

    def save_final(self, parameters: Mapping[str, Any]) -> Path:
        """Write every parameter by its path to `final.safetensors`."""
        path = self.path / FINAL
        save_parameters(path, parameters)
        return path

    def close(self) -> None:
        """Close the folder's files."""
        with suppress(OSError):  # what a full disk did not take has been told
            self.events.close()
        self.log.removeHandler(self._handler)
        self._handler.close()
        self._held.release()


def save_parameters(path: Path, parameters: Mapping[str, Any]) -> None:
    """Write arrays by name as safetensors; a crash leaves either the whole file or none."""
    from safetensors.numpy import save_file

    part = path.with_name(path.name + ".part")
    save_file({name: np.ascontiguousarray(value) for name, value in parameters.items()}, part)
    part.replace(path)


def fresh_path(base: Path, name: str) -> Path:
    """`base/NAME-TIME`, numbered where several runs begin in one second."""
    stem = f"{name}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    path, number = base / stem, 2
    while path.exists():
        path, number = base / f"{stem}-{number}", number + 1
    return path
