"""The folders of a workspace: several, one in another, coming and going."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from lsprotocol import types

from support.editor import Editor, codes, connected, uri_for

PULLS = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
    workspace=types.WorkspaceClientCapabilities(
        workspace_folders=True, diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    ),
)
SILENT = '[tool.sexpgpu]\nignore = ["W-NAME-001"]\n'
MANY = 300


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text, "utf-8")


async def names(editor: Editor, query: str = "") -> list[str]:
    answer = await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams(query=query))
    return sorted(each.name for each in answer or ())


async def diagnosed(editor: Editor) -> dict[str, list[str]]:
    """What is found in which file of the workspace, where it is anything."""
    report = await editor.client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams([]))
    return {
        each.uri: codes(each.items)
        for each in report.items
        if isinstance(each, types.WorkspaceFullDocumentDiagnosticReport) and each.items
    }


def move(editor: Editor, added: list[Path], removed: list[Path]) -> None:
    event = types.WorkspaceFoldersChangeEvent(
        *([types.WorkspaceFolder(uri_for(path), path.name) for path in paths] for paths in (added, removed))
    )
    editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))


async def test_folders_are_added_and_removed(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    write(one, {"a.sx": "(def list 1)\n"})
    write(two, {"b.sx": "(def mean 1)\n", "sexpgpu.toml": SILENT, "lib.sx": "(def lib 1)\n"})
    async with connected(PULLS, one) as editor:
        assert await names(editor) == ["list"]
        assert await diagnosed(editor) == {uri_for(one / "a.sx"): ["W-NAME-001"]}
        move(editor, [two], [])
        assert await names(editor) == ["lib", "list", "mean"]
        assert await diagnosed(editor) == {uri_for(one / "a.sx"): ["W-NAME-001"]}  # each folder has a project of its own
        (two / "sexpgpu.toml").unlink()
        assert set(await diagnosed(editor)) == {uri_for(one / "a.sx"), uri_for(two / "b.sx")}
        move(editor, [], [one])
        assert await names(editor) == ["lib", "mean"]
        assert await diagnosed(editor) == {uri_for(two / "b.sx"): ["W-NAME-001"]}
        uri = editor.open('(load "lib.sx")\n(def a (+ lib 1))\n')  # what has no path is at home in the first that is left
        report = await editor.pulled(uri)
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        assert codes(report.items) == []
        move(editor, [], [two])
        assert await names(editor) == ["a"]
        assert await diagnosed(editor) == {}


async def test_a_folder_in_another_and_links_between_them(tmp_path: Path) -> None:
    outer, inner = tmp_path / "outer", tmp_path / "outer" / "inner"
    write(outer, {"a.sx": "(def a missing)\n", "inner/b.sx": "(def b missing)\n", ".cache/c.sx": "(def c missing)\n"})
    write(outer, {"built/d.sx": "(def d missing)\n", ".gitignore": "built/\n"})
    (inner / "round").symlink_to(outer)
    (outer / "linked.sx").symlink_to(inner / "b.sx")
    (outer / "nowhere.sx").symlink_to(tmp_path / "none.sx")
    async with connected(PULLS, outer) as editor:
        move(editor, [inner], [])
        assert await names(editor) == ["a", "b", "b"]  # once for the file, once for the link to it
        assert set(await diagnosed(editor)) == {uri_for(each) for each in (outer / "a.sx", inner / "b.sx", outer / "linked.sx")}
        move(editor, [outer / ".cache"], [])  # a folder that is opened is looked into, whatever its name
        assert await names(editor) == ["a", "b", "b", "c"]


async def test_a_folder_that_vanishes_and_comes_back(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write(home, {"a.sx": "(def a missing)\n"})
    async with connected(PULLS, home) as editor:
        assert list(await diagnosed(editor)) == [uri_for(home / "a.sx")]
        uri = editor.open('(load "a.sx")\n', uri_for(home / "b.sx"))
        shutil.rmtree(home)
        assert await names(editor) == []
        assert await diagnosed(editor) == {uri: ["E-LOAD-001"]}
        before = editor.client.refreshed
        write(home, {"a.sx": "(def a missing)\n"})
        assert await names(editor) == ["a"]
        await editor.until(lambda: editor.client.refreshed > before)
        assert list(await diagnosed(editor)) == [uri_for(home / "a.sx")]


async def test_folders_that_are_not_on_the_disk() -> None:
    async with connected(PULLS) as editor:
        event = types.WorkspaceFoldersChangeEvent([types.WorkspaceFolder("vscode-vfs://github/a/b", "b")], [])
        editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        uri = editor.open("(def far-away missing)\n", "vscode-vfs://github/a/b/c.sx")
        assert await names(editor) == ["far-away"]
        assert await diagnosed(editor) == {uri: ["E-NAME-001"]}


async def test_hundreds_of_files_are_known_when_they_have_been_seen_once(tmp_path: Path) -> None:
    write(tmp_path, {f"part-{number // 20}/file-{number}.sx": f"(def value-{number} {number})\n" * 2 for number in range(MANY)})
    async with connected(PULLS, tmp_path) as editor:
        assert len(await names(editor, "value-")) == 500  # of 600
        assert len(await diagnosed(editor)) == MANY
        seconds: list[float] = []
        for _ in range(3):
            begun = time.monotonic()
            assert await names(editor, "value-299") == ["value-299"] * 2
            middle = time.monotonic()
            assert len(await diagnosed(editor)) == MANY
            seconds += [middle - begun, time.monotonic() - middle]
        print("searched, diagnosed:", [f"{each * 1000:.0f} ms" for each in seconds])
        assert min(seconds[0::2]) < 0.25
        assert min(seconds[1::2]) < 0.5
