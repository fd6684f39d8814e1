"""What an analysis leaves behind when nobody holds it any more: an editor makes one for every key."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import FrameType

import pytest

from sexpgpu.analysis import Options, analyse
from sexpgpu.source import Source
from support.drawn import fixtures, strip


@pytest.fixture
def no_garbage() -> Iterator[None]:
    """Nothing is looked for while the test runs: what goes, goes because nothing refers to it."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
    gc.collect()


@pytest.mark.usefixtures("no_garbage")
def test_no_frame_outlives_an_analysis() -> None:
    """An exception that is kept keeps its traceback, that its frames, and those every value of the analysis."""
    texts = {str(path): strip(path.read_bytes().decode("utf-8", "replace"))[0] for path in fixtures("diagnostics")}
    for name, text in texts.items():
        analyse(Source(name, text), options=Options(record=True))
    left = [each for each in gc.get_objects() if isinstance(each, FrameType) and each.f_code is analyse.__code__]
    assert not [each.f_locals["source"].name for each in left]
