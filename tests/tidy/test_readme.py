"""The README and the page on architecture show what is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sexpgpu.analysis import analyse
from sexpgpu.source import Source
from support.claims import ROOT

README = (ROOT / "README.md").read_text("utf-8")


def example() -> str:
    found = re.search(r"```lisp\n(.*?)```", README, re.DOTALL)
    assert found
    return found[1]


def test_its_example_is_clean() -> None:
    assert not [(found.code, found.message) for found in analyse(Source("readme.sx", example())).diagnostics]


def test_its_mistake_says_what_it_shows() -> None:
    mistaken = example().replace("(cast (+ trip 1) :i32)", "(+ trip 1)")
    assert mistaken != example()
    found = [item for item in analyse(Source("readme.sx", mistaken)).diagnostics if item.rule.severity != "hint"]
    assert [f"error[{item.code}]: {item.message}" in README for item in found] == [True]
    assert found[0].fixes


def test_its_links_lead_somewhere() -> None:
    assert not [path for path in re.findall(r"\]\(([^)#:]+)\)", README) if not (ROOT / path).exists()]


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "editors").glob("*.md")), ids=lambda page: page.name
)
def test_links_of_pages_lead_somewhere(page: Path) -> None:
    found = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    assert not [path for path in found if not (page.parent / path).exists()]


def test_what_the_architecture_names_is_there() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = re.findall(r"`((?:core|lsp|backend|editors|tests)/[\w./-]*)`", text)
    assert len(named) > 20
    assert not [path for path in named if not (ROOT / path).exists()]
