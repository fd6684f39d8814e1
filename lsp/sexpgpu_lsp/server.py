"""The server: what happens when a document changes, how questions reach its analysis, and how long it lives."""

from __future__ import annotations

import asyncio
import functools
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar, cast

from lsprotocol import types
from pygls.exceptions import FeatureRequestError, JsonRpcContentModified, JsonRpcException
from pygls.lsp.server import LanguageServer

from sexpgpu_lsp import (
    actions,
    applying,
    calls,
    commands,
    completion,
    diagnostics,
    everywhere,
    formatting,
    hints,
    hover,
    lenses,
    navigation,
    references,
    showing,
    signature,
    structure,
    tokens,
    watching,
    workspace,
)
from sexpgpu_lsp.analyses import Analyses, AnalysisFailed, View
from sexpgpu_lsp.client import Client, adapt
from sexpgpu_lsp.configuration import Configuration
from sexpgpu_lsp.convert import NAME, Change, Converter, encoding_of
from sexpgpu_lsp.diagnostics import Publisher
from sexpgpu_lsp.documents import Document, Documents, World
from sexpgpu_lsp.garbage import Garbage
from sexpgpu_lsp.log import log, set_up
from sexpgpu_lsp.protocol import Protocol, make_converter
from sexpgpu_lsp.reach import Reach
from sexpgpu_lsp.refresh import Refresh
from sexpgpu_lsp.runs import Runs
from sexpgpu_lsp.schedule import Schedule
from sexpgpu_lsp.transport import Stream, Writer, read_in_thread, socket_streams, standard_streams
from sexpgpu_lsp.uris import key_of, uri_of
from sexpgpu_lsp.worker import QUERY, Worker

if TYPE_CHECKING:
    from pygls.server import ServerErrors

T = TypeVar("T")

_asked: ContextVar[World] = ContextVar("asked")

LOOPBACK = "127.0.0.1"
_LOOK_FOR_PARENT = 0.4  # seconds


