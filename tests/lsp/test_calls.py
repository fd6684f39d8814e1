"""The hierarchy of calls over the protocol."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from sexpgpu import prelude
from support.editor import Editor, uri_for

TEXT = '(load "part.sx")\n(defun twice (x) (base (base x)))\n(defmodel model (x) (linear :💡 (twice x) 2))\n'


async def prepared(editor: Editor, uri: str, piece: str, inside: int = 0) -> types.CallHierarchyItem:
    params = types.CallHierarchyPrepareParams(types.TextDocumentIdentifier(uri), editor.position(uri, piece, inside))
    found = await editor.client.text_document_prepare_call_hierarchy_async(params)
    assert found
    return found[0]


async def callers(editor: Editor, item: types.CallHierarchyItem) -> list[types.CallHierarchyIncomingCall]:
    params = types.CallHierarchyIncomingCallsParams(item)
    return list(await editor.client.call_hierarchy_incoming_calls_async(params) or ())


async def called(editor: Editor, item: types.CallHierarchyItem) -> list[types.CallHierarchyOutgoingCall]:
    params = types.CallHierarchyOutgoingCallsParams(item)
    return list(await editor.client.call_hierarchy_outgoing_calls_async(params) or ())


async def test_up_and_down_through_files(editor: Editor, tmp_path: Path) -> None:
    part = tmp_path / "part.sx"
    part.write_text("(defun lower (x) x)\n(defun base (x) (lower x))\n", "utf-8")
    uri = editor.open(TEXT, uri_for(tmp_path / "run.sx"))
    twice = await prepared(editor, uri, "twice x")
    assert (twice.name, twice.uri, editor.piece(uri, twice.selection_range)) == ("twice", uri, "twice")
    above = await callers(editor, twice)
    assert [(each.from_.name, [editor.piece(uri, at) for at in each.from_ranges]) for each in above] == [("model", ["twice"])]
    below = await called(editor, twice)
    assert [(each.to.name, each.to.uri, len(each.from_ranges)) for each in below] == [("base", uri_for(part), 2)]
    assert [each.to.name for each in await called(editor, below[0].to)] == ["lower"]
    assert [(each.from_.name, len(each.from_ranges)) for each in await callers(editor, below[0].to)] == [("twice", 2)]


async def test_layers_are_called_too(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(TEXT, uri_for(tmp_path / "run.sx"))
    below = {each.to.name: each.to for each in await called(editor, await prepared(editor, uri, "model (x)"))}
    assert set(below) == {"linear", "twice"}
    assert below["linear"].uri == Path(prelude.__file__).with_name("layers.sx").as_uri()
    assert "model" in [each.from_.name for each in await callers(editor, below["linear"]) if each.from_.uri == uri]


async def test_an_item_of_a_closed_document_has_no_answer(editor: Editor) -> None:
    uri = editor.open("(defun f (x) x)\n")
    item = await prepared(editor, uri, "f (x)")
    editor.close(uri)
    assert await callers(editor, item) == []
    assert await called(editor, item) == []
