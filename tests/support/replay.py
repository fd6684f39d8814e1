"""An editor at a server of its own, with random edits of several files: what it shows is held against a fresh analysis.

A session opens a run and the library that it loads, and one of the examples after the other. `run` makes edits; after each hundred
everything that was asked has been answered, and everything that was published is what the texts say.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.protocol import default_converter

from sexpgpu.analysis import Options, analyse
from sexpgpu.files import Texts
from sexpgpu.source import BYTE_ORDER_MARK, LINE_END, Encoding, Source
from sexpgpu_lsp.client import Client
from sexpgpu_lsp.convert import Converter, identity
from sexpgpu_lsp.uris import uri_of
from support.editor import SERVER, server_environment
from support.edits import Change, Desk
from support.peer import Peer, Silence
from support.retracing import LAYERS, MAIN, ROWS
from support.slips import EXAMPLES

CHECKED = 100
AN_EXAMPLE = 350
PATIENCE = 60.0
SETTLED = 1_000
"""After so many edits the server holds what it will hold, but for `SLACK`: a tenth, and megabytes that the allocator rounds to."""
SLACK = 20 * 2**20

_CLIENT: dict[str, Any] = {
    "publishDiagnostics": {
        "versionSupport": True,
        "relatedInformation": True,
        "codeDescriptionSupport": True,
        "tagSupport": {"valueSet": [1, 2]},
    },
    "completion": {"completionItem": {"snippetSupport": True}},
    "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source.fixAll"]}}},
}
_ALLOWED = {-32800, -32801, -32802, -32803}  # cancelled, modified meanwhile, cancelled by the server, refused
_LIBRARY = default_converter()


class Document:
    """An open document as the client has it, and as it was sent."""

    def __init__(self, path: Path, text: str, chance: random.Random) -> None:
        self.path = path
        self.uri = uri_of(str(path))
        self.desk = Desk(text, chance, strange=True)
        self.version = 1
        self.shown = 0
        """The version for which something was last published."""


class Session:
    """One server. `pull` is a client that asks for diagnostics itself. `made` counts edits."""

    def __init__(self, folder: Path, seed: int, *, encoding: Encoding = "utf-16", pull: bool = False) -> None:
        self._chance = random.Random(seed)
        self._folder = folder
        self._encoding: Encoding = encoding
        self._pull = pull
        self._capabilities = {
            "textDocument": {**_CLIENT, **({"diagnostic": {"relatedDocumentSupport": True}} if pull else {})},
            "workspace": {"diagnostics": {"refreshSupport": True}} if pull else {},
            "general": {"positionEncodings": [encoding]},
        }
        known = _LIBRARY.structure(self._capabilities, types.ClientCapabilities)
        self._converter = Converter(encoding, Client(known))
        self._documents: dict[str, Document] = {}
        self._examples = sorted(EXAMPLES.glob("*.sx"))
        self._example: Document | None = None
        self._lasts: list[str] = []
        self._settled = 0
        self.memory: list[int] = []
        """What the server held after each hundred, in bytes."""
        self.made = 0
        folder.joinpath("lib").mkdir()
        folder.joinpath("rows.jsonl").write_bytes(ROWS)
        folder.joinpath("lib/layers.sx").write_text(LAYERS, "utf-8")
        folder.joinpath("main.sx").write_text(MAIN, "utf-8")
        self.peer = Peer(SERVER, env=server_environment(), folder=folder)
        self.peer.heard = self._heard

    def __enter__(self) -> Session:
        agreed = self.peer.initialize(self._capabilities, self._folder)
        assert agreed["positionEncoding"] == self._encoding
        self._main = self._open(self._folder / "main.sx", MAIN)
        self._library = self._open(self._folder / "lib/layers.sx", LAYERS)
        return self

    def __exit__(self, *_: object) -> None:
        self.peer.__exit__()

    def write(self, path: str, old: str, new: str) -> Document:
        """Replace a piece of a document, and send it whole."""
        document = next(each for each in self._documents.values() if each.path == self._folder / path)
        assert old in document.desk.text
        document.desk.text = document.desk.text.replace(old, new)
        document.version += 1
        identifier = {"uri": document.uri, "version": document.version}
        changes = [{"text": document.desk.text}]
        self.peer.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": changes})
        return document

    def run(self, count: int) -> None:
        """Make so many edits. Raises AssertionError, with what was done last."""
        begun = self.made
        try:
            while self.made < begun + count:
                if self.made % AN_EXAMPLE == 0:
                    self._another_example()
                self._edit()
                if self.made % CHECKED == 0:
                    self.check()
        except AssertionError as error:
            error.add_note("\n".join([f"after {self.made} edits, the last of which were", *self._lasts]))
            raise

    def close(self) -> None:
        """Close everything, and the server: nothing is shown any more."""
        for document in list(self._documents.values()):
            self._close(document)
        self.peer.until(lambda: not any(each["diagnostics"] for each in self.peer.published.values()), "the last empty list")
        assert self.peer.end() == 0
        assert not self.peer.asked
        assert self.peer.errors() == ""

    # Doing

    def _open(self, path: Path, text: str) -> Document:
        document = Document(path, text, self._chance)
        self._documents[document.uri] = document
        item = {"uri": document.uri, "languageId": "sx", "version": 1, "text": text}
        self.peer.notify("textDocument/didOpen", {"textDocument": item})
        return document

    def _close(self, document: Document) -> None:
        del self._documents[document.uri]
        self.peer.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})

    def _another_example(self) -> None:
        last = self._example
        if last is not None:
            self._close(last)
        path = self._chance.choice([path for path in self._examples if last is None or path != last.path])
        self._example = self._open(path, path.read_text("utf-8"))

    def _edit(self) -> None:
        """One to three edits in one notification, and sometimes something else besides."""
        chance = self._chance
        assert self._example is not None
        document = chance.choice([self._example, self._example, self._main, self._library])
        changes: list[dict[str, Any]] = []
        for _ in range(chance.choice([1, 1, 1, 1, 2, 3])):
            if changes and self.made % CHECKED == 0:
                break
            before = document.desk.text
            change = document.desk.step()
            self._lasts = [*self._lasts[-12:], f"{document.path.name}: {change}"]
            changes.append(self._sent(before, change, document.desk.text))
            self.made += 1
        document.version += chance.choice([1, 1, 1, 5])
        identifier = {"uri": document.uri, "version": document.version}
        escaped = not document.desk.text.isprintable() or chance.random() < 0.5
        self.peer.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": changes}, escaped=escaped)
        if chance.random() < 0.15:
            self._ask(document)
        if chance.random() < 0.02:
            self.peer.notify("textDocument/didSave", {"textDocument": {"uri": document.uri}})
        if chance.random() < 0.1 and not self._pull:
            self.peer.until(lambda: document.shown == document.version, f"{document.path.name} {document.version}", PATIENCE)
        elif chance.random() < 0.3:
            self.peer.read(chance.choice([0, 0.002, 0.03]))

    def _sent(self, before: str, change: Change, after: str) -> dict[str, Any]:
        """A change as it is sent: by range, now and then as the whole text; ends may lie past the end of their line or text."""
        chance = self._chance
        if chance.random() < 0.04:
            return {"text": after}
        start, end = change.start, change.end
        text = change.text
        while start and before[start - 1 : start + 1] == "\r\n":  # between the two no position stands
            start, text = start - 1, before[start - 1] + text
        if before[end - 1 : end + 1] == "\r\n" and end:
            end, text = end + 1, text + "\n"
        span = {"start": self._position(before, start), "end": self._position(before, end)}
        sent = {"range": span, "text": text}
        return {**sent, "rangeLength": chance.randrange(9)} if chance.random() < 0.2 else sent

    def _position(self, text: str, offset: int) -> dict[str, int]:
        """Where an offset stands, counted without the help of what is tested. At the end of a line it may lie past it."""
        lines = [0, *(match.end() for match in LINE_END.finditer(text))]
        line = sum(start <= offset for start in lines) - 1
        piece = text[lines[line] : offset]
        character = {
            "utf-8": len(piece.encode("utf-8", "surrogatepass")),
            "utf-16": len(piece.encode("utf-16-le", "surrogatepass")) // 2,
            "utf-32": len(piece),
        }[self._encoding]
        if offset == len(text) and self._chance.random() < 0.3:
            return {"line": line + 7, "character": self._chance.randrange(9)}
        if (offset == len(text) or text[offset] in "\r\n") and self._chance.random() < 0.2:
            character += 1_000
        return {"line": line, "character": character}

    def _ask(self, document: Document) -> None:
        """A question about a place, which is answered whatever happens meanwhile; some are not wanted any more."""
        chance, text = self._chance, document.desk.text
        at = self._position(text, chance.randrange(len(text) + 1))
        where = {"textDocument": {"uri": document.uri}}
        span = {"start": {"line": 0, "character": 0}, "end": {"line": 40, "character": 0}}
        spacing = {"tabSize": 2, "insertSpaces": True}
        method, more = chance.choice(
            [
                *[("textDocument/hover", {"position": at})] * 3,
                *[("textDocument/completion", {"position": at})] * 3,
                ("textDocument/signatureHelp", {"position": at}),
                ("textDocument/definition", {"position": at}),
                ("textDocument/references", {"position": at, "context": {"includeDeclaration": True}}),
                ("textDocument/documentHighlight", {"position": at}),
                ("textDocument/prepareRename", {"position": at}),
                ("textDocument/rename", {"position": at, "newName": "another"}),
                ("textDocument/selectionRange", {"positions": [at]}),
                ("textDocument/documentSymbol", {}),
                ("textDocument/foldingRange", {}),
                ("textDocument/semanticTokens/full", {}),
                ("textDocument/semanticTokens/range", {"range": span}),
                ("textDocument/inlayHint", {"range": span}),
                ("textDocument/codeAction", {"range": span, "context": {"diagnostics": []}}),
                ("textDocument/codeLens", {}),
                ("textDocument/documentLink", {}),
                ("textDocument/formatting", {"options": spacing}),
                ("textDocument/diagnostic", {}),
            ]
        )
        number = self.peer.request(method, {**where, **more})
        if chance.random() < 0.1:
            self.peer.notify("$/cancelRequest", {"id": number})

    # Checking

    def _heard(self, message: dict[str, Any]) -> None:
        """Published versions were sent, and do not go back."""
        if message.get("method") == "textDocument/publishDiagnostics":
            params = message["params"]
            document, version = self._documents.get(params["uri"]), params.get("version")
            if document is not None and version is not None:
                assert document.shown <= version <= document.version, params
                document.shown = version
        elif "error" in message:
            assert message["error"]["code"] in _ALLOWED, message

    def check(self) -> None:
        """Nothing was lost, all that is shown is what a fresh analysis finds, and the server holds no more than before."""
        peer = self.peer
        expected = self._expected()
        if self._pull:
            for uri, wanted in expected.items():
                _same(uri, self._pulled(uri), wanted)
        else:
            try:
                peer.until(lambda: self._shows(expected), "what was found", PATIENCE)
            except Silence:
                for uri, document in self._documents.items():
                    assert document.shown == document.version, uri
                    _same(uri, _sorted(peer.published[uri]["diagnostics"]), expected[uri])
                raise
            for uri in self._chance.sample(list(expected), 1):
                _same(uri, self._pulled(uri), expected[uri])
        peer.until(lambda: not peer.asked, "an answer to each request", PATIENCE)
        peer.answers.clear()
        self.memory.append(peer.memory())
        if self.made <= SETTLED:
            self._settled = self.memory[-1]
        else:
            assert self.memory[-1] <= 1.1 * self._settled + SLACK, [each // 2**20 for each in self.memory]

    def _shows(self, expected: dict[str, list[Any]]) -> bool:
        return all(
            document.shown == document.version and _sorted(self.peer.published[uri]["diagnostics"]) == expected[uri]
            for uri, document in self._documents.items()
        )

    def _pulled(self, uri: str) -> list[Any]:
        return _sorted(self.peer.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}}, PATIENCE)["items"])

    def _expected(self) -> dict[str, list[Any]]:
        """What is shown of each open document: what analyses of all of them, from nothing, find in it."""
        paths = {str(document.path): document for document in self._documents.values()}
        texts = {path: _encoded(document.desk.text) for path, document in paths.items()}
        found: dict[str, list[tuple[bool, types.Diagnostic]]] = {uri: [] for uri in self._documents}
        for path, document in paths.items():
            analysis = analyse(Source(path, document.desk.text), Texts(texts), Options(record=True))
            for diagnostic in analysis.diagnostics:
                at = paths.get(str(Path(diagnostic.span.source.name)))
                if at is not None:
                    made = self._converter.diagnostic(diagnostic, lambda source: uri_of(source.name))
                    found[at.uri].append((at is not document, made))
        return {uri: _merged(each) for uri, each in found.items()}


def _merged(found: list[tuple[bool, types.Diagnostic]]) -> list[Any]:
    """Each finding once: what a file's own analysis says of it before what others say."""
    merged: dict[Any, types.Diagnostic] = {}
    for _, each in sorted(found, key=lambda item: item[0]):
        merged.setdefault(identity(each), each)
    return _sorted([_LIBRARY.unstructure(each) for each in merged.values()])


def _encoded(text: str) -> bytes:
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    return (mark + text).encode("utf-8", "replace")


def _same(uri: str, shown: list[Any], expected: list[Any]) -> None:
    more, less = [each for each in shown if each not in expected], [each for each in expected if each not in shown]
    assert shown == expected, f"{uri} shows {more} and not {less}"


def _sorted(found: list[Any]) -> list[Any]:
    return sorted(found, key=repr)


def replay(folder: Path, seed: int, count: int, *, encoding: Encoding = "utf-16", pull: bool = False) -> str:
    """A whole session; what there is to say of it. Raises AssertionError."""
    begun = time.monotonic()
    with Session(folder, seed, encoding=encoding, pull=pull) as session:
        session.run(count)
        session.close()
    held = ", ".join(f"{each >> 20}" for each in session.memory[9::10])
    return f"{session.made:,} edits in {time.monotonic() - begun:.0f} s; the server held, in MiB: {held}"
