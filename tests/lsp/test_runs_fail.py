"""Runs that fail, each in its way: the editor goes on, and whoever sits before it reads why, once."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from sexpgpu_lsp.runs_child import End
from sexpgpu_lsp.runs_why import why
from support.editor import PATIENCE, Wire, codes, uri_for
from support.runs import PROGRESS, RunEditor, children, is_run, run_environment, runner, server_for
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
        ("SIGKILL", "it was killed (SIGKILL)"),
        ("SIGSEGV", "the backend crashed (SIGSEGV): that is a fault in a native library"),
        ("SIGSEGV", "the last words of some library"),
        ("SIGBUS", "the disk or shared memory is full"),
        ("SIGABRT", "the backend gave up (SIGABRT)"),
        ("SIGHUP", "ended with its terminal"),
        ("aborts", "the backend ran out of memory (SIGABRT)"),
        ("aborts", "std::bad_alloc"),
        ("dies", "(SIGSEGV)"),
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
        assert len(message.message) < 900
        assert "Thread 0x" not in message.message
        assert "/where/it/is" not in message.message
        assert "Traceback" not in message.message


@pytest.mark.parametrize(
    ("kills", "says"),
    [
        (None, "most likely the machine ran out of memory, and the system ended its largest process; use less"),
        (1, "the machine ran out of memory, and the system ended its largest process; use less"),
        (0, "by somebody, or by a limit of memory or time, "),
        (0, "the system itself ended no process for want of memory; if it was memory, use less"),
    ],
)
@pytest.mark.parametrize("status", [-signal.SIGKILL, 128 + signal.SIGKILL])
def test_memory_is_blamed_for_a_kill_as_far_as_the_system_tells(kills: int | None, says: str, status: int) -> None:
    message = why(End(status, []), None, "use less", kills)
    assert message.startswith("it was killed (SIGKILL): ")
    assert says in message
    assert ("most likely" in message) == (kills is None)


async def test_one_that_was_killed_is_told_what_its_plan_asks_for(tmp_path: Path) -> None:
    big = tiny(model="(defmodel model (x) (sum (matmul x (param :w [3 40000000] :init (init-zeros))) :axes [1]))")
    async with runner("SIGKILL") as editor:
        message = (await failed(editor, tmp_path / "big.sx", big))["message"]
        assert "the plan asks for 1.6 GiB in `training`, as `sexpgpu explain` shows; a smaller :batch takes less" in message
        message = (await failed(editor, tmp_path / "small.sx"))["message"]
        assert "the plan asks for 0.1 KiB in `training`, which is little" in message
        assert "smaller :batch" not in message


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
    async with runner("hangs", SILENCE=0.6) as editor:
        uri = editor.open(TEXT, uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri)
        await editor.popped_up()
        await asyncio.sleep(0.8)
        assert (await editor.facts(begun["run"]))["state"] == "starting"
        (message,) = editor.shown
        assert re.match(r"run small has said nothing for \d s: it may still be loading JAX", message)
        await editor.command("stop", run=begun["run"])
        assert (await editor.over(begun["run"]))["state"] == "stopped"
        assert len(editor.shown) == 1


async def test_a_run_that_hangs_in_a_step_is_told_of_once_and_can_be_stopped(tmp_path: Path) -> None:
    async with runner("stalls", SILENCE=0.6) as editor:
        uri = editor.open(TEXT, uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri)
        await editor.popped_up()
        await asyncio.sleep(1.0)
        (message,) = editor.shown
        assert "its last word was of step 1, and it may hang; it can be stopped" in message
        assert (await editor.hover(uri, "defmodel")) is not None
        assert any("silent for" in (getattr(each, "message", None) or "") for each in editor.progress(begun["run"]))
        await editor.command("stop", run=begun["run"])
        assert (await editor.over(begun["run"]))["state"] == "stopped"
        assert len(editor.shown) == 1


async def test_standard_error_without_end_is_cut(tmp_path: Path) -> None:
    async with runner("screams") as editor:
        facts = await failed(editor, tmp_path / "a.sx")
        (kept,) = [event["size"] for event in editor.events(facts["run"]) if event["kind"] == "kept"]
        assert kept <= 2**24
        assert facts["message"].endswith("the last word")


def test_a_flood_of_events_arrives_whole_and_nobody_waits(tmp_path: Path) -> None:
    with Wire(server_for("floods"), env=run_environment()) as wire:
        ask = flood(wire, tmp_path)
        begun = time.monotonic()
        wire.body(json.dumps({"jsonrpc": "2.0", "id": "hover", "method": "textDocument/hover", "params": ask}).encode())
        steps: list[int] = []
        waited = -1.0
        while not steps or steps[-1] < 30_000 or waited < 0:
            message = wire.read()
            if message.get("id") == "hover":
                waited = time.monotonic() - begun
                assert message["result"] is not None
            steps += [event["step"] for event in [message.get("params", {}).get("event", {})] if event.get("kind") == "metric"]
        assert steps == list(range(1, 30_001))
        assert waited < 1.0


def test_a_client_that_does_not_read_is_spared_most_of_a_flood(tmp_path: Path) -> None:
    with Wire(server_for("pours"), env=run_environment()) as wire:
        ask = flood(wire, tmp_path)
        deadline = time.monotonic() + PATIENCE
        while (runs := [each for each in children(wire.process.pid) if is_run(each)]) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert runs == []
        told: list[str] = []
        while (message := wire.read()).get("params", {}).get("event", {}).get("state") != "finished":
            told += [message["method"]] * (message.get("params", {}).get("event", {}).get("kind") == "metric")
        assert 1_000 < len(told) < 25_000
        assert wire.ask("textDocument/hover", ask)["result"] is not None


def flood(wire: Wire, folder: Path) -> dict[str, Any]:
    """Begin the run of a file, and wait until it has. What to ask for a hover in it."""
    wire.initialize()
    uri = uri_for(folder / "a.sx")
    wire.open(uri, TEXT)
    wire.ask("workspace/executeCommand", {"command": "sexpgpu.run", "arguments": [{"uri": uri}]}, "run")
    while wire.read().get("params", {}).get("event", {}).get("kind") != "run":
        pass
    return {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 2}}


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
async def test_an_error_is_a_diagnostic_at_its_place_until_that_is_edited(tmp_path: Path, encoding: str) -> None:
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
        editor.replace(uri, 0, 0, "; 🎉\n\n")
        editor.write(uri, ":steps 3", ":steps 4")
        (found,) = await editor.published(uri)
        assert found.code == "E-RUN-001"
        assert editor.piece(uri, found.range) == "model"
        editor.write(uri, "(model (getf", "(mo-del (getf")
        assert await editor.codes(uri) == ["E-NAME-001"]
        editor.write(uri, "(mo-del (getf", "(model (getf")
        assert await editor.codes(uri) == ["E-RUN-001"]


async def test_several_errors_and_what_to_do_about_them(tmp_path: Path) -> None:
    async with runner("twice") as editor:
        facts = await failed(editor, tmp_path / "a.sx")
        (uri,) = editor.sources
        found = await editor.published(uri, lambda params: len(params.diagnostics) > 1)
        assert [each.message for each in found] == ["error 0\nhelp: write less", "error 1\nhelp: write less"]
        assert [each.range.start.line for each in found] == [0, 1]
        assert facts["message"] == "error 1\nhelp: write less"


async def test_what_the_backend_cannot_do_yet_is_shown_where_it_is_asked_for(tmp_path: Path) -> None:
    async with runner("real") as editor:
        await failed(editor, tmp_path / "a.sx", tiny(run="(defrun :steps 4 :checkpoint-every 2 :precision :bf16)"))
        (uri,) = editor.sources
        found = await editor.published(uri, lambda params: len(params.diagnostics) > 1)
        assert [each.message.partition("\n")[0] for each in found] == [
            "writing checkpoints is not built yet",
            "the precision :bf16 is not built yet",
        ]
        assert [editor.piece(uri, each.range) for each in found] == ["2", ":bf16"]


async def test_a_data_file_that_a_run_has_missed_is_told_once(tmp_path: Path) -> None:
    loader = '(defloader train :batch 2 :fields (list :x (spec [3] :f32) :y (spec [] :f32)) :source (npz "none.npz"))'
    async with runner("real") as editor:
        uri = editor.open(tiny(loader=loader), uri_for(tmp_path / "a.sx"))
        assert await editor.codes(uri) == ["W-DATA-001"]
        begun = await editor.command("run", uri=uri, device="cpu")
        assert "none.npz does not exist [E-DATA-001]" in (await editor.over(begun["run"]))["message"]
        await editor.published(uri, lambda params: codes(params.diagnostics) == ["E-DATA-001"])
        editor.write(uri, ":batch 2", ":batch 4")
        assert await editor.codes(uri) == ["E-DATA-001"]
        editor.write(uri, "none.npz", "other.npz")
        assert await editor.codes(uri) == ["W-DATA-001"]


async def test_a_real_run_that_is_killed(tmp_path: Path) -> None:
    text = tiny(run="(defrun small :steps 100000000 :report-every 1000)")
    async with runner("real", PROGRESS) as editor:
        uri = editor.open(text, uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri, device="cpu")
        await editor.heard(begun["run"], lambda event: event["kind"] == "progress")
        os.kill(editor.runs_process(), signal.SIGKILL)
        facts = await editor.over(begun["run"])
        assert facts["state"] == "failed"
        assert facts["message"].startswith("it was killed (SIGKILL): ")
        assert "memory" in facts["message"]
        assert editor.states(begun["run"]) == ["started", "compiled", "failed"]
        assert (await editor.hover(uri, "defmodel")) is not None
        assert "train/loss" in (await editor.command("plot", run=begun["run"]))["html"]


async def test_a_real_run_that_gets_no_memory(tmp_path: Path) -> None:
    """A parameter of 45 GiB, which NumPy refuses."""
    model = "(defmodel model (x) (sum (matmul x (param :w [3 4000000000] :init (init-ones))) :axes [1]))"
    async with runner("real", limit=4096) as editor:
        facts = await failed(editor, tmp_path / "a.sx", tiny(model=model, run="(defrun small :steps 4)"))
        assert facts["message"].startswith("the device is out of memory; the plan asks for ")
        assert "`training`; the device has 4.0 GiB" in facts["message"]
        assert "[E-RUN-002]\nhelp: a smaller :batch takes less" in facts["message"]
        assert editor.shown == [f"run small failed: {facts['message']}"]
        (uri,) = editor.sources
        found = await editor.published(uri, lambda params: bool(codes(params.diagnostics)))
        assert codes(found) == ["E-RUN-002"]
        assert editor.piece(uri, found[0].range) == "(defrun small :steps 4)"


async def test_a_real_run_whose_libraries_get_no_memory(tmp_path: Path) -> None:
    """Less than JAX needs to begin: which of its libraries ends it then, and how, is a matter of chance."""
    async with runner("real", limit=600) as editor:
        facts = await failed(editor, tmp_path / "a.sx", tiny(run="(defrun small :steps 4)"))
        assert re.match(r"the (backend|device) (ran|is) out of memory|the backend (crashed|gave up) \(SIG", facts["message"])
        assert len(facts["message"]) < 900


async def test_a_real_run_that_finds_no_room_on_the_disk(tmp_path: Path) -> None:
    async with runner("real", files=2000) as editor:
        facts = await failed(editor, tmp_path / "a.sx", tiny(run="(defrun small :steps 4000 :report-every 1)"))
        assert facts["message"] == f"nothing can be written into {facts['folder']}: file too large"


async def test_the_next_run_takes_the_error_away(tmp_path: Path) -> None:
    async with runner("faults") as editor:
        await failed(editor, tmp_path / "a.sx")
        (uri,) = editor.sources
        assert codes(await editor.published(uri, lambda params: len(params.diagnostics) > 0)) == ["E-RUN-001"]
        seen = len(editor.client.published)
        begun = await editor.command("run", uri=uri)
        await editor.over(begun["run"])
        assert [codes(each.diagnostics) for each in editor.client.published[seen:]] == [[], ["E-RUN-001"]]


async def test_an_error_in_a_text_that_was_edited_meanwhile_is_shown_where_its_place_is_now(tmp_path: Path) -> None:
    async with runner("faults") as editor:
        uri = editor.open(TEXT, uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri)
        editor.replace(uri, 0, 0, "; another line\n")
        facts = await editor.over(begun["run"])
        assert "not finite" in facts["message"]
        (found,) = await editor.published(uri, lambda params: codes(params.diagnostics) == ["E-RUN-001"])
        assert editor.piece(uri, found.range) == "model"
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
