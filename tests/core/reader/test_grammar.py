"""The grammar is the truth: the reader's terminals come from it, and lark's own parser makes the same trees of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from sexpgpu.reader.compile import GRAMMAR, TERMINALS, render
from sexpgpu.reader.forms import Form
from support.reading import PROGRAM, every, programs, reading, soup

ROOT = Path(__file__).parents[3]
FILES = sorted(path for folder in ("core", "docs", "tests/fixtures") for path in (ROOT / folder).rglob("*.sx"))

KINDS = {
    "list": "ListForm",
    "vector": "VectorForm",
    "quoted": "QuoteForm",
    "SYMBOL": "SymbolForm",
    "KEYWORD": "KeywordForm",
    "INTEGER": "NumberForm",
    "FLOAT": "NumberForm",
    "CONSTANT": "ConstantForm",
    "STRING": "StringForm",
}

Outline = list[tuple[str, int, int]]


@pytest.fixture(scope="module")
def parser() -> Lark:
    return Lark(Path(GRAMMAR).read_text(encoding="utf-8"), parser="lalr", propagate_positions=True)


def test_the_terminals_are_those_of_the_grammar() -> None:
    assert Path(TERMINALS).read_text(encoding="utf-8") == render(), "run `python -m sexpgpu.reader.compile`"


def test_reading_does_not_load_lark() -> None:
    code = "import sys, sexpgpu.reader, sexpgpu.reader.print; sys.exit('lark' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(ROOT / "core")})


def parsed(parser: Lark, text: str) -> Outline | None:
    """Kind, start and end of everything that lark finds, outermost first; None for what it does not parse."""
    try:
        tree = parser.parse(text)
    except UnexpectedInput:
        return None
    found: Outline = []
    rest: list[Tree[Token] | Token] = list(reversed(tree.children))
    while rest:
        node = rest.pop()
        if isinstance(node, Token):
            if node.type in KINDS:
                found.append((KINDS[node.type], node.start_pos or 0, node.end_pos or 0))
        elif node.data in KINDS:
            found.append((KINDS[node.data], node.meta.start_pos, node.meta.end_pos))
            rest += reversed(node.children)
    return found


def outlined(text: str) -> Outline:
    """The same of what the reader finds."""

    def seen(form: Form) -> tuple[str, int, int]:
        return type(form).__name__, form.span.start, form.span.end

    return [seen(form) for top in reading(text).forms for form in every(top.form)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_that_read_have_larks_trees(parser: Lark, path: Path) -> None:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        text = file.read()
    assert (parsed(parser, text) == outlined(text)) is (not reading(text).findings)


@settings(max_examples=100)
@given(text=programs())
@example(text=PROGRAM)
@example(text="\ufeff" + PROGRAM)
def test_texts_that_read_have_larks_trees(parser: Lark, text: str) -> None:
    assert not reading(text).findings
    assert parsed(parser, text) == outlined(text)


@settings(max_examples=300)
@given(text=soup | st.text(alphabet="()[]'\";#|:\\ \n1.xa\x07\x85", max_size=40))
@example(text="#|" * 3 + "|#" * 3)
@example(text="#||# #|#|# |#|# a")
@example(text=" \ufeff")
def test_what_does_not_read_does_not_parse(parser: Lark, text: str) -> None:
    """But for what no grammar says: openers in column 0, the escapes of strings, and that a commented datum may hold any token."""
    findings = reading(text).findings
    tree = parsed(parser, text)
    if not findings:
        assert tree == outlined(text) or (tree is None and "#;" in text)
    elif tree is not None:
        escape = any(finding.at.text.startswith("\\") for finding in findings)
        column_0 = any(part[:1] in "([" and part for part in text.replace("\r", "\n").split("\n")[1:])
        assert escape or column_0
