"""A thousand spoilt files with a fixed seed: no analysis raises. `python tests/fuzz.py` takes twenty thousand."""

from __future__ import annotations

from sexpgpu.analysis import analyse
from sexpgpu.source import Source
from support.slips import spoilt


def test_no_spoilt_file_raises() -> None:
    for path, text in spoilt(1_000, seed=1):
        analysis = analyse(Source(str(path), text))
        for found in analysis.diagnostics:
            assert 0 <= found.span.start <= found.span.end <= len(found.span.source.text)
