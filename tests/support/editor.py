"""An editor for tests: a client on standard input and output, in the words of tests rather than of the protocol.

`Editor` is the client of pytest-lsp with what it was sent; `Wire` speaks bytes, for what no client would say.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features
from pytest_lsp.protocol import LanguageClientProtocol

from sexpgpu.source import Encoding, Position, Source
from support.command import environment

SERVER = [sys.executable, "-W", "error", "-m", "sexpgpu", "lsp"]
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
PATIENCE = 30.0  # seconds: the machine may be busy
ASKED_AGAIN = (
    types.WORKSPACE_SEMANTIC_TOKENS_REFRESH,
    types.WORKSPACE_INLAY_HINT_REFRESH,
    types.WORKSPACE_CODE_LENS_REFRESH,
)

SHOWS = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
            related_information=True, tag_support=types.ClientDiagnosticsTagOptions(list(types.DiagnosticTag))
        ),
        completion=types.CompletionClientCapabilities(
            completion_item=types.ClientCompletionItemOptions(documentation_format=list(types.MarkupKind)),
            completion_item_kind=types.ClientCompletionItemOptionsKind(list(types.CompletionItemKind)),
        ),
        code_action=types.CodeActionClientCapabilities(
            code_action_literal_support=types.ClientCodeActionLiteralOptions(types.ClientCodeActionKindOptions([]))
        ),
    )
)
"""A client that shows all that a diagnostic and a completion may say, and else has said nothing of what it can do."""

_numbers = itertools.count()


def server_environment() -> dict[str, str]:
    """The environment in which the server finds its packages."""
    return environment("core", "lsp")


class Client(LanguageClient):
    """Keeps everything that was published, in order."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.published: list[types.PublishDiagnosticsParams] = []
        self.refreshed = 0
        self.asked_again: list[str] = []
        """The methods by which the server had the client ask again for what it shows, in order."""
        self.news = asyncio.Event()


def make_client(protocol: type[LanguageClientProtocol] = LanguageClientProtocol) -> Client:
    client = Client(converter_factory=default_converter, protocol_cls=protocol)

    def publish(params: types.PublishDiagnosticsParams) -> None:
        client.published.append(params)
        client.news.set()

    def refresh(_: None) -> None:
        client.refreshed += 1
        client.news.set()

    def asks_again(method: str) -> Callable[[None], None]:
        def again(_: None) -> None:
            client.asked_again.append(method)
            client.news.set()

        return again

    def registered(_: types.RegistrationParams) -> None:
        return None

    register_lsp_features(
        client,
        {
            **DEFAULT_CLIENT_FEATURES,
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: publish,
            types.WORKSPACE_DIAGNOSTIC_REFRESH: refresh,
            **{method: asks_again(method) for method in ASKED_AGAIN},
            types.CLIENT_REGISTER_CAPABILITY: registered,
        },
    )
    return client


def configuration() -> ClientServerConfig:
    """How pytest-lsp starts the server."""
    return ClientServerConfig(server_command=SERVER, client_factory=make_client, server_env=server_environment())


class Editor:
    """Documents and requests of one client."""

    def __init__(self, client: Client, encoding: Encoding = "utf-16") -> None:
        self.client = client
        self.encoding: Encoding = encoding
        self.capabilities = types.ServerCapabilities()
        self.sources: dict[str, Source] = {}
        self.versions: dict[str, int] = {}

    # Documents

    def open(self, text: str, uri: str | None = None) -> str:
        """Open a text, under a name of its own if none is given; its URI."""
        uri = uri or f"untitled:test-{next(_numbers)}"
        self.sources[uri], self.versions[uri] = Source(uri, text), 1
        document = types.TextDocumentItem(uri=uri, language_id="sx", version=1, text=text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))
        return uri

    def replace(self, uri: str, start: int, end: int, text: str) -> None:
        """Replace a part of a document, by offsets."""
        source = self.sources[uri]
        span = types.Range(self._position(source, start), self._position(source, end))
        self.change(uri, [types.TextDocumentContentChangePartial(range=span, text=text)])
        self.sources[uri] = Source(uri, source.text[:start] + text + source.text[end:])

    def write(self, uri: str, old: str, new: str) -> None:
        """Replace a piece of a document's text."""
        start = self.sources[uri].text.index(old)
        self.replace(uri, start, start + len(old), new)

    def rewrite(self, uri: str, text: str) -> None:
        """Replace a document's whole text."""
        self.sources[uri] = Source(uri, text)
        self.change(uri, [types.TextDocumentContentChangeWholeDocument(text=text)])

    def change(self, uri: str, changes: Sequence[types.TextDocumentContentChangeEvent], version: int | None = None) -> None:
        self.versions[uri] = self.versions[uri] + 1 if version is None else version
        document = types.VersionedTextDocumentIdentifier(uri=uri, version=self.versions[uri])
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))

    def save(self, uri: str) -> None:
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    # What the server says

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds that messages bring about."""
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self.client.news.clear()
                await self.client.news.wait()

    async def published(
        self, uri: str, holds: Callable[[types.PublishDiagnosticsParams], bool] | None = None
    ) -> list[types.Diagnostic]:
        """What was published last for a document, once that is for its version, or `holds`."""

        def last() -> types.PublishDiagnosticsParams | None:
            return next((each for each in reversed(self.client.published) if each.uri == uri), None)

        def arrived() -> bool:
            params = last()
            return params is not None and (holds(params) if holds else params.version == self.versions[uri])

        await self.until(arrived)
        found = last()
        assert found is not None
        return list(found.diagnostics)

    async def codes(self, uri: str) -> list[str]:
        """The codes that are shown in a document, hints aside."""
        return codes(await self.published(uri))

    async def pulled(self, uri: str, previous: str | None = None) -> types.DocumentDiagnosticReport:
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri), previous_result_id=previous)
        return await asyncio.wait_for(self.client.text_document_diagnostic_async(params), PATIENCE)

    async def hover(self, uri: str, piece: str, inside: int = 0) -> types.Hover | None:
        """The hover at a piece of a document's text."""
        where = self.position(uri, piece, inside)
        return await self.client.text_document_hover_async(types.HoverParams(types.TextDocumentIdentifier(uri), where))

    def position(self, uri: str, piece: str, inside: int = 0) -> types.Position:
        source = self.sources[uri]
        return self._position(source, source.text.index(piece) + inside)

    def piece(self, uri: str, span: types.Range) -> str:
        """The text in a range."""
        source = self.sources[uri]
        ends = (source.offset(Position(at.line, at.character), self.encoding) for at in (span.start, span.end))
        return source.text[slice(*ends)]

    def _position(self, source: Source, offset: int) -> types.Position:
        line, character = source.position(offset, self.encoding)
        return types.Position(line, character)


