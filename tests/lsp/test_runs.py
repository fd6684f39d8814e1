"""Runs from the editor: what is run, what is told while it goes on, how it is stopped."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from support.editor import uri_for
from support.held import going
from support.runs import alive, children, runner
from support.tiny import tiny

INVALID_PARAMS, REFUSED = -32602, -32803


async def test_a_run_is_answered_at_once_and_told_of_event_by_event(tmp_path: Path) -> None:
    async with runner("good") as editor:
        uri = editor.open(tiny(run="(defrun small :steps 4)"), uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri)
        assert Path(begun["folder"]).parent == tmp_path / "runs"
        assert Path(begun["folder"]).name.startswith("small-20")
        facts = await editor.over(begun["run"])
        assert editor.states(begun["run"]) == ["started", "compiled", "finished"]
        metrics = [event["value"] for event in editor.events(begun["run"]) if event["kind"] == "metric"]
        assert metrics == [1.0, 0.5, 1 / 3, 0.25]
        assert facts["state"] == "finished"
        assert facts["uri"] == uri
        assert (facts["step"], facts["steps"]) == (4, 4)
        assert facts["metrics"] == {"train/loss": {"value": 0.25, "step": 4, "stage": 0}}
        assert editor.shown == []


@pytest.mark.claim("D5")
async def test_the_text_of_the_buffer_trains_not_the_older_save(tmp_path: Path) -> None:
    """The real backend, from the first word to the curves."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "model.sx").write_text("(defmodel model (x) (this is an older save")
    (tmp_path / "a.sx").write_text("(this is an older save")
    text = tiny(model='(load "parts/model.sx")', run="(defrun small :steps 500 :report-every 1)")
    model = tiny().split("\n\n")[1]
    async with runner("real", folder=tmp_path) as editor:
        editor.open(model, uri_for(tmp_path / "parts" / "model.sx"))
        uri = editor.open(text.replace("500", "5"), uri_for(tmp_path / "a.sx"))
        editor.write(uri, ":steps 5", ":steps 6")
        begun = await editor.command("run", uri=uri, device="cpu")
        facts = await editor.over(begun["run"])
        assert facts["state"] == "finished", facts
        assert editor.states(begun["run"]) == ["started", "compiled", "finished"]
        assert facts["step"] == 6
        folder = Path(begun["folder"])
        assert (folder / "final.safetensors").exists()
        assert (folder / "source" / "a.sx").read_text() == editor.sources[uri].text
        assert (folder / "source" / "model.sx").read_text() == model
        html = (await editor.command("plot", run=begun["run"]))["html"]
        assert "train/loss" in html
        assert "<polyline" in html


async def test_what_the_run_is_given(tmp_path: Path) -> None:
    async with runner("told", folder=tmp_path) as editor:
        (tmp_path / "sub").mkdir()
        path = tmp_path / "sub" / "a b ☃.sx"
        uri = editor.open(tiny(), uri_for(path))
        begun = await editor.command("run", uri=uri, steps=7, device="gpu")
        await editor.over(begun["run"])
        (told,) = [event for event in editor.events(begun["run"]) if event["kind"] == "told"]
        assert told["texts"] == [[str(path), tiny()]]
        assert told["folder"] == str(tmp_path)
        assert told["arguments"][:2] == ["run", str(path)]
        assert "--steps 7 --device gpu" in " ".join(told["arguments"])
        assert f"--events - --progress none --out {begun['folder']}" in " ".join(told["arguments"])


async def test_a_module_in_the_folder_of_the_run_is_not_taken_for_one_of_python(tmp_path: Path) -> None:
    (tmp_path / "argparse.py").write_text("raise SystemExit(77)")
    async with runner("real", folder=tmp_path) as editor:
        uri = editor.open(tiny(run="(defrun :steps 1)"), uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri)
        await editor.started(begun["run"])


async def test_a_file_that_is_not_open_and_one_without_a_name(tmp_path: Path) -> None:
    (tmp_path / "a.sx").write_text(tiny())
    async with runner("told", folder=tmp_path) as editor:
        for uri in (uri_for(tmp_path / "a.sx"), editor.open(tiny(), "untitled:Untitled-1")):
            begun = await editor.command("run", uri=uri)
            await editor.over(begun["run"])
            (told,) = [event for event in editor.events(begun["run"]) if event["kind"] == "told"]
            assert [text for _, text in told["texts"]] == [tiny()]
            assert Path(begun["folder"]).parent == tmp_path / "runs"


@pytest.mark.claim("D2")
async def test_a_buffer_with_errors_is_refused_with_them(tmp_path: Path) -> None:
    async with runner("good") as editor:
        objective = "(defun objective (inputs ctx) (metric 1 (mean (getf inputs :y))))"
        uri = editor.open(tiny(objective=objective), uri_for(tmp_path / "a.sx"))
        error = await editor.refused("run", uri=uri)
        assert error.code == REFUSED
        assert "E-CONTRACT-009" in error.message
        assert "line " in error.message
        assert isinstance(error.data, dict)
        (file,) = error.data["files"]
        assert file["uri"] == uri
        assert [each["code"] for each in file["diagnostics"]] == ["E-CONTRACT-009"]
        assert (await editor.command("runs"))["runs"] == []
        assert list(tmp_path.iterdir()) == []
        editor.rewrite(uri, tiny())
        assert (await editor.command("run", uri=uri))["run"]


async def test_what_cannot_be_run_is_said_in_words(tmp_path: Path) -> None:
    async with runner("good") as editor:
        uri = editor.open(tiny(), uri_for(tmp_path / "a.sx"))
        part = editor.open("(def a 1)", uri_for(tmp_path / "b.sx"))
        assert "declares no run" in (await editor.refused("run", uri=part)).message
        assert "no run to explain" in (await editor.refused("explain", uri=part)).message
        assert "resuming is not built" in (await editor.refused("run", uri=uri, resume=True)).message
        assert "no such file" in (await editor.refused("run", uri=uri_for(tmp_path / "none.sx"))).message
        assert "no run x" in (await editor.refused("stop", run="x")).message
        assert "no run x" in (await editor.refused("plot", run="x")).message
        assert "no events" in (await editor.refused("plot", run=str(tmp_path))).message
        for wrong in ({}, {"uri": 1}, {"uri": uri, "steps": 0}, {"uri": uri, "steps": True}, {"uri": uri, "device": "abacus"}):
            error = await editor.refused("run", **wrong)
            assert error.code == INVALID_PARAMS
            assert "must be" in error.message
        (tmp_path / "runs").write_text("a file where the folder should be")
        assert "the run cannot begin" in (await editor.refused("run", uri=uri)).message
        for arguments in (None, [], [1], [{}, {}], [[]], ["file:///a.sx"]):
            params = types.ExecuteCommandParams(command="sexpgpu.run", arguments=arguments)
            with pytest.raises(JsonRpcException, match=r"one object|must be a string") as caught:
                await editor.client.workspace_execute_command_async(params)
            assert caught.value.code == INVALID_PARAMS


async def test_progress_has_the_loss_and_ends(tmp_path: Path) -> None:
    async with runner("waits") as editor:
        uri = editor.open(tiny(run="(defrun small :steps 1)"), uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri)
        await editor.heard(begun["run"], lambda event: event["kind"] == "progress")
        await editor.command("stop", run=begun["run"])
        await editor.over(begun["run"])
        first, *between, last = editor.progress(begun["run"])
        assert isinstance(first, types.WorkDoneProgressBegin)
        assert (first.title, first.cancellable) == ("run small", True)
        assert isinstance(last, types.WorkDoneProgressEnd)
        assert last.message == "stopped"
        told = [each.message for each in (first, *between)]
        assert set(told) & {"starting", "compiling", "training", "step 1/1 · loss 1 · 0 s left"}


async def test_the_button_of_the_progress_stops_the_run(tmp_path: Path) -> None:
    async with runner("waits") as editor:
        uri = editor.open(tiny(), uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri)
        await editor.started(begun["run"])
        editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(f"sexpgpu/{begun['run']}"))
        assert (await editor.over(begun["run"]))["state"] == "stopped"
        assert (Path(begun["folder"]) / "checkpoint").read_text() == "whole"
        assert editor.shown == []


async def test_a_client_without_progress_is_asked_for_none(tmp_path: Path) -> None:
    async with runner("good", types.ClientCapabilities()) as editor:
        uri = editor.open(tiny(), uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri)
        assert (await editor.over(begun["run"]))["state"] == "finished"
        assert editor.client.progress_reports == {}


async def test_stop_is_graceful_and_answered_at_once(tmp_path: Path) -> None:
    async with runner("waits") as editor:
        uri = editor.open(tiny(), uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri)
        await editor.started(begun["run"])
        assert await editor.command("stop", run=begun["run"]) == {"run": begun["run"], "state": "stopping"}
        assert (await editor.over(begun["run"]))["state"] == "stopped"
        assert (Path(begun["folder"]) / "checkpoint").read_text() == "whole"
        assert editor.states(begun["run"])[-1] == "stopped"
        assert await editor.command("stop", run=begun["run"]) == {"run": begun["run"], "state": "stopped"}


@pytest.mark.parametrize("again", [True, False])
async def test_a_run_that_does_not_stop_is_killed_after_a_time_or_when_asked_again(tmp_path: Path, again: bool) -> None:
    async with runner("stubborn", GRACE=60.0 if again else 0.3) as editor:
        uri = editor.open(tiny(), uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri)
        await editor.started(begun["run"])
        for _ in range(2 if again else 1):
            await editor.command("stop", run=begun["run"])
        facts = await editor.over(begun["run"])
        assert facts["state"] == "stopped"
        assert editor.states(begun["run"])[-1] == "stopped"
        assert len(editor.shown) == 1
        assert "was killed" in editor.shown[0]


async def test_several_runs_at_once_leave_no_zombies_and_no_grandchildren(tmp_path: Path) -> None:
    async with runner("parents") as editor:
        uris = [editor.open(tiny(), uri_for(tmp_path / f"{name}.sx")) for name in "ab"]
        begun = [await editor.command("run", uri=uri) for uri in (*uris, uris[0])]
        assert len({each["run"] for each in begun}) == len({each["folder"] for each in begun}) == 3
        pids = [await editor.process(each["run"]) for each in begun]
        grandchild = children(pids[0])[0] if sys.platform == "linux" else 0
        for _ in range(2):
            await editor.command("stop", run=begun[0]["run"])
        await editor.over(begun[0]["run"])
        assert [(await editor.facts(each["run"]))["running"] for each in begun] == [False, True, True]
        for each in begun[1:]:
            await editor.command("stop", run=each["run"])
            await editor.over(each["run"])
        if grandchild:
            server = editor.client._server
            assert server is not None
            await asyncio.sleep(0.05)
            assert not alive(grandchild)
            assert not set(pids) & set(children(server.pid))


async def test_a_run_that_somebody_else_stops_is_stopped(tmp_path: Path) -> None:
    async with runner("waits") as editor:
        uri = editor.open(tiny(), uri_for(tmp_path / "a.sx"))
        begun = await editor.command("run", uri=uri)
        os.kill(await editor.process(begun["run"]), signal.SIGTERM)
        assert (await editor.over(begun["run"]))["state"] == "stopped"
        assert editor.shown == []


async def test_a_run_that_was_begun_elsewhere_is_stopped_by_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "first"
    with going(folder) as process:
        async with runner("good") as editor:
            assert await editor.command("stop", run=str(folder)) == {"run": str(folder), "state": "stopping"}
            assert process.wait(10) == 143
            assert "no run" in (await editor.refused("stop", run=str(folder))).message
            assert "stopped" in (await editor.command("plot", run=str(folder)))["html"]


async def test_explain(tmp_path: Path) -> None:
    async with runner("good") as editor:
        uri = editor.open(tiny(), uri_for(tmp_path / "a.sx"))
        answer = await editor.command("explain", uri=uri)
        assert answer["text"].startswith("run: 3 steps on train (batch 2) with sgd\n")
        assert answer["json"]["steps"] == 3
        assert [each["path"] for each in answer["json"]["parameters"]] == ["model/w"]
        assert "note" not in answer
        assert "not built yet" in (await editor.command("explain", uri=uri, compile=True))["note"]
        editor.write(uri, ":steps 3", ":steps x")
        error = await editor.refused("explain", uri=uri)
        assert "`x` is not defined" in error.message


async def test_the_device_of_the_settings(tmp_path: Path) -> None:
    async with runner("told", settings={"run": {"device": "tpu"}}) as editor:
        uri = editor.open(tiny(), uri_for(tmp_path / "a.sx"))
        for device, expected in ((None, "tpu"), ("cpu", "cpu")):
            begun = await editor.command("run", uri=uri, device=device)
            await editor.over(begun["run"])
            (told,) = [event for event in editor.events(begun["run"]) if event["kind"] == "told"]
            assert told["arguments"][-2:] == ["--device", expected]
