"""Sources that read files: what they give, and what is said of files that hold something else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sexpgpu.language.dtypes import DTYPES
from sexpgpu_jax.data.files import open_file
from sexpgpu_jax.faults import RunFault
from sexpgpu_jax.lowering.table import jnp_dtype
from support.programs import fields, made

ROWS = np.arange(60, dtype=np.int32).reshape(10, 6)


def source(tmp_path: Path, name: str, path: str, **arguments: Any) -> Any:
    return made("source", name, {"path": path, **arguments}, str(tmp_path / "run.sx"))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_gives_records_along_axis_0(tmp_path: Path, save: Any) -> None:
    save(tmp_path / "data.npz", row=ROWS, label=np.arange(10, dtype=np.int8), other=np.zeros(3))
    records = open_file(source(tmp_path, "npz", "data.npz"), fields(row=((6,), "i32"), label=((), "i8")))
    batch = records.take(np.array([3, 0, 3]))
    assert records.count == 10
    np.testing.assert_array_equal(batch["row"], ROWS[[3, 0, 3]])
    assert batch["label"].tolist() == [3, 0, 3]
    assert {name: array.dtype for name, array in batch.items()} == {"row": np.int32, "label": np.int8}


def test_an_archive_may_hold_the_other_byte_order_and_bfloat16(tmp_path: Path) -> None:
    halves = np.arange(6).astype(jnp_dtype(DTYPES["bf16"]))
    np.savez(tmp_path / "data.npz", row=ROWS.astype(">i4"), half=halves)
    records = open_file(source(tmp_path, "npz", "data.npz"), fields(half=((), "bf16")))
    assert records.take(np.array([4]))["half"].tolist() == [4]
    batch = open_file(source(tmp_path, "npz", "data.npz"), fields(row=((6,), "i32"))).take(np.array([1]))
    assert batch["row"].dtype == np.dtype("=i4")
    assert batch["row"].tolist() == ROWS[[1]].tolist()


@pytest.mark.parametrize(
    ("rows", "kept"),
    [([0, 4], range(4)), ([4, 100], range(4, 10)), ([0.0, 0.8], range(8)), ([0.8, 1.0], range(8, 10)), ([0.5, 1], range(5, 10))],
)
def test_rows_select_by_count_or_fraction(tmp_path: Path, rows: list[float], kept: range) -> None:
    np.savez(tmp_path / "data.npz", row=ROWS)
    records = open_file(source(tmp_path, "npz", "data.npz", rows=rows), fields(row=((6,), "i32")))
    assert records.count == len(kept)
    np.testing.assert_array_equal(records.take(np.arange(records.count))["row"], ROWS[list(kept)])


def test_tokens_are_cut_into_records(tmp_path: Path) -> None:
    np.arange(20, dtype="<u2").tofile(tmp_path / "text.bin")
    made_of = source(tmp_path, "tokens", "text.bin", dtype=":u16", field=":tokens")
    records = open_file(made_of, fields(tokens=((6,), "i32")))
    batch = records.take(np.array([2, 0]))["tokens"]
    assert records.count == 3
    assert batch.dtype == np.int32
    assert batch.tolist() == [[12, 13, 14, 15, 16, 17], [0, 1, 2, 3, 4, 5]]


def test_json_lines_are_padded_and_know_their_length(tmp_path: Path) -> None:
    lines = [{"tokens": [1, 2], "w": 0.5}, {"tokens": [3, 4, 5, 6], "w": 1}]
    (tmp_path / "rows.jsonl").write_text("\n\n".join(map(json.dumps, lines)) + "\n")
    records = open_file(
        source(tmp_path, "jsonl", "rows.jsonl", pad=9), fields(tokens=((4,), "i32"), w=((), "f32"), length=((), "i32"))
    )
    batch = records.take(np.array([1, 0]))
    assert records.count == 2
    assert batch["tokens"].tolist() == [[3, 4, 5, 6], [1, 2, 9, 9]]
    assert batch["w"].tolist() == [1, 0.5]
    assert batch["length"].tolist() == [4, 2]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "is no JSON"),
        ("[1]", "is no JSON object"),
        ('{"other": 1}', "has no tokens"),
        ('{"tokens": [1, 2, 3]}', "has tokens of shape [3], and its field asks for i8[2]"),
        ('{"tokens": [[1], [1, 2]]}', "has rows of different lengths in tokens"),
        ('{"tokens": [1.5]}', "has values in tokens that are no i8"),
        ('{"tokens": [200]}', "has values in tokens that are no i8"),
        ('{"tokens": ["a"]}', "has values in tokens that are no i8"),
    ],
)
def test_a_json_record_that_is_not_its_field_is_named_with_its_line(tmp_path: Path, line: str, says: str) -> None:
    (tmp_path / "rows.jsonl").write_text('{"tokens": [1]}\n\n' + line + "\n")
    records = open_file(source(tmp_path, "jsonl", "rows.jsonl", pad=0), fields(tokens=((2,), "i8")))
    with pytest.raises(RunFault) as caught:
        records.take(np.array([0, 1]))
    assert caught.value.rule.code == "E-RUN-004"
    assert f"record 1 of {tmp_path / 'rows.jsonl'} (line 3) {says}" in caught.value.message


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("npz", {}, "does not exist"),
        ("jsonl", {"pad": 0}, "does not exist"),
        ("tokens", {"dtype": ":u16", "field": ":row"}, "does not exist"),
    ],
)
def test_a_missing_file_is_said_before_anything_runs(tmp_path: Path, name: str, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(RunFault, match=says) as caught:
        open_file(source(tmp_path, name, "none", **arguments), fields(row=((6,), "i32")))
    assert caught.value.rule.code == "E-DATA-001"


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"other": ROWS}, "has no array row"),
        ({"row": ROWS.astype(np.int64)}, "is int64[10, 6], and its field asks for int32[records, 6]"),
        ({"row": ROWS[:, :3]}, "is int32[10, 3], and its field asks for int32[records, 6]"),
        ({"row": ROWS, "label": np.zeros(9, np.int8)}, "have 9 and 10 records"),
    ],
)
def test_an_archive_that_does_not_hold_the_fields(tmp_path: Path, arrays: dict[str, Any], says: str) -> None:
    np.savez(tmp_path / "data.npz", **arrays)
    wanted = fields(row=((6,), "i32"), **({"label": ((), "i8")} if "label" in arrays else {}))
    with pytest.raises(RunFault) as caught:
        open_file(source(tmp_path, "npz", "data.npz"), wanted)
    assert says in caught.value.message


def test_what_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "data.npz").write_bytes(b"no archive")
    with pytest.raises(RunFault, match="is no NumPy archive"):
        open_file(source(tmp_path, "npz", "data.npz"), fields(row=((6,), "i32")))
