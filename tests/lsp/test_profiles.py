"""Every method with every client that we know: what it can take, where the text says it is, in its own units."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from sexpgpu.source import Position
from sexpgpu_lsp.server import Server
from support.advertised import advertised
from support.clients import PROFILES, Profile, Session, session
from support.editor import uri_for
from support.tiny import tiny

PART = "; Twice as much.\n(defun scaled (x) (* x 2))\n"
TEXT = (
    '(load "part.sx")\n'
    '(def 漢 "é😀") (def 積 (+ 1 2)) (defun twice (x) (* 2 x)) (def both (list "😀漢é" (twice (scaled 3))))\n'
    + tiny(run="(defrun tiny :steps 3)")
)
FAULTY = '(def a (list "😀漢é" (+ (iota [2]) (zeros [2])))) (def a 1) (defun g (unused) 1)\n'
EVERYTHING = {"start": {"line": 0, "character": 0}, "end": {"line": 9999, "character": 0}}
FIRST_SYMBOL_KINDS = FIRST_COMPLETION_KINDS = list(range(1, 19))
DOUBLE_AT = '"😀漢é" (twice'

Probe = Callable[[Session, str], Awaitable[None]]
PROBES: dict[Probe, tuple[str, ...]] = {}
ELSEWHERE = {"initialize", "initialized", "shutdown", "exit", "$/setTrace", "$/cancelRequest"}
"""What every session says, and test_process.py byte by byte."""


def asks(*methods: str) -> Callable[[Probe], Probe]:
    """The probe of these methods and commands. It gets a session and the URI of TEXT, open."""

    def put(probe: Probe) -> Probe:
        PROBES[probe] = methods
        return probe

    return put


@pytest_asyncio.fixture(params=PROFILES, scope="module", loop_scope="session")
async def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Session]:
    folder = tmp_path_factory.mktemp("folder é 漢")
    (folder / "part.sx").write_text(PART, "utf-8")
    (folder / "closed.sx").write_text("(def closed 漢)\n", "utf-8")
    async with session(PROFILES[request.param], folder) as opened:
        yield opened
    assert opened.errors == ""
    assert opened.status == 0


# Reading


@asks("textDocument/hover")
async def hover(s: Session, uri: str) -> None:
    found = await s.ask("textDocument/hover", uri, DOUBLE_AT, len('"😀漢é" ('))
    assert s.read(uri, found["range"]) == "twice"
    known = s.profile.said("textDocument.hover.contentFormat", ["markdown"])
    assert found["contents"]["kind"] == known[0]


def documented(s: Session, documentation: Any, path: str) -> None:
    """Documentation is of a kind that the client names; where it names none, it is a string."""
    known = s.profile.said(path)
    if known is None:
        assert isinstance(documentation, str)
    else:
        assert documentation["kind"] == known[0]


async def completed(s: Session, typed: str) -> tuple[str, dict[str, Any], dict[str, dict[str, Any]]]:
    """What can be written at the end of a document: its URI, the list, and its items by label."""
    uri = s.open(PART + typed)
    found = await s.ask("textDocument/completion", uri, PART + typed, len(PART + typed), context={"triggerKind": 1})
    return uri, found, {item["label"]: item for item in found["items"]}


@asks("textDocument/completion")
async def completion(s: Session, _: str) -> None:
    can = "textDocument.completion"
    kinds = s.profile.said(f"{can}.completionItemKind.valueSet", FIRST_COMPLETION_KINDS)
    defaults = s.profile.said(f"{can}.completionList.itemDefaults", [])
    for typed, replaced in (('(def z (list "😀漢é" (sca', "sca"), ("(de", "de"), ('(load "', "")):
        uri, found, items = await completed(s, typed)
        assert items
        assert found.get("itemDefaults", {}).keys() <= set(defaults)
        for item in items.values():
            assert item["kind"] in kinds
            assert not item.keys() & {"deprecated", "tags", "commitCharacters", "labelDetails", "insertTextMode"}
            span = found["itemDefaults"]["editRange"] if "textEdit" not in item else item["textEdit"]["range"]
            assert s.read(uri, span) == replaced
            if item.get("insertTextFormat") == 2:
                assert s.profile.said(f"{can}.completionItem.snippetSupport")
            else:
                assert "$" not in item.get("textEdit", {}).get("newText", item.get("textEditText", ""))
        if typed == "(de":
            with_snippets = any(item.get("insertTextFormat") == 2 for item in items.values())
            assert with_snippets == bool(s.profile.said(f"{can}.completionItem.snippetSupport"))


@asks("completionItem/resolve")
async def resolve(s: Session, _: str) -> None:
    """Whoever does not ask for the documentation has it at once."""
    items = (await completed(s, "(def z (sca"))[2]
    item = items["scaled"]
    asked = "documentation" in s.profile.said("textDocument.completion.completionItem.resolveSupport.properties", ["documentation"])
    assert ("documentation" in item) != asked
    resolved = await s.ask("completionItem/resolve", **item)
    assert resolved.keys() - item.keys() == ({"documentation"} if asked else set())
    assert "Twice as much" in str(resolved["documentation"])
    documented(s, resolved["documentation"], "textDocument.completion.completionItem.documentationFormat")


@asks("textDocument/signatureHelp")
async def signature(s: Session, _: str) -> None:
    can = "textDocument.signatureHelp.signatureInformation"
    typed = PART + '(def z (list "😀漢é" (scaled '
    found = await s.ask("textDocument/signatureHelp", s.open(typed), typed, len(typed))
    (help,) = found["signatures"]
    (parameter,) = help["parameters"]
    assert parameter["label"] == ([8, 9] if s.profile.said(f"{can}.parameterInformation.labelOffsetSupport") else "x")
    assert ("activeParameter" in help) == bool(s.profile.said(f"{can}.activeParameterSupport"))
    assert found["activeParameter"] == 0
    documented(s, help["documentation"], f"{can}.documentationFormat")


@asks("textDocument/definition")
async def definition(s: Session, uri: str) -> None:
    found = await s.ask("textDocument/definition", uri, "scaled 3")
    part = uri_for(s.folder / "part.sx")
    if s.profile.said("textDocument.definition.linkSupport"):
        (link,) = found
        assert link["targetUri"] == part
        assert s.read(uri, link["originSelectionRange"]) == "scaled"
        at = link["targetSelectionRange"]
    else:
        assert found["uri"] == part
        at = found["range"]
    assert at["start"] == {"line": 1, "character": 7}


@asks("textDocument/references", "textDocument/documentHighlight")
async def occurrences(s: Session, uri: str) -> None:
    found = await s.ask("textDocument/references", uri, "twice (scaled", context={"includeDeclaration": True})
    assert [(each["uri"], s.read(uri, each["range"])) for each in found] == [(uri, "twice")] * 2
    found = await s.ask("textDocument/documentHighlight", uri, "漢")
    assert [s.read(uri, each["range"]) for each in found] == ["漢"]


@asks("textDocument/documentSymbol")
async def outline(s: Session, uri: str) -> None:
    kinds = s.profile.said("textDocument.documentSymbol.symbolKind.valueSet", FIRST_SYMBOL_KINDS)
    found = await s.ask("textDocument/documentSymbol", uri)
    nested = bool(s.profile.said("textDocument.documentSymbol.hierarchicalDocumentSymbolSupport"))
    assert {"漢", "twice", "both", "tiny"} <= {each["name"] for each in found}
    for each in found:
        assert each["kind"] in kinds
        assert ("selectionRange" in each) == nested
        assert ("location" in each) != nested
    symbol = next(each for each in found if each["name"] == "twice")
    if nested:
        assert s.read(uri, symbol["selectionRange"]) == "twice"
    assert s.read(uri, symbol["range"] if nested else symbol["location"]["range"]) == "(defun twice (x) (* 2 x))"


@asks("workspace/symbol")
async def search(s: Session, uri: str) -> None:
    found = await s.ask("workspace/symbol", query="")
    kinds = s.profile.said("workspace.symbol.symbolKind.valueSet", FIRST_SYMBOL_KINDS)
    assert {each["kind"] for each in found} <= set(kinds)
    places = {each["name"]: each["location"]["uri"] for each in found}
    assert places["scaled"] == uri_for(s.folder / "part.sx")
    assert places["twice"] == uri


@asks("textDocument/prepareCallHierarchy", "callHierarchy/incomingCalls", "callHierarchy/outgoingCalls")
async def calls(s: Session, uri: str) -> None:
    (item,) = await s.ask("textDocument/prepareCallHierarchy", uri, "model (x)")
    assert s.read(uri, item["selectionRange"]) == "model"
    assert item["kind"] in s.profile.said("textDocument.documentSymbol.symbolKind.valueSet", FIRST_SYMBOL_KINDS)
    (above,) = await s.ask("callHierarchy/incomingCalls", item=item)
    assert above["from"]["name"] == "objective"
    assert [s.read(uri, each) for each in above["fromRanges"]] == ["model"]
    below = await s.ask("callHierarchy/outgoingCalls", item=item)
    assert all(each["to"]["name"] for each in below)


@asks("textDocument/documentLink")
async def links(s: Session, uri: str) -> None:
    (link,) = await s.ask("textDocument/documentLink", uri)
    assert link["target"] == uri_for(s.folder / "part.sx")
    assert s.read(uri, link["range"]).strip('"') == "part.sx"
    assert "tooltip" not in link or s.profile.said("textDocument.documentLink.tooltipSupport")


@asks("textDocument/foldingRange", "textDocument/selectionRange")
async def structure(s: Session, uri: str) -> None:
    folds = await s.ask("textDocument/foldingRange", uri)
    assert folds
    for fold in folds:
        assert fold["startLine"] < fold["endLine"]
        assert not fold.keys() & {"startCharacter", "endCharacter", "collapsedText"}
    (grown,) = await s.ask("textDocument/selectionRange", uri, positions=[s.place(uri, "(scaled 3", 1)])
    pieces: list[str] = []
    while grown is not None:
        pieces.append(s.read(uri, grown["range"]))
        grown = grown.get("parent")
    assert pieces[:3] == ["scaled", "(scaled 3)", "(twice (scaled 3))"]


def tokens(s: Session, uri: str, data: list[int]) -> list[str]:
    """The texts of tokens."""
    found: list[str] = []
    line = character = 0
    for at in range(0, len(data), 5):
        lines, units, length = data[at : at + 3]
        line, character = line + lines, units if lines else character + units
        start, end = {"line": line, "character": character}, {"line": line, "character": character + length}
        found.append(s.read(uri, {"start": start, "end": end}))
    return found


@asks("textDocument/semanticTokens/full", "textDocument/semanticTokens/full/delta", "textDocument/semanticTokens/range")
async def coloured(s: Session, uri: str) -> None:
    whole = await s.ask("textDocument/semanticTokens/full", uri)
    found = tokens(s, uri, whole["data"])
    assert {"漢", '"😀漢é"', "twice"} <= set(found)
    assert all("\n" not in each for each in found)
    line = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
    part = tokens(s, uri, (await s.ask("textDocument/semanticTokens/range", uri, range=line))["data"])
    assert "scaled" in part
    assert "defloader" not in part
    s.write(uri, "(def both", "(def 漢字 1) (def both")
    change = await s.ask("textDocument/semanticTokens/full/delta", uri, previousResultId=whole["resultId"])
    data = whole["data"]
    for edit in change["edits"]:
        data = data[: edit["start"]] + edit.get("data", []) + data[edit["start"] + edit["deleteCount"] :]
    assert tokens(s, uri, data).count("漢字") == 1


@asks("textDocument/inlayHint")
async def hints(s: Session, uri: str) -> None:
    found = await s.ask("textDocument/inlayHint", uri, range=EVERYTHING)
    assert s.place(uri, "(index)", len("(index")) in [each["position"] for each in found]
    assert s.place(uri, "積", 1) in [each["position"] for each in found]
    for each in found:
        assert not each.keys() & {"data", "textEdits"}


@asks("textDocument/codeLens")
async def lenses(s: Session, uri: str) -> None:
    found = await s.ask("textDocument/codeLens", uri)
    assert found
    for lens in found:
        assert s.read(uri, lens["range"]) == "defrun"
        assert lens["command"]["command"] in ["", *s.server["executeCommandProvider"]["commands"]]


# Diagnostics


@asks("textDocument/diagnostic")
async def diagnostics(s: Session, _: str) -> None:
    uri = s.open(FAULTY)
    assert ("diagnosticProvider" in s.server) == s.profile.pulls
    shown = await s.diagnostics(uri)
    pulled = (await s.ask("textDocument/diagnostic", uri))["items"]
    assert shown == pulled
    assert {"E-DTYPE-001": "(+ (iota [2]) (zeros [2]))", "E-NAME-002": "a", "H-NAME-001": "unused"}.items() <= {
        each["code"]: s.read(uri, each["range"]) for each in shown
    }.items()
    can = "textDocument.publishDiagnostics"
    twice = next(each for each in shown if each["code"] == "E-NAME-002")
    if s.profile.said(f"{can}.relatedInformation"):
        assert [s.read(uri, each["location"]["range"]) for each in twice["relatedInformation"]] == ["a"]
        assert "line 1" not in twice["message"]
    else:
        assert "relatedInformation" not in twice
        assert "\nline 1: " in twice["message"]
    unused = next(each for each in shown if each["code"] == "H-NAME-001")
    assert unused.get("tags", []) == [tag for tag in s.profile.said(f"{can}.tagSupport.valueSet", []) if tag == 1]
    published = [params for method, params in s.heard if method == "textDocument/publishDiagnostics" and params["uri"] == uri]
    assert bool([params for params in published if params["diagnostics"]]) != s.profile.pulls
    s.write(uri, FAULTY, "(def a 1)\n")
    assert await s.diagnostics(uri) == []


# Writing


def applied(s: Session, edit: dict[str, Any]) -> dict[str, str]:
    """The texts after an edit of the workspace, which has the form that the client knows, of its open documents."""
    if s.profile.said("workspace.workspaceEdit.documentChanges"):
        assert edit.keys() == {"documentChanges"}
        for change in edit["documentChanges"]:
            uri = change["textDocument"]["uri"]
            assert change["textDocument"]["version"] == s.versions.get(uri)
        changes = {change["textDocument"]["uri"]: change["edits"] for change in edit["documentChanges"]}
    else:
        assert edit.keys() == {"changes"}
        changes = edit["changes"]
    return {uri: edited(s, uri, edits) for uri, edits in changes.items()}


def edited(s: Session, uri: str, edits: list[dict[str, Any]]) -> str:
    """A document's text after edits."""
    source = s.sources[uri]

    def offset(at: dict[str, int]) -> int:
        return source.offset(Position(at["line"], at["character"]), s.encoding)

    text = source.text
    for edit in sorted(edits, key=lambda each: offset(each["range"]["start"]), reverse=True):
        text = text[: offset(edit["range"]["start"])] + edit["newText"] + text[offset(edit["range"]["end"]) :]
    return text


