"""Records that stand in files: NumPy archives, flat token files, JSON lines.

A file is opened once. Arrays that stand in it uncompressed are mapped into memory, so records are read when they are asked for.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from sexpgpu.diagnostics import rules
from sexpgpu.files import beside
from sexpgpu.language.dtypes import BF16, DTYPES
from sexpgpu.language.values import Keyword, Made, is_number
from sexpgpu.program.data import row_range
from sexpgpu.program.model import Field
from sexpgpu_jax.faults import RunFault
from sexpgpu_jax.lowering.table import jnp_dtype

Batch = dict[str, Any]
"""A field's records by its name, stacked along axis 0: NumPy's or JAX's arrays."""

Fields = Mapping[str, Field]


class Records(Protocol):
    """The records of one source."""

    @property
    def count(self) -> int: ...

    def take(self, indices: NDArray[np.int64]) -> Batch:
        """The records of those numbers, each in `[0, count)`. Raises RunFault for a record that does not match its field."""
        ...


class Rows:
    """A run of records of a source: `:rows [from to]`."""

    def __init__(self, records: Records, start: int, stop: int) -> None:
        self._records = records
        self._start = start
        self.count = stop - start

    def take(self, indices: NDArray[np.int64]) -> Batch:
        return self._records.take(indices + self._start)


def selected(records: Records, made: Made) -> Records:
    """The records that the source's `:rows` leaves."""
    start, stop = row_range(made, records.count)
    return records if (start, stop) == (0, records.count) else Rows(records, start, stop)


def open_file(made: Made, fields: Fields) -> Records:
    """The records of a file source. Raises RunFault where the file is missing or is not what the fields ask for."""
    path = path_of(made)
    try:
        return selected(_READERS[made.name](path, made, fields), made)
    except FileNotFoundError:
        help = "a path is relative to the file that writes it"
        raise content(made, f"the data file {path} does not exist", help) from None
    except OSError as error:
        raise content(made, f"the data file {path} cannot be read: {(error.strerror or str(error)).lower()}") from None


def path_of(made: Made) -> Path:
    """The path that a source names, seen from the file that writes it."""
    return Path(beside(made.form.top.source.name, str(made.arguments["path"])))


def content(made: Made, message: str, help: str = "") -> RunFault:
    """The fault for a file that does not hold what is asked of it, at its path."""
    return RunFault(rules.DATA_CONTENT, message, made.forms.get("path", made.form), help)


# NumPy archives


class Arrays:
    """Records along axis 0 of one array a field."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._arrays = arrays
        self.count = min((len(array) for array in arrays.values()), default=0)

    def take(self, indices: NDArray[np.int64]) -> Batch:
        taken = {name: array[indices] for name, array in self._arrays.items()}
        return {name: array.astype(array.dtype.newbyteorder("="), copy=False) for name, array in taken.items()}


def _npz(path: Path, made: Made, fields: Fields) -> Records:
    arrays: dict[str, NDArray[Any]] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for name, field in fields.items():
                try:
                    entry = archive.getinfo(f"{name}.npy")
                except KeyError:
                    raise content(made, f"{path} has no array {name}") from None
                array = _mapped(path, entry) if entry.compress_type == zipfile.ZIP_STORED else _loaded(archive, entry)
                arrays[name] = _as_field(array, name, field, path, made)
    except (zipfile.BadZipFile, ValueError) as error:
        raise content(made, f"{path} is no NumPy archive: {error}") from None
    lengths = {len(array) for array in arrays.values()}
    if len(lengths) > 1:
        raise content(made, f"the arrays of {path} have {' and '.join(map(str, sorted(lengths)))} records; each needs as many")
    return Arrays(arrays)


def _as_field(array: NDArray[Any], name: str, field: Field, path: Path, made: Made) -> NDArray[Any]:
    wanted = jnp_dtype(field.dtype)
    if field.dtype is BF16 and array.dtype.kind == "V" and array.dtype.itemsize == wanted.itemsize:
        array = array.view(wanted)  # NumPy has no name for it, and stores bytes
    if array.ndim == 0 or array.shape[1:] != field.shape or array.dtype.newbyteorder("=") != wanted:
        asked = ", ".join(["records", *map(str, field.shape)])
        raise content(
            made, f"the array {name} of {path} is {array.dtype}{list(array.shape)}, and its field asks for {wanted}[{asked}]"
        )
    return array


def _loaded(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(entry) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _mapped(path: Path, entry: zipfile.ZipInfo) -> NDArray[Any]:
    """An array that stands uncompressed in the archive, without reading it: behind the entry's local header and its own."""
    with path.open("rb") as file:
        file.seek(entry.header_offset + 26)
        name, extra = np.frombuffer(file.read(4), "<u2")
        file.seek(entry.header_offset + 30 + int(name) + int(extra))
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, columns, dtype = read(file)
        if 0 in shape:
            return np.zeros(shape, dtype)
        return np.memmap(path, dtype, "r", file.tell(), shape, "F" if columns else "C")


# Tokens


