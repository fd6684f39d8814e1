"""What current editors say of themselves (profiles/*.json), and a session that says it to the byte and keeps all that it hears.

Requests are JSON, and answers are judged as JSON: what a client reads is what is written, not what a library makes of it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp.protocol import LanguageClientProtocol

from support.editor import ENCODINGS, PATIENCE, Client, Editor, make_client, uri_for
from support.runs import run_environment, server_for

FOLDER = Path(__file__).parent / "profiles"
STRICT = ["-W", "error"]

# What a client must have said of itself to be asked for this; a registration depends on what is registered.
NEEDED = {
    types.WORKSPACE_CONFIGURATION: "workspace.configuration",
    types.WORKSPACE_APPLY_EDIT: "workspace.applyEdit",
    types.WORKSPACE_DIAGNOSTIC_REFRESH: "workspace.diagnostics.refreshSupport",
    types.WORKSPACE_SEMANTIC_TOKENS_REFRESH: "workspace.semanticTokens.refreshSupport",
    types.WORKSPACE_INLAY_HINT_REFRESH: "workspace.inlayHint.refreshSupport",
    types.WORKSPACE_CODE_LENS_REFRESH: "workspace.codeLens.refreshSupport",
    types.WORKSPACE_FOLDING_RANGE_REFRESH: "workspace.foldingRange.refreshSupport",
    types.WINDOW_WORK_DONE_PROGRESS_CREATE: "window.workDoneProgress",
    types.WINDOW_SHOW_DOCUMENT: "window.showDocument.support",
}
_REGISTERED = {
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: "workspace.didChangeWatchedFiles.dynamicRegistration",
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: "workspace.didChangeConfiguration.dynamicRegistration",
}

_numbers = itertools.count(1)


class Profile:
    """What one client says of itself."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.params: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))["params"]

    def said(self, path: str, otherwise: Any = None) -> Any:
        """What it says at a path of its capabilities."""
        found: Any = self.params["capabilities"]
        for part in path.split("."):
            if not isinstance(found, dict) or part not in found:
                return otherwise
            found = found[part]
        return found

    @cached_property
    def encoding(self) -> str:
        """The encoding that a server should take: the first that the client names."""
        return self.said("general.positionEncodings", ["utf-16"])[0]

    @property
    def pulls(self) -> bool:
        """Whether diagnostics can be left to it: it asks for them, and can be told to ask again."""
        return self.said("textDocument.diagnostic") is not None and self.said("workspace.diagnostics.refreshSupport", False)

    def may_be_asked(self, method: str, params: Any) -> bool:
        """Whether it answers such a request."""
        if method == types.CLIENT_REGISTER_CAPABILITY:
            return all(self.said(_REGISTERED[each["method"]]) for each in params["registrations"])
        return bool(self.said(NEEDED[method]))


PROFILES = {path.stem: Profile(path.stem) for path in sorted(FOLDER.glob("*.json"))}


