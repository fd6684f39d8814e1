"""Runs by lens alone: what clients can do that know no commands of this server, have no button on a progress, show no answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types

from support.editor import PATIENCE, uri_for
from support.runs import RunEditor, runner
from support.tiny import tiny

ABLE = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True)),
    window=types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(support=True)),
)


async def lens(editor: RunEditor, uri: str, title: str) -> types.Command | None:
    """The command of the lens whose title begins so."""
    found = await editor.client.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    return next((each.command for each in found or () if each.command and each.command.title.startswith(title)), None)


async def press(editor: RunEditor, uri: str, title: str) -> types.Command:
    """Execute a lens as a client does that has no commands of its own."""
    command = await lens(editor, uri, title)
    assert command is not None
    params = types.ExecuteCommandParams(command=command.command, arguments=command.arguments)
    await editor.client.workspace_execute_command_async(params)
    return command


async def settled(editor: RunEditor, holds: Callable[[], bool]) -> None:
    """Wait for a message that needs no answer; it may come behind the response."""
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.02)


async def test_a_run_is_started_and_stopped_by_its_lenses(tmp_path: Path) -> None:
    async with runner("stubborn", ABLE, GRACE=60.0) as editor:
        asked = editor.client.asked_again
        uri = editor.open(tiny(), uri_for(tmp_path / "a.sx"))
        other = editor.open(tiny(), uri_for(tmp_path / "b.sx"))
        assert await lens(editor, uri, "■") is None
        await press(editor, uri, "▶ Run")
        await editor.until(lambda: len(asked) == 1)
        (run,) = (await editor.command("runs"))["runs"]
        await editor.process(run["run"])
        assert await lens(editor, other, "■") is None
        assert (await press(editor, uri, "■ Stop")).title == "■ Stop"
        await editor.until(lambda: len(asked) == 2)
        assert (await press(editor, uri, "■ Stop")).title == "■ Stop at once"
        assert (await editor.over(run["run"]))["state"] == "stopped"
        await editor.until(lambda: len(asked) == 3)
        assert await lens(editor, uri, "■") is None


async def test_of_several_runs_each_has_a_lens_that_names_it(tmp_path: Path) -> None:
    async with runner("waits") as editor:
        uri = editor.open(tiny(), uri_for(tmp_path / "a.sx"))
        first, second = [(await editor.command("run", uri=uri))["run"] for _ in range(2)]
        for run in (first, second):
            await editor.process(run)
        assert (await press(editor, uri, f"■ Stop: {second}")).arguments == ({"run": second},)
        assert (await editor.over(second))["state"] == "stopped"
        assert (await editor.facts(first))["running"]
        await press(editor, uri, "■ Stop")
        assert (await editor.over(first))["state"] == "stopped"


async def test_an_explanation_is_shown_as_a_document(tmp_path: Path) -> None:
    async with runner("good", ABLE) as editor:
        for name, text in (("first", tiny()), ("second-😀", tiny(run="(defrun other :steps 4)"))):
            uri = editor.open(text, uri_for(tmp_path / f"{name}.sx"))
            await press(editor, uri, "Explain")
            await settled(editor, lambda: bool(editor.client.shown_documents))
            path = Path(unquote(editor.client.shown_documents.pop().uri.removeprefix("file://")))
            assert path.name == f"{name} explained.txt"
            assert path.read_text("utf-8") == (await editor.command("explain", uri=uri))["text"]
            assert path.parent.stat().st_mode & 0o77 == 0
            folder = path.parent
        assert editor.client.shown_documents == []  # who asks for the answer alone has it alone
    assert not folder.exists()  # with the editor, what it showed is gone


async def test_where_no_document_is_shown_it_is_a_message(tmp_path: Path) -> None:
    async with runner("good") as editor:
        uri = editor.open(tiny(), uri_for(tmp_path / "a.sx"))
        await press(editor, uri, "Explain")
        await settled(editor, lambda: bool(editor.shown))
        assert editor.shown == [(await editor.command("explain", uri=uri))["text"]]
