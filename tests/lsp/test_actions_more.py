"""Code actions to the letter of the protocol: fetched edits, other kinds, reasons, comments that silence, several files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sexpgpu.source import Position, Source
from support.editor import Editor, connected, uri_for

FETCHING = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        code_action=types.CodeActionClientCapabilities(
            code_action_literal_support=types.ClientCodeActionLiteralOptions(types.ClientCodeActionKindOptions(["quickfix"])),
            resolve_support=types.ClientCodeActionResolveOptions(["edit"]),
            data_support=True,
            disabled_support=True,
            is_preferred_support=True,
        )
    ),
    workspace=types.WorkspaceClientCapabilities(workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)),
)
RUN = """\
(defloader train
  :batch 4
  :fields (list :row (spec [8] :f32))
  :source (synthetic 64 (lambda (index) (list :row (full [8] 1.0)))))

(defmodel model (x)
  (linear :out x 8))

(defgenerate
  :trips 4
  :init (lambda (batch ctx) (list :z (field batch :row)))
  :step (lambda (state trip ctx)
          (let ((z (model (getf state :z))))
            (metric "size 🙂" (mean z))
            (list :z z))))
"""
OBJECTIVE = "(defun objective (inputs ctx)\n  (mean (square (- (model (field inputs :z)) 1.0))))\n"
MOVE = "move the metric into the state and report it from objective"


async def actions(
    editor: Editor, uri: str, piece: str, only: list[Any] | None = None, trigger: int | None = None, length: int = 0
) -> list[types.CodeAction]:
    start, end = editor.position(uri, piece), editor.position(uri, piece, length)
    context = types.CodeActionContext([], only=only, trigger_kind=types.CodeActionTriggerKind(trigger) if trigger else None)
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), types.Range(start, end), context)
    found = await editor.client.text_document_code_action_async(params)
    made = [each for each in found or () if isinstance(each, types.CodeAction)]
    assert len(made) == len(found or ())
    return made


def titled(found: list[types.CodeAction], title: str) -> types.CodeAction:
    (action,) = [each for each in found if each.title == title]
    return action


async def fetched(editor: Editor, action: types.CodeAction) -> types.WorkspaceEdit:
    assert action.edit is None
    assert action.data is not None
    edit = (await editor.client.code_action_resolve_async(action)).edit
    assert edit is not None
    return edit


def texts(editor: Editor, edit: types.WorkspaceEdit) -> dict[str, str]:
    """The documents as an edit leaves them, by URI; versions must be those of the texts that it is for."""
    done: dict[str, str] = {}
    by_uri: dict[str, list[types.TextEdit]] = {uri: list(each) for uri, each in (edit.changes or {}).items()}
    for change in edit.document_changes or ():
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.version == editor.versions.get(change.text_document.uri)
        by_uri[change.text_document.uri] = [each for each in change.edits if isinstance(each, types.TextEdit)]
    for uri, edits in by_uri.items():
        source = editor.sources[uri]

        def offset(at: types.Position, source: Source = source) -> int:
            return source.offset(Position(at.line, at.character), editor.encoding)

        text = source.text
        spans = sorted(((offset(each.range.start), offset(each.range.end), each.new_text) for each in edits), reverse=True)
        assert all(one[0] >= other[1] for one, other in pairwise(spans))
        for start, end, new in spans:
            text = text[:start] + new + text[end:]
        done[uri] = text
    return done


async def test_an_edit_is_fetched_when_its_action_is_chosen() -> None:
    async with connected(FETCHING) as editor:
        uri = editor.open("; 🙂🙂\n" + '(def s "🙂") (def a (+ (iota [2]) (zeros [2])))\r\n(def b (4 * 2))\r\n')
        (fix,) = await actions(editor, uri, "(+")
        assert fix.is_preferred
        assert texts(editor, await fetched(editor, fix))[uri].count('"🙂") (def a (+ (cast (iota [2]) :f32) (zeros [2])))\r\n') == 1
        (everything,) = await actions(editor, uri, "(+", ["source.fixAll"])
        done = texts(editor, await fetched(editor, everything))[uri]
        assert done.endswith("(+ (cast (iota [2]) :f32) (zeros [2])))\r\n(def b (* 4 2))\r\n")


async def test_of_two_alike_the_one_that_was_chosen_is_fetched() -> None:
    async with connected(FETCHING) as editor:
        text = "(def a (list (sqrt (iota [2])) (sqrt (iota [3]))))\n"
        uri = editor.open(text)
        found = await actions(editor, uri, "(list", length=len(text) - 10)
        first, second = [each for each in found if each.title == "write (cast … :float)"]
        assert texts(editor, await fetched(editor, second))[uri] == text.replace("(iota [3])", "(cast (iota [3]) :float)")
        assert texts(editor, await fetched(editor, first))[uri] == text.replace("(iota [2])", "(cast (iota [2]) :float)")


async def test_an_action_of_an_earlier_text_cannot_be_fetched() -> None:
    async with connected(FETCHING) as editor:
        uri = editor.open("(def a (+ (iota [2]) (zeros [2])))\n")
        (fix,) = await actions(editor, uri, "(+")
        editor.write(uri, "(def a", "(def ab")
        with pytest.raises(JsonRpcException) as refused:
            await editor.client.code_action_resolve_async(fix)
        assert refused.value.code == types.LSPErrorCodes.ContentModified
        for data in (None, 3, {"uri": uri}, {**fix.data, "start": "x"}):  # pyright: ignore[reportGeneralTypeIssues]
            with pytest.raises(JsonRpcException) as refused:
                await editor.client.code_action_resolve_async(types.CodeAction(fix.title, data=data))
            assert refused.value.code == types.ErrorCodes.InvalidParams


async def test_a_metric_moves_through_every_place_at_once() -> None:
    async with connected(FETCHING) as editor:
        uri = editor.open(RUN + "\n" + OBJECTIVE)
        found = await actions(editor, uri, "metric")
        assert [each.title for each in found if each.is_preferred] == []
        done = texts(editor, await fetched(editor, titled(found, MOVE)))[uri]
        assert '  (metric "size 🙂" (field inputs :size))\n' in done
        editor.rewrite(uri, done)
        assert await editor.codes(uri) == []


async def test_a_change_of_several_files_holds_each_to_its_version(tmp_path: Path) -> None:
    async with connected(FETCHING) as editor:
        part = editor.open(OBJECTIVE, uri_for(tmp_path / "part.sx"))
        run = editor.open('(load "part.sx")\n\n' + RUN, uri_for(tmp_path / "run.sx"))
        editor.write(part, "1.0", "2.0")
        assert await editor.codes(run) == ["E-GEN-004"]
        done = texts(editor, await fetched(editor, titled(await actions(editor, run, "metric"), MOVE)))
        assert set(done) == {part, run}
        editor.rewrite(part, done[part])
        editor.rewrite(run, done[run])
        assert await editor.codes(run) == []


async def test_why_something_cannot_be_done_is_said_when_it_was_asked_for() -> None:
    async with connected(FETCHING) as editor:
        uri = editor.open(RUN)
        moved = titled(await actions(editor, uri, "metric", trigger=1), MOVE)
        assert moved.disabled is not None
        assert "objective" in moved.disabled.reason
        assert moved.edit is None
        assert MOVE not in [each.title for each in await actions(editor, uri, "metric", trigger=2)]


async def test_a_client_that_knows_no_reasons_is_not_offered_what_cannot_be_done(editor: Editor) -> None:
    uri = editor.open(RUN)
    assert MOVE not in [each.title for each in await actions(editor, uri, "metric", trigger=1)]


async def test_a_warning_can_be_ignored_and_an_error_cannot(editor: Editor) -> None:
    uri = editor.open("(defun f (🙂 y)\r\n  🙂)\r\n(def a (f 1 b))\r\n")
    found = await actions(editor, uri, "y)")
    ignore = titled(found, "ignore H-NAME-001 on this line")
    assert found[-1] is ignore
    assert not ignore.is_preferred
    assert ignore.edit is not None
    done = texts(editor, ignore.edit)[uri]
    assert done.startswith("(defun f (🙂 y)  ; sexpgpu: ignore[H-NAME-001]\r\n")
    assert not [each for each in await actions(editor, uri, "b)") if each.title.startswith("ignore")]


@pytest.mark.parametrize(
    ("only", "kinds"),
    [
        (["refactor"], {"refactor.extract", "refactor.rewrite"}),
        (["refactor.extract"], {"refactor.extract"}),
        (["refactor.inline"], set()),
        (["quickfix"], set()),
        (["source"], set()),
        (None, {"refactor.extract", "refactor.rewrite"}),
    ],
)
async def test_an_expression_can_be_rewritten(editor: Editor, only: list[str] | None, kinds: set[str]) -> None:
    text = RUN.replace('            (metric "size 🙂" (mean z))\n', "") + OBJECTIVE
    uri = editor.open(text)
    found = await actions(editor, uri, "(square", only, length=len("(square (- (model (field inputs :z)) 1.0))"))
    assert {str(getattr(each.kind, "value", each.kind)) for each in found} == kinds
    for action in found:
        assert not action.diagnostics
        assert action.edit is not None
        editor.rewrite(uri, text)
        done = texts(editor, action.edit)[uri]
        assert done != text
        editor.rewrite(uri, done)
        assert await editor.codes(uri) == (["E-DTYPE-003"] if action.title.endswith(":i32)") else [])


async def test_an_error_has_one_preferred_action_at_most(editor: Editor) -> None:
    uri = editor.open(
        "(def a (/ (iota [2]) (iota [2])))\n(def b (sqrt (iota [2])))\n(def cc c)\n(def axes (sum (ones [2]) :axs 0))\n"
    )
    preferred = {
        piece: [each.title for each in await actions(editor, uri, piece) if each.is_preferred]
        for piece in ("(iota [2]) (iota", "(iota [2])))\n(def cc", ":axs")
    }
    assert preferred == {"(iota [2]) (iota": [], "(iota [2])))\n(def cc": ["write (cast … :float)"], ":axs": ["write :axes"]}


async def test_nothing_is_offered_for_a_document_that_is_not_open(editor: Editor) -> None:
    nowhere = types.TextDocumentIdentifier("untitled:nowhere")
    span = types.Range(types.Position(0, 0), types.Position(0, 0))
    assert not await editor.client.text_document_code_action_async(
        types.CodeActionParams(nowhere, span, types.CodeActionContext([]))
    )
