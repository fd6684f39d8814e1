"""Inlay hints and code lenses as a client gets them, and as its settings want them."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from support.editor import Editor, Wire, connected, uri_for

RUN = """\
; 😀
(defloader train :batch 4 :fields (list :x (spec [8] :f32)) :source (synthetic 8 (lambda (index) (list :x (zeros [8])))))
(defmodel model (x) (linear :out x 1))
(defun objective (inputs ctx) (let ((名 (roll (field inputs :x) 1 :axis 1))) (metric "loss" (mean (model 名)))))
(defoptimizer (sgd :lr 0.1))
(defrun :steps (* 2 5))
"""
EVERYTHING = types.Range(types.Position(0, 0), types.Position(9999, 0))


async def hints(editor: Editor, uri: str, span: types.Range = EVERYTHING) -> dict[str, types.InlayHint]:
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), span)
    found = await editor.client.text_document_inlay_hint_async(params)
    return {str(hint.label): hint for hint in found or ()}


async def lenses(editor: Editor, uri: str) -> list[types.CodeLens] | None:
    found = await editor.client.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    return None if found is None else list(found)


def configure(editor: Editor, settings: object) -> None:
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=settings))


async def test_a_hint_stands_behind_its_name(editor: Editor) -> None:
    uri = editor.open(RUN)
    found = await hints(editor, uri)
    hint = found[": i64[]"]
    assert hint.position == editor.position(uri, "(index)", len("(index"))
    assert hint.kind == types.InlayHintKind.Type
    shift = found["shift:"]
    assert shift.position == editor.position(uri, "1 :axis")
    assert shift.kind == types.InlayHintKind.Parameter
    assert shift.padding_right
    assert isinstance(shift.tooltip, types.MarkupContent)
    assert "(roll x shift" in shift.tooltip.value


async def test_a_range_has_its_own_hints_alone(editor: Editor) -> None:
    uri = editor.open(RUN)
    line = types.Range(types.Position(3, 0), types.Position(4, 0))
    found = await hints(editor, uri, line)
    assert found
    assert {hint.position.line for hint in found.values()} == {3}


async def test_each_kind_can_be_switched_off(editor: Editor) -> None:
    uri = editor.open(RUN + "(def depth (+ 1 2))\n")
    assert {"= 3", "shift:", ": i64[]"} <= (await hints(editor, uri)).keys()
    for setting, label in (("shapes", ": i64[]"), ("values", "= 3"), ("parameters", "shift:")):
        configure(editor, {"sexpgpu": {"inlayHints": {setting: False}}})
        found = await hints(editor, uri)
        assert label not in found
        assert found
    configure(editor, {"sexpgpu": {"inlayHints": dict.fromkeys(["shapes", "values", "parameters", "trips", "memory"], False)}})
    assert await hints(editor, uri) == {}
    configure(editor, {"sexpgpu": {}})
    assert ": i64[]" in await hints(editor, uri)


@pytest.mark.claim("D4")
async def test_lenses_of_a_run(editor: Editor) -> None:
    uri = editor.open(RUN)
    found = await lenses(editor, uri)
    assert found is not None
    commands = [lens.command for lens in found if lens.command is not None]
    assert [(each.command, each.arguments) for each in commands] == [
        ("sexpgpu.run", ({"uri": uri},)),
        ("sexpgpu.explain", ({"uri": uri, "show": True},)),
        ("sexpgpu.explain", ({"uri": uri, "show": True},)),
    ]
    assert commands[2].title.startswith("peak memory ")
    assert {editor.piece(uri, lens.range) for lens in found} == {"defrun"}
    configure(editor, {"sexpgpu": {"codeLens": {"enable": False}}})
    assert await lenses(editor, uri) is None
    configure(editor, {"sexpgpu": {}})
    assert len(await lenses(editor, uri) or ()) == 3


async def test_what_a_lens_tells_is_no_hint_too() -> None:
    """Behind each other at the end of a line, as Neovim shows them, they read `(defrun 1.9 MiB peak memory 1.9 MiB`."""
    able = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(code_lens=types.CodeLensClientCapabilities())
    )
    async with connected(able) as editor:
        uri = editor.open(RUN)
        assert [lens for lens in await lenses(editor, uri) or () if lens.command and "memory" in lens.command.title]
        with_lenses = await hints(editor, uri)
        configure(editor, {"sexpgpu": {"codeLens": {"enable": False}}})
        without = await hints(editor, uri)
        (memory,) = without.keys() - with_lenses.keys()
        assert memory.endswith("B")
        assert "shift:" in with_lenses


@pytest.mark.parametrize("typed", ["(rol)", "(defu", "(def a (", ")", "(defun f () (rol))", '"a"'])
async def test_while_somebody_types_the_rest_stays_as_it_is(editor: Editor, typed: str) -> None:
    """Where a form is new or wrong, the run may not be traced; what stood beside other forms, and above them, goes on standing."""
    uri = editor.open(RUN)
    before, above = shapes(await hints(editor, uri)), titles(await lenses(editor, uri))
    assert {": f32[4 8]", ": i64[]"} <= set(before)
    line = RUN.index("(defoptimizer")
    for at, letter in enumerate(typed + "\n"):
        editor.replace(uri, line + at, line + at, letter)
    assert shapes(await hints(editor, uri)) == before
    assert titles(await lenses(editor, uri)) == above
    editor.replace(uri, line, line + len(typed) + 1, "")
    editor.write(uri, "(spec [8]", "(spec [7]")
    editor.write(uri, "(zeros [8]", "(zeros [7]")
    assert ": f32[4 7]" in await hints(editor, uri)
    assert titles(await lenses(editor, uri)) != above


def shapes(found: dict[str, types.InlayHint]) -> dict[str, types.Position]:
    return {label: hint.position for label, hint in found.items() if label.startswith(":")}


def titles(found: list[types.CodeLens] | None) -> list[str]:
    return [lens.command.title for lens in found or () if lens.command is not None]


async def test_a_library_has_the_types_of_the_run_that_loads_it(editor: Editor, tmp_path: Path) -> None:
    part = editor.open("(defun twice (x) (* 2 x))\n", uri_for(tmp_path / "part.sx"))
    assert await hints(editor, part) == {}
    run = editor.open('(load "part.sx")\n(def a (twice (zeros [5])))\n', uri_for(tmp_path / "run.sx"))
    await editor.published(run)
    assert ": f32[5]" in await hints(editor, part)


def test_a_client_that_can_be_told_asks_again_when_settings_change() -> None:
    workspace = {"inlayHint": {"refreshSupport": True}, "codeLens": {"refreshSupport": True}}
    with Wire() as wire:
        wire.initialize({"workspace": workspace}, initializationOptions={"inlayHints": {"trips": False}})
        wire.notify("workspace/didChangeConfiguration", settings={"sexpgpu": {"inlayHints": {"trips": True}}})
        assert wire.read()["method"] == "workspace/inlayHint/refresh"
        wire.notify(
            "workspace/didChangeConfiguration", settings={"sexpgpu": {"inlayHints.trips": True, "codeLens": {"enable": False}}}
        )
        # where lenses are not shown, hints say what they said
        assert [wire.read()["method"] for _ in range(2)] == ["workspace/inlayHint/refresh", "workspace/codeLens/refresh"]
