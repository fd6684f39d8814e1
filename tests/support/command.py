"""The command line in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.claims import ROOT


def environment(*parts: str, **more: str) -> dict[str, str]:
    """This process's environment, with these source roots (core alone by default) and no setting of colours."""
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "SEXPGPU_DEBUG")}
    return {**plain, "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in parts or ("core",)), **more}


def python(
    *arguments: str, env: dict[str, str] | None = None, cwd: Path | None = None, given: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run Python and give what it wrote; `given` is its standard input."""
    return subprocess.run(
        [sys.executable, *arguments],
        check=False,
        input=given,
        capture_output=True,
        encoding="utf-8",
        env=env or environment(),
        cwd=cwd,
        timeout=60,
    )


def sexpgpu(
    *arguments: str, env: dict[str, str] | None = None, cwd: Path | None = None, given: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command of `sexpgpu` and give what it wrote."""
    return python("-m", "sexpgpu", *arguments, env=env, cwd=cwd, given=given)
