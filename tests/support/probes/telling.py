"""What is executed, and what is only told."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from support.clients import Session
from support.editor import uri_for
from support.probes import TEXT, Probes, into

PROBES: Probes = {}
asks = into(PROBES)


async def executed(s: Session, command: str, **argument: Any) -> dict[str, Any]:
    return await s.answer("workspace/executeCommand", {"command": command, "arguments": [argument]})


@asks("sexpgpu.run", "sexpgpu.stop", "sexpgpu.runs", "sexpgpu.plot", "sexpgpu.explain", "window/workDoneProgress/cancel")
async def runs(s: Session, _: str) -> None:
    uri = s.open(TEXT, uri_for(s.folder / "run 漢.sx"))
    begun = (await executed(s, "sexpgpu.run", uri=uri))["result"]
    async with asyncio.timeout(30):
        while (await executed(s, "sexpgpu.runs"))["result"]["runs"][-1]["running"]:
            await asyncio.sleep(0.02)
    assert os.path.isdir(begun["folder"])
    events = [params["event"]["kind"] for method, params in s.heard if method == "sexpgpu/event"]
    assert {"run", "metric", "progress"} <= set(events)
    shown = [method for method, _ in s.heard if method in ("$/progress", "window/workDoneProgress/create")]
    assert bool(shown) == bool(s.profile.said("window.workDoneProgress"))
    s.tell("window/workDoneProgress/cancel", token=f"sexpgpu/{begun['run']}")
    assert (await executed(s, "sexpgpu.stop", run=begun["run"]))["result"]["state"] == "finished"
    assert "<html" in (await executed(s, "sexpgpu.plot", run=begun["run"]))["result"]["html"]
    report = (await executed(s, "sexpgpu.explain", uri=uri))["result"]
    assert report["text"]
    assert report["json"]


@asks("sexpgpu.apply")
async def applying(s: Session, _: str) -> None:
    """The command that an action is for a client that knows no other; whoever cannot make its edit has none."""
    uri = s.open("(def a 1)\n")
    span = {"start": s.place(uri, "1"), "end": s.place(uri, ")")}
    edit = {"changes": {uri: [{"range": span, "newText": "2"}]}}
    before = len(s.heard)
    stale = await executed(s, "sexpgpu.apply", uri=uri, version=7, edit=edit)
    answer = await executed(s, "sexpgpu.apply", uri=uri, version=1, edit=edit)
    asked = [params for method, params in s.heard[before:] if method == "workspace/applyEdit"]
    if s.profile.said("workspace.applyEdit"):
        assert "has changed" in stale["error"]["message"]
        assert answer["result"] is None
        assert [each["edit"] for each in asked] == [edit]
    else:
        assert "makes no edits" in answer["error"]["message"]
        assert not asked


@asks(
    "textDocument/didOpen",
    "textDocument/didChange",
    "textDocument/didSave",
    "textDocument/didClose",
    "workspace/didChangeWatchedFiles",
    "workspace/didChangeConfiguration",
    "workspace/didChangeWorkspaceFolders",
)
async def told(s: Session, _: str) -> None:
    other = s.folder / "other.sx"
    uri = s.open('(load "other.sx") (def a (list "😀漢é" lost))\n', uri_for(s.folder / "told.sx"))
    assert [each["code"] for each in await s.diagnostics(uri)] == ["E-LOAD-001"]
    other.write_text("(def lost 1)\n", "utf-8")
    s.tell("workspace/didChangeWatchedFiles", changes=[{"uri": uri_for(other), "type": 1}])
    s.tell("workspace/didChangeConfiguration", settings={"sexpgpu": {"inlayHints": {"shapes": False}}})
    s.tell("workspace/didChangeConfiguration", settings={"sexpgpu": {}})
    away = {"uri": "untitled:folder", "name": "away"}
    for event in ({"added": [away], "removed": []}, {"added": [], "removed": [away]}):
        s.tell("workspace/didChangeWorkspaceFolders", event=event)
    s.save(uri)
    async with asyncio.timeout(30):
        while (await s.ask("textDocument/diagnostic", uri))["items"]:
            await asyncio.sleep(0.02)
    s.write(uri, "lost", "gone")
    (found,) = await s.diagnostics(uri)
    assert s.read(uri, found["range"]) == "gone"
    s.close(uri)
    other.unlink()
    assert await s.ask("textDocument/hover", uri, "def") is None