@asks("textDocument/prepareRename", "textDocument/rename")
async def rename(s: Session, uri: str) -> None:
    if s.profile.said("textDocument.rename.prepareSupport"):
        assert s.server["renameProvider"] == {"prepareProvider": True}
    else:
        assert s.server["renameProvider"] is True
    found = await s.ask("textDocument/prepareRename", uri, "twice (scaled")
    assert s.read(uri, found["range"]) == found["placeholder"] == "twice"
    edit = await s.ask("textDocument/rename", uri, "twice (scaled", newName="𝒳漢")
    assert applied(s, edit) == {uri: TEXT.replace("twice", "𝒳漢")}


@asks("textDocument/codeAction")
async def actions(s: Session, _: str) -> None:
    uri = s.open(FAULTY)
    at = s.place(uri, "(+")
    found = await s.ask("textDocument/codeAction", uri, range={"start": at, "end": at}, context={"diagnostics": []})
    if not s.profile.said("textDocument.codeAction.codeActionLiteralSupport"):
        assert s.server["codeActionProvider"] is True
        assert found == []  # nor could it be told to make an edit
        return
    cast = next(each for each in found if "cast" in each["title"])
    assert cast["kind"].split(".")[0] in s.profile.said("textDocument.codeAction.codeActionLiteralSupport.codeActionKind.valueSet")
    assert applied(s, cast["edit"]) == {uri: FAULTY.replace("(iota [2])", "(cast (iota [2]) :f32)")}


