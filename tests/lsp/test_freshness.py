"""Nothing that is shown is old: files change on the disk, told of or not, and documents faster than they can be analysed."""

from __future__ import annotations

import asyncio
import io
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
from lsprotocol import types

from sexpgpu.source import Source
from sexpgpu_lsp.analyses import Analyses
from sexpgpu_lsp.documents import Document, Stamp, World
from sexpgpu_lsp.schedule import Schedule
from sexpgpu_lsp.uris import file_key, key_of
from sexpgpu_lsp.watching import SELDOM
from sexpgpu_lsp.worker import Worker
from support.editor import PATIENCE, Editor, codes, connected, uri_for

WATCHES = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    )
)
LOADER = """\
(defloader train :batch 2 :fields (list :x (spec [4] :f32)) :source (npz "data.npz"))
"""


class Kind(NamedTuple):
    """A file that loads others, something that happens to these, and what is found in it before and after."""

    text: str
    files: dict[str, bytes]
    happens: Callable[[Path], None]
    before: list[str]
    after: list[str]


def replaced(folder: Path) -> None:
    """As careful programs save: beside the file, then in its place; of the same size."""
    (folder / "new").write_bytes(b"(def c 1)\n")
    (folder / "new").replace(folder / "part.sx")


def project(folder: Path) -> None:
    (folder / "sexpgpu.toml").write_text('[tool.sexpgpu]\nignore = ["W-NAME-001"]\n', "utf-8")


def archive(width: int) -> bytes:
    file = io.BytesIO()
    np.savez(file, x=np.zeros((8, width), np.float32))
    return file.getvalue()


def void(_: object) -> None:
    return None


def turned(folder: Path) -> None:
    (folder / "now").unlink()
    (folder / "now").symlink_to("two")


USES = '(load "part.sx")\n(def a (+ b 1))\n'
PART = {"part.sx": b"(def b 1)\n"}
KINDS = {
    "changed": Kind(USES, PART, lambda folder: void((folder / "part.sx").write_bytes(b"(def d 1)\n")), [], ["E-NAME-001"]),
    "replaced": Kind(USES, PART, replaced, [], ["E-NAME-001"]),
    "deleted": Kind(USES, PART, lambda folder: (folder / "part.sx").unlink(), [], ["E-LOAD-001"]),
    "appears": Kind(USES, {}, lambda folder: void((folder / "part.sx").write_bytes(b"(def b 1)\n")), ["E-LOAD-001"], []),
    "behind another": Kind(
        '(load "one.sx")\n(def a (+ b 1))\n',
        {"one.sx": b'(load "part.sx")\n', **PART},
        lambda folder: void((folder / "part.sx").write_bytes(b"(def c 1)\n")),
        [],
        ["E-NAME-001"],
    ),
    "folder renamed": Kind(
        '(load "parts/part.sx")\n(def a (+ b 1))\n',
        {"parts/part.sx": b"(def b 1)\n"},
        lambda folder: void((folder / "parts").rename(folder / "other")),
        [],
        ["E-LOAD-001"],
    ),
    "link turned": Kind(
        '(load "now/part.sx")\n(def a (+ b 1))\n',
        {"one/part.sx": b"(def b 1)\n", "two/part.sx": b"(def c 1)\n", "now": b"one"},
        turned,
        [],
        ["E-NAME-001"],
    ),
    "other data": Kind(
        LOADER,
        {"data.npz": archive(4)},
        lambda folder: void((folder / "data.npz").write_bytes(archive(5))),
        [],
        ["E-DATA-001"],
    ),
    "project appears": Kind("(def list 1)\n", {}, project, ["W-NAME-001"], []),
    "project goes": Kind(
        "(def list 1)\n",
        {"sexpgpu.toml": b'[tool.sexpgpu]\nignore = ["W-NAME-001"]\n'},
        lambda folder: (folder / "sexpgpu.toml").unlink(),
        [],
        ["W-NAME-001"],
    ),
}


