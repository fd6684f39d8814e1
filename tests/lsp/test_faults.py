"""Faults that other servers were shipped with, which no test of a feature looks for: each kind once, byte by byte."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from support.editor import Wire
from support.server import BUSY, SLOW, URI, code, patched

CANCELLED = -32800


def request(wire: Wire, number: int, method: str, **params: Any) -> None:
    """Ask, and do not wait."""
    wire.body(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode())


def until(wire: Wire, number: int) -> tuple[list[dict[str, Any]], Any]:
    """What comes before a response, and the response."""
    before: list[dict[str, Any]] = []
    while (message := wire.read()).get("id") != number or "method" in message:
        before.append(message)
    return before, message


def at(line: int, character: int) -> dict[str, Any]:
    return {"textDocument": {"uri": URI}, "position": {"line": line, "character": character}}


# Cancelling and ending


def test_requests_that_run_are_cancelled_at_once() -> None:
    asked: list[tuple[str, dict[str, Any]]] = [
        ("textDocument/hover", at(0, 1)),
        ("textDocument/semanticTokens/full", {"textDocument": {"uri": URI}}),
        ("workspace/executeCommand", {"command": "sexpgpu.explain", "arguments": [{"uri": URI}]}),
        ("workspace/diagnostic", {"previousResultIds": []}),
    ]
    with Wire() as wire:
        wire.initialize()
        wire.open(URI, SLOW)
        for number, (method, params) in enumerate(asked, 10):
            request(wire, number, method, **params)
        time.sleep(0.3)
        for number in range(10, 10 + len(asked)):
            begun = time.monotonic()
            wire.notify("$/cancelRequest", id=number)
            assert code(until(wire, number)[1]) == CANCELLED
            assert time.monotonic() - begun < 0.5
            wire.notify("$/cancelRequest", id=number)
        wire.open("untitled:other", "(def a b)")
        request(wire, 5, "textDocument/diagnostic", textDocument={"uri": "untitled:other"})
        assert len(until(wire, 5)[1]["result"]["items"]) == 1


def test_shutdown_with_a_command_under_way() -> None:
    with Wire() as wire:
        wire.initialize()
        wire.open(URI, SLOW)
        request(wire, 4, "workspace/executeCommand", command="sexpgpu.explain", arguments=[{"uri": URI}])
        time.sleep(0.1)
        request(wire, 5, "shutdown")
        answers = {message["id"]: message for message in (wire.read() for _ in range(2))}
        assert code(answers[4]) == CANCELLED
        assert answers[5]["result"] is None
        wire.notify("exit")
        assert wire.goes(within=1.0) == 0
        assert wire.errors() == ""


def test_an_answer_that_nobody_waits_for_any_more_is_dropped() -> None:
    with Wire() as wire:
        wire.initialize({"workspace": {"applyEdit": True}})
        wire.open(URI, "(def a 1)")
        argument = {"uri": URI, "version": 1, "edit": {"changes": {}}}
        request(wire, 4, "workspace/executeCommand", command="sexpgpu.apply", arguments=[argument])
        while (asked := wire.read())["method"] != "workspace/applyEdit":
            pass
        wire.notify("$/cancelRequest", id=4)
        assert code(until(wire, 4)[1]) == CANCELLED
        wire.body(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"applied": True}}).encode())
        wire.ask("shutdown")
        wire.notify("exit")
        assert wire.goes(within=1.0) == 0
        assert wire.errors() == ""


# Whoever types is not disturbed


def test_a_change_that_raises_is_a_line_in_the_log_and_no_message() -> None:
    program = (
        "import sexpgpu_lsp.documents as a\n"
        "before = a.Documents.change\n"
        "def broken(self, uri, version, changes):\n"
        "    if version < 5: raise ZeroDivisionError('in\\na change')\n"
        "    return before(self, uri, version, changes)\n"
        "a.Documents.change = broken\n"
    )
    with Wire(patched(program)) as wire:
        wire.initialize()
        wire.open(URI, "(def a b)")
        for version in range(2, 6):
            wire.notify(
                "textDocument/didChange", textDocument={"uri": URI, "version": version}, contentChanges=[{"text": "(def a c d)"}]
            )
        request(wire, 5, "textDocument/diagnostic", textDocument={"uri": URI})
        before, answer = until(wire, 5)
        assert {message["method"] for message in before} <= {"textDocument/publishDiagnostics"}
        assert [each["code"] for each in answer["result"]["items"]] == ["E-FORM-001"]
        wire.ask("shutdown")
        wire.notify("exit")
        assert wire.goes(within=1.0) == 0
        lines = wire.errors().splitlines()
        assert len(lines) == 3
        assert all("textDocument/didChange" in line and URI in line and "in a change" in line for line in lines), lines


def test_a_quiet_session_writes_nothing_to_standard_error(tmp_path: Path) -> None:
    with Wire() as wire:
        wire.initialize(rootUri=tmp_path.as_uri())
        wire.open(URI, "(def a (zeros [2]))\n(def b c)\n")
        for number, method in enumerate(("hover", "definition", "completion", "references"), 10):
            wire.ask(f"textDocument/{method}", {**at(1, 7), "context": {"includeDeclaration": True, "triggerKind": 1}}, number)
        wire.ask("shutdown")
        wire.notify("exit")
        assert wire.goes(within=1.0) == 0
        assert wire.errors() == ""


# Texts and places that nobody thought of


@pytest.mark.parametrize("opener", ["(", "(let ((a "])
def test_deep_nesting_is_survived(opener: str) -> None:
    with Wire() as wire:
        wire.initialize()
        wire.open(URI, opener * 30_000)
        request(wire, 5, "textDocument/diagnostic", textDocument={"uri": URI})
        answer = until(wire, 5)[1]
        assert "result" in answer or answer["error"]["code"] == -32802
        wire.notify("textDocument/didChange", textDocument={"uri": URI, "version": 2}, contentChanges=[{"text": "(def a b)"}])
        for number, method in enumerate(("textDocument/selectionRange", "textDocument/foldingRange"), 6):
            assert "result" in wire.ask(method, {"textDocument": {"uri": URI}, "positions": []}, number)
        assert len(wire.ask("textDocument/diagnostic", {"textDocument": {"uri": URI}}, 9)["result"]["items"]) == 1


def test_places_outside_of_the_text_are_clamped_in_requests_too() -> None:
    with Wire() as wire:
        wire.initialize()
        wire.open(URI, "(def 漢 😀)")
        for place in ((0, 2**31 - 1), (2**31 - 1, 0), (10**9, 10**9), (1, 0), (0, 10)):
            ask_everything(wire, place)


def ask_everything(wire: Wire, place: tuple[int, int]) -> None:
    context = {"includeDeclaration": True, "triggerKind": 1, "diagnostics": []}
    for number, method in enumerate(("hover", "completion", "definition", "references", "prepareCallHierarchy"), 1):
        assert "result" in wire.ask(f"textDocument/{method}", {**at(*place), "context": context}, number)
    span = {"start": {"line": 0, "character": 0}, "end": at(*place)["position"]}
    for number, method in enumerate(("codeAction", "inlayHint", "semanticTokens/range"), 10):
        answer = wire.ask(f"textDocument/{method}", {"textDocument": {"uri": URI}, "range": span, "context": context}, number)
        assert "result" in answer


def test_a_folder_with_a_space_and_more_in_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "a b ü 漢"
    folder.mkdir()
    (folder / "part.sx").write_text("(def b 1)\n", "utf-8")
    with Wire() as wire:
        wire.initialize(rootUri=folder.as_uri())
        wire.open((folder / "x.sx").as_uri(), '(load "part.sx")\n(def a (+ b 1))\n')
        assert wire.read()["params"] == {"uri": (folder / "x.sx").as_uri(), "version": 1, "diagnostics": []}


def test_a_busy_server_takes_in_what_it_is_told() -> None:
    """Its reader does not share a thread with what it works on."""
    with Wire() as wire:
        wire.initialize()
        wire.open("untitled:busy", BUSY)
        for number in range(10, 30):
            request(wire, number, "textDocument/hover", textDocument={"uri": "untitled:busy"}, position={"line": 0, "character": 1})
        begun = time.monotonic()
        assert code(wire.ask("no/such", {}, 40)) == -32601
        assert time.monotonic() - begun < 0.5
        for number in range(10, 30):
            assert "result" in until(wire, number)[1]
