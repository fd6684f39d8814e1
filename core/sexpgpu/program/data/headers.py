"""Headers of data files, read without NumPy: array headers of `.npz` archives, the table of a `.safetensors` file."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from typing import NamedTuple

from sexpgpu.files import Files
from sexpgpu.graph.nodes import Shape

MOST_HEADER = 64 * 2**20


class Unreadable(Exception):
    """A file that is not of its format; the message says why."""


class ArrayHeader(NamedTuple):
    """The shape and dtype of an array in a file; `dtype` is a dtype's name of the language, or the file's own where there is
    none.
    """

    shape: Shape
    dtype: str


class _Opened(io.RawIOBase):
    """A file behind a `Files`, as `zipfile` wants one."""

    def __init__(self, files: Files, path: str) -> None:
        self._files = files
        self._path = path
        self._size = files.size(path)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        length = max(0, self._size - self._at) if size < 0 else size
        data = self._files.read(self._path, self._at, length)
        self._at += len(data)
        return data


_NUMPY = {"b1": "bool", "f2": "f16", "f4": "f32", "f8": "f64", "V2": "bf16"} | {
    f"{kind}{bits // 8}": f"{kind}{bits}" for kind in "iu" for bits in (8, 16, 32, 64)
}


def npz_headers(files: Files, path: str) -> dict[str, ArrayHeader]:
    """The header of every array of an archive, by name. Raises Unreadable, OSError."""
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(_Opened(files, path)) as archive:  # pyright: ignore[reportArgumentType]
            headers: dict[str, ArrayHeader] = {}
            for entry in archive.namelist():
                if entry.endswith(".npy"):
                    if archive.getinfo(entry).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                        raise ValueError("its compression is none that NumPy writes")
                    with archive.open(entry) as file:
                        headers[entry.removesuffix(".npy")] = _npy_header(file.read(10), file.read)
            return headers
    except (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        ValueError,
        TypeError,
        SyntaxError,
        EOFError,
        KeyError,
        RuntimeError,
    ) as error:
        raise Unreadable(f"it is no NumPy archive ({error})") from None


def _npy_header(start: bytes, read: Callable[[int], bytes]) -> ArrayHeader:
    if start[:6] != b"\x93NUMPY":
        raise ValueError("an entry has no array header")
    wide = start[6] >= 2
    (length,) = struct.unpack("<I", start[8:10] + read(2)) if wide else struct.unpack("<H", start[8:10])
    if length > 2**20:
        raise ValueError("an array header is too long")
    from ast import literal_eval

    header = literal_eval(read(length).decode("latin-1"))
    shape, described = header["shape"], str(header["descr"])
    return ArrayHeader(tuple(int(extent) for extent in shape), _NUMPY.get(described.lstrip("<>|="), described))


_SAFETENSORS = {"BOOL": "bool", "F16": "f16", "BF16": "bf16", "F32": "f32", "F64": "f64"} | {
    f"{kind}{bits}": f"{kind.lower()}{bits}" for kind in "IU" for bits in (8, 16, 32, 64)
}


def safetensors_headers(files: Files, path: str) -> dict[str, ArrayHeader]:
    """The shape and dtype of every tensor of a file, by name. Raises Unreadable, OSError."""
    import json

    start = files.read(path, 0, 8)
    length = struct.unpack("<Q", start)[0] if len(start) == 8 else MOST_HEADER + 1
    if length > min(MOST_HEADER, files.size(path) - 8):
        raise Unreadable("it is no safetensors file")
    try:
        table = json.loads(files.read(path, 8, length))
        return {
            name: ArrayHeader(tuple(int(n) for n in entry["shape"]), _SAFETENSORS.get(entry["dtype"], str(entry["dtype"])))
            for name, entry in table.items()
            if name != "__metadata__"
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable(f"it is no safetensors file ({error})") from None