async def opened(editor: Editor, folder: Path) -> dict[str, str]:
    """A document for each kind, in a folder of its own; their URIs."""
    uris: dict[str, str] = {}
    for name, kind in KINDS.items():
        home = folder / name
        home.mkdir()
        for path, data in kind.files.items():
            (home / path).parent.mkdir(exist_ok=True)
            if path == "now":
                (home / path).symlink_to(data.decode())
            else:
                (home / path).write_bytes(data)
        uris[name] = editor.open(kind.text, uri_for(home / "run.sx"))
    for name, kind in KINDS.items():
        assert await editor.codes(uris[name]) == kind.before, name
    return uris


async def is_fresh(editor: Editor, uris: dict[str, str]) -> None:
    for name, kind in KINDS.items():
        found = await editor.published(uris[name], lambda params, kind=kind: codes(params.diagnostics) == kind.after)
        assert codes(found) == kind.after, name


async def test_what_changes_on_the_disk_is_seen_though_nobody_tells(editor: Editor, tmp_path: Path) -> None:
    uris = await opened(editor, tmp_path)
    for name, kind in KINDS.items():
        kind.happens(tmp_path / name)
    await is_fresh(editor, uris)
    for uri in uris.values():
        editor.close(uri)


async def test_a_client_that_tells_is_not_kept_waiting(tmp_path: Path) -> None:
    async with connected(WATCHES, tmp_path) as editor:
        uris = await opened(editor, tmp_path)
        for name, kind in KINDS.items():
            kind.happens(tmp_path / name)
        begun = time.monotonic()
        # Of a renamed folder a client may say that the folder has gone, or only name one of the files.
        changes = [types.FileEvent(uri=uri_for(tmp_path / "folder renamed" / "parts"), type=types.FileChangeType.Deleted)]
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))
        await is_fresh(editor, uris)
        assert time.monotonic() - begun < SELDOM / 2


async def test_a_branch_is_switched(editor: Editor, tmp_path: Path) -> None:
    """Fifty files change at once: every document is looked at once, and says what is so now."""
    for branch, value in (("this", "1"), ("that", "missing")):
        (tmp_path / branch).mkdir()
        for number in range(50):
            (tmp_path / branch / f"part-{number}.sx").write_text(f"(def value-{number} {value})\n", "utf-8")
    (tmp_path / "now").symlink_to("this")
    uris = [
        editor.open(
            "".join(f'(load "now/part-{each}.sx")\n' for each in range(50)) + f"(def mine-{number} value-0)\n",
            uri_for(tmp_path / f"run-{number}.sx"),
        )
        for number in range(8)
    ]
    for uri in uris:
        assert await editor.published(uri) == []
    part = uri_for(tmp_path / "now" / "part-49.sx")
    editor.client.published.clear()
    (tmp_path / "next").symlink_to("that")
    (tmp_path / "next").replace(tmp_path / "now")
    assert codes(await editor.published(part, lambda params: bool(params.diagnostics))) == ["E-NAME-001"]
    (tmp_path / "next").symlink_to("this")
    (tmp_path / "next").replace(tmp_path / "now")
    assert await editor.published(part, lambda params: not params.diagnostics) == []
    published = [each for each in editor.client.published if each.uri == part]
    assert [bool(each.diagnostics) for each in published] == [True, False]
    for uri in uris:
        editor.close(uri)


# One analysis for many changes


def documents(folder: Path, count: int) -> World:
    made: dict[str, Document] = {}
    for number in range(count):
        path = folder / f"run-{number}.sx"
        uri = uri_for(path)
        text = "".join(f'(load "part-{each}.sx")\n' for each in range(number, number + 3))
        made[key_of(uri)] = Document(uri, key_of(uri), 1, Source(str(path), text))
    return World(made)


def test_only_what_depends_on_a_changed_file_is_analysed_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        (tmp_path / f"part-{number}.sx").write_text(f"(def value-{number} 1)\n", "utf-8")
        os.utime(tmp_path / f"part-{number}.sx", (1, 1))
    world, analyses = documents(tmp_path, 10), Analyses()
    made: list[str] = []
    analyse = analyses._analyse
    monkeypatch.setattr(analyses, "_analyse", lambda world, document: (made.append(document.key), analyse(world, document))[1])

    def look() -> int:
        analyses.forget(analyses.outdated())
        made.clear()
        for key in analyses.stale(world):
            analyses.of(world, world.documents[key])
        return len(made)

    assert look() == 10
    assert look() == 0
    os.utime(tmp_path / "part-11.sx", (2, 2))
    assert look() == 1
    for number in range(12):
        (tmp_path / f"part-{number}.sx").write_text(f"(def other-{number} 1)\n", "utf-8")
        os.utime(tmp_path / f"part-{number}.sx", (3, 3))
    assert look() == 10
    assert look() == 0


