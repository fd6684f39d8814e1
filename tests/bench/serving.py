"""Language servers over the wire, ours on 1,000 lines with a 12-layer transformer and others' on as many lines of Python: from a
keystroke to its diagnostics, hover, and completion at a word that has just been begun. The processor's time is the server's, of the
mean question."""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench import Row, Times, at
from bench.cold import other_checkers
from bench.programs import python_file, transformer
from bench.running import processor
from support.peer import Message, Peer

LINES = 1000
KEYSTROKES = 40
QUESTIONS = 40
WARM = 5  # of each, not measured
QUIET = 0.06  # seconds between two keystrokes: more than a server waits for the next
_FLOOR = "basedpyright"
PUBLISHED = "textDocument/publishDiagnostics"

# What VS Code and Neovim have in common, as far as servers write more or less by it.
_CLIENT: Message = {
    "textDocument": {
        "synchronization": {"didSave": True},
        "publishDiagnostics": {"versionSupport": True, "relatedInformation": True, "codeDescriptionSupport": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "completion": {
            "completionItem": {"snippetSupport": True, "documentationFormat": ["markdown", "plaintext"]},
            "completionList": {"itemDefaults": ["editRange", "insertTextFormat", "insertTextMode", "data"]},
        },
    },
    "workspace": {"configuration": True, "workspaceFolders": True},
    "general": {"positionEncodings": ["utf-16"]},
}


class Served(NamedTuple):
    """A server with what it is shown. A keystroke is one letter more in one of `words`, then without it; a word begins with an `s`
    where `begun` is found. Without `asked` it gives diagnostics alone. `budgets` are for the median of keystrokes, and for all but
    one in twenty of them and of questions."""

    name: str
    command: Sequence[str]
    file: str
    text: str
    words: dict[str, str]
    begun: str
    asked: bool = True
    budgets: tuple[float | None, float | None, float | None] = (None, None, None)


def served(others: Path) -> list[Served]:
    """All servers, that to which ours is held before ours."""
    mine, theirs = transformer(LINES), python_file(LINES)
    words = {"": r"\b(?:softmax|random|batch|total|weights)\b(?=[.(\[])"}
    ours = {"": r"(?<=[( ])(?:logits|labels|losses|chances|x|h|q|k)(?=[ )])", " in a layer": r"(?<= )(?:x|q|k|v|gate|up)(?=[ )])"}
    begun = r"(?<=return )\["
    return [
        Served("pyrefly", [str(others / "pyrefly"), "lsp"], "layers.py", theirs, words, begun),
        Served("ruff", [str(others / "ruff"), "server"], "layers.py", theirs, words, begun, asked=False),
        Served(_FLOOR, [str(others / "basedpyright-langserver"), "--stdio"], "layers.py", theirs, words, begun),
        Served(
            "sexpgpu",
            [sys.executable, "-m", "sexpgpu", "lsp"],
            "run.sx",
            mine,
            ours,
            r"(?<=\(mean )surprise",
            budgets=(15, 50, 10),
        ),
    ]


def rows(folder: Path) -> Iterator[Row]:
    """Ask each server in turn, in a folder of its own. The medians of ours lie below those of basedpyright."""
    floors: dict[str, float] = {}
    for server in served(other_checkers()):
        home = folder / f"served-{server.name}"
        home.mkdir()
        keystroke, few, question = server.budgets
        for what, times in _asked(server, home):
            kind = what.partition(" ")[0]
            if server.name == _FLOOR:
                floors[kind] = at(times.wall, 0.5)
            typed = kind == "diagnostics"
            middle = None if keystroke is None else min(keystroke, floors[kind]) if typed else floors[kind]
            yield times.row(f"{server.name}: {what}, p50", middle)
            yield times.row(f"{server.name}: {what}, p95", few if typed else question, 0.95)


def _asked(server: Served, folder: Path) -> Iterator[tuple[str, Times]]:
    """What was measured, by what it was."""
    (folder / server.file).write_text(server.text, "utf-8")
    with Peer(server.command, folder=folder, settings=lambda section: {}) as peer:
        peer.initialize(_CLIENT, folder)
        page = _Page(peer, folder / server.file, server.text)
        for where, pattern in server.words.items():
            yield f"diagnostics{where}", _diagnostics(page, pattern)
        if server.asked:
            yield "hover", _hover(page, re.compile(r"(?<![\w.-])[a-z][a-z-]+"))
            yield "completion", _completion(page, server.begun)


class _Page:
    """An open document."""

    def __init__(self, peer: Peer, path: Path, text: str) -> None:
        self.peer = peer
        self.text = text
        self.uri = path.as_uri()
        self.version = 0
        self._lines = text.split("\n")
        item = {"uri": self.uri, "languageId": "python" if path.suffix == ".py" else "sx", "version": 0, "text": text}
        self._seen = 0
        peer.heard = self._heard
        peer.notify("textDocument/didOpen", {"textDocument": item})
        peer.until(lambda: bool(self._seen), "the first diagnostics")

    def position(self, offset: int) -> dict[str, int]:
        before = self.text.count("\n", 0, offset)
        return {"line": before, "character": offset - (self.text.rfind("\n", 0, offset) + 1)}

    def replace(self, offset: int, length: int, text: str) -> None:
        """Send a change; the text itself stays, for the change is taken back."""
        self.version += 1
        self._seen = 0
        start = self.position(offset)
        end = {**start, "character": start["character"] + length}
        change = {"range": {"start": start, "end": end}, "text": text}
        identifier = {"uri": self.uri, "version": self.version}
        self.peer.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": [change]})

    def shown(self) -> None:
        """Wait for the diagnostics of the text as it is."""
        self.peer.until(lambda: self._seen > 0, f"diagnostics of version {self.version}")

    def quiet(self) -> None:
        """Nobody types for a while; whatever the server still says of before is taken in."""
        end = time.monotonic() + QUIET
        while (left := end - time.monotonic()) > 0:
            self.peer.read(left)

    def _heard(self, message: Message) -> None:
        if message.get("method") == PUBLISHED and message["params"].get("version", self.version) == self.version:
            self._seen += 1


def _measured(page: _Page, count: int, once: Callable[[random.Random], float]) -> Times:
    """`once` gives the seconds that one measurement took."""
    chance, times = random.Random(0), Times()
    worked = 0.0
    for number in range(count + WARM):
        if number == WARM:
            worked = _worked(page.peer.process.pid)
        page.quiet()
        seconds = once(chance)
        if number >= WARM:
            times.add(seconds, 0.0)
    times.processor = [1000 * (_worked(page.peer.process.pid) - worked) / count] * count
    return times


def _worked(process: int) -> float:
    """The seconds that a process has worked, and those that it has started."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text("utf-8").split()
    except OSError:
        children = []
    return processor(process) + sum(_worked(int(child)) for child in children)


def _diagnostics(page: _Page, pattern: str) -> Times:
    places = [match.end() for match in re.finditer(pattern, page.text)]
    typed: list[int] = []

    def once(chance: random.Random) -> float:
        begun = time.perf_counter()
        if typed:
            page.replace(typed.pop(), 1, "")
        else:
            typed.append(chance.choice(places))
            page.replace(typed[0], 0, "q")
        page.shown()
        return time.perf_counter() - begun

    return _measured(page, KEYSTROKES, once)


def _hover(page: _Page, pattern: re.Pattern[str]) -> Times:
    places = [match.start() for match in pattern.finditer(page.text)]

    def once(chance: random.Random) -> float:
        position = page.position(chance.choice(places))
        begun = time.perf_counter()
        page.peer.ask("textDocument/hover", {"textDocument": {"uri": page.uri}, "position": position})
        return time.perf_counter() - begun

    return _measured(page, QUESTIONS, once)


def _completion(page: _Page, pattern: str) -> Times:
    """An `s` is typed and completion asked for at once, as editors do; then it is taken back."""
    places = [match.start() for match in re.finditer(pattern, page.text)]

    def once(chance: random.Random) -> float:
        place = chance.choice(places)
        position = page.position(place)
        begun = time.perf_counter()
        page.replace(place, 0, "s ")
        position["character"] += 1
        answer = page.peer.ask("textDocument/completion", {"textDocument": {"uri": page.uri}, "position": position})
        taken = time.perf_counter() - begun
        assert answer["items"] if isinstance(answer, dict) else answer, "nothing to complete"
        page.shown()
        page.quiet()
        page.replace(place, 2, "")
        page.shown()
        return taken

    return _measured(page, QUESTIONS, once)
