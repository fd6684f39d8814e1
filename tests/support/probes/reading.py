"""What can be asked of a text, and what is found in it."""

from __future__ import annotations

from typing import Any

from support.clients import Session
from support.editor import uri_for
from support.probes import DOUBLE_AT, EVERYTHING, FAULTY, FIRST_COMPLETION_KINDS, FIRST_SYMBOL_KINDS, PART, Probes, into

PROBES: Probes = {}
asks = into(PROBES)


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


@asks("textDocument/diagnostic", "workspace/diagnostic")
async def diagnostics(s: Session, _: str) -> None:
    uri = s.open(FAULTY)
    assert ("diagnosticProvider" in s.server) == s.profile.pulls
    shown = await s.diagnostics(uri)
    pulled = (await s.ask("textDocument/diagnostic", uri))["items"]
    assert shown == pulled
    everywhere = await s.ask("workspace/diagnostic", previousResultIds=[])
    assert [each["items"] for each in everywhere["items"] if each["uri"] == uri] == [pulled]
    assert uri_for(s.folder / "closed.sx") in [each["uri"] for each in everywhere["items"]]
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
