"""A client is told to ask again for what another file has changed of what it shows, and for nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path

from lsprotocol import types

from support.editor import ASKED_AGAIN, Editor, connected, uri_for

TOKENS, HINTS, LENSES = ASKED_AGAIN
CAN = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        semantic_tokens=types.SemanticTokensWorkspaceClientCapabilities(refresh_support=True),
        inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True),
        code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
    )
)
HINTS_ONLY = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True))
)
PART = "(def width 4)\n(defun scaled (x) (* x 2.0))\n"
RUN = """\
(load "part.sx")
(defloader train :batch 2 :fields (list :x (spec [4] :f32)) :source (synthetic 8 (lambda (i) (list :x (full [4] 1.0 :f32)))))
(defmodel model (x) (linear :out x width))
(defun objective (inputs ctx) (metric "loss" (mean (model (scaled (getf inputs :x))))))
(defoptimizer (sgd :lr 0.1))
(defrun :steps 2 :loader train)
"""


async def shown(editor: Editor, *uris: str) -> list[object]:
    """Ask for everything that an editor shows of documents."""
    answers: list[object] = []
    for uri in uris:
        document = types.TextDocumentIdentifier(uri)
        whole = types.Range(types.Position(0, 0), types.Position(99, 0))
        client = editor.client
        tokens = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document))
        hints = await client.text_document_inlay_hint_async(types.InlayHintParams(document, whole))
        lenses = await client.text_document_code_lens_async(types.CodeLensParams(document))
        answers.append((tokens and list(tokens.data), hints, lenses))
    return answers


async def quiet(editor: Editor, uri: str) -> None:
    """Long enough for what is to come, with what was written analysed."""
    await editor.published(uri)
    await asyncio.sleep(0.5)


async def test_another_file_changes_what_is_shown(tmp_path: Path) -> None:
    async with connected(CAN, tmp_path) as editor:
        asked = editor.client.asked_again
        part = editor.open(PART, uri_for(tmp_path / "part.sx"))
        run = editor.open(RUN, uri_for(tmp_path / "run.sx"))
        before = await shown(editor, part, run)
        await quiet(editor, run)
        asked.clear()
        await shown(editor, part, run)
        editor.write(run, "(def", "; a remark\n(def")  # what is typed in is asked for by the client itself
        await quiet(editor, run)
        assert asked == []
        await shown(editor, part, run)
        editor.write(part, "width 4", "width 8")  # shapes of the run, and its memory
        await editor.until(lambda: HINTS in asked)
        await quiet(editor, part)
        assert asked.count(HINTS) == 1  # a burst of reasons is one
        assert TOKENS not in asked
        after = await shown(editor, part, run)
        assert after != before
        asked.clear()
        for number in range(10, 40):  # typing goes on, and still it is told now and then
            editor.rewrite(part, PART.replace("4", str(number)))
            await asyncio.sleep(0.01)
        await editor.until(lambda: HINTS in asked)
        await quiet(editor, part)
        assert asked.count(HINTS) <= 4
        await shown(editor, part, run)
        asked.clear()
        editor.rewrite(part, PART.replace("(def width 4)", "(def width ; of all\n 39)"))
        await quiet(editor, part)
        assert asked == []  # it looks as it did


async def test_a_library_looks_as_the_run_sees_it_that_is_open(tmp_path: Path) -> None:
    async with connected(CAN, tmp_path) as editor:
        asked = editor.client.asked_again
        part = editor.open(PART, uri_for(tmp_path / "part.sx"))
        alone = await shown(editor, part)
        run = editor.open(RUN, uri_for(tmp_path / "run.sx"))
        await editor.until(lambda: HINTS in asked)
        together = await shown(editor, part, run)
        assert together[0] != alone[0]
        await quiet(editor, run)
        asked.clear()
        await shown(editor, part, run)
        editor.close(run)
        await editor.until(lambda: HINTS in asked)
        assert await shown(editor, part) == alone


async def test_a_file_of_the_disk_changes_what_is_shown(tmp_path: Path) -> None:
    part = tmp_path / "part.sx"
    part.write_text(PART, "utf-8")
    async with connected(HINTS_ONLY, tmp_path) as editor:
        asked = editor.client.asked_again
        run = editor.open(RUN, uri_for(tmp_path / "run.sx"))
        await shown(editor, run)
        part.write_text(PART.replace("4", "8"), "utf-8")
        editor.save(run)
        await editor.until(lambda: HINTS in asked)
        await quiet(editor, run)
        assert set(asked) == {HINTS}  # what it has not said that it can be told is not told
        asked.clear()
        await shown(editor, run)
        settings = {"sexpgpu": {"inlayHints": {"memory": False}, "codeLens": {"enable": False}}}
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
        await editor.until(lambda: HINTS in asked)
        assert asked == [HINTS]


async def test_a_client_that_cannot_be_told_is_not(editor: Editor, tmp_path: Path) -> None:
    part = editor.open(PART, uri_for(tmp_path / "part.sx"))
    run = editor.open(RUN, uri_for(tmp_path / "run.sx"))
    await shown(editor, part, run)
    editor.write(part, "4", "8")
    await quiet(editor, part)
    assert editor.client.asked_again == []
    editor.close(part)
    editor.close(run)
