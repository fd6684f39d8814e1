"""Definitions and outlines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from lsprotocol import types

from sexpgpu import prelude
from support.drawn import FIXTURES
from support.editor import Editor, connected, uri_for

TEXT = """\
(def width 4)
(defun twice (x) (let ((y (* 2 x))) (+ y width)))
(defmodel model (x) (linear :out x (twice 2)))
(defun prepare (batch ctx) (counter :words 1) (list :a (getf ctx :stage-words)))
(defloader held :batch 1 :fields (list :x (spec [] :f32)) :source (npz "none.npz"))
(defpass eval :loader held :every 1)
"""
ABLE = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        definition=types.DefinitionClientCapabilities(link_support=True),
        document_symbol=types.DocumentSymbolClientCapabilities(hierarchical_document_symbol_support=True),
    )
)


async def defined(editor: Editor, uri: str, piece: str, inside: int = 0) -> types.Location | None:
    params = types.DefinitionParams(types.TextDocumentIdentifier(uri), editor.position(uri, piece, inside))
    found = await editor.client.text_document_definition_async(params)
    assert found is None or isinstance(found, types.Location)
    return found


@pytest.mark.parametrize(
    ("piece", "inside", "line", "name"),
    [
        ("y width", 2, 0, "width"),
        ("y width", 0, 1, "y"),
        ("2 x", 2, 1, "x"),
        ("(twice 2)", 1, 1, "twice"),
        ("(twice 2)", 6, 1, "twice"),
        (":stage-words", 3, 3, ":words"),
        (":loader held", 8, 4, "held"),
        ("defun twice", 6, 1, "twice"),
    ],
)
async def test_a_name_leads_to_where_it_is_defined(editor: Editor, piece: str, inside: int, line: int, name: str) -> None:
    uri = editor.open(TEXT)
    found = await defined(editor, uri, piece, inside)
    assert found is not None
    assert found.uri == uri
    assert found.range.start.line == line
    assert editor.piece(uri, found.range) == name


RUN = """\
(defloader train :batch 2 :fields (list :x (spec [4] :f32)) :source (synthetic 8 (lambda (i) (list :x (full [4] 1.0 :f32)))))
(defgenerate :trips 2
  :init (lambda (batch ctx) (list :h (field batch :x)))
  :step (lambda (state trip ctx) (list :h (getf state :h)))
  :finish (lambda (state ctx) (list :drawn (getf state :h))))
