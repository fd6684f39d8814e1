"""The other end of a language server of any kind: messages out and in on its standard streams, one thread, nothing lost."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

Message = dict[str, Any]

_PIECE = 2**16


class Silence(AssertionError):
    """What was waited for did not come."""


class Peer:
    """A server that was started, and what it has sent. Its requests are answered as they come: with what `settings` says for
    `workspace/configuration`, otherwise with nothing."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: dict[str, str] | None = None,
        folder: Path | None = None,
        settings: Callable[[str], Any] = lambda section: None,
    ) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the server
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=env, cwd=folder
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in, self._out = self.process.stdin, self.process.stdout
        self._settings = settings
        self._waiting = bytearray()
        self._number = 0
        self.asked: dict[int, str] = {}
        """The requests that have no answer yet."""
        self.answers: dict[int, Message] = {}
        self.published: dict[str, Message] = {}
        """What was published last, by URI as the server writes it."""
        self.heard: Callable[[Message], object] = lambda message: None
        """Is given every message."""

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        with suppress(BrokenPipeError):
            self._in.close()
        self._out.close()
        self._errors.close()

    def send(self, message: Message, *, escaped: bool = True) -> None:
        """`escaped` writes what is not ASCII as `\\u` escapes, a lone surrogate too."""
        body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=escaped).encode()
        self._in.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._in.flush()

    def notify(self, method: str, params: Any, *, escaped: bool = True) -> None:
        self.send({"method": method, "params": params}, escaped=escaped)

    def request(self, method: str, params: Any) -> int:
        """Ask, without waiting; the number of the answer."""
        self._number += 1
        self.asked[self._number] = method
        self.send({"id": self._number, "method": method, "params": params})
        return self._number

    def ask(self, method: str, params: Any, within: float = 60.0) -> Any:
        """The result of a request. Raises Silence; AssertionError where it is an error."""
        number = self.request(method, params)
        self.until(lambda: number in self.answers, f"an answer to {method}", within)
        answer = self.answers.pop(number)
        assert "error" not in answer, answer
        return answer["result"]

    def until(self, holds: Callable[[], bool], what: str, within: float = 60.0) -> None:
        """Read until something holds. Raises Silence."""
        end = time.monotonic() + within
        while not holds():
            if not self.read(end - time.monotonic()):
                raise Silence(f"{what} did not come within {within:.0f} s\n{self.errors()[-2000:]}")

    def read(self, within: float) -> bool:
        """Take in the messages that are there, or the next one; whether any was."""
        message = self._message(within)
        while message is not None:
            self._take(message)
            message = self._message(0)
            if message is None:
                return True
        return False

    def initialize(self, capabilities: Message, folder: Path | None = None) -> Message:
        uri = None if folder is None else folder.as_uri()
        folders = None if folder is None else [{"uri": uri, "name": folder.name}]
        params = {"processId": os.getpid(), "rootUri": uri, "workspaceFolders": folders, "capabilities": capabilities}
        answer = self.ask("initialize", params)
        self.notify("initialized", {})
        return answer["capabilities"]

    def end(self) -> int:
        """Shut it down; its exit status."""
        self.ask("shutdown", None)
        self.send({"method": "exit"})
        return self.process.wait(30)

    def errors(self) -> str:
        """What it has written on standard error."""
        self._errors.seek(0)
        return self._errors.read().decode("utf-8", "replace")

    def memory(self) -> int:
        """The bytes that it holds of the machine's memory."""
        status = Path(f"/proc/{self.process.pid}/status")
        if status.exists():
            return 1024 * int(status.read_text().partition("VmRSS:")[2].split()[0])
        shown = subprocess.run(["ps", "-o", "rss=", "-p", str(self.process.pid)], check=True, capture_output=True)
        return 1024 * int(shown.stdout)

    def _take(self, message: Message) -> None:
        method, number = message.get("method"), message.get("id")
        if method is None:
            assert number in self.asked, f"an answer that nobody asked for: {message}"
            del self.asked[number]
            self.answers[number] = message
        elif number is not None:
            items = message["params"]["items"] if method == "workspace/configuration" else None
            result = None if items is None else [self._settings(item.get("section") or "") for item in items]
            self.send({"id": number, "result": result})
        elif method == "textDocument/publishDiagnostics":
            self.published[message["params"]["uri"]] = message["params"]
        self.heard(message)

    def _message(self, within: float) -> Message | None:
        """The next message; None where none comes in time."""
        end = time.monotonic() + within
        while True:
            start = self._waiting.find(b"\r\n\r\n")
            if start >= 0:
                header = bytes(self._waiting[:start]).lower()
                length = int(header.partition(b"content-length:")[2].split()[0])
                if len(self._waiting) >= start + 4 + length:
                    body = bytes(self._waiting[start + 4 : start + 4 + length])
                    del self._waiting[: start + 4 + length]
                    return json.loads(body)
            ready, _, _ = select.select([self._out], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return None
            piece = os.read(self._out.fileno(), _PIECE)
            assert piece, f"the server has gone\n{self.errors()[-2000:]}"
            self._waiting += piece
