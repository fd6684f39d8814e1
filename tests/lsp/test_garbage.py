"""What one edit after another, as fast as they are answered, leaves behind: garbage is looked for, however much there is of it."""

from __future__ import annotations

import pytest

from support.editor import SERVER, server_environment
from support.peer import Peer
from support.server import URI

FEW, MORE = 4, 8  # edits
MIB = 2**20

# Two functions in each turn that are closed over its number, each in a cycle with what it is closed over.
TEXT = """\
(defun turns (count) (dotimes (i {turns}) (turn i)))
(defun turn (i) (list i (lambda (x) (+ x i 0)) (lambda (x) i)))
(def kept (turns 1))
"""


@pytest.mark.parametrize("turns", [3_400, 6_800])
def test_what_analyses_leave_does_not_pile_up(turns: int) -> None:
    text = TEXT.format(turns=turns)
    line = text.split("\n")[1]
    start = line.index(" 0)") + 1
    spot = {"start": {"line": 1, "character": start}, "end": {"line": 1, "character": start + 1}}
    held: list[int] = []
    with Peer(SERVER, env=server_environment(), settings=lambda section: {}) as peer:
        peer.initialize({"textDocument": {"publishDiagnostics": {"versionSupport": True}}})
        item = {"uri": URI, "languageId": "sx", "version": 0, "text": text}
        peer.notify("textDocument/didOpen", {"textDocument": item})
        for version in range(1, FEW + MORE + 1):
            peer.until(lambda shown=version - 1: peer.published.get(URI, {}).get("version") == shown, "diagnostics")
            held.append(peer.memory())
            change = {"range": spot, "text": str(version % 10)}
            identifier = {"uri": URI, "version": version}
            peer.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": [change]})
    assert max(held[FEW:]) - max(held[:FEW]) < 50 * MIB, [each // MIB for each in held]
