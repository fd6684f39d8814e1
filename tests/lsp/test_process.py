"""The server as a process: how it begins, what it makes of nonsense, and that it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

import pytest

from support.editor import PATIENCE, SERVER, Wire, server_environment
from support.server import BUSY, SLOW, URI, code, patched

HOVER = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 1}}

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, NOT_INITIALIZED = -32700, -32600, -32601, -32602, -32002
CANCELLED, MODIFIED = -32800, -32801


# Ends


def test_shutdown_then_exit_is_a_good_end() -> None:
    with Wire() as wire:
        wire.initialize()
        assert wire.ask("shutdown") == {"jsonrpc": "2.0", "id": 1, "result": None}
        wire.notify("exit")
        assert wire.goes(within=1.0) == 0
        assert wire.errors() == ""


def test_exit_before_initialize() -> None:
    with Wire() as wire:
        wire.notify("exit")
        assert wire.goes(within=PATIENCE) == 1


def test_the_end_of_its_input_is_the_end() -> None:
    with Wire() as wire:
        wire.initialize()
        assert wire.process.stdin is not None
        wire.process.stdin.close()
        assert wire.goes(within=1.0) == 1


@pytest.mark.parametrize("end", ["exit", "close"])
def test_an_analysis_that_takes_long_does_not_keep_it(end: str) -> None:
    with Wire() as wire:
        wire.initialize()
        wire.open(URI, SLOW)
        time.sleep(0.1)
        if end == "exit":
            wire.ask("shutdown")
            wire.notify("exit")
        else:
            assert wire.process.stdin is not None
            wire.process.stdin.close()
        assert wire.goes(within=1.5) == (0 if end == "exit" else 1)


def test_it_ends_with_the_process_that_it_is_for() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as parent, Wire() as wire:
        wire.initialize(processId=parent.pid)
        assert wire.process.poll() is None
        parent.kill()
        parent.wait()
        assert wire.goes(within=1.0 + 0.5) == 1


def test_a_process_that_it_cannot_see_does_not_end_it() -> None:
    with Wire() as wire:
        wire.initialize(processId=2**22 + 1)  # as from another container
        time.sleep(0.6)
        assert "result" in wire.ask("textDocument/hover", HOVER)


def test_a_client_that_does_not_read_does_not_keep_it() -> None:
    with Wire() as wire:
        wire.initialize()
        for version in range(40):
            wire.open(f"untitled:{version}", "(def a b)\n" * 200)
        wire.notify("exit")
        assert wire.goes(within=3.0) == 1


def test_an_interrupt_ends_it_without_a_trace() -> None:
    with Wire() as wire:
        wire.initialize()
        wire.process.send_signal(signal.SIGINT)
        assert wire.goes(within=1.0) == 128 + signal.SIGINT
        assert wire.errors() == ""


# Order


def test_requests_out_of_turn_are_refused() -> None:
    with Wire() as wire:
        assert code(wire.ask("textDocument/hover", HOVER)) == NOT_INITIALIZED
        wire.open(URI, "(def a b)")
        wire.initialize()
        assert wire.ask("textDocument/hover", HOVER)["result"] is None
        assert code(wire.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})) == INVALID_REQUEST
        wire.ask("shutdown")
        assert code(wire.ask("textDocument/hover", HOVER, 2)) == INVALID_REQUEST
        assert code(wire.ask("shutdown", None, 3)) == INVALID_REQUEST
        wire.open(URI, "(def a b)")
        wire.notify("exit")
        assert wire.goes(within=1.0) == 0


# Nonsense


def test_what_is_no_message_is_answered_and_survived() -> None:
    with Wire(encoding_header=True) as wire:
        wire.initialize()
        refused: list[tuple[bytes, int | str | None, int]] = [
            (b"{", None, PARSE_ERROR),
            (b"\xff\xfe", None, PARSE_ERROR),
            (b"[" * 100_000, None, PARSE_ERROR),
            (b"[]", None, INVALID_REQUEST),
            (b"null", None, INVALID_REQUEST),
            (b"{}", None, INVALID_REQUEST),
            (b'{"jsonrpc": "1.0", "id": 5, "method": "shutdown"}', 5, INVALID_REQUEST),
            (b'{"jsonrpc": "2.0", "id": null, "method": "shutdown"}', None, INVALID_REQUEST),
            (b'{"jsonrpc": "2.0", "id": 7, "method": 3}', 7, INVALID_REQUEST),
            (b'{"jsonrpc": "2.0", "id": 6, "method": "no/such"}', 6, NO_METHOD),
            (b'{"jsonrpc": "2.0", "id": "x", "method": "textDocument/hover"}', "x", INVALID_PARAMS),
            (b'{"jsonrpc": "2.0", "id": 8, "method": "textDocument/hover", "params": {}}', 8, INVALID_PARAMS),
            (b'{"jsonrpc": "2.0", "id": 9, "method": "textDocument/hover", "params": [1]}', 9, INVALID_PARAMS),
        ]
        for body, number, expected in refused:
            wire.body(body)
            answer = wire.response(number)
            assert code(answer) == expected, body
            assert "id" in answer  # null where it is not known
        wire.body(b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": 4}}')
        wire.body(b'{"jsonrpc": "2.0", "method": "$/unknown"}')
        wire.body(b'{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 77}}')
        wire.body(b'{"jsonrpc": "2.0", "id": "no-such", "result": {}}')
        wire.bytes(b"Nonsense\r\n\r\n")
        assert wire.ask("textDocument/hover", HOVER)["result"] is None
        wire.ask("shutdown")
        wire.notify("exit")
        assert wire.goes(within=1.0) == 0
        errors = wire.errors()
        assert errors.count("\n") == 1, errors
        assert "didOpen" in errors


def test_values_that_only_a_newer_client_knows() -> None:
    with Wire() as wire:
        answer = wire.initialize(
            {
                "general": {"positionEncodings": ["utf-64", "utf-8"]},
                "textDocument": {
                    "hover": {"contentFormat": ["asciidoc", "markdown"]},
                    "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "magic"]}}},
                    "publishDiagnostics": {"tagSupport": {"valueSet": [1, 2, 99]}},
                    "completion": {"completionItemKind": {"valueSet": [1, 999]}},
                },
                "workspace": {"workspaceEdit": {"failureHandling": "magic"}},
                "newer": {"than": "this"},
            },
            trace="magic",
            unheard={"of": 1},
        )
        assert answer["result"]["capabilities"]["positionEncoding"] == "utf-8"


@pytest.mark.parametrize("root", [{"rootUri": "vscode-vfs://github/x"}, {"rootPath": "/nowhere", "workspaceFolders": []}])
def test_folders_of_any_kind(root: dict[str, Any]) -> None:
    with Wire() as wire:
        assert "result" in wire.initialize(**root)
        wire.open(URI, "(def a b)")
        assert wire.read()["params"]["diagnostics"][0]["code"] == "E-NAME-001"


# Faults inside


def test_what_prints_does_not_disturb_the_protocol() -> None:
    program = (
        "import os, sexpgpu.analysis as a, sexpgpu_lsp.analyses as b\n"
        "def noisy(*args):\n"
        "    print('noise', flush=True); os.write(1, b'more noise'); os.system('echo even more')\n"
        "    assert sys.stdin.read() == ''\n"
        "    return a.analyse(*args)\n"
        "b.analyse = noisy\n"
    )
    with Wire(patched(program)) as wire:
        wire.initialize()
        wire.open(URI, "(def a b)")
        assert wire.read()["params"]["diagnostics"][0]["code"] == "E-NAME-001"
        wire.notify("exit")
        wire.goes(within=2.0)
        said = wire.errors()
        assert all(noise in said for noise in ("noise\n", "more noise", "even more"))


def test_a_handler_that_raises_is_one_line_in_the_log() -> None:
    program = (
        "import sexpgpu_lsp.hover as a, sexpgpu_lsp.navigation as b\n"
        "def broken(*args): raise ZeroDivisionError('of\\nall things')\n"
        "a.hover = b.definitions = broken\n"
    )
    with Wire(patched(program)) as wire:
        wire.initialize()
        wire.open(URI, "(def a b)")
        wire.read()
        assert wire.ask("textDocument/hover", HOVER)["result"] is None
        assert wire.ask("textDocument/definition", HOVER, 2)["result"] is None
        assert wire.ask("textDocument/diagnostic", {"textDocument": {"uri": URI}}, 3)["result"]["items"]
        wire.ask("shutdown")
        wire.notify("exit")
        assert wire.goes(within=1.0) == 0
        lines = wire.errors().splitlines()
        assert len(lines) == 2
        assert "textDocument/hover failed: ZeroDivisionError: of all things" in lines[0]


def test_an_analysis_that_raises_is_one_line_in_the_log_and_over_with_the_next_text() -> None:
    program = (
        "import sexpgpu.analysis as a, sexpgpu_lsp.analyses as b\n"
        "def broken(source, *args):\n"
        "    if 'bad' in source.text: raise ZeroDivisionError('in here')\n"
        "    return a.analyse(source, *args)\n"
        "b.analyse = broken\n"
    )
    with Wire(patched(program)) as wire:
        wire.initialize()
        wire.open(URI, "(def bad b)")
        assert wire.ask("textDocument/hover", HOVER)["result"] is None
        answer = wire.ask("textDocument/diagnostic", {"textDocument": {"uri": URI}}, 3)
        assert answer["error"]["data"] == {"retriggerRequest": False}
        wire.notify("textDocument/didChange", textDocument={"uri": URI, "version": 2}, contentChanges=[{"text": "(def good b)"}])
        params = wire.read()["params"]
        assert (params["version"], len(params["diagnostics"])) == (2, 1)
        wire.notify("exit")
        assert wire.goes(within=1.0) == 1
        assert wire.errors().count("\n") == 1


# While something runs


def test_a_request_for_a_text_that_has_changed_says_so() -> None:
    with Wire() as wire:
        wire.initialize()
        wire.open("untitled:busy", BUSY)
        time.sleep(0.1)
        wire.open(URI, "(def a 1)")
        wire.body(json.dumps({"jsonrpc": "2.0", "id": 4, "method": "textDocument/hover", "params": HOVER}).encode())
        wire.notify("textDocument/didChange", textDocument={"uri": URI, "version": 2}, contentChanges=[{"text": "(def b 1)"}])
        assert code(wire.response(4)) == MODIFIED


def test_a_request_that_is_cancelled_is_not_worked_for() -> None:
    program = "import sexpgpu_lsp.hover as a\ndef loud(*args): raise ZeroDivisionError\na.hover = loud\n"
    with Wire(patched(program)) as wire:
        wire.initialize()
        wire.open("untitled:busy", BUSY)
        time.sleep(0.1)
        wire.open(URI, "(def a 1)")
        wire.body(json.dumps({"jsonrpc": "2.0", "id": 4, "method": "textDocument/hover", "params": HOVER}).encode())
        wire.notify("$/cancelRequest", id=4)
        begun = time.monotonic()
        assert code(wire.response(4)) == CANCELLED
        assert time.monotonic() - begun < 0.5
        assert "result" in wire.ask("textDocument/documentSymbol", {"textDocument": {"uri": URI}}, 5)
        wire.notify("exit")
        wire.goes(within=1.0)
        assert "ZeroDivisionError" not in wire.errors()


def test_shutdown_with_requests_under_way() -> None:
    with Wire() as wire:
        wire.initialize()
        wire.open("untitled:slow", SLOW)
        time.sleep(0.1)
        for number in range(10, 14):
            params = {**HOVER, "textDocument": {"uri": "untitled:slow"}}
            wire.body(json.dumps({"jsonrpc": "2.0", "id": number, "method": "textDocument/hover", "params": params}).encode())
        wire.body(b'{"jsonrpc": "2.0", "id": 20, "method": "shutdown"}')
        answers: dict[int, Any] = {}
        while len(answers) < 5:
            answer = wire.read()
            if "id" in answer:
                answers[answer["id"]] = answer
        assert answers[20]["result"] is None
        assert {code(answers[number]) for number in range(10, 14)} == {CANCELLED}


# Another way in


def test_one_port_of_this_machine() -> None:
    server = subprocess.Popen([*SERVER, "--tcp", "0"], stderr=subprocess.PIPE, env=server_environment())
    try:
        assert server.stderr is not None
        said = server.stderr.readline().decode()
        host, _, port = said.split()[-1].partition(":")
        assert host == "127.0.0.1"
        with socket.create_connection((host, int(port))) as connection:
            for message in (
                {"id": 0, "method": "initialize", "params": {"processId": os.getpid(), "rootUri": None, "capabilities": {}}},
                {"id": 1, "method": "shutdown"},
                {"method": "exit"},
            ):
                body = json.dumps({"jsonrpc": "2.0", **message}).encode()
                connection.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            answered = b""
            while piece := connection.recv(65536):
                answered += piece
        assert answered.count(b"Content-Length") == 2
        assert server.wait(PATIENCE) == 0
    finally:
        server.kill()
        server.communicate()


def test_no_module_of_the_backend_is_loaded() -> None:
    program = "import sys, sexpgpu_lsp.server\nprint(sorted({'jax', 'numpy', 'sexpgpu_jax', 'rich'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=server_environment())
    assert done.stdout.strip() == "[]"


def test_the_first_change_after_quiet_is_looked_at_at_once_and_a_burst_waits() -> None:
    quiet = 1.0
    with Wire() as wire:
        wire.initialize(initializationOptions={"check": {"debounce": 1000 * quiet}})

        def change(version: int, text: str) -> None:
            wire.notify("textDocument/didChange", textDocument={"uri": URI, "version": version}, contentChanges=[{"text": text}])

        begun = time.monotonic()
        wire.open(URI, "(def a b)")
        assert wire.read()["params"]["version"] == 1
        for version in range(2, 10):
            change(version, f"(def a b{version})")
        answer = wire.read()["params"]
        assert time.monotonic() - begun >= quiet
        assert answer["version"] == 9
        assert "`b9`" in answer["diagnostics"][0]["message"]
        time.sleep(quiet)
        begun = time.monotonic()
        change(10, "(def a 1)")
        assert wire.read()["params"] == {"uri": URI, "version": 10, "diagnostics": []}
        assert time.monotonic() - begun < quiet
