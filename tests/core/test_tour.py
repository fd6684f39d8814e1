"""The tour is what happens: its file grows block by block, and what it shows is what the checker says."""

from __future__ import annotations

from pathlib import Path

import pytest

from sexpgpu.analysis import analyse
from sexpgpu.source import Source
from support.claims import ROOT
from support.documents import Growing, replayed
from support.golden import golden

TOUR = ROOT / "docs" / "tour.md"
END = ROOT / "docs" / "examples" / "tour.sx"


def test_the_tour_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update: bool) -> None:
    monkeypatch.chdir(tmp_path)
    page, end = replayed(TOUR.read_text("utf-8"), Path("tour.sx"))
    golden(TOUR, page, update=update)
    golden(END, end, update=update)


def test_the_file_at_its_end_is_clean_and_whole() -> None:
    analysis = analyse(Source("tour.sx", END.read_text("utf-8")))
    assert [found.code for found in analysis.diagnostics] == []
    program = analysis.program
    assert program.generator is not None
    assert program.passes
    assert "curriculum@eval" in program.graphs


def test_a_block_replaces_the_forms_that_it_names_and_the_run_stays_last() -> None:
    file = Growing()
    file.add("(defrun :steps 1)\n")
    file.add("; a\n(def a 1)\n\n(defloader a\n  :batch 1)\n")
    file.add("; of a\n; two lines\n(defun a (x) x)\n(defrun named\n  :steps 2)\n")
    assert file.text == "; of a\n; two lines\n(defun a (x) x)\n\n(defloader a\n  :batch 1)\n\n(defrun named\n  :steps 2)\n"