class Tokens:
    """A flat file of tokens, cut into records of the field's size; what is left at the end is no record."""

    def __init__(self, tokens: NDArray[Any], name: str, field: Field) -> None:
        size = int(np.prod(field.shape, dtype=np.int64))
        self.count = len(tokens) // size if size else 0
        self._records = tokens[: self.count * size].reshape(self.count, *field.shape)
        self._name = name
        self._dtype = jnp_dtype(field.dtype)

    def take(self, indices: NDArray[np.int64]) -> Batch:
        return {self._name: self._records[indices].astype(self._dtype)}


def _tokens(path: Path, made: Made, fields: Fields) -> Records:
    name, stored = (cast("Keyword", made.arguments[key]).name for key in ("field", "dtype"))
    if list(fields) != [name]:
        have = " ".join(f":{field}" for field in fields)
        raise content(made, f"a token file fills the field :{name} alone, and the loader has {have}")
    dtype = np.dtype(jnp_dtype(DTYPES[stored])).newbyteorder("<")
    size = path.stat().st_size
    tokens = np.memmap(path, dtype, "r", shape=(size // dtype.itemsize,)) if size >= dtype.itemsize else np.zeros(0, dtype)
    return Tokens(tokens, name, fields[name])


# JSON lines


class JsonLines:
    """One JSON object a line. Where lines begin is read once; a record is parsed when it is asked for."""

    def __init__(self, path: Path, made: Made, fields: Fields) -> None:
        self._path = path
        self._made = made
        self._fields = fields
        pad = made.arguments.get("pad", 0)
        self._pad = pad if is_number(pad) or isinstance(pad, bool) else 0
        self._data = np.memmap(path, np.uint8, "r") if path.stat().st_size else np.zeros(0, np.uint8)
        ends = np.append(np.flatnonzero(self._data == ord("\n")), len(self._data))
        starts = np.concatenate([[0], ends[:-1] + 1])
        filled = [bool(self._data[start:end].tobytes().strip()) for start, end in zip(starts, ends, strict=True)]
        self._lines = [(int(start), int(end)) for start, end, is_there in zip(starts, ends, filled, strict=True) if is_there]

    @property
    def count(self) -> int:
        return len(self._lines)

    def take(self, indices: NDArray[np.int64]) -> Batch:
        rows, fields = len(indices), self._fields
        batch = {name: np.full((rows, *field.shape), self._pad, jnp_dtype(field.dtype)) for name, field in fields.items()}
        for row, index in enumerate(indices):
            self._fill(batch, row, int(index))
        return batch

    def _fill(self, batch: Batch, row: int, index: int) -> None:
        record = self._parse(index)
        lengths = [0]
        for name, field in self._fields.items():
            if name == "length" and name not in record and field.shape == ():
                continue
            if name not in record:
                raise self._mismatch(index, f"has no {name}")
            value = self._array(record[name], field, index, name)
            batch[name][(row, *map(slice, value.shape))] = value
            lengths += value.shape[:1]
        if "length" in self._fields and "length" not in record:
            batch["length"][row] = max(lengths)

    def _parse(self, index: int) -> dict[str, Any]:
        start, end = self._lines[index]
        try:
            record = json.loads(self._data[start:end].tobytes())
        except ValueError as error:
            raise self._mismatch(index, f"is no JSON: {error}") from None
        if not isinstance(record, dict):
            raise self._mismatch(index, "is no JSON object")
        return cast("dict[str, Any]", record)

    def _array(self, value: object, field: Field, index: int, name: str) -> NDArray[Any]:
        wanted = jnp_dtype(field.dtype)
        shown = f"{field.dtype.name}[{' '.join(map(str, field.shape))}]"
        try:
            found = np.asarray(value)
        except ValueError:
            raise self._mismatch(index, f"has rows of different lengths in {name}, and its field asks for {shown}") from None
        fits = found.ndim == len(field.shape) and all(n <= most for n, most in zip(found.shape, field.shape, strict=True))
        if not fits:
            raise self._mismatch(index, f"has {name} of shape {list(found.shape)}, and its field asks for {shown}")
        if found.size == 0:
            return found.astype(wanted)
        kinds = {"bool": "b", "int": "iu", "uint": "iu", "float": "iuf"}[field.dtype.kind]
        fits = found.dtype.kind in kinds
        if fits and field.dtype.is_integer:
            fits = field.dtype.fits(int(found.min())) and field.dtype.fits(int(found.max()))
        if not fits:
            raise self._mismatch(index, f"has values in {name} that are no {field.dtype.name}")
        return found.astype(wanted)

    def _mismatch(self, index: int, message: str) -> RunFault:
        line = int(np.count_nonzero(self._data[: self._lines[index][0]] == ord("\n"))) + 1
        help = f"mend line {line} of the file, or declare in :fields what it holds"
        return RunFault(rules.RUN_RECORD, f"record {index} of {self._path} (line {line}) {message}", self._made.form, help)


_READERS: dict[str, Callable[[Path, Made, Fields], Records]] = {"npz": _npz, "tokens": _tokens, "jsonl": JsonLines}