class _Protocol(LanguageClientProtocol):
    """Sends parameters that are JSON as they are, and keeps what comes in."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.answers: dict[Any, Any] = {}
        self.heard: list[tuple[str, Any]] = []
        """Requests and notifications of the server."""

    def structure_message(self, data: Any) -> Any:
        if "jsonrpc" not in data:
            return super().structure_message(data)  # a part of one
        if "method" in data:
            self.heard.append((data["method"], data.get("params")))
        else:
            self.answers[data["id"]] = data
        return super().structure_message(data)

    def _send_data(self, data: Any) -> None:
        if isinstance(getattr(data, "params", None), dict):
            number = {"id": data.id} if hasattr(data, "id") else {}
            data = {"jsonrpc": "2.0", "method": data.method, "params": data.params, **number}
        super()._send_data(data)


class Session(Editor):
    """An editor with a server of its own, for which it is one of those that we know."""

    def __init__(self, profile: Profile, client: Client, folder: Path) -> None:
        super().__init__(client, next(each for each in ENCODINGS if each == profile.encoding))
        self.profile = profile
        self.folder = folder
        self.server: dict[str, Any] = {}
        """The server's capabilities, as it wrote them."""
        self.errors = ""
        """What the server wrote to standard error."""
        self.status: int | None = None

    @property
    def heard(self) -> list[tuple[str, Any]]:
        return self.client.protocol.heard  # pyright: ignore[reportAttributeAccessIssue]

    async def answer(self, method: str, params: Any) -> dict[str, Any]:
        """The whole response to a request."""
        number = f"session-{next(_numbers)}"
        protocol = self.client.protocol
        try:
            await asyncio.wait_for(protocol.send_request_async(method, params, number), PATIENCE)
        except JsonRpcException:
            assert "error" in protocol.answers[number]  # pyright: ignore[reportAttributeAccessIssue]
        return protocol.answers[number]  # pyright: ignore[reportAttributeAccessIssue]

    async def ask(self, method: str, uri: str | None = None, piece: str | None = None, inside: int = 0, **more: Any) -> Any:
        """The result of a request, about a place of a document if one is given."""
        params: dict[str, Any] = dict(more)
        if uri is not None:
            params["textDocument"] = {"uri": uri}
        if uri is not None and piece is not None:
            params["position"] = self.place(uri, piece, inside)
        answer = await self.answer(method, params)
        assert "result" in answer, answer
        return answer["result"]

    def tell(self, method: str, **params: Any) -> None:
        self.client.protocol.notify(method, params)

    def place(self, uri: str, piece: str, inside: int = 0) -> dict[str, int]:
        """The position of a piece of a document's text, as JSON."""
        at = self.position(uri, piece, inside)
        return {"line": at.line, "character": at.character}

    def read(self, uri: str, span: dict[str, Any]) -> str:
        """The text in a range of JSON."""
        start, end = (types.Position(span[side]["line"], span[side]["character"]) for side in ("start", "end"))
        return self.piece(uri, types.Range(start, end))

    async def diagnostics(self, uri: str) -> list[dict[str, Any]]:
        """What the client shows in a document, as JSON: pulled or pushed, whichever it does."""
        if self.profile.pulls:
            report = await self.ask(types.TEXT_DOCUMENT_DIAGNOSTIC, uri)
            assert report["kind"] == "full"
            return report["items"]
        await self.published(uri)
        return next(
            params["diagnostics"]
            for method, params in reversed(self.heard)
            if method == types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS and params["uri"] == uri
        )


@asynccontextmanager
async def session(profile: Profile, folder: Path, how: str = "good") -> AsyncIterator[Session]:
    """A session in a folder, with a server for which warnings are errors, and whose runs are of the fake backend."""
    client = make_client(_Protocol)
    client.feature(types.WORKSPACE_APPLY_EDIT)(_applied)
    for method, needed in NEEDED.items():
        if needed.endswith("refreshSupport") and method not in client.protocol.fm.features:
            client.feature(method)(_nothing)
    editor = Session(profile, client, folder)
    executable, *arguments = server_for(how)
    await client.start_io(executable, *STRICT, *arguments, env=run_environment())
    process = client._server
    assert process is not None
    assert process.stderr is not None
    if client._stderr_forwarder is not None:
        client._stderr_forwarder.cancel()
    said = asyncio.create_task(process.stderr.read())
    here = {"uri": uri_for(folder), "name": folder.name}
    params = {"processId": None, "rootUri": here["uri"], "workspaceFolders": [here], **profile.params}
    client.capabilities = client.protocol._converter.structure(profile.params["capabilities"], types.ClientCapabilities)
    editor.server = (await editor.answer(types.INITIALIZE, params))["result"]["capabilities"]
    editor.tell(types.INITIALIZED)
    try:
        yield editor
        await asyncio.wait_for(client.shutdown_session(), PATIENCE)
        editor.errors = (await asyncio.wait_for(said, PATIENCE)).decode()
        editor.status = await asyncio.wait_for(process.wait(), PATIENCE)
    finally:
        if process.returncode is None:
            process.kill()
        await asyncio.wait_for(client.stop(), PATIENCE)


def _nothing(_: Any) -> None:
    return None


def _applied(_: Any) -> types.ApplyWorkspaceEditResult:
    return types.ApplyWorkspaceEditResult(applied=True)
