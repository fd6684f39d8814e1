"""Parts of a program are None where the analysis could not understand them; a program that is run is whole."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def whole(part: T | None) -> T:
    """The part, which a program without errors has."""
    assert part is not None
    return part
