"""The base protocol on top of pygls: what may be asked when, what a malformed message is answered, and whose documents are kept.

What pygls does otherwise, and why not here: a message that it cannot structure gets no answer, and the client waits for ever;
requests before `initialize` and after `shutdown` are served, or not answered; its documents split lines as `str.splitlines` does.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, TypeVar, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcMethodNotFound
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

from sexpgpu_lsp.log import log
from sexpgpu_lsp.prompt import Ready

if TYPE_CHECKING:
    from cattrs import Converter

    from sexpgpu_lsp.server import Server

T = TypeVar("T")

Message = dict[str, Any]
MessageId = int | str

PARSE_ERROR = types.ErrorCodes.ParseError
INVALID_REQUEST = types.ErrorCodes.InvalidRequest
METHOD_NOT_FOUND = types.ErrorCodes.MethodNotFound
INVALID_PARAMS = types.ErrorCodes.InvalidParams
NOT_INITIALIZED = types.ErrorCodes.ServerNotInitialized


def make_converter() -> Converter:
    """pygls' converter, for which a value that an enumeration does not have stays as it is: clients are newer than servers."""
    converter = default_converter()

    def lenient(value: Any, kind: type[enum.Enum]) -> Any:
        try:
            return kind(value)
        except ValueError:
            return value

    for kind in list(vars(types).values()):
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            converter.register_structure_hook(kind, lenient)
    return converter


