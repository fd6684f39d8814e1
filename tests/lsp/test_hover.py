"""Hover: drawn files beside what is said at their marks; and what only a client sees of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lsprotocol import types

from sexpgpu.analysis import Options, analyse
from sexpgpu.ide.hover import hover
from sexpgpu.ide.markup import Code, Prose, inline, markdown, plain
from sexpgpu.language.ctx import CTX
from sexpgpu.source import Position, Source
from support.claims import claims_of
from support.drawn import FIXTURES, fixtures
from support.editor import Editor, connected, uri_for
from support.golden import golden

_MARK = re.compile(r";( *)\^ hover\n")

CASES = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.claim(*claims_of(path.read_text("utf-8")))]) for path in fixtures("hover")
]


def marked(drawn: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its marks, and the places that they mark: a mark in column 0 is meant for the `;` itself."""
    kept: list[str] = []
    places: list[tuple[int, int]] = []
    for line in drawn.splitlines(keepends=True):
        match = _MARK.fullmatch(line)
        if match:
            places.append((len(kept) - 1, len(match[1]) + 1))
        else:
            kept.append(line)
    return "".join(kept), places


@pytest.mark.parametrize("path", CASES)
def test_what_is_said_at_a_place(path: Path, update: bool) -> None:
    text, places = marked(path.read_text("utf-8"))
    source = Source(path.name, text)
    analysis = analyse(source, options=Options(record=True))
    shown: list[str] = []
    for line, column in places:
        found = hover(analysis, analysis.unit.main, source.offset(Position(line, column)))
        head = f"{source.line(line)}\n"
        if found is None:
            shown.append(f"````\n{head}{' ' * column}↑\n````\n\nnothing\n")
            continue
        start, end = (source.position(offset) for offset in found.span[1:])
        first, last = (start.character if start.line == line else 0), (end.character if end.line == line else len(head) - 1)
        drawn = "".join("↑" if at == column else "▔" if first <= at < last else " " for at in range(max(last, column + 1)))
        shown.append(f"````\n{head}{drawn}\n````\n\n{markdown(found.parts)}\n")
    golden(path.with_suffix(".md"), "\n---\n\n".join(shown), update=update)


@pytest.mark.claim("D3", "C13")
@pytest.mark.parametrize("name", CTX)
async def test_a_client_is_told_what_a_ctx_key_is(editor: Editor, name: str) -> None:
    uri = editor.open(f"(defun rate (ctx) (getf ctx :{name}))\n(defoptimizer (sgd :lr rate))\n")
    found = await editor.hover(uri, f":{name}", 1)
    assert found is not None
    assert found.range is not None
    assert editor.piece(uri, found.range) == f":{name}"
    assert isinstance(found.contents, types.MarkupContent)
    assert found.contents.kind == types.MarkupKind.Markdown
    assert f"(getf ctx :{name}) : {CTX[name].dtype.name}[]" in found.contents.value
    assert CTX[name].doc in found.contents.value


@pytest.mark.claim("D3", "C14", "G16")
async def test_a_client_is_told_where_a_counter_comes_from_and_where_it_is_nil(editor: Editor) -> None:
    path = FIXTURES / "hover/ctx.sx"
    uri = editor.open(marked(path.read_text("utf-8"))[0])
    in_generator = await editor.hover(uri, "(getf ctx :words)", 12)
    in_prepare = await editor.hover(uri, ":stage-words", 3)
    assert in_generator is not None
    assert in_prepare is not None
    assert isinstance(in_generator.contents, types.MarkupContent)
    assert isinstance(in_prepare.contents, types.MarkupContent)
    assert "(counter :words 6)" in in_generator.contents.value
    assert "**Here it is nil.**" in in_generator.contents.value
    assert "since the stage began" in in_prepare.contents.value
    assert "**Here it is nil.**" not in in_prepare.contents.value


async def test_hover_follows_the_text(editor: Editor) -> None:
    uri = editor.open("(def a (zeros [2 3]))\n")
    first = await editor.hover(uri, "(zeros")
    editor.write(uri, "3]", "4]")
    second = await editor.hover(uri, "(zeros")
    assert first is not None
    assert second is not None
    assert isinstance(first.contents, types.MarkupContent)
    assert isinstance(second.contents, types.MarkupContent)
    assert "f32[2 3]" in first.contents.value
    assert "f32[2 4]" in second.contents.value


async def test_a_library_shows_what_it_is_called_with(editor: Editor, tmp_path: Path) -> None:
    part = tmp_path / "part.sx"
    uri = editor.open("(defun twice (x) (* 2 x))\n", uri_for(part))
    alone = await editor.hover(uri, "(* 2")
    run = editor.open('(load "part.sx")\n(def a (twice (zeros [5])))\n', uri_for(tmp_path / "run.sx"))
    await editor.published(run)
    called = await editor.hover(uri, "(* 2")
    assert alone is None
    assert called is not None
    assert isinstance(called.contents, types.MarkupContent)
    assert "f32[5]" in called.contents.value


