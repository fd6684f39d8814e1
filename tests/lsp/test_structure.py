"""Folding, growing selections, and links, over the protocol."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from support.editor import Editor, connected, uri_for

TEXT = '; 💡 a\n; b\n(load "part one.sx")\n(defloader held :batch 1 :fields (list :x (spec [] :f32))\n  :source (npz "gone.npz"))\n'


async def test_folds(editor: Editor) -> None:
    uri = editor.open(TEXT)
    found = await editor.client.text_document_folding_range_async(types.FoldingRangeParams(types.TextDocumentIdentifier(uri)))
    assert found
    assert [(each.start_line, each.end_line, each.kind) for each in found] == [
        (0, 1, types.FoldingRangeKind.Comment),
        (3, 4, None),
    ]


async def test_a_client_that_wants_few_folds_gets_the_longest() -> None:
    able = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(folding_range=types.FoldingRangeClientCapabilities(range_limit=1))
    )
    async with connected(able) as editor:
        uri = editor.open("(def a\n 1)\n(defun f (x)\n x\n )\n")
        found = await editor.client.text_document_folding_range_async(types.FoldingRangeParams(types.TextDocumentIdentifier(uri)))
        assert found
        assert [(each.start_line, each.end_line) for each in found] == [(2, 4)]


async def test_selections(editor: Editor) -> None:
    uri = editor.open('(def a "💡 x") (def b 2)\n\n')
    places = [editor.position(uri, "x"), editor.position(uri, "b 2"), types.Position(9, 9)]
    found = await editor.client.text_document_selection_range_async(
        types.SelectionRangeParams(types.TextDocumentIdentifier(uri), places)
    )
    assert found
    pieces: list[list[str]] = []
    for each in found:
        pieces.append([])
        inner: types.SelectionRange | None = each
        while inner is not None:
            pieces[-1].append(editor.piece(uri, inner.range))
            inner = inner.parent
    assert pieces == [["💡 x", '"💡 x"', '(def a "💡 x")'], ["b", "(def b 2)"], [""]]
    assert found[2].range.start == types.Position(2, 0)


async def test_links_lead_to_files_that_are_there(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "part one.sx").write_text("(def far 1)\n", "utf-8")
    uri = editor.open(TEXT, uri_for(tmp_path / "run.sx"))
    params = types.DocumentLinkParams(types.TextDocumentIdentifier(uri))
    found = await editor.client.text_document_document_link_async(params)
    assert found
    assert [(editor.piece(uri, each.range), each.target) for each in found] == [("part one.sx", uri_for(tmp_path / "part one.sx"))]