@asks("textDocument/formatting", "textDocument/rangeFormatting", "textDocument/onTypeFormatting")
async def formatted(s: Session, _: str) -> None:
    text = '(def 漢\n"😀漢é"   )\n(def  b (list "é"\n2))\n'
    uri = s.open(text)
    options = {"tabSize": 2, "insertSpaces": True}
    edits = await s.ask("textDocument/formatting", uri, options=options)
    assert edited(s, uri, edits) == '(def 漢\n  "😀漢é")\n(def b (list "é"\n             2))\n'
    second = {"start": {"line": 2, "character": 0}, "end": {"line": 4, "character": 0}}
    edits = await s.ask("textDocument/rangeFormatting", uri, range=second, options=options)
    assert edited(s, uri, edits) == '(def 漢\n"😀漢é"   )\n(def b (list "é"\n             2))\n'
    edits = await s.ask("textDocument/onTypeFormatting", uri, "2))", ch="\n", options=options)
    assert edited(s, uri, edits) == text.replace("\n2))", "\n              2))")


# Commands


async def executed(s: Session, command: str, **argument: Any) -> dict[str, Any]:
    return await s.answer("workspace/executeCommand", {"command": command, "arguments": [argument]})


@asks("sexpgpu.run", "sexpgpu.stop", "sexpgpu.runs", "sexpgpu.plot", "sexpgpu.explain", "window/workDoneProgress/cancel")
async def runs(s: Session, _: str) -> None:
    uri = s.open(TEXT, uri_for(s.folder / "run 漢.sx"))
    begun = (await executed(s, "sexpgpu.run", uri=uri))["result"]
    async with asyncio.timeout(30):
        while (await executed(s, "sexpgpu.runs"))["result"]["runs"][-1]["running"]:
            await asyncio.sleep(0.02)
    assert os.path.isdir(begun["folder"])
    events = [params["event"]["kind"] for method, params in s.heard if method == "sexpgpu/event"]
    assert {"run", "metric", "progress"} <= set(events)
    shown = [method for method, _ in s.heard if method in ("$/progress", "window/workDoneProgress/create")]
    assert bool(shown) == bool(s.profile.said("window.workDoneProgress"))
    s.tell("window/workDoneProgress/cancel", token=f"sexpgpu/{begun['run']}")
    assert (await executed(s, "sexpgpu.stop", run=begun["run"]))["result"]["state"] == "finished"
    assert "<html" in (await executed(s, "sexpgpu.plot", run=begun["run"]))["result"]["html"]
    report = (await executed(s, "sexpgpu.explain", uri=uri))["result"]
    assert report["text"]
    assert report["json"]


