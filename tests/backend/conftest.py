"""Tests of the backend run on the host's processor, and keep what they compile for as long as they run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def _compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in ("JAX_PLATFORMS", "XDG_CACHE_HOME")}
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XDG_CACHE_HOME"] = str(Path(tmp_path_factory.getbasetemp()) / "cache")
    yield
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value
