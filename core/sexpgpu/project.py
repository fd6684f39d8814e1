"""What a project says about checking: the table `[tool.sexpgpu]` of the nearest `sexpgpu.toml` or `pyproject.toml` above a file.

[tool.sexpgpu]
ignore = ["W-GEN-001"]
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple, cast

from sexpgpu.diagnostics.ignore import CodeError, ignorable
from sexpgpu.files import DISK, Files
from sexpgpu.language.nearest import nearest

NAMES = ("sexpgpu.toml", "pyproject.toml")  # in one folder the first wins
_KEYS = ("ignore",)
# The ways to begin a table tool.sexpgpu: [tool.sexpgpu], [tool], or a key tool at the root.
_MAY_HAVE_TABLE = re.compile(rb"""^\s*(?:\[\s*["']?tool["']?\s*(?:\]|\.\s*["']?sexpgpu)|["']?tool["']?\s*[.=])""", re.MULTILINE)


class Project(NamedTuple):
    """The settings in force for a file: codes to `ignore`, and the `file` that says so (empty where none does)."""

    ignore: frozenset[str] = frozenset()
    file: str = ""


class ProjectError(Exception):
    """A project file that does not say what it should; the message is one line and names the file."""


class Projects:
    """The projects of many files; a folder is looked at once."""

    def __init__(self, files: Files = DISK) -> None:
        self._files = files
        self._known: dict[str, Project] = {}

    def above(self, path: str) -> Project:
        """The project that a file belongs to. Raises ProjectError."""
        return self._of(os.path.dirname(os.path.abspath(path)))

    def _of(self, folder: str) -> Project:
        passed: list[str] = []
        found: Project | None = None
        while found is None:
            if folder in self._known:
                found = self._known[folder]
            else:
                passed.append(folder)
                found = self._in(folder)
                parent = os.path.dirname(folder)
                if found is None and parent == folder:
                    found = Project()
                folder = parent
        self._known.update(dict.fromkeys(passed, found))
        return found

    def _in(self, folder: str) -> Project | None:
        for name in NAMES:
            path = os.path.join(folder, name)
            try:
                data = self._files.read(path)
            except OSError:
                continue
            # A pyproject.toml that has nothing for us is none of our business, broken or not.
            if name == NAMES[0] or (b"sexpgpu" in data and _MAY_HAVE_TABLE.search(data)):
                found = _read(path, data)
                if found is not None:
                    return found
        return None


def _read(path: str, data: bytes) -> Project | None:
    """The project that a file declares; None where it has no table for us. Raises ProjectError."""
    import tomllib  # few projects need it

    shown = path.removeprefix(os.path.join(os.getcwd(), ""))
    try:
        document = tomllib.loads(data.decode("utf-8").removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        reason = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "not UTF-8"
        raise ProjectError(f"{shown}: not valid TOML: {reason[:1].lower()}{reason[1:]}") from None
    tools = document.get("tool", {})
    table = cast("dict[str, object]", tools).get("sexpgpu") if isinstance(tools, dict) else None
    if table is None:
        if os.path.basename(path) == NAMES[0] and document:
            raise ProjectError(f"{shown}: expected a table [tool.sexpgpu]")
        return None
    if not isinstance(table, dict):
        raise ProjectError(f"{shown}: tool.sexpgpu must be a table")
    settings = cast("dict[str, object]", table)
    for key in settings:
        if key not in _KEYS:
            near = nearest(key, _KEYS, 1)
            known = f"did you mean {near[0]}?" if near else f"there is {', '.join(_KEYS)}"
            raise ProjectError(f"{shown}: [tool.sexpgpu] has no key {key}; {known}")
    codes = settings.get("ignore", [])
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in cast("list[object]", codes)):
        raise ProjectError(f'{shown}: ignore in [tool.sexpgpu] must be a list of codes, as ["W-GEN-001"]')
    try:
        return Project(ignorable(cast("list[str]", codes)), path)
    except CodeError as error:
        raise ProjectError(f"{shown}: ignore in [tool.sexpgpu]: {error}") from None
