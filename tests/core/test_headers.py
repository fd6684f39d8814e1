"""Data files that are damaged: whatever an archive holds, it is a finding and no exception."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path

import pytest

from sexpgpu.analysis import analyse
from sexpgpu.source import Source

TEXT = '(defloader rows :batch 1 :fields (list :x (spec [2] :f32)) :source (npz "rows.npz"))\n'
HEADER = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }\n"


def archive(header: bytes, compression: int) -> bytes:
    """An archive of one array `x` with that header."""
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(24)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as written:
        written.writestr("x.npy", array)
    return file.getvalue()


def codes(folder: Path, data: bytes) -> list[str]:
    (folder / "rows.npz").write_bytes(data)
    return [found.code for found in analyse(Source(str(folder / "run.sx"), TEXT)).diagnostics]


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_whole_archive_is_read(tmp_path: Path, compression: int) -> None:
    assert codes(tmp_path, archive(HEADER, compression)) == []


@pytest.mark.parametrize(
    "header", [b"[1, 2]", b"7", b"{'descr': '<f4', 'shape': 3}", b"{'shape': ('a',), 'descr': 1}", b"(", b"\xff"]
)
def test_a_header_that_is_none_is_a_finding(tmp_path: Path, header: bytes) -> None:
    assert codes(tmp_path, archive(header, zipfile.ZIP_STORED)) == ["E-DATA-001"]


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_damaged_archive_never_raises(tmp_path: Path, compression: int) -> None:
    whole, source = archive(HEADER, compression), random.Random(compression)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(source.choice([1, 2, 8])):
            data[source.randrange(len(data))] = source.randrange(256)
        assert set(codes(tmp_path, bytes(data))) <= {"E-DATA-001"}
