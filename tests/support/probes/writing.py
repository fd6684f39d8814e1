"""What changes a text."""

from __future__ import annotations

from typing import Any

from sexpgpu.source import Position
from support.clients import Session
from support.probes import FAULTY, TEXT, Probes, into

PROBES: Probes = {}
asks = into(PROBES)


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


@asks("textDocument/codeAction", "codeAction/resolve")
async def actions(s: Session, _: str) -> None:
    """Whoever fetches the edit of an action gets it when it asks, everybody else at once."""
    can = "textDocument.codeAction"
    uri = s.open(FAULTY)
    at = s.place(uri, "(+")
    found = await s.ask("textDocument/codeAction", uri, range={"start": at, "end": at}, context={"diagnostics": []})
    if not s.profile.said(f"{can}.codeActionLiteralSupport"):
        assert s.server["codeActionProvider"] is True
        assert found == []  # nor could it be told to make an edit
        return
    cast = next(each for each in found if "cast" in each["title"])
    for each in found:
        assert each["kind"].split(".")[0] in s.profile.said(f"{can}.codeActionLiteralSupport.codeActionKind.valueSet")
        assert "disabled" not in each or s.profile.said(f"{can}.disabledSupport")
        assert "isPreferred" not in each or s.profile.said(f"{can}.isPreferredSupport")
    fetches = "edit" in s.profile.said(f"{can}.resolveSupport.properties", []) and s.profile.said(f"{can}.dataSupport")
    assert ("edit" in cast) != fetches
    if fetches:
        cast = await s.ask("codeAction/resolve", **cast)
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