LIBRARY = """(defun twice (x &key (by 2))
  (let* ((width (dim x -1)) (y (* x by)) (kind :wide))
    (dotimes (turn 2) (list turn kind))
    (* y width)))
(defun words (ctx) (getf ctx :seen))
(defun loss (y) (metric "loss" (mean y)))
(defun count-words () (counter :seen 6))
"""
LOADING = """(load "library.sx")
(defloader train :batch 2 :fields (list :x (spec [3] :f32)) :source (synthetic 8 (lambda (index) (list :x (zeros [3])))))
(defmodel model (x) (linear :out (twice x :by 3) 1))
(defun prepare (batch ctx) (count-words) (list :x (field batch :x)))
(defun objective (inputs ctx) (words ctx) (loss (model (field inputs :x))))
(defoptimizer (sgd :lr 0.1))
(defrun :steps 1)
"""


@pytest.mark.parametrize(
    ("piece", "inside", "says"),
    [
        ("twice", 0, "(twice f32[2 3] :by 3) → f32[2 3]"),
        ("x &key", 0, "x : f32[2 3]"),
        ("by 2", 0, "by : 3"),
        ("width (", 0, "width : 3"),
        ("y (*", 0, "y : f32[2 3]"),
        ("kind :", 0, "kind : :wide"),
        ("turn 2", 0, "turn : 0 | 1"),
        ("y width", 0, "y : f32[2 3]"),
        (":seen))\n(defun loss", 1, "added up in the whole run"),
        (":seen 6", 1, "added up in the whole run"),
        ('"loss"', 2, 'metric "loss" : f32[]'),
        ("loss (y)", 0, "(loss f32[2 1]) → f32[]"),
        ("count-words", 0, "(count-words)"),
    ],
)
async def test_names_of_a_library_have_what_they_are_where_it_is_loaded(
    editor: Editor, tmp_path: Path, piece: str, inside: int, says: str
) -> None:
    uri = editor.open(LIBRARY, uri_for(tmp_path / "library.sx"))
    run = editor.open(LOADING, uri_for(tmp_path / "run.sx"))
    await editor.published(run)
    found = await editor.hover(uri, piece, inside)
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert says in found.contents.value
    assert "From `library.sx`" not in found.contents.value


async def test_a_client_that_shows_no_markdown_gets_none() -> None:
    capabilities = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(
            hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.PlainText])
        )
    )
    async with connected(capabilities) as editor:
        uri = editor.open("(def a (softmax b))\n")
        for piece in ("softmax", "b)"):
            found = await editor.hover(uri, piece)
            assert found is not None
            assert isinstance(found.contents, types.MarkupContent)
            assert found.contents.kind == types.MarkupKind.PlainText
            assert "```" not in found.contents.value
            assert "**" not in found.contents.value
            assert "](" not in found.contents.value


async def test_hover_of_what_is_very_deep_or_very_long(editor: Editor) -> None:
    uri = editor.open(
        "(def deep (reduce (lambda (inner i) (list inner)) (range 5000) nil))\n"
        "(def many (dotimes (i 3000) (* i i)))\n"
        f'(def text (str "{"x" * 5000}"))\n'
    )
    for piece in ("deep", "(* i", "many", "text"):
        found = await editor.hover(uri, piece)
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        assert len(found.contents.value) < 6000


def test_backticks_do_not_end_a_block() -> None:
    assert markdown([Code("a ``` b")]) == "````sx\na ``` b\n````"
    assert inline("a `b`") == "`` a `b` ``"
    assert inline("a\nb") == "`a b`"


def test_plain_text_has_the_text_of_links_and_emphasis() -> None:
    assert plain([Prose("**[E-X](https://a.b/c)** is `so`"), Code("(a\n  b)")]) == "E-X is `so`\n\n    (a\n      b)"


async def test_a_form_that_somebody_is_typing_in_still_has_hovers_and_definitions(editor: Editor) -> None:
    text = "(def width 4)\n(defun f (x)\n  (let ((y (* x width)))\n    (+ y 1)))\n(def z (f (ones [2 3])))\n"
    uri = editor.open(text)
    await editor.published(uri)
    editor.write(uri, "(+ y 1)))", "(+ y (")
    found = await editor.hover(uri, "y (\n")
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert "y : f32[2 3]" in found.contents.value
    assert found.range is not None
    assert editor.piece(uri, found.range) == "y"
    for piece, line in (("width)))", 0), ("y (\n", 2)):
        where = types.DefinitionParams(types.TextDocumentIdentifier(uri), editor.position(uri, piece))
        place = await editor.client.text_document_definition_async(where)
        assert isinstance(place, types.Location)
        assert place.range.start.line == line
