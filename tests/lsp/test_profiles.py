"""Every method with every client that we know: what it can take, where the text says it is, in its own units."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sexpgpu_lsp.server import Server
from support.advertised import advertised
from support.clients import PROFILES, Profile, Session, session
from support.editor import uri_for
from support.probes import PART, TEXT, Probe, reading, telling, writing

PROBES = {**reading.PROBES, **writing.PROBES, **telling.PROBES}

ELSEWHERE = {"initialize", "initialized", "shutdown", "exit", "$/setTrace", "$/cancelRequest"}
"""What every session says, and test_process.py byte by byte."""


@pytest_asyncio.fixture(params=PROFILES, scope="module", loop_scope="session")
async def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Session]:
    folder = tmp_path_factory.mktemp("folder é 漢")
    (folder / "part.sx").write_text(PART, "utf-8")
    (folder / "closed.sx").write_text("(def closed 漢)\n", "utf-8")
    async with session(PROFILES[request.param], folder) as opened:
        yield opened
    assert opened.errors == ""
    assert opened.status == 0


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.__name__)
async def test_what_each_client_is_answered(client: Session, probe: Probe) -> None:
    uri = client.open(TEXT, uri_for(client.folder / f"{probe.__name__}.sx"))
    await probe(client, uri)
    client.close(uri)
    for method, params in client.heard:
        if method in NOTIFIED:
            continue
        assert client.profile.may_be_asked(method, params), method


NOTIFIED = {
    "textDocument/publishDiagnostics",
    "window/showMessage",
    "window/logMessage",
    "sexpgpu/event",
    "$/progress",
}


async def test_what_is_advertised_has_a_test(client: Session) -> None:
    tested = {method for methods in PROBES.values() for method in methods}
    assert advertised(client.server) - tested == set()
    assert client.server["positionEncoding"] == client.profile.encoding


async def test_what_is_registered_has_a_test() -> None:
    tested = {method for methods in PROBES.values() for method in methods} | ELSEWHERE
    manager = Server(asyncio.get_running_loop()).connection.fm
    registered = {*manager.features, *manager.builtin_features, *manager.commands} - {"workspace/executeCommand"}
    assert {method for method in registered - tested if not method.startswith("notebookDocument/")} == set()


def test_a_profile_says_which_client_it_is() -> None:
    assert set(PROFILES) == {"vscode", "neovim", "helix", "minimal"}
    assert isinstance(PROFILES["minimal"], Profile)
    assert PROFILES["minimal"].said("textDocument") is None