class Server(LanguageServer):
    """One connection to one client."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            name=NAME,
            version=_version(),
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            protocol_cls=Protocol,
            converter_factory=make_converter,
        )
        self.connection = cast("Protocol", self.protocol)
        self.documents = Documents()
        self.worker = Worker(loop)
        self.garbage = Garbage(self.worker)
        self.analyses = Analyses()
        self.publisher = Publisher(self)
        self.schedule = Schedule(self)
        self.configuration = Configuration(self)
        self.disk = watching.Disk(self)
        self.refresh = Refresh(self)
        self.reach = Reach()
        self.runs = Runs(self)
        self.stopped: asyncio.Future[int] = loop.create_future()
        self._loop = loop
        for feature in (
            diagnostics,
            everywhere,
            hover,
            completion,
            signature,
            navigation,
            references,
            actions,
            applying,
            calls,
            formatting,
            structure,
            tokens,
            hints,
            lenses,
            watching,
            workspace,
            commands,
        ):
            feature.register(self)

    # Life

    def began(self, params: types.InitializeParams, capabilities: types.ServerCapabilities) -> None:
        """The client has introduced itself."""
        self.garbage.begin()
        self.documents.converter = Converter(encoding_of(params.capabilities), Client(params.capabilities))
        adapt(self.documents.converter.client, capabilities)
        self.documents.move(_folders(params))
        capabilities.position_encoding = self.documents.converter.encoding
        self.publisher.began(params.capabilities, capabilities)
        self.refresh.began(params.capabilities)
        self.configuration.began(params.initialization_options)
        if params.process_id is not None and _lives(params.process_id):
            self._watch(params.process_id)

    def stop(self, status: int) -> None:
        """End, with this exit status."""
        if not self.stopped.done():
            self.stopped.set_result(status)

    def _watch(self, parent: int) -> None:
        """End when the process that started the server has gone: it cannot say so any more."""
        if _lives(parent):
            self._loop.call_later(_LOOK_FOR_PARENT, self._watch, parent)
        else:
            self.stop(1)

    def report_server_error(self, error: Exception, source: ServerErrors) -> None:
        """What went wrong is for the log, not for whoever is typing; what was answered with an error is no news."""
        if source is not FeatureRequestError:
            what = f"{self.connection.handled} failed" if self.connection.handled else source.__name__
            log.error("%s: %s", what, error if isinstance(error, JsonRpcException) else f"{type(error).__name__}: {error}")

    # Documents

    def opened(self, uri: str, version: int | None, text: str) -> None:
        document = self.documents.open(uri, version, text)
        self.schedule.edited(document.key)

    def changed(self, uri: str, version: int | None, changes: Sequence[Change]) -> None:
        document = self.documents.change(uri, version, changes)
        if document is None:
            log.warning("a change of %s, which is not open", uri)
        else:
            self.schedule.edited(document.key)

    def saved(self, uri: str) -> None:
        document = self.documents.get(uri)
        if document is not None:
            self.disk.look()

    def closed(self, uri: str) -> None:
        document = self.documents.close(uri)
        if document is not None:
            self.publisher.closed(document)
            self.schedule.settle()
            self.refresh.compare()

    # Questions

    def asked_now(self) -> None:
        """What is handled from here on, in this context, speaks of the documents as they are now: an answer may begin later."""
        _asked.set(self.documents.world)

    def document(self, uri: str) -> Document | None:
        """A document as it was when the request came in."""
        return _asked.get(self.documents.world).documents.get(key_of(uri))

    async def ask(self, document: Document, question: Callable[[Iterator[View]], T]) -> T:
        """The answer to a question about a document, given by the worker from views of the analysis of exactly this text.

        Raises JsonRpcContentModified where the text has changed since, AnalysisFailed where it cannot be analysed.
        """

        def work() -> T:
            world = self.documents.world
            if world.source(document.key) is not document.source:
                raise JsonRpcContentModified("the document has changed")
            return question(self.analyses.views(world, document))

        return await self.worker.run(QUERY, work)

    def answers(
        self, method: str, options: Any = None, failed: Callable[[], JsonRpcException] | None = None
    ) -> Callable[[Callable[[Any], Awaitable[Any]]], None]:
        """Register what answers a request.

        One that fails is a line in the log, and its answer is that there is none, or the error that `failed` makes where that is
        no answer: any other error would be shown to whoever is typing.
        """

        def register(handler: Callable[[Any], Awaitable[Any]]) -> None:
            @functools.wraps(handler)
            async def guarded(params: Any) -> Any:
                try:
                    return await handler(params)
                except JsonRpcException:
                    raise
                except AnalysisFailed:
                    pass  # which has been logged
                except Exception as error:  # noqa: BLE001  whatever it was, the server goes on
                    log.error("%s failed: %s: %s", method, type(error).__name__, error, exc_info=error)
                if failed is not None:
                    raise failed()
                return None

            self.feature(method, options)(guarded)

        return register


def serve(port: int | None = None) -> int:
    """Serve one client, on standard input and output, or the first that connects to a port of this machine.

    Ends the process: with status 0 if the client shut the server down before it went, otherwise with 1.
    """
    set_up()
    if port is None:
        status = asyncio.run(_serve(standard_streams()))
    else:
        with socket.create_server((LOOPBACK, port)) as listening:
            print(f"sexpgpu: listening on {LOOPBACK}:{listening.getsockname()[1]}", file=sys.stderr, flush=True)
            connection, _ = listening.accept()
        with connection:
            status = asyncio.run(_serve(socket_streams(connection)))
    sys.stderr.flush()
    os._exit(status)  # taking an interpreter down takes long, the more so while another thread analyses


async def _serve(stream: Stream) -> int:
    loop = asyncio.get_running_loop()
    server = Server(loop)
    gone = functools.partial(loop.call_soon_threadsafe, lambda: server.stop(0 if server.connection.was_shut_down else 1))
    writer = Writer(stream, gone)
    server.connection.set_writer(writer)
    read_in_thread(stream, functools.partial(loop.call_soon_threadsafe, server.connection.receive), gone)
    # The loop's own way would wait for whatever is under way to be cancelled.
    signal.signal(signal.SIGINT, lambda number, _: loop.call_soon_threadsafe(server.stop, 128 + number))
    status = await server.stopped
    server.runs.leave()
    showing.leave()
    writer.close()
    return status


def _folders(params: types.InitializeParams) -> list[str]:
    """The URIs of the folders in which the client works. Older clients have one, the oldest by path."""
    if params.workspace_folders:
        return [folder.uri for folder in params.workspace_folders]
    if params.root_uri:
        return [params.root_uri]
    return [uri_of(params.root_path)] if params.root_path else []


def _lives(process: int) -> bool:
    """Whether there is a process of that number; where that cannot be asked, it is believed."""
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(NAME)
    except PackageNotFoundError:
        return "0"