@asks("sexpgpu.apply")
async def applying(s: Session, _: str) -> None:
    """The command that an action is for a client that knows no other; whoever cannot make its edit has none."""
    uri = s.open("(def a 1)\n")
    span = {"start": s.place(uri, "1"), "end": s.place(uri, ")")}
    edit = {"changes": {uri: [{"range": span, "newText": "2"}]}}
    before = len(s.heard)
    stale = await executed(s, "sexpgpu.apply", uri=uri, version=7, edit=edit)
    answer = await executed(s, "sexpgpu.apply", uri=uri, version=1, edit=edit)
    asked = [params for method, params in s.heard[before:] if method == "workspace/applyEdit"]
    if s.profile.said("workspace.applyEdit"):
        assert "has changed" in stale["error"]["message"]
        assert answer["result"] is None
        assert [each["edit"] for each in asked] == [edit]
    else:
        assert "makes no edits" in answer["error"]["message"]
        assert not asked


# What is told


@asks(
    "textDocument/didOpen",
    "textDocument/didChange",
    "textDocument/didSave",
    "textDocument/didClose",
    "workspace/didChangeWatchedFiles",
    "workspace/didChangeConfiguration",
    "workspace/didChangeWorkspaceFolders",
)
async def told(s: Session, _: str) -> None:
    other = s.folder / "other.sx"
    uri = s.open('(load "other.sx") (def a (list "😀漢é" lost))\n', uri_for(s.folder / "told.sx"))
    assert [each["code"] for each in await s.diagnostics(uri)] == ["E-LOAD-001"]
    other.write_text("(def lost 1)\n", "utf-8")
    s.tell("workspace/didChangeWatchedFiles", changes=[{"uri": uri_for(other), "type": 1}])
    s.tell("workspace/didChangeConfiguration", settings={"sexpgpu": {"inlayHints": {"shapes": False}}})
    s.tell("workspace/didChangeConfiguration", settings={"sexpgpu": {}})
    away = {"uri": "untitled:folder", "name": "away"}
    for event in ({"added": [away], "removed": []}, {"added": [], "removed": [away]}):
        s.tell("workspace/didChangeWorkspaceFolders", event=event)
    s.save(uri)
    async with asyncio.timeout(30):
        while (await s.ask("textDocument/diagnostic", uri))["items"]:
            await asyncio.sleep(0.02)
    s.write(uri, "lost", "gone")
    (found,) = await s.diagnostics(uri)
    assert s.read(uri, found["range"]) == "gone"
    s.close(uri)
    other.unlink()
    assert await s.ask("textDocument/hover", uri, "def") is None


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.__name__)
async def test_what_each_client_is_answered(client: Session, probe: Probe) -> None:
    uri = client.open(TEXT, uri_for(client.folder / f"{probe.__name__}.sx"))
    await probe(client, uri)
    client.close(uri)
    for method, params in client.heard:
        if method in NOTIFIED:
            continue
        assert client.profile.may_be_asked(method, params), method


NOTIFIED = {
    "textDocument/publishDiagnostics",
    "window/showMessage",
    "window/logMessage",
    "sexpgpu/event",
    "$/progress",
}


async def test_what_is_advertised_has_a_test(client: Session) -> None:
    tested = {method for methods in PROBES.values() for method in methods}
    assert advertised(client.server) - tested == set()
    assert client.server["positionEncoding"] == client.profile.encoding


async def test_what_is_registered_has_a_test() -> None:
    tested = {method for methods in PROBES.values() for method in methods} | ELSEWHERE
    manager = Server(asyncio.get_running_loop()).connection.fm
    registered = {*manager.features, *manager.builtin_features, *manager.commands} - {"workspace/executeCommand"}
    assert {method for method in registered - tested if not method.startswith("notebookDocument/")} == set()


def test_a_profile_says_which_client_it_is() -> None:
    assert set(PROFILES) == {"vscode", "neovim", "helix", "minimal"}
    assert isinstance(PROFILES["minimal"], Profile)
    assert PROFILES["minimal"].said("textDocument") is None
