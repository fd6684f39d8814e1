"""Goldens: text that a test makes, compared with a file that holds it; `pytest --update` writes the file instead."""

from __future__ import annotations

from pathlib import Path


def golden(path: Path, text: str, *, update: bool) -> None:
    """Assert that the file holds the text; with `update`, make it so. Both end lines with ``\\n`` alone."""
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
    assert path.exists(), f"{path.name} does not exist: run pytest --update and read what it writes"
    assert text == path.read_bytes().decode("utf-8")
