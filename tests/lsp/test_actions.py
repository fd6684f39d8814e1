"""Code actions: the fixes of diagnostics, as edits of the version that they were made for."""

from __future__ import annotations

from typing import Any

import pytest
from lsprotocol import types

from support.editor import SHOWS, Editor, codes, connected

VERSIONED = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)),
    text_document=SHOWS.text_document,
)


async def actions(editor: Editor, uri: str, piece: str, only: list[str] | None = None) -> list[types.CodeAction]:
    at = editor.position(uri, piece)
    kinds: list[Any] | None = None if only is None else list(only)
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), types.Range(at, at), types.CodeActionContext([], only=kinds))
    found = await editor.client.text_document_code_action_async(params)
    assert found is not None
    made = [each for each in found if isinstance(each, types.CodeAction)]
    assert len(made) == len(found)
    return made


def apply(editor: Editor, uri: str, action: types.CodeAction) -> None:
    """Do to a document what an action says."""
    assert action.edit is not None
    if action.edit.document_changes:
        (change,) = action.edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.uri == uri
        assert change.text_document.version == editor.versions[uri]
        edits = [edit for edit in change.edits if isinstance(edit, types.TextEdit)]
    else:
        assert action.edit.changes is not None
        edits = list(action.edit.changes[uri])
    edits.sort(key=lambda edit: (edit.range.start.line, edit.range.start.character), reverse=True)
    editor.change(uri, [types.TextDocumentContentChangePartial(range=edit.range, text=edit.new_text) for edit in edits])


async def test_a_fix_mends_what_it_is_for(editor: Editor) -> None:
    uri = editor.open("(def a (+ (iota [2]) (zeros [2])))\n")
    assert await editor.codes(uri) == ["E-DTYPE-001"]
    (fix,) = await actions(editor, uri, "(+")
    assert fix.kind == types.CodeActionKind.QuickFix
    assert fix.is_preferred
    assert fix.diagnostics is not None
    assert codes(fix.diagnostics) == ["E-DTYPE-001"]
    apply(editor, uri, fix)
    assert await editor.codes(uri) == []


async def test_edits_are_bound_to_a_version_where_the_client_can() -> None:
    async with connected(VERSIONED) as editor:
        uri = editor.open("(def a 1)\n(def widht 1)\n")
        editor.write(uri, "(def a 1)", "(def a (+ width 1))")
        assert await editor.codes(uri) == ["E-NAME-001"]
        (fix,) = await actions(editor, uri, "width")
        assert not fix.is_preferred  # whether that name was meant is for people to say
        apply(editor, uri, fix)
        assert await editor.codes(uri) == []


async def test_several_fixes_are_offered_beside_each_other(editor: Editor) -> None:
    uri = editor.open("(def width-a 1)\n(def width-b 2)\n(def a width-c)\n")
    found = await actions(editor, uri, "width-c")
    assert {"write width-a", "write width-b"} <= {fix.title for fix in found}
    assert not any(fix.is_preferred for fix in found)


async def test_only_what_stands_at_the_place_is_offered(editor: Editor) -> None:
    uri = editor.open("(def width 1)\n(def a widht)\n")
    assert await actions(editor, uri, "width 1") == []


@pytest.mark.parametrize(
    ("only", "kinds"),
    [
        (["quickfix"], {"quickfix"}),
        (["source.fixAll"], {"source.fixAll.sexpgpu"}),
        (["source.fixAll.sexpgpu"], {"source.fixAll.sexpgpu"}),
        (["source"], {"source.fixAll.sexpgpu"}),
        (["source.fixAll.others"], set()),
        (["refactor"], set()),
        ([""], {"quickfix", "source.fixAll.sexpgpu"}),
    ],
)
async def test_kinds_that_were_asked_for(editor: Editor, only: list[str], kinds: set[str]) -> None:
    uri = editor.open("(def a (+ (iota [2]) (zeros [2])))\n")
    found = await actions(editor, uri, "(+", only)
    assert {str(getattr(fix.kind, "value", fix.kind)) for fix in found} == kinds


async def test_all_safe_fixes_at_once_do_not_get_into_each_others_way(editor: Editor) -> None:
    uri = editor.open("(def a (+ (iota [2]) (zeros [2])))\n(def b (sqrt (+ (iota [2]) 1)))\n(def c (* (zeros [3]) (iota [3])))\n")
    assert await editor.codes(uri) == ["E-DTYPE-001", "E-DTYPE-003", "E-DTYPE-001"]
    (fix,) = await actions(editor, uri, "(def", ["source.fixAll"])
    apply(editor, uri, fix)
    assert await editor.codes(uri) == []