class Protocol(LanguageServerProtocol):
    """The life of one connection. `receive` takes what comes in, message by message."""

    def __init__(self, server: Server, converter: Converter) -> None:
        self._initialized = False
        self._host = server
        self.handled = ""
        """The notification that is being handled, and what it is about."""
        super().__init__(server, converter)
        handlers: dict[str, Callable[..., None]] = {
            types.SHUTDOWN: self._shut_down,
            types.EXIT: self._exit,
            types.TEXT_DOCUMENT_DID_OPEN: self._did_open,
            types.TEXT_DOCUMENT_DID_CHANGE: self._did_change,
            types.TEXT_DOCUMENT_DID_SAVE: self._did_save,
            types.TEXT_DOCUMENT_DID_CLOSE: self._did_close,
        }
        for method, handler in handlers.items():
            self.fm.add_builtin_feature(method, handler)  # pyright: ignore[reportUnknownMemberType]

    # Messages

    def receive(self, body: bytes) -> None:
        """One message: handle it, or answer what is wrong with it."""
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            self._refuse(None, PARSE_ERROR, "this is no JSON")
            return
        if not isinstance(message, dict):
            self._refuse(None, INVALID_REQUEST, "a message is an object")
            return
        self._message(cast("Message", message))

    def _message(self, message: Message) -> None:
        method, given = message.get("method"), message.get("id")
        asked = given if isinstance(given, int | str) and not isinstance(given, bool) else None
        if message.get("jsonrpc") != self.VERSION or not (isinstance(method, str) or (method is None and "id" in message)):
            self._refuse(asked, INVALID_REQUEST, 'a message has "jsonrpc": "2.0", and a method or the id that it answers')
        elif isinstance(method, str) and "id" in message:
            if asked is None:
                self._refuse(None, INVALID_REQUEST, "an id is a number or a string")
            elif not self._out_of_turn(asked, method):
                self._structured(message, asked, method)
        elif isinstance(method, str):
            if (self._initialized and not self._shutdown) or method == types.EXIT:
                if self._known(method) or method == types.CANCEL_REQUEST:
                    self._structured(message, None, method)
        elif asked in self._request_futures:
            if self._request_futures[asked].done():  # nobody waits for this answer any more
                del self._request_futures[asked]
                self._result_types.pop(asked, None)
            else:
                self._structured(message, None, "")

    def _out_of_turn(self, asked: MessageId, method: str) -> bool:
        """Refuse a request that comes too early, too late, or that nobody here answers."""
        if self._shutdown:
            self._refuse(asked, INVALID_REQUEST, "the server is shutting down")
        elif not self._initialized and method != types.INITIALIZE:
            self._refuse(asked, NOT_INITIALIZED, "the first request is initialize")
        elif self._initialized and method == types.INITIALIZE:
            self._refuse(asked, INVALID_REQUEST, "the server is initialized already")
        elif not self._known(method):
            self._refuse(asked, METHOD_NOT_FOUND, f"there is no {method} here")
        else:
            return False
        return True

    def _known(self, method: str) -> bool:
        try:
            self._get_handler(method)
        except JsonRpcMethodNotFound:
            return False
        return True

    def _structured(self, message: Message, asked: MessageId | None, method: str) -> None:
        """Structure a message and hand it on; where it does not have the structure of its method, say so to whoever waits."""
        try:
            structured: Any = self.structure_message(message)
        except Exception as error:  # noqa: BLE001  the library raises many kinds
            reason = "; ".join(_reasons(error)) or str(error)
            if asked is not None:
                self._refuse(asked, INVALID_PARAMS, f"the parameters of {method} are not what they should be: {reason}")
            else:
                log.warning("a message is not what it should be: %s %s", method, reason)
            return
        self._host.asked_now()
        self.handle_message(structured)

    def _handle_notification(self, method_name: str, params: Any) -> None:
        uri = getattr(getattr(params, "text_document", None), "uri", None)
        self.handled = method_name if uri is None else f"{method_name} of {uri}"
        super()._handle_notification(method_name, params)
        self.handled = ""

    def structure_message(self, data: Message) -> Any:
        """A message as the type of its method. Raises what the converter raises."""
        method = data.get("method")
        if method is None:
            result_type = self._result_types.pop(data["id"], None)
            kind = types.ResponseErrorMessage if "error" in data else result_type
            return super().structure_message(data) if kind is None else self._converter.structure(data, kind)
        kind = self.get_message_type(method)
        return super().structure_message(data) if kind is None else self._converter.structure(data, kind)

    def plain(self, value: Any) -> Any:
        """A value of the protocol's types as it is written."""
        return self._converter.unstructure(value)

    def structured(self, value: Any, kind: type[T]) -> T:
        """What was written as a value of one of the protocol's types. Raises what the converter raises."""
        return self._converter.structure(value, kind)

    def _send_response(self, msg_id: MessageId, result: Any = None, error: types.ResponseError | None = None) -> None:
        """Answer a request. pygls makes objects of the protocol's types of every answer, which takes longer than to find them."""
        if not isinstance(result, Ready):
            super()._send_response(msg_id, result, error)
            return
        self._result_types.pop(msg_id, None)
        self._write(f'{{"id": {json.dumps(msg_id)}, "jsonrpc": "{self.VERSION}", "result": {result.text}}}')

    def _refuse(self, asked: MessageId | None, code: types.ErrorCodes, message: str) -> None:
        if asked is not None:
            self._send_response(asked, error=types.ResponseError(code=code.value, message=message))
        else:  # pygls leaves out what is None, and JSON-RPC wants a null there
            error = {"code": code.value, "message": message}
            self._write(json.dumps({"id": None, "jsonrpc": self.VERSION, "error": error}))

    def _write(self, body: str) -> None:
        """Send a message that is JSON in ASCII already."""
        if self.writer is not None:
            self.writer.write(f"Content-Length: {len(body)}\r\n\r\n{body}".encode("ascii"))

    # Life

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """The first request: agree on what client and server can."""
        self._initialized = True
        result = yield from super().lsp_initialize(params)
        self._host.began(params, result.capabilities)
        return result

    def _shut_down(self, _: Any) -> None:
        """The last request: what is under way is cancelled."""
        current = self.msg_id
        for asked, future in list(self._request_futures.items()):
            if asked != current:
                future.cancel()
        self._shutdown = True

    def _exit(self, _: Any) -> None:
        """The end; without a shutdown before it, an untimely one."""
        self._host.stop(0 if self._shutdown else 1)

    @property
    def was_shut_down(self) -> bool:
        """Whether the client has said that the end is near."""
        return self._shutdown

    # Documents

    def _did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        self._host.opened(document.uri, document.version, document.text)

    def _did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self._host.changed(params.text_document.uri, params.text_document.version, params.content_changes)

    def _did_save(self, params: types.DidSaveTextDocumentParams) -> None:
        self._host.saved(params.text_document.uri)

    def _did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._host.closed(params.text_document.uri)


def _reasons(error: BaseException) -> list[str]:
    """What a failure to structure is about, in a few words."""
    inside = getattr(error, "exceptions", None)
    if inside is None:
        return [f"{type(error).__name__} {error}"[:200]]
    return [reason for each in inside for reason in _reasons(each)][:3]
