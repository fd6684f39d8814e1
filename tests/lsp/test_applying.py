"""Code actions with a client that knows commands alone, but makes the edits that a server asks for."""

from __future__ import annotations

import json

from support.editor import Wire

URI = "untitled:x"
TEXT = "(def a (+ (iota [2]) (zeros [2])))\n"


def test_an_action_is_a_command_and_its_edit_is_asked_for() -> None:
    with Wire() as wire:
        assert wire.initialize({"workspace": {"applyEdit": True}})["result"]["capabilities"]["codeActionProvider"] is True
        wire.open(URI, TEXT)
        at = {"line": 0, "character": 8}
        params = {"textDocument": {"uri": URI}, "range": {"start": at, "end": at}, "context": {"diagnostics": []}}
        commands = wire.ask("textDocument/codeAction", params)["result"]
        cast = next(each for each in commands if "cast" in each["title"])
        execute = {"command": cast["command"], "arguments": cast["arguments"]}
        wire.body(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "workspace/executeCommand", "params": execute}).encode())
        while (asked := wire.read()).get("method") != "workspace/applyEdit":
            pass
        (edit,) = asked["params"]["edit"]["changes"][URI]
        start, end = (edit["range"][side]["character"] for side in ("start", "end"))
        assert TEXT[:start] + edit["newText"] + TEXT[end:] == TEXT.replace("(iota [2])", "(cast (iota [2]) :f32)")
        refused = {"applied": False, "failureReason": "read only"}
        wire.body(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": refused}).encode())
        assert wire.response(2)["error"]["message"] == "read only"
        wire.notify("textDocument/didChange", textDocument={"uri": URI, "version": 2}, contentChanges=[{"text": TEXT}])
        stale = wire.ask("workspace/executeCommand", execute, 3)
        assert "has changed" in stale["error"]["message"]
        for arguments in ([], [7], [{}], [{**cast["arguments"][0], "version": 2, "edit": 7}]):
            answer = wire.ask("workspace/executeCommand", {"command": cast["command"], "arguments": arguments}, 4)
            assert answer["error"]["code"] == -32602
