"""What `make bench` measures is what it says: clean programs of the stated length."""

from __future__ import annotations

import pytest

from bench.programs import python_file, run_file, transformer
from sexpgpu.analysis import analyse
from sexpgpu.source import Source


@pytest.mark.parametrize(("text", "lines"), [(run_file(), 300), (run_file(150), 150), (transformer(), 1000)])
def test_a_generated_run_file_is_clean_and_as_long_as_asked(text: str, lines: int) -> None:
    assert text.count("\n") == lines
    assert not [(found.code, found.message) for found in analyse(Source("run.sx", text)).diagnostics]


def test_the_python_file_compiles_and_is_as_long() -> None:
    assert python_file().count("\n") == 300
    compile(python_file(), "layers.py", "exec")
