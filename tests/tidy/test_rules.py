"""The registry of rules is closed: every rule is used, has a page whose examples hold, and is drawn by fixtures."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from sexpgpu.analysis import analyse
from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Rule
from sexpgpu.diagnostics.page import Page, page
from sexpgpu.source import Source
from support.claims import CLAIMS, ROOT
from support.drawn import Mark, fixtures, marks_of, redraw, strip

NAMES = {name: rule for name, rule in vars(rules).items() if isinstance(rule, Rule)}
STATIC = [code for code in rules.RULES if not code.startswith("E-RUN-")]
SEVERITY = {"E": "error", "W": "warning", "I": "information", "H": "hint"}


def the_page(code: str) -> Page:
    found = page(code)
    assert found is not None, f"there is no page for {code}"
    return found


def findings(found: Page, text: str) -> list[Mark]:
    folder = ROOT / "tests" / found.files
    # A page is UTF-8: it shows a byte that is not as terminals do.
    data = text.encode().replace("\ufffd".encode(), b"\xff")
    source = Source.decode(str(folder / "page.sx"), data)
    return marks_of(analyse(source).diagnostics, source)


def test_codes_and_names_are_unique() -> None:
    assert len(NAMES) == len(rules.RULES)


def test_the_first_letter_tells_the_severity() -> None:
    """Apart from codes that are older than their severity."""
    other = {code: rule.severity for code, rule in rules.RULES.items() if rule.severity != SEVERITY[code[0]]}
    assert other == {"W-GEN-002": "information", "W-GEN-004": "information", "W-GEN-005": "hint"}


@pytest.mark.parametrize("code", rules.RULES)
def test_a_rule_has_a_page(code: str) -> None:
    found = the_page(code)
    assert found.title == rules.RULES[code].title
    assert set(found.related) <= CLAIMS.keys()


def test_no_page_is_without_a_rule() -> None:
    pages = {file.stem for file in (ROOT / "core/sexpgpu/diagnostics/pages").glob("*.md")}
    assert pages <= rules.RULES.keys()


@pytest.mark.parametrize("code", STATIC)
def test_the_bad_example_draws_exactly_its_code(code: str) -> None:
    found = the_page(code)
    text, marks, _ = strip(found.bad)
    assert {mark.code for mark in marks} == {code}
    assert redraw(found.bad, findings(found, text)) == found.bad


@pytest.mark.parametrize("code", STATIC)
def test_the_good_example_is_clean(code: str) -> None:
    found = the_page(code)
    assert redraw(found.good, findings(found, found.good)) == found.good
    assert code not in {mark.code for mark in findings(found, found.good)}


def test_every_static_rule_is_used() -> None:
    used: set[str] = set()
    for file in ROOT.glob("core/**/*.py"):
        if file.name != "rules.py":
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Attribute):
                    used.add(node.attr)
                elif isinstance(node, ast.Name):
                    used.add(node.id)
    assert not [name for name, rule in NAMES.items() if rule.code in STATIC and name not in used]


def test_every_static_code_is_drawn_twice() -> None:
    paths: list[Path] = [*fixtures("diagnostics"), *fixtures("bytes")]
    files = Counter(
        code for path in paths for code in {mark.code for mark in strip(path.read_bytes().decode("utf-8", "replace"))[1]}
    )
    assert not [code for code in STATIC if files[code] < 2]
