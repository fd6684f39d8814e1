"""Data files, as far as a checker looks: are they there, do their headers hold what the fields ask for, how many records are there."""

from __future__ import annotations

from sexpgpu.language.values import List, Made
from sexpgpu.program.builder import Builder
from sexpgpu.program.model import Loader


def check_file(builder: Builder, loader: Loader, source: Made) -> None:
    """Check the file of a source against the loader's fields (W-DATA-001, E-DATA-001)."""


def source_length(builder: Builder, loader: Loader, source: Made | None) -> int | None:
    """How many records one epoch of a source has; None where it is not known."""
    if source is None:
        return None
    if source.name == "synthetic":
        count = source.arguments.get("count")
        return count if type(count) is int else None
    if source.name == "mix":
        parts = source.arguments.get("sources")
        total = 0
        for part in parts.items if isinstance(parts, List) else ():
            inner = part.items[0] if isinstance(part, List) and part.items else None
            length = source_length(builder, loader, inner if isinstance(inner, Made) else None)
            if length is None:
                return None
            total += length
        return total
    return None


def epoch_length(builder: Builder, loader: Loader) -> int | None:
    """How many records the loader's shortest stage has; None where that is not known."""
    lengths = [source_length(builder, loader, source) for source in loader.sources or ()]
    known = [length for length in lengths if length is not None]
    return min(known) if known and len(known) == len(lengths) else None
