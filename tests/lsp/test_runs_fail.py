"""Runs that fail, each in its way: the editor goes on, and whoever sits before it reads why, once."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from support.editor import codes, uri_for
from support.runs import PROGRESS, RunEditor, runner
from support.tiny import tiny

PULLS = types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities())
TEXT = tiny(run="(defrun small :steps 4)")
BEFORE = """(defun objective (inputs ctx)
  (let ((name "😀")) (metric name (mean (square (- (model (getf inputs :x)) (getf inputs :y)))))))"""


async def failed(editor: RunEditor, path: Path, text: str = TEXT) -> dict[str, Any]:
    """Run a file that will fail; what is known of it then, which the server still answers."""
    uri = editor.open(text, uri_for(path))
    begun = await editor.command("run", uri=uri)
    facts = await editor.over(begun["run"])
    assert facts["state"] == "failed"
    assert editor.states(begun["run"])[-1] == "failed"
    assert (await editor.hover(uri, "defmodel")) is not None
    return facts


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("killed", "ran out of memory"),
        ("crashes", "SIGSEGV"),
        ("crashes", "Fatal: some library"),
        ("raises", "ValueError: the reason"),
        ("refuses", "the package jax is not installed; write: pip install"),
        ("silent", "without a word (exit status 3)"),
        ("chatters", "warning 39999"),
    ],
)
async def test_why_a_run_failed_is_said_once(tmp_path: Path, how: str, says: str) -> None:
    async with runner(how) as editor:
        facts = await failed(editor, tmp_path / "a.sx")
        (message,) = editor.client.messages
        assert says in message.message
        assert message.message == f"run small failed: {facts['message']}"
        assert message.type == types.MessageType.Error
        assert len(message.message) < 700
        assert "Traceback" not in message.message


async def test_a_run_that_left_nothing_leaves_no_folder(tmp_path: Path) -> None:
    async with runner("refuses") as editor:
        await failed(editor, tmp_path / "a.sx")
        assert list(tmp_path.iterdir()) == []


async def test_the_last_of_standard_error_is_in_the_log(tmp_path: Path) -> None:
    async with runner("chatters") as editor:
        await failed(editor, tmp_path / "a.sx")
        (log,) = editor.client.log_messages
        assert log.message.endswith("warning 39999")
        assert len(log.message) < 10_000


async def test_a_backend_that_cannot_be_started(tmp_path: Path) -> None:
    async with runner("good", command="/no/such/python") as editor:
        uri = editor.open(TEXT, uri_for(tmp_path / "a.sx"))
        error = await editor.refused("run", uri=uri)
        assert "the run cannot begin" in error.message
        assert "no such file" in error.message
        assert list(tmp_path.iterdir()) == []


async def test_a_run_that_hangs_at_its_start_is_told_of_once_and_can_be_stopped(tmp_path: Path) -> None:
    async with runner("hangs", START=0.3) as editor:
        uri = editor.open(TEXT, uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri)
        await asyncio.sleep(1.0)
        assert (await editor.facts(begun["run"]))["state"] == "starting"
        (message,) = editor.shown
        assert "has said nothing for 0.3 seconds" in message
        await editor.command("stop", run=begun["run"])
        assert (await editor.over(begun["run"]))["state"] == "stopped"
        assert len(editor.shown) == 1


async def test_what_else_comes_on_standard_output_does_not_reach_the_editor(tmp_path: Path) -> None:
    async with runner("noisy") as editor:
        uri = editor.open(TEXT, uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri)
        assert (await editor.over(begun["run"]))["state"] == "finished"
        assert [event["kind"] for event in editor.events(begun["run"])] == ["run", "run", "odd", "run"]
        assert editor.events(begun["run"])[2]["value"] is None
        assert editor.shown == []


async def test_something_that_a_run_left_behind_does_not_keep_it(tmp_path: Path) -> None:
    async with runner("leaves") as editor:
        uri = editor.open(TEXT, uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri)
        since = time.monotonic()
        assert (await editor.over(begun["run"]))["state"] == "finished"
        assert time.monotonic() - since < 10


# Where it failed


@pytest.mark.claim("D2")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_an_error_is_a_diagnostic_at_its_place_until_the_next_edit(tmp_path: Path, encoding: str) -> None:
    general = types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind(encoding)])
    async with runner("faults", types.ClientCapabilities(general=general)) as editor:
        await failed(editor, tmp_path / "a.sx", tiny(objective=BEFORE))
        (uri,) = editor.sources
        found = await editor.published(uri, lambda params: len(params.diagnostics) > 0)
        assert codes(found) == ["E-RUN-001"]
        assert editor.piece(uri, found[0].range) == "model"
        assert found[0].message == "the loss is not finite"
        assert found[0].code_description is not None
        assert editor.shown == ["run a failed: the loss is not finite [E-RUN-001]"]
        editor.write(uri, ":steps 3", ":steps 4")
        assert await editor.codes(uri) == []


async def test_the_next_run_takes_the_error_away(tmp_path: Path) -> None:
    async with runner("faults") as editor:
        await failed(editor, tmp_path / "a.sx")
        (uri,) = editor.sources
        assert codes(await editor.published(uri, lambda params: len(params.diagnostics) > 0)) == ["E-RUN-001"]
        seen = len(editor.client.published)
        begun = await editor.command("run", uri=uri)
        await editor.over(begun["run"])
        assert [codes(each.diagnostics) for each in editor.client.published[seen:]] == [[], ["E-RUN-001"]]


async def test_an_error_in_a_text_that_was_edited_meanwhile_has_no_place(tmp_path: Path) -> None:
    async with runner("faults") as editor:
        uri = editor.open(TEXT, uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri)
        editor.replace(uri, 0, 0, "; another line\n")
        facts = await editor.over(begun["run"])
        assert "not finite" in facts["message"]
        assert await editor.codes(uri) == []
        assert len(editor.shown) == 1


async def test_an_error_is_cleared_with_its_document(tmp_path: Path) -> None:
    async with runner("faults") as editor:
        await failed(editor, tmp_path / "a.sx")
        (uri,) = editor.sources
        await editor.published(uri, lambda params: len(params.diagnostics) > 0)
        editor.close(uri)
        assert await editor.published(uri, lambda params: not params.diagnostics) == []


async def test_an_error_in_a_client_that_pulls(tmp_path: Path) -> None:
    capabilities = types.ClientCapabilities(
        text_document=PULLS,
        workspace=types.WorkspaceClientCapabilities(diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)),
    )
    async with runner("faults", capabilities) as editor:
        uri = editor.open(TEXT, uri_for(tmp_path / "a.sx"))
        await editor.pulled(uri)
        begun = await editor.command("run", uri=uri)
        await editor.over(begun["run"])
        await editor.until(lambda: editor.client.refreshed > 0)
        report = await editor.pulled(uri)
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        assert codes(report.items) == ["E-RUN-001"]


async def test_a_real_loss_that_is_not_finite_is_shown_at_the_operation_that_made_it(tmp_path: Path) -> None:
    objective = """(defun objective (inputs ctx)
  (metric "loss" (mean (+ (square (model (getf inputs :x))) (log (- (getf inputs :y) 100.0))))))"""
    async with runner("real", PROGRESS) as editor:
        await failed(editor, tmp_path / "a.sx", tiny(objective=objective))
        (uri,) = editor.sources
        found = await editor.published(uri, lambda params: len(params.diagnostics) > 0)
        assert codes(found) == ["E-RUN-001"]
        assert editor.piece(uri, found[0].range) == "(log (- (getf inputs :y) 100.0))"
