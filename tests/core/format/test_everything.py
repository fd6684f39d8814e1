"""What holds of every text: tokens, comments and diagnostics stay, and formatting is done after once. In linear time."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given

from bench.programs import transformer
from sexpgpu.analysis import analyse
from sexpgpu.format import format_edits
from sexpgpu.prelude import PRELUDE, source
from sexpgpu.reader import read
from sexpgpu.source import Source
from support.drawn import fixtures, strip
from support.formatting import check_formatting, shaken
from support.reading import PROGRAM, programs, soup
from support.slips import EXAMPLES

FILES = [*fixtures("diagnostics"), *sorted(EXAMPLES.glob("*.sx"))]
REAL = [*(path.read_text("utf-8") for path in sorted(EXAMPLES.glob("*.sx"))), PROGRAM]


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def text_of(path: Path) -> str:
    return strip(path.read_bytes().decode("utf-8-sig", "replace"))[0]


@pytest.mark.parametrize("path", FILES, ids=name)
def test_files(path: Path) -> None:
    check_formatting(text_of(path))


@pytest.mark.parametrize("path", FILES[::3], ids=name)
def test_diagnostics_stay(path: Path) -> None:
    """Whatever the layout was, and though a comment that silences some speaks of a line."""
    text = shaken(text_of(path), FILES.index(path))
    before, after = (analyse(Source(str(path), each)).diagnostics for each in (text, check_formatting(text)))
    assert [each.code for each in after] == [each.code for each in before]


@pytest.mark.parametrize("seed", range(40))
def test_any_layout_of_a_real_program(seed: int) -> None:
    check_formatting(shaken(REAL[seed % len(REAL)], seed))


@given(programs())
def test_any_text_that_reads(text: str) -> None:
    check_formatting(text)


@given(soup)
def test_any_text(text: str) -> None:
    check_formatting(text)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.sx")), ids=name)
def test_the_examples_keep_their_columns(path: Path) -> None:
    """What formatting changes in a file that is indented by hand are lines that are too long, and nothing else."""
    text = path.read_text("utf-8")
    long = [number for number, line in enumerate(text.split("\n")) if len(line) > 100]
    for edit in format_edits(Source(str(path), text)):
        assert text.count("\n", 0, edit.span.start) in long


def seconds(text: str) -> float:
    """Processor time of formatting, without reading."""
    where = Source("test.sx", text)
    reading = read(where)
    assert not reading.findings
    start = time.process_time()
    format_edits(where, reading=reading)
    return time.process_time() - start


def is_linear(start: str, piece: str, end: str) -> bool:
    """Whether 16 times the length takes less than 60 times as long; a quadratic formatter would take 256 times as long."""
    short, long = (seconds(start + piece * (length // len(piece)) + end) for length in (1_000, 16_000))
    return long < 0.05 + 60 * short


@pytest.mark.parametrize(
    ("start", "piece", "end"),
    [
        ("(list ", "x ", ")"),
        ("(list ", "x\n ", ")"),
        ("(list ", ":x y ", ")"),
        ("(list ", "#| c |# ", ")"),
        ("(list ", "x #| c |# ", ")"),
        ("(list ", "#;x ", "y)"),
        ("(list ", "x ; c\n ) (", ")"),
        ("(list ", "(f ; c\n )", "\n)"),
        ("", "(f ; c\n \n) ", ""),
        ("", "(def x 1) ", ""),
        ("", "(def x 1) #||#", ""),
        ("", ";\n", ""),
        ("", "\n", "(x)"),
        ("", f"{'(f ' * 200}{')' * 200}\n", ""),
        ("", "'" * 200 + "a\n", ""),
        ("", f"(f {'a' * 60} (g {'b' * 60}))", ""),
        ('(list "', "\n", '")'),
    ],
)
def test_the_time_is_linear_in_the_length(start: str, piece: str, end: str) -> None:
    assert any(is_linear(start, piece, end) for _ in range(5))  # a busy machine may disturb one measurement


def test_five_thousand_lines_are_formatted_while_one_waits() -> None:
    text = re.sub(r"\n +", "\n ", transformer(1000) * 5)
    assert text.count("\n") == 5000
    assert seconds(text) < 5


@pytest.mark.parametrize("file", sorted(set(PRELUDE.values())))
def test_the_prelude(file: str) -> None:
    check_formatting(source(file).text)
