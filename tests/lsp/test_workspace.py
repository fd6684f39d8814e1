"""Searching the workspace over the protocol."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from support.editor import Editor, connected, uri_for


async def found(editor: Editor, query: str) -> list[tuple[str, str, int]]:
    answer = await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams(query=query))
    assert answer is not None
    places: list[tuple[str, str, int]] = []
    for each in answer:
        assert isinstance(each.location, types.Location)
        places.append((each.name, each.location.uri, each.location.range.start.line))
    return places


async def test_files_and_open_documents_are_searched(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    far, near, left_out = tmp_path / "a" / "far.sx", tmp_path / "near.sx", tmp_path / "out.sx"
    far.write_text("\n(defun far-away (x) x)\n", "utf-8")
    near.write_text("(def near-by 1)\n", "utf-8")
    left_out.write_text("(def far-out 1)\n", "utf-8")
    (tmp_path / ".gitignore").write_text("out.sx\n", "utf-8")
    (tmp_path / "bytes.sx").write_bytes(b"\xff(def other 1)")
    async with connected(types.ClientCapabilities(), tmp_path) as editor:
        assert await found(editor, "far") == [("far-away", uri_for(far), 1)]
        assert await found(editor, "nb") == [("near-by", uri_for(near), 0)]
        assert {name for name, _, _ in await found(editor, "")} == {"far-away", "near-by", "other"}
        uri = editor.open("; 💡\n(def 💡 1) (def near-end 1)\n", uri_for(near))  # what is open counts, not what is saved
        assert await found(editor, "near") == [("near-end", uri, 1)]
        editor.write(uri, "near-end", "near-hand")
        assert [name for name, _, _ in await found(editor, "near")] == ["near-hand"]
        editor.close(uri)
        assert [name for name, _, _ in await found(editor, "near")] == ["near-by"]
        far.write_text("(defun far-off (x) x)\n", "utf-8")
        assert [name for name, _, _ in await found(editor, "far")] == ["far-off"]
        far.unlink()
        assert await found(editor, "far") == []


async def test_a_client_without_a_folder_searches_what_is_open(editor: Editor) -> None:
    uri = editor.open("(def quite-rare-a-name 1)\n")
    assert await found(editor, "quite-rare") == [("quite-rare-a-name", uri, 0)]
