"""What holds of every analysis: of the fixtures, of the fixtures with a slip of the finger, and of any text at all."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexpgpu.analysis import Analysis, analyse
from sexpgpu.graph.nodes import Graph, Node
from sexpgpu.source import Source
from support.drawn import FIXTURES, fixtures, strip

FILES = fixtures("diagnostics")
SLIPS = 4
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[()\[\]]|[^\s()\[\]"]+')


def name(path: Path) -> str:
    return path.relative_to(FIXTURES / "diagnostics").as_posix()


def text_of(path: Path) -> str:
    return strip(path.read_bytes().decode("utf-8-sig"))[0]


def checked(path: Path, text: str) -> Analysis:
    """The analysis of a text that stands at `path`. Its diagnostics are in order, once each, inside their sources."""
    analysis = analyse(Source(str(path), text))
    places = [(found.span.source.name, found.span.start, found.span.end, found.code) for found in analysis.diagnostics]
    own = [place[1:] for place, found in zip(places, analysis.diagnostics, strict=True) if found.span.source is analysis.source]
    assert own == sorted(own)
    assert len(set(places)) == len(places)
    for found in analysis.diagnostics:
        spans = [found.span, *(note.span for note in found.related), *(edit.span for fix in found.fixes for edit in fix.edits)]
        assert all(0 <= span.start <= span.end <= len(span.source.text) for span in spans)
        assert found.message
        assert found.message == found.message.strip()
        assert not found.message.endswith(".")
    return analysis


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_slip_of_the_finger_is_diagnostics_and_no_exception(path: Path) -> None:
    text = text_of(path)
    tokens = list(_TOKEN.finditer(text))
    source = random.Random(name(path))
    for _ in range(SLIPS if tokens else 0):
        token, other = source.choice(tokens), source.choice(tokens)
        start, end = token.span()
        checked(
            path,
            source.choice(
                [
                    text[:start] + text[end:],
                    text[:end] + " " + token[0] + text[end:],
                    text[:start] + other[0] + text[end:],
                    text[: source.randrange(len(text))],
                    text[:start] + token[0][:-1] + text[end:],
                ]
            ),
        )


WORDS = [
    *"()()()()[]':;\"",
    "#|",
    "|#",
    "#;",
    "\n",
    "\r\n",
    " ",
    "def ",
    "defun ",
    "f",
    "x",
    "1",
    "-2.5",
    ":x",
    "nil",
    "(x) ",
    "let ",
    "list ",
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=40).map("".join)))
def test_any_text_is_analysed(text: str) -> None:
    checked(FIXTURES / "any.sx", text)


@given(st.binary())
def test_any_bytes_are_analysed(data: bytes) -> None:
    analysis = analyse(Source.decode("any.sx", data))
    assert all(found.span.end <= len(analysis.source.text) for found in analysis.diagnostics)


def graphs(path: Path) -> list[Graph]:
    return list(checked(path, text_of(path)).program.graphs.values())


@pytest.mark.claim("G2")
@pytest.mark.parametrize("path", fixtures("diagnostics/clean"), ids=name)
def test_graphs_are_flat_and_know_where_they_came_from(path: Path) -> None:
    for graph in graphs(path):
        for index, node in enumerate(graph.nodes):
            assert node.index == index
            assert all(used.index < index and graph.nodes[used.index] is used for used in node.inputs)
            assert not holds_a_graph(tuple(node.attrs.values()))
            assert node.form.text
            call = node.calls
            while call is not None:
                assert call.form.text
                call = call.parent
        assert all(graph.nodes[node.index] is node for node in graph.outputs.values())


def holds_a_graph(value: object) -> bool:
    return isinstance(value, (Graph, Node)) or (isinstance(value, (tuple, list)) and any(map(holds_a_graph, value)))


def test_the_corpus_traces_graphs() -> None:
    roles = {graph.role for path in fixtures("diagnostics/clean") for graph in graphs(path)}
    assert {
        "record",
        "generate.init",
        "generate.step",
        "generate.finish",
        "prepare",
        "objective",
        "curriculum",
        "optimizer",
    } <= roles