(defun scaled (x &key (by 2.0)) (* x by))
(defun prepare (batch ctx) (list :value (scaled (field batch :drawn) :by 3.0)))
(defmodel model (x) (linear :out x 4))
(defun objective (inputs ctx) (metric "loss" (mean (model (getf inputs :value)))))
(defpass eval :loader train :every 2)
(defoptimizer (sgd :lr 0.1))
(defrun :steps 4 :keep-best "eval/loss")
"""


@pytest.mark.parametrize(
    ("piece", "inside", "names"),
    [
        ("state :h)))\n  :finish", 7, [(2, ":h"), (3, ":h")]),  # where each trip and the first begin
        ("batch :drawn", 8, [(4, ":drawn")]),
        ("batch :x", 8, [(0, ":x"), (0, ":x")]),  # the declaration and the record
        ("inputs :value", 9, [(6, ":value")]),
        (":by 3.0", 1, [(5, "by")]),
        ('"eval/loss"', 7, [(8, "loss")]),
        ('"eval/loss"', 2, [(9, "eval")]),
        ('"loss"', 2, [(8, "loss")]),
        (":trips", 2, []),
    ],
)
async def test_keys_and_reports_lead_to_where_they_are_made(
    editor: Editor, piece: str, inside: int, names: list[tuple[int, str]]
) -> None:
    uri = editor.open(RUN)
    params = types.DefinitionParams(types.TextDocumentIdentifier(uri), editor.position(uri, piece, inside))
    found = await editor.client.text_document_definition_async(params) or []
    places = found if isinstance(found, Sequence) else [found]
    assert all(isinstance(each, types.Location) for each in places)
    assert [(each.range.start.line, editor.piece(uri, each.range)) for each in places if isinstance(each, types.Location)] == names


async def test_a_key_of_a_library_leads_to_the_run_that_makes_it(editor: Editor, tmp_path: Path) -> None:
    lines = RUN.splitlines(keepends=True)
    library, rest = "".join(lines[7:9]), "".join(lines[:7] + lines[9:])  # the model and the objective
    part = editor.open(library, uri_for(tmp_path / "part.sx"))
    run = editor.open(f'(load "part.sx")\n{rest}', uri_for(tmp_path / "run.sx"))
    assert await editor.codes(run) == []
    found = await defined(editor, part, ":value")
    assert found is not None
    assert (found.uri, editor.piece(run, found.range)) == (run, ":value")


async def test_what_is_written_nowhere_leads_nowhere(editor: Editor) -> None:
    uri = editor.open(TEXT)
    for piece in ("counter", "let", "(def", "4)"):
        assert await defined(editor, uri, piece) is None


async def test_a_layer_leads_to_the_file_that_it_is_written_in(editor: Editor) -> None:
    uri = editor.open(TEXT)
    found = await defined(editor, uri, "linear")
    assert found is not None
    path = Path(prelude.__file__).with_name("layers.sx")
    assert found.uri == path.as_uri()
    layers = editor.open(path.read_text("utf-8"), found.uri)
    assert editor.piece(layers, found.range) == "linear"
    assert await editor.published(layers) == []  # which shadows nothing: it is the prelude


async def test_a_name_and_a_path_lead_to_the_file_that_is_loaded(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "part.sx").write_text("\n(def far 1)\n", "utf-8")
    uri = editor.open('(load "part.sx")\n(def near far)\n', uri_for(tmp_path / "run.sx"))
    for piece, start in (("far", types.Position(1, 5)), ("part.sx", types.Position(0, 0))):
        found = await defined(editor, uri, piece)
        assert found is not None
        assert (found.uri, found.range.start) == (uri_for(tmp_path / "part.sx"), start)


async def test_the_outline_of_a_file() -> None:
    async with connected(ABLE) as editor:
        uri = editor.open((FIXTURES / "diagnostics/clean/generator.sx").read_text("utf-8") + "(defun broken (x)\n")
        params = types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
        found = await editor.client.text_document_document_symbol_async(params)
        assert found
        names: dict[str, types.DocumentSymbol] = {}
        for each in found:
            assert isinstance(each, types.DocumentSymbol)
            names[each.name] = each
        assert list(names)[:4] == ["length-of-row", "symbols", "train", "student"]
        assert {"broken", "defgenerate", "defoptimizer", "generator", "eval"} <= names.keys()
        assert names["student"].kind == types.SymbolKind.Class
        assert names["student"].detail == "(tokens)"
        keys = names["defgenerate"].children or ()
        assert [key.name for key in keys] == [":trips", ":init", ":step", ":finish"]
        within(found)
        link = await editor.client.text_document_definition_async(
            types.DefinitionParams(types.TextDocumentIdentifier(uri), editor.position(uri, "(student row)", 1))
        )
        assert isinstance(link, Sequence)
        assert isinstance(link[0], types.LocationLink)
        assert link[0].target_range.start.line == link[0].target_selection_range.start.line
        assert editor.piece(uri, link[0].target_selection_range) == "student"


def within(found: Sequence[types.DocumentSymbol | types.SymbolInformation]) -> None:
    """A symbol's name is inside it, and it inside the symbol around it, as the protocol demands."""
    for each in found:
        assert isinstance(each, types.DocumentSymbol)
        inner = [each.selection_range, *(child.range for child in each.children or ())]
        for span in inner:
            assert (each.range.start.line, each.range.start.character) <= (span.start.line, span.start.character)
            assert (span.end.line, span.end.character) <= (each.range.end.line, each.range.end.character)
        within(each.children or ())


async def test_an_outline_for_a_client_that_knows_no_nesting(editor: Editor) -> None:
    uri = editor.open(TEXT)
    params = types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
    found = await editor.client.text_document_document_symbol_async(params)
    assert found
    assert [each.name for each in found] == ["width", "twice", "model", "prepare", "held", "eval"]
    assert all(isinstance(each, types.SymbolInformation) for each in found)
