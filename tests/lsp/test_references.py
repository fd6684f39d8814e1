"""References, highlights and renames over the protocol."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sexpgpu import prelude
from support.editor import Editor, connected, uri_for

TEXT = """\
; 💡 width
(def width 4)
(defun twice (x &key (by 2)) (let ((y (* by x))) (+ y width)))
(def other (print "💡" (twice width :by 3)))
(defun prepare (batch ctx) (counter :words 1) (list :a (getf ctx :stage-words)))
"""
VERSIONED = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True))
)


async def referred(editor: Editor, uri: str, piece: str, inside: int = 0, *, declared: bool = True) -> list[types.Location]:
    where = editor.position(uri, piece, inside)
    params = types.ReferenceParams(types.ReferenceContext(declared), types.TextDocumentIdentifier(uri), where)
    return list(await editor.client.text_document_references_async(params) or ())


async def renamed(editor: Editor, uri: str, piece: str, inside: int, new: str) -> types.WorkspaceEdit:
    where = editor.position(uri, piece, inside)
    found = await editor.client.text_document_rename_async(types.RenameParams(types.TextDocumentIdentifier(uri), where, new))
    assert found is not None
    return found


async def prepared(editor: Editor, uri: str, piece: str, inside: int = 0) -> types.PrepareRenameResult | None:
    where = editor.position(uri, piece, inside)
    return await editor.client.text_document_prepare_rename_async(
        types.PrepareRenameParams(types.TextDocumentIdentifier(uri), where)
    )


def applied(editor: Editor, uri: str, edits: list[types.TextEdit]) -> str:
    """The text after edits, which must not touch each other."""
    text = editor.sources[uri].text
    places = sorted(((each.range.start.line, each.range.start.character), each) for each in edits)
    assert len({place for place, _ in places}) == len(places)
    for _, edit in reversed(places):
        source = editor.sources[uri]
        start = source.line_starts[edit.range.start.line]
        line = source.line(edit.range.start.line)
        units = [len(line.encode("utf-16-le")[: 2 * at.character].decode("utf-16-le")) for at in (edit.range.start, edit.range.end)]
        text = text[: start + units[0]] + edit.new_text + text[start + units[1] :]
    return text


async def test_references_with_and_without_the_definition(editor: Editor) -> None:
    uri = editor.open(TEXT)
    found = await referred(editor, uri, "y width", 2)
    assert [(each.range.start.line, editor.piece(uri, each.range)) for each in found] == [(1, "width"), (2, "width"), (3, "width")]
    assert len(await referred(editor, uri, "y width", 2, declared=False)) == 2
    assert [each.range.start.line for each in await referred(editor, uri, ":words", 2)] == [4, 4]
    assert await referred(editor, uri, "defun", 2) == []


async def test_highlights_tell_what_writes(editor: Editor) -> None:
    uri = editor.open(TEXT)
    where = editor.position(uri, ":by 3", 1)
    params = types.DocumentHighlightParams(types.TextDocumentIdentifier(uri), where)
    found = await editor.client.text_document_document_highlight_async(params)
    assert found
    read, write = types.DocumentHighlightKind.Read, types.DocumentHighlightKind.Write
    assert [(editor.piece(uri, each.range), each.kind) for each in found] == [("by", write), ("by", read), (":by", read)]


async def test_a_rename_touches_neither_strings_nor_comments(editor: Editor) -> None:
    uri = editor.open(TEXT)
    place = await prepared(editor, uri, "twice width", 7)
    assert isinstance(place, types.PrepareRenamePlaceholder)
    assert (editor.piece(uri, place.range), place.placeholder) == ("width", "width")
    found = await renamed(editor, uri, "twice width", 7, "größe")
    assert found.document_changes is None
    assert found.changes is not None
    text = applied(editor, uri, list(found.changes[uri]))
    assert text == TEXT.replace("def width", "def größe").replace("y width", "y größe").replace("twice width", "twice größe")


async def test_a_rename_and_one_more_behind_it(editor: Editor) -> None:
    uri = editor.open(TEXT)
    for old, new in (("twice", "a"), ("a", "a-much-longer-name"), ("a-much-longer-name", "twice")):
        found = await renamed(editor, uri, f"({old} width", 1, new)
        assert found.changes is not None
        editor.rewrite(uri, applied(editor, uri, list(found.changes[uri])))
    assert editor.sources[uri].text == TEXT


@pytest.mark.parametrize(
    ("piece", "inside", "new", "reason"),
    [
        ("(counter", 1, "count", "host function of the language"),
        ("width 4", 0, "twice", "already defined"),
        ("width 4", 0, "y", "bound in line 3"),
        ("width 4", 0, "1", "no name"),
        ("prepare", 0, "p", "runtime"),
        ("(let", 1, "p", "nothing stands here"),
    ],
)
async def test_what_is_refused_says_why(editor: Editor, piece: str, inside: int, new: str, reason: str) -> None:
    uri = editor.open(TEXT)
    with pytest.raises(JsonRpcException, match=reason):
        await renamed(editor, uri, piece, inside, new)


async def test_what_has_no_other_name_is_told_before_one_is_asked_for(editor: Editor) -> None:
    uri = editor.open(TEXT)
    assert await prepared(editor, uri, "(let", 1) is None
    assert await prepared(editor, uri, "4)") is None
    with pytest.raises(JsonRpcException, match="runtime"):
        await prepared(editor, uri, "prepare")


async def test_the_files_of_a_load_are_renamed_together(tmp_path: Path) -> None:
    """From the file that is loaded, open or not, to those that load it."""
    part, first, second = (tmp_path / name for name in ("part.sx", "a.sx", "b.sx"))
    part.write_text("(def far 1)\n(defun f (x) (+ x far))\n", "utf-8")
    async with connected(VERSIONED, tmp_path) as editor:
        a = editor.open('(load "part.sx")\n(def near far)\n', uri_for(first))
        b = editor.open('(load "part.sx")\n(def here (f far))\n', uri_for(second))
        editor.write(b, "here", "there")
        found = await renamed(editor, a, "near far", 5, "away")
        assert found.changes is None
        assert found.document_changes is not None
        changes = {}
        for each in found.document_changes:
            assert isinstance(each, types.TextDocumentEdit)
            changes[each.text_document.uri] = (each.text_document.version, len(each.edits))
        assert changes == {a: (1, 1), b: (2, 1), uri_for(part): (None, 2)}
        opened = editor.open(part.read_text("utf-8"), uri_for(part))
        found_in = [each.uri for each in await referred(editor, opened, "far 1")]
        assert sorted(found_in) == sorted([a, b, opened, opened])
        with pytest.raises(JsonRpcException, match="already defined"):
            await renamed(editor, opened, "far 1", 0, "near")
        assert {each.uri for each in await referred(editor, opened, "f (x)")} == {opened, b}


async def test_keys_of_a_library_are_known_where_it_is_loaded(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "part.sx").write_text("", "utf-8")
    part = editor.open("(defun width-of (options) (getf options :width))\n", uri_for(tmp_path / "part.sx"))
    run = editor.open('(load "part.sx")\n(def w (width-of (list :width 3 :depth 2)))\n', uri_for(tmp_path / "run.sx"))
    assert {each.uri for each in await referred(editor, part, ":width", 2)} == {part, run}
    assert {each.uri for each in await referred(editor, run, ":width", 2)} == {part, run}


async def test_the_prelude_is_only_read(editor: Editor) -> None:
    uri = editor.open("(defmodel model (x) (linear :out x 2))\n")
    other = editor.open("(defmodel model (x) (linear :out x 3))\n")
    assert {uri, other} <= {each.uri for each in await referred(editor, uri, "linear")}
    with pytest.raises(JsonRpcException, match="comes with the language"):
        await renamed(editor, uri, "linear", 0, "dense")
    path = Path(prelude.__file__).with_name("layers.sx")
    text = path.read_text("utf-8")
    layers = editor.open(text, path.as_uri())
    with pytest.raises(JsonRpcException, match="only to be read"):
        await renamed(editor, layers, "linear", 0, "dense")
    name = types.TextDocumentIdentifier(layers)
    asked = types.FormattingOptions(tab_size=2, insert_spaces=True)
    assert not await editor.client.text_document_formatting_async(types.DocumentFormattingParams(name, asked))
    whole = types.Range(types.Position(0, 0), types.Position(text.count("\n"), 0))
    actions = types.CodeActionParams(name, whole, types.CodeActionContext(diagnostics=[]))
    assert not await editor.client.text_document_code_action_async(actions)