def codes(found: Sequence[types.Diagnostic]) -> list[str]:
    """Codes without those of hints."""
    return [str(each.code) for each in found if each.severity != types.DiagnosticSeverity.Hint]


@asynccontextmanager
async def connected(capabilities: types.ClientCapabilities, folder: Path | None = None) -> AsyncIterator[Editor]:
    """An editor of its own, with a server of its own, for a client that can do this."""
    client = make_client()
    await client.start_io(*SERVER, env=server_environment())
    root = None if folder is None else uri_for(folder)
    answer = await asyncio.wait_for(client.initialize_session(types.InitializeParams(capabilities, root_uri=root)), PATIENCE)
    agreed = answer.capabilities.position_encoding
    editor = Editor(client, next(known for known in ENCODINGS if known == getattr(agreed, "value", agreed)))
    editor.capabilities = answer.capabilities
    yield editor
    await asyncio.wait_for(client.shutdown_session(), PATIENCE)
    await client.stop()


class Wire:
    """A server and the bytes to and from it."""

    def __init__(
        self, command: Sequence[str] = SERVER, *, encoding_header: bool = False, env: dict[str, str] | None = None
    ) -> None:
        self._header = b"\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8" if encoding_header else b""
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env or server_environment()
        )
        self._impatient = threading.Timer(2 * PATIENCE, self.process.kill)  # whoever waits for what does not come is told
        self._impatient.daemon = True
        self._impatient.start()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in, self._out = self.process.stdin, self.process.stdout

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self._impatient.cancel()
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):  # what was not sent to a server that has gone
                    stream.close()

    def bytes(self, data: bytes) -> None:
        self._in.write(data)
        self._in.flush()

    def body(self, body: bytes) -> None:
        self.bytes(b"Content-Length: %d%s\r\n\r\n%s" % (len(body), self._header, body))

    def notify(self, method: str, **params: Any) -> None:
        self.body(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def ask(self, method: str, params: Any = None, number: int | str = 1) -> Any:
        """The response to a request; what comes in between is dropped."""
        message = {"jsonrpc": "2.0", "id": number, "method": method}
        self.body(json.dumps(message if params is None else {**message, "params": params}).encode())
        return self.response(number)

    def response(self, number: int | str | None) -> Any:
        while True:
            message = self.read()
            if "method" not in message and message.get("id") == number:
                return message

    def read(self) -> Any:
        """The next message."""
        length = 0
        while (line := self._out.readline()) != b"\r\n":
            assert line, "the server has gone"
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return json.loads(self._out.read(length))

    def initialize(self, capabilities: Any = None, **more: Any) -> Any:
        answer = self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities or {}, **more}, 0)
        self.notify("initialized")
        return answer

    def open(self, uri: str, text: str, version: int = 1) -> None:
        self.notify("textDocument/didOpen", textDocument={"uri": uri, "languageId": "sx", "version": version, "text": text})

    def goes(self, within: float) -> int:
        """The exit status of a server that ends by itself, within seconds."""
        begun = time.monotonic()
        status = self.process.wait(PATIENCE)
        assert time.monotonic() - begun < within
        return status

    def errors(self) -> str:
        """What it wrote to standard error until it ended."""
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()


def uri_for(path: Path) -> str:
    """The URI of a file, as an editor writes it."""
    return path.as_uri()
