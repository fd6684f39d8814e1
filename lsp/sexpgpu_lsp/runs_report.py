"""What is told of a run while it goes on: progress with a button that stops it, and where in the text it failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lsprotocol import types

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Rule
from sexpgpu.ide.markup import rule_link
from sexpgpu.source import Position, Source, Span
from sexpgpu_lsp.convert import NAME
from sexpgpu_lsp.diagnostics import Found
from sexpgpu_lsp.documents import Document, World
from sexpgpu_lsp.runs_child import Event
from sexpgpu_lsp.uris import file_key

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

_RARELY = 0.1  # seconds between two reports of progress
_CODES = {rule.code for rule in vars(rules).values() if isinstance(rule, Rule)}


class Text(NamedTuple):
    """The texts that a run is made of: by key the sources that were analysed, and the documents that were open."""

    document: Document
    world: World
    sources: Mapping[str, Source]


class Progress:
    """Progress of one run, as far as the client shows any. It begins when the client says so, maybe never."""

    def __init__(self, server: Server, token: str, title: str) -> None:
        self._server = server
        self._token = token
        self._title = title
        self._begun = self._over = False
        self._message = "starting"
        self._percentage: int | None = 0
        self._last = 0.0
        window = server.client_capabilities.window
        if window is not None and window.work_done_progress:
            params = types.WorkDoneProgressCreateParams(token=token)
            created = server.connection.send_request(types.WINDOW_WORK_DONE_PROGRESS_CREATE, params)
            created.add_done_callback(self._created)

    def _created(self, answer: Any) -> None:
        if self._over or answer.cancelled() or answer.exception() is not None:
            return
        self._begun = True
        self._send(
            types.WorkDoneProgressBegin(title=self._title, cancellable=True, message=self._message, percentage=self._percentage)
        )

    def report(self, message: str, percentage: int | None, now: float) -> None:
        """How far it is; not more often than anybody can read."""
        another = percentage is None or message != self._message
        self._message, self._percentage = message, percentage
        if self._begun and not self._over and another and now - self._last >= _RARELY:
            self._last = now
            self._send(types.WorkDoneProgressReport(message=message, percentage=percentage, cancellable=True))

    def end(self, message: str) -> None:
        """It is over."""
        if self._begun and not self._over:
            self._send(types.WorkDoneProgressEnd(message=message))
        self._over = True

    def _send(self, value: Any) -> None:
        self._server.connection.notify(types.PROGRESS, types.ProgressParams(token=self._token, value=value))


def errors_found(server: Server, text: Text, errors: Sequence[Event]) -> dict[str, Found]:
    """Run-time errors as diagnostics, by the keys of the files that they are in; those that have no place in a text of the run are
    left out. Ranges of events count UTF-16 units, those of diagnostics what was agreed with the client."""
    found: dict[str, Found] = {}
    for error in errors:
        key = file_key(str(error.get("file", "")))
        source = text.sources.get(key)
        span = None if source is None else _span(source, error.get("range"))
        if source is None or span is None:
            continue
        if key not in found:
            own = key == text.document.key
            uri = text.document.uri if own else server.publisher.uri_for(text.world, text.document)(source)
            found[key] = Found(uri, text.world.source(key), [], source)
        found[key].diagnostics.append(_diagnostic(server, error, span))
    return found


def _diagnostic(server: Server, error: Event, span: Span) -> types.Diagnostic:
    code, help = error.get("code"), error.get("help")
    message = str(error.get("message", "the run failed here"))
    return types.Diagnostic(
        range=server.documents.converter.range(span),
        message=f"{message}\nhelp: {help}" if isinstance(help, str) and help else message,
        severity=types.DiagnosticSeverity.Error,
        code=code if isinstance(code, str) else None,
        code_description=types.CodeDescription(href=rule_link(code)) if isinstance(code, str) and code in _CODES else None,
        source=NAME,
    )


def _span(source: Source, given: Any) -> Span | None:
    try:
        ends = [source.offset(Position(int(given[end]["line"]), int(given[end]["character"]))) for end in ("start", "end")]
    except (KeyError, TypeError, ValueError):
        return None
    return Span(source, *ends)