def test_what_was_written_just_now_is_looked_at_once_more(tmp_path: Path) -> None:
    """A clock that is coarse does not tell two writes from each other."""
    path = tmp_path / "x"
    path.write_text("1", "utf-8")
    first = Stamp.of(str(path))
    time.sleep(0.03)
    second = Stamp.of(str(path))
    assert first is not None
    assert second is not None
    assert first != second
    assert second == Stamp.of(str(path))
    assert Stamp.of(str(tmp_path / "none")) is None
    assert Stamp.of("\0") is None


class Desk:
    """As much of a server as a schedule needs, which writes down what was analysed when."""

    def __init__(self) -> None:
        self.examined: list[float] = []
        self.asked = 0
        self.meanwhile = threading.Event()
        self.going_on = threading.Event()
        server = SimpleNamespace(
            worker=Worker(asyncio.get_running_loop()),
            documents=SimpleNamespace(world=World({"a": Document("a", "a", 1, Source("a", ""))})),
            configuration=SimpleNamespace(now=SimpleNamespace(debounce=0.025)),
            publisher=SimpleNamespace(examine=self.examine, take=lambda *_, **__: None),
            analyses=SimpleNamespace(stale=self.stale),
        )
        self.schedule = Schedule(cast("Any", server))

    def examine(self, _: str) -> tuple[None, list[str]]:
        self.examined.append(time.monotonic())
        return None, []

    def stale(self, _: World) -> list[str]:
        self.asked += 1
        if self.asked == 1:
            self.meanwhile.set()
            self.going_on.wait(5)
        return []


async def test_the_first_change_is_looked_at_at_once_and_a_burst_now_and_then() -> None:
    desk = Desk()
    begun = last = time.monotonic()
    desk.schedule.edited("a")
    async with asyncio.timeout(PATIENCE):
        while not desk.examined:
            await asyncio.sleep(0.001)
        while time.monotonic() < begun + 0.2:
            last = time.monotonic()
            desk.schedule.edited("a")
            await asyncio.sleep(0.001)
        while desk.examined[-1] < last:  # the last change is not left out
            await asyncio.sleep(0.001)
    assert 2 <= len(desk.examined) <= 2 + (desk.examined[-1] - begun) / 0.025


async def test_what_changes_while_it_is_asked_what_has_changed_is_asked_for_again() -> None:
    desk = Desk()
    desk.schedule.settle()
    await asyncio.to_thread(desk.meanwhile.wait, 5)
    desk.schedule.settle()
    desk.going_on.set()
    async with asyncio.timeout(5):
        while desk.asked < 2:
            await asyncio.sleep(0.001)
    desk.schedule.settle()
    async with asyncio.timeout(5):
        while desk.asked < 3:
            await asyncio.sleep(0.001)


async def test_an_open_document_stands_before_its_file_until_it_is_closed(editor: Editor, tmp_path: Path) -> None:
    """What is saved on the disk meanwhile says nothing; closing without saving falls back to it."""
    part = tmp_path / "part.sx"
    part.write_text("(def saved 1)\n", "utf-8")
    run = editor.open('(load "part.sx")\n(def a (+ typed 1))\n', uri_for(tmp_path / "run.sx"))
    assert await editor.codes(run) == ["E-NAME-001"]
    opened = editor.open("(def typed 1)\n", uri_for(part))  # the client's text differs from the disk's
    assert await editor.published(run, lambda params: not params.diagnostics) == []
    part.write_text("(def saved 2)\n", "utf-8")
    os.utime(part, (1, 1))
    editor.save(run)
    await asyncio.sleep(0.15)
    assert await editor.pulled(run) == await editor.pulled(run)
    assert codes(await editor.published(run, lambda _: True)) == []
    editor.close(opened)
    found = await editor.published(run, lambda params: bool(params.diagnostics))
    assert codes(found) == ["E-NAME-001"]
    assert file_key(str(part)) == key_of(opened)
