"""The page of the language: its tables are those of the program, and its examples draw what they show."""

from __future__ import annotations

import re

import pytest

from sexpgpu.analysis import analyse
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.source import Source
from support.claims import ROOT
from support.documents import Block, rewritten
from support.drawn import marks_of, redraw, strip
from support.golden import golden
from support.language_tables import TABLES, filled, named

PAGE = ROOT / "docs" / "language.md"


def test_its_tables_are_those_of_the_program(update: bool) -> None:
    text = PAGE.read_text("utf-8")
    assert sorted(named(text)) == sorted(TABLES)
    assert set(DECLARATIONS) < set(TABLES)
    golden(PAGE, filled(text), update=update)


def test_its_examples_draw_what_they_show(update: bool) -> None:
    """Each block is a file of its own; one without a mark is clean."""

    def drawn(block: Block) -> str:
        if block.language != "sx":
            return block.text
        source = Source("language.sx", strip(block.text)[0])
        return redraw(block.text, marks_of(analyse(source).diagnostics, source))

    golden(PAGE, rewritten(PAGE.read_text("utf-8"), drawn), update=update)


@pytest.mark.parametrize("name", ["language.md", "tour.md"])
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / "docs" / name
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8")):
        file, _, place = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        if place:
            assert place in anchors(target.read_text("utf-8")), link


def anchors(markdown: str) -> list[str]:
    """The places of a page that a link may name, made of its headings as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
