"""What is told of a run while it goes on: progress with a button that stops it, why it failed, where in the text it did."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from lsprotocol import types

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Rule
from sexpgpu.ide.markup import rule_link
from sexpgpu.source import Position, Source, Span
from sexpgpu_lsp.convert import NAME
from sexpgpu_lsp.diagnostics import Found
from sexpgpu_lsp.documents import Document, World
from sexpgpu_lsp.runs_child import End, Event
from sexpgpu_lsp.uris import file_key

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

_RARELY = 0.1  # seconds between two reports of progress
_TOLD_LINES = 6
_CODES = {rule.code for rule in vars(rules).values() if isinstance(rule, Rule)}

_SIGNALS = {
    "SIGKILL": "it was killed (SIGKILL): most likely the machine ran out of memory, and the system ended the largest "
    "process; a smaller :batch takes less",
    "SIGSEGV": "the backend crashed (SIGSEGV): that is a fault in a native library, the driver or JAX, not in the file",
    "SIGABRT": "the backend gave up (SIGABRT): a native library, the driver or JAX, met something that it cannot go on from",
    "SIGBUS": "the backend crashed (SIGBUS): often the disk or shared memory is full",
}


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


def why(end: End, error: Event | None) -> str:
    """Why a run failed, in a sentence or a few lines: what it said itself, or what its end and its last words tell."""
    if error is not None and isinstance(error.get("message"), str):
        code = error.get("code")
        message = cast("str", error["message"])
        return f"{message} [{code}]" if isinstance(code, str) else message
    last = "\n".join(_worth_reading(end.tail))
    if end.status < 0:
        name = _signal_name(-end.status)
        reason = _SIGNALS.get(name, f"it was ended by a signal ({name})")
        return f"{reason}\n{last}" if last and name != "SIGKILL" else reason
    if last:
        return last
    return f"it ended without a word (exit status {end.status})"


def _worth_reading(tail: Sequence[str]) -> list[str]:
    """Of a stack trace the exception, of anything else the last lines."""
    for number in range(len(tail) - 1, -1, -1):
        if tail[number].startswith("Traceback (most recent"):
            rest = [line for line in tail[number + 1 :] if not line.startswith(" ")]
            return rest[-1:] or list(tail[-1:])
    return [line.removeprefix(f"{NAME}: ") for line in tail[-_TOLD_LINES:]]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def error_found(server: Server, text: Text, error: Event) -> tuple[str, Found] | None:
    """A run-time error as a diagnostic of the file that it is in, with that file's key; None where it has no place in a text of the
    run. Ranges of events count UTF-16 units, those of diagnostics what was agreed with the client."""
    key = file_key(str(error.get("file", "")))
    source = text.sources.get(key)
    span = None if source is None else _span(source, error.get("range"))
    if source is None or span is None:
        return None
    code = error.get("code")
    diagnostic = types.Diagnostic(
        range=server.documents.converter.range(span),
        message=str(error.get("message", "the run failed here")),
        severity=types.DiagnosticSeverity.Error,
        code=code if isinstance(code, str) else None,
        code_description=types.CodeDescription(href=rule_link(code)) if isinstance(code, str) and code in _CODES else None,
        source=NAME,
    )
    uri = text.document.uri if key == text.document.key else server.publisher.uri_for(text.world, text.document)(source)
    return key, Found(uri, text.world.source(key), [diagnostic])


def _span(source: Source, given: Any) -> Span | None:
    try:
        ends = [source.offset(Position(int(given[end]["line"]), int(given[end]["character"]))) for end in ("start", "end")]
    except (KeyError, TypeError, ValueError):
        return None
    return Span(source, *ends)
