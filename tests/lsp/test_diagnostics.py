"""Diagnostics in an editor: the same as everywhere, live, and of the text that is there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from lsprotocol import types

from sexpgpu.analysis import analyse
from sexpgpu.ide.markup import rule_link
from sexpgpu.source import Position, Source
from support.doors import by_an_editor, by_check, by_the_analysis, with_uris
from support.drawn import FIXTURES, Mark, compare, fixtures, strip
from support.editor import Editor, codes, connected, uri_for

CASES = [pytest.param(path, id=path.relative_to(FIXTURES).as_posix()) for path in fixtures("diagnostics")]
PULLS = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
    workspace=types.WorkspaceClientCapabilities(diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)),
)


def marks(source: Source, found: Sequence[types.Diagnostic]) -> list[Mark]:
    """Diagnostics of the protocol as marks."""
    drawn: list[Mark] = []
    for each in found:
        ends = [source.offset(Position(at.line, at.character)) for at in (each.range.start, each.range.end)]
        start, end = (source.position(offset, "utf-32") for offset in ends)
        assert each.severity is not None
        last = end.character if end.line == start.line else None
        message = each.message.partition("\nhelp: ")[0]
        drawn.append(Mark(start.line, start.character, last, each.severity.name.lower(), str(each.code), message))
    return drawn


@pytest.mark.claim("D1", "D2")
@pytest.mark.parametrize("path", CASES)
async def test_a_fixture_is_told_the_same_through_every_door(editor: Editor, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = strip(path.read_bytes().decode("utf-8-sig"))[0]
    uri = editor.open(text, uri_for(path))
    source = editor.sources[uri]
    pushed = await editor.published(uri)
    pulled = await editor.pulled(uri)
    editor.close(uri)
    compare(path, lambda *_: marks(source, pushed))
    assert isinstance(pulled, types.RelatedFullDocumentDiagnosticReport)
    assert list(pulled.items) == pushed
    told = by_the_analysis(text, path)
    assert by_check(text, path, monkeypatch) == told
    assert by_an_editor(pushed) == with_uris(told)


@pytest.mark.claim("D1")
async def test_messages_help_and_fixes_are_those_of_the_analysis(editor: Editor) -> None:
    text = "(def widht 4)\n(defun f (x) (* x width))\n(def a (softmax (iota [2]) :axes 1))\n"
    core = analyse(Source("x.sx", text)).diagnostics
    shown = await editor.published(editor.open(text))
    assert [each.message for each in shown] == [each.message + f"\nhelp: {each.help}" * bool(each.help) for each in core]
    assert [each.code for each in shown] == [each.code for each in core]


RUN = (FIXTURES / "diagnostics/clean/generator.sx").read_text("utf-8")


@pytest.mark.claim("D2", "G20")
async def test_generation_diagnostics_come_and_go_while_typing(editor: Editor) -> None:
    uri = editor.open(RUN)
    assert await editor.codes(uri) == []
    for right, wrong, code in (
        ("(cast trip :i32)", '(metric "at" (cast trip :i32))', "E-GEN-004"),
        (":stride (getf state :stride)))", ":stride trip))", "E-GEN-002"),
        (":trips (- length-of-row 1)", ":trips 0", "E-GEN-005"),
        (":sample (getf", ":row (getf", "E-GEN-003"),
        (":trips", ":trps", "E-GEN-006"),
    ):
        editor.write(uri, right, wrong)
        assert code in await editor.codes(uri)
        editor.write(uri, wrong, right)
        assert await editor.codes(uri) == []


@pytest.mark.claim("D2", "C9")
async def test_contract_diagnostics_come_and_go_while_typing(editor: Editor) -> None:
    uri = editor.open("(defun curriculum (stage ctx observations) stage)\n(defrun :steps 1)\n")
    assert "E-CONTRACT-014" in await editor.codes(uri)
    editor.replace(uri, 0, 0, "(defpass eval :loader held :every 1)\n")
    found = await editor.codes(uri)
    assert "E-CONTRACT-014" not in found
    assert "E-CONTRACT-015" in found
    editor.write(uri, "curriculum", "other")
    assert "E-CONTRACT-001" in await editor.codes(uri)


async def test_a_diagnostic_says_all_that_is_known_of_it(editor: Editor) -> None:
    uri = editor.open("(def a 1)\n(def a 2)\n(defun f (x) 1)\n")
    twice, unused = await editor.published(uri)
    assert twice.code == "E-NAME-002"
    assert twice.source == "sexpgpu"
    assert twice.severity == types.DiagnosticSeverity.Error
    assert twice.code_description == types.CodeDescription(rule_link("E-NAME-002"))
    assert rule_link("E-NAME-002").endswith("/docs/errors.md#e-name-002")
    assert twice.related_information is not None
    assert [(each.location.uri, editor.piece(uri, each.location.range)) for each in twice.related_information] == [(uri, "a")]
    assert unused.severity == types.DiagnosticSeverity.Hint
    assert list(unused.tags or ()) == [types.DiagnosticTag.Unnecessary]


async def test_an_empty_list_is_published_too(editor: Editor) -> None:
    uri = editor.open("(def a b)\n")
    assert await editor.codes(uri) == ["E-NAME-001"]
    editor.write(uri, "b)", "1)")
    assert await editor.published(uri) == []
    editor.write(uri, "1)", "2)")
    assert await editor.published(uri) == []


async def test_closing_clears(editor: Editor) -> None:
    uri = editor.open("(def a b)\n")
    assert await editor.codes(uri) == ["E-NAME-001"]
    editor.close(uri)
    assert await editor.published(uri, lambda params: params.version is None) == []


async def test_every_opener_is_reported_not_only_at_the_end_of_the_file(editor: Editor) -> None:
    uri = editor.open("(def a (list 1)\n\n(def b (list 2)\n\n(def c d)\n")
    assert await editor.codes(uri) == ["E-READ-001", "E-READ-001", "E-NAME-001"]


async def test_a_client_that_never_counts_versions(editor: Editor) -> None:
    uri = editor.open("(def a b)\n")
    assert await editor.codes(uri) == ["E-NAME-001"]
    for text in ("(def a 1)\n", "(def a c)\n"):
        before = len(editor.client.published)
        editor.change(uri, [types.TextDocumentContentChangeWholeDocument(text=text)], version=1)
        await editor.until(lambda before=before: any(each.uri == uri for each in editor.client.published[before:]))
    assert codes(editor.client.published[-1].diagnostics) == ["E-NAME-001"]


async def test_a_burst_of_changes_is_answered_for_its_last_text_and_never_backwards(editor: Editor) -> None:
    uri = editor.open("(def a 0)\n")
    for number in range(1, 200):
        editor.rewrite(uri, f"(def a {number})\n" + f"(def b missing-{number})\n" * (number % 2))
    found = await editor.published(uri)
    assert "`missing-199`" in found[0].message
    versions = [each.version for each in editor.client.published if each.uri == uri]
    assert versions == sorted(versions, key=lambda version: version or 0)
    assert len(versions) < 100
    for params in editor.client.published:
        if params.uri == uri and params.version is not None:
            number = params.version - 1
            assert [f"`missing-{number}`" in each.message for each in params.diagnostics] == [True] * (number % 2)


# Files that load each other


async def test_what_a_loaded_file_holds_is_shown_there(editor: Editor, tmp_path: Path) -> None:
    part, run = tmp_path / "part ü.sx", tmp_path / "run.sx"
    part.write_text("(def wrong missing)\n(def right 2)\n", "utf-8")
    uri = editor.open('(load "part ü.sx")\n(def a right)\n', uri_for(run))
    assert await editor.published(uri) == []
    assert codes(await editor.published(uri_for(part), lambda params: bool(params.diagnostics))) == ["E-NAME-001"]
    editor.close(uri)
    assert await editor.published(uri_for(part), lambda params: not params.diagnostics) == []


async def test_an_open_buffer_stands_before_the_disk(editor: Editor, tmp_path: Path) -> None:
    part, run = tmp_path / "part.sx", tmp_path / "run.sx"
    part.write_text("(def old 1)\n", "utf-8")
    run_uri = editor.open('(load "part.sx")\n(def a (+ old 1))\n', uri_for(run))
    assert await editor.published(run_uri) == []
    part_uri = editor.open("(def new 1)\n", uri_for(part))
    assert codes(await editor.published(run_uri, lambda params: bool(params.diagnostics))) == ["E-NAME-001"]
    editor.write(part_uri, "new", "old")
    assert await editor.published(run_uri, lambda params: not params.diagnostics) == []
    editor.rewrite(part_uri, "(def other 1)\n")
    assert codes(await editor.published(run_uri, lambda params: bool(params.diagnostics))) == ["E-NAME-001"]
    editor.close(part_uri)
    assert await editor.published(run_uri, lambda params: not params.diagnostics) == []


async def test_related_places_in_other_files_have_their_uris(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "part.sx").write_text("(def twice 1)\n", "utf-8")
    uri = editor.open('(load "part.sx")\n(def twice 2)\n', uri_for(tmp_path / "run.sx"))
    (found,) = await editor.published(uri)
    assert found.related_information is not None
    assert [each.location.uri for each in found.related_information] == [uri_for(tmp_path / "part.sx")]


async def test_errors_in_a_library_are_not_shown_twice(editor: Editor, tmp_path: Path) -> None:
    part, run = tmp_path / "part.sx", tmp_path / "run.sx"
    part.write_text("(def wrong missing)\n", "utf-8")
    part_uri = editor.open("(def wrong missing)\n", uri_for(part))
    run_uri = editor.open('(load "part.sx")\n', uri_for(run))
    assert await editor.published(run_uri) == []
    assert await editor.codes(part_uri) == ["E-NAME-001"]
    editor.write(part_uri, "missing", "1")
    assert await editor.published(part_uri) == []
    assert await editor.published(run_uri) == []


async def test_a_file_that_appears_or_changes_on_the_disk(editor: Editor, tmp_path: Path) -> None:
    part = tmp_path / "part.sx"
    uri = editor.open('(load "part.sx")\n(def a (+ b 1))\n', uri_for(tmp_path / "run.sx"))
    assert await editor.codes(uri) == ["E-LOAD-001"]
    part.write_text("(def b 1)\n", "utf-8")

    def watched(kind: types.FileChangeType) -> None:
        changes = [types.FileEvent(uri=uri_for(part), type=kind)]
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))

    watched(types.FileChangeType.Created)
    assert await editor.published(uri, lambda params: not params.diagnostics) == []
    part.write_text("(def c 1)\n", "utf-8")
    watched(types.FileChangeType.Changed)
    assert codes(await editor.published(uri, lambda params: bool(params.diagnostics))) == ["E-NAME-001"]
    part.write_text("(def b 1)\n", "utf-8")
    editor.save(uri)
    assert await editor.published(uri, lambda params: not params.diagnostics) == []


async def test_a_project_silences_what_it_does_not_want_to_hear(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "sexpgpu.toml").write_text('[tool.sexpgpu]\nignore = ["W-NAME-001"]\n', "utf-8")
    uri = editor.open("(def list 1)\n(def mean 2)\n", uri_for(tmp_path / "x.sx"))
    assert await editor.published(uri) == []
    assert await editor.codes(editor.open("(def list 1)\n")) == ["W-NAME-001"]


# Names of documents


@pytest.mark.parametrize(
    "uri",
    ["untitled:Untitled-1", "untitled:/somewhere/new.sx", "file:///c%3A/x%20y.sx", "vscode-vfs://github/a/b.sx", "x:1?q=%20#f"],
)
async def test_a_uri_comes_back_as_it_was_written(editor: Editor, uri: str) -> None:
    editor.open('(def a b)\n(load "none.sx")\n', uri)
    assert "E-LOAD-001" in await editor.codes(uri)
    assert await editor.hover(uri, "def") is not None
    editor.close(uri)
    assert await editor.published(uri, lambda params: params.version is None) == []
    assert await editor.hover(uri, "def") is None
    empty = await editor.pulled(uri)
    assert isinstance(empty, types.RelatedFullDocumentDiagnosticReport)
    assert list(empty.items) == []


async def test_two_ways_to_write_a_uri_are_one_document(editor: Editor) -> None:
    uri = editor.open("(def a b)\n", "file:///c%3A/two.sx")
    assert await editor.codes(uri) == ["E-NAME-001"]
    other = "file:///c:/two.sx"
    editor.sources[other], editor.versions[other] = editor.sources[uri], 1
    editor.write(other, "b)", "1)")
    assert await editor.published(uri, lambda params: params.version == 2) == []


async def test_an_untitled_document_loads_from_the_folder_that_is_open(tmp_path: Path) -> None:
    (tmp_path / "part.sx").write_text("(def b 1)\n", "utf-8")
    async with connected(types.ClientCapabilities(), tmp_path) as editor:
        assert await editor.published(editor.open('(load "part.sx")\n(def a (+ b 1))\n')) == []


# Pulling


async def test_a_first_pull_waits_for_the_analysis(editor: Editor) -> None:
    uri = editor.open(RUN.replace(":trips", ":trps"))
    report = await editor.pulled(uri)
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    assert "E-GEN-006" in codes(report.items)


async def test_a_pull_that_knows_already_is_told_so(editor: Editor) -> None:
    uri = editor.open("(def a b)\n")
    first = await editor.pulled(uri)
    assert isinstance(first, types.RelatedFullDocumentDiagnosticReport)
    again = await editor.pulled(uri, first.result_id)
    assert again == types.RelatedUnchangedDocumentDiagnosticReport(result_id=first.result_id or "")
    editor.write(uri, "b)", "1)")
    changed = await editor.pulled(uri, first.result_id)
    assert isinstance(changed, types.RelatedFullDocumentDiagnosticReport)
    assert list(changed.items) == []


async def test_a_client_that_pulls_is_not_pushed_to(tmp_path: Path) -> None:
    async with connected(PULLS, tmp_path) as editor:
        assert editor.capabilities.diagnostic_provider is not None
        part = editor.open("(def a 1)\n", uri_for(tmp_path / "part.sx"))
        uri = editor.open('(load "part.sx")\n(def b (+ a 1))\n', uri_for(tmp_path / "run.sx"))
        assert isinstance(await editor.pulled(part), types.RelatedFullDocumentDiagnosticReport)
        assert isinstance(await editor.pulled(uri), types.RelatedFullDocumentDiagnosticReport)
        editor.client.published.clear()
        editor.write(part, "(def a 1)", "(def c d)")
        await editor.until(lambda: editor.client.refreshed > 0)
        for each, code in ((part, "E-NAME-001"), (uri, "E-NAME-001")):
            report = await editor.pulled(each)
            assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
            assert codes(report.items) == [code]
        asked = editor.client.refreshed
        await asyncio.sleep(0.2)
        assert editor.client.refreshed == asked
        assert not [params for params in editor.client.published if params.diagnostics]


async def test_a_client_that_cannot_be_told_to_pull_again_is_pushed_to() -> None:
    text_document = types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities())
    async with connected(types.ClientCapabilities(text_document=text_document)) as editor:
        assert editor.capabilities.diagnostic_provider is None
        assert await editor.codes(editor.open("(def a b)\n")) == ["E-NAME-001"]
