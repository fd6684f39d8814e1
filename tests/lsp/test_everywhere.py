"""Diagnostics of the whole workspace: what is pulled is what `sexpgpu check` finds, and what is shown of open documents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sexpgpu import cli
from support.clients import PROFILES, Session, session
from support.editor import uri_for

FILES = {
    "run.sx": '(load "parts/part.sx")\n(def 漢 (list "😀" (scaled missing)))\n',
    "parts/part.sx": "(defun scaled (x) (* x 2))\n(def wrong (+ 1 lost))\n",
    "alone.sx": "(def a 1)\n(def a 2)\n",
    "clean.sx": "(def a 1)\n",
    "bytes.sx": '(def a "\udcff")\n',
    "left/out.sx": "(def a lost)\n",
    ".gitignore": "left/\n",
}


@pytest_asyncio.fixture(loop_scope="session")
async def editor(tmp_path: Path) -> AsyncIterator[Session]:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    async with session(PROFILES["vscode"], tmp_path) as opened:
        yield opened
    assert opened.errors == ""


async def pulled(s: Session, known: dict[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """The reports by file."""
    previous = [{"uri": uri_for(s.folder / name), "value": value} for name, value in (known or {}).items()]
    report = await s.ask("workspace/diagnostic", previousResultIds=previous, identifier="sexpgpu")
    files = {uri_for(path): path for path in (s.folder / name for name in [*FILES, *(known or {})])}
    return {files[item["uri"]].relative_to(s.folder).as_posix(): item for item in report["items"]}


def results(reports: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: each["resultId"] for name, each in reports.items()}


def codes(reports: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """The codes by file, hints aside."""
    return {name: [item["code"] for item in each["items"] if item["severity"] < 4] for name, each in sorted(reports.items())}


@pytest.mark.claim("D1")
async def test_it_is_what_check_finds(editor: Session, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["check", "--format", "json", str(editor.folder)])
    checked: dict[str, list[Any]] = {}
    for entry in json.loads(capsys.readouterr().out):
        name = Path(entry["file"]).resolve().relative_to(editor.folder.resolve()).as_posix()
        checked.setdefault(name, []).append((entry["range"], entry["code"], entry["message"]))
    uri = editor.open(FILES["run.sx"], uri_for(editor.folder / "run.sx"))
    found = await pulled(editor)
    assert found.keys() == FILES.keys() - {"left/out.sx", ".gitignore"}
    assert checked == {
        name: [(item["range"], item["code"], item["message"].partition("\nhelp: ")[0]) for item in each["items"]]
        for name, each in found.items()
        if each["items"]
    }
    assert found["run.sx"]["items"] == await editor.diagnostics(uri)
    assert found["run.sx"]["version"] == 1
    assert found["alone.sx"]["version"] is None
    shown = {params["uri"]: params["diagnostics"] for method, params in editor.heard if method == "textDocument/publishDiagnostics"}
    assert not any(shown.values())


async def test_it_is_answered_when_something_is_another(editor: Session) -> None:
    first = await pulled(editor)
    waiting = asyncio.ensure_future(pulled(editor, results(first)))
    await asyncio.sleep(0.3)
    assert not waiting.done()
    (editor.folder / "alone.sx").write_text("(def a 1)\n", "utf-8")
    second = await waiting
    assert {name for name, each in second.items() if each["kind"] == "full"} == {"alone.sx"}
    assert second["alone.sx"]["items"] == []
    (editor.folder / "bytes.sx").unlink()
    third = await pulled(editor, results(first) | results(second))
    assert {name: each["items"] for name, each in third.items() if each["kind"] == "full"} == {"bytes.sx": []}
    (editor.folder / "parts" / "part.sx").write_text("(def scaled 1)\n", "utf-8")
    fourth = await pulled(editor, results(third))
    assert codes({name: each for name, each in fourth.items() if each["kind"] == "full"})["parts/part.sx"] == []


async def test_what_is_open_is_what_is_looked_at(editor: Session) -> None:
    uri = editor.open("(def scaled 1)\n", uri_for(editor.folder / "parts" / "part.sx"))
    first = await pulled(editor)
    assert codes(first)["parts/part.sx"] == []
    editor.close(uri)
    second = await pulled(editor, results(first))
    assert [item["code"] for item in second["parts/part.sx"]["items"]] == ["E-NAME-001"]


async def test_a_request_that_waits_ends_with_the_server_or_when_it_is_cancelled(editor: Session) -> None:
    waiting = asyncio.ensure_future(pulled(editor, results(await pulled(editor))))
    await asyncio.sleep(0.1)
    editor.tell("$/cancelRequest", id=list(editor.client.protocol._request_futures)[-1])
    with pytest.raises(AssertionError, match="-32800"):
        await waiting
