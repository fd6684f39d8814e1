"""The action that gives a definition a name of its own: in every file that has it, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sexpgpu_lsp.uris import path_of
from support.editor import SHOWS, Editor, connected, uri_for
from support.renamed import texts_after

FETCHING = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        code_action=types.CodeActionClientCapabilities(
            code_action_literal_support=types.ClientCodeActionLiteralOptions(types.ClientCodeActionKindOptions(["quickfix"])),
            resolve_support=types.ClientCodeActionResolveOptions(["edit"]),
            data_support=True,
        )
    )
)
PLAIN = types.ClientCapabilities(text_document=SHOWS.text_document)
LIBRARY = "(def count 3)\n"
MAIN = '(load "lib.sx")\n(def b (+ count 1))\n'
TITLE = "rename to own-count"


async def offered(editor: Editor, uri: str) -> list[types.CodeAction]:
    at = editor.position(uri, "count")
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), types.Range(at, at), types.CodeActionContext([]))
    found = await editor.client.text_document_code_action_async(params)
    return [each for each in found or () if isinstance(each, types.CodeAction) and each.title == TITLE]


async def renamed(editor: Editor, uri: str) -> dict[Path, str]:
    """The files as the action leaves them."""
    (action,) = await offered(editor, uri)
    assert not action.is_preferred
    if action.edit is None:
        action = await editor.client.code_action_resolve_async(action)
    assert action.edit is not None
    return {Path(path_of(uri) or ""): text for uri, text in texts_after(editor, action.edit).items()}


@pytest.mark.parametrize("client", [FETCHING, PLAIN], ids=["fetching", "plain"])
@pytest.mark.parametrize("opened", [True, False])
async def test_files_that_load_the_definition_change_with_it(
    tmp_path: Path, client: types.ClientCapabilities, opened: bool
) -> None:
    library, main = tmp_path / "lib.sx", tmp_path / "main.sx"
    library.write_text(LIBRARY)
    main.write_text(MAIN)
    async with connected(client) as editor:
        uri = editor.open(LIBRARY, uri_for(library))
        if opened:
            editor.open(MAIN, uri_for(main))
        assert await renamed(editor, uri) == {
            library: LIBRARY.replace("count", "own-count"),
            main: MAIN.replace("count", "own-count"),
        }


@pytest.mark.parametrize("client", [FETCHING, PLAIN], ids=["fetching", "plain"])
async def test_where_another_file_has_that_name_it_is_not_given(tmp_path: Path, client: types.ClientCapabilities) -> None:
    library, main = tmp_path / "lib.sx", tmp_path / "main.sx"
    library.write_text(LIBRARY)
    main.write_text(MAIN + "(def own-count 4)\n")
    async with connected(client) as editor:
        uri = editor.open(LIBRARY, uri_for(library))
        if client is PLAIN:
            assert await offered(editor, uri) == []
        else:
            (action,) = await offered(editor, uri)
            with pytest.raises(JsonRpcException, match=r"own-count.*already"):
                await editor.client.code_action_resolve_async(action)


async def test_it_is_not_among_all_safe_fixes(editor: Editor) -> None:
    uri = editor.open(LIBRARY)
    at = editor.position(uri, "count")
    context = types.CodeActionContext([], only=[types.CodeActionKind.SourceFixAll])
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), types.Range(at, at), context)
    assert not await editor.client.text_document_code_action_async(params)
