"""Formatting: documents, ranges, and the line that is being typed."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.format import apply_edits, format_edits
from sexpgpu.source import Position, Source, Span
from support.editor import Editor

UGLY = "(defun twice (x)\n (+ x\n x))\n\n\n\n\n(def width   4) ; kept\n"
OPTIONS = types.FormattingOptions(tab_size=4, insert_spaces=True)


def applied(editor: Editor, uri: str, edits: Sequence[types.TextEdit] | None) -> str:
    """The text of a document after edits."""
    source = editor.sources[uri]

    def offset(position: types.Position) -> int:
        return source.offset(Position(position.line, position.character))

    spans = [TextEdit(Span(source, offset(e.range.start), offset(e.range.end)), e.new_text) for e in edits or ()]
    return apply_edits(source.text, spans)


async def test_a_document_is_formatted_as_the_command_does(editor: Editor) -> None:
    uri = editor.open(UGLY)
    params = types.DocumentFormattingParams(types.TextDocumentIdentifier(uri), OPTIONS)
    source = Source("ugly.sx", UGLY)
    expected = apply_edits(UGLY, format_edits(source))
    assert applied(editor, uri, await editor.client.text_document_formatting_async(params)) == expected
    assert "(+ x\n     x))" in expected


async def test_a_range_leaves_the_rest_alone(editor: Editor) -> None:
    uri = editor.open(UGLY)
    line = UGLY[: UGLY.index("(def width")].count("\n")
    within = types.Range(types.Position(line, 0), types.Position(line, 5))
    params = types.DocumentRangeFormattingParams(types.TextDocumentIdentifier(uri), within, OPTIONS)
    text = applied(editor, uri, await editor.client.text_document_range_formatting_async(params))
    assert text.startswith("(defun twice (x)\n (+ x\n x))")
    assert text.endswith("(def width 4) ; kept\n")


async def test_a_text_that_does_not_read_is_left_alone(editor: Editor) -> None:
    uri = editor.open("(def  x (1\n   )))")
    params = types.DocumentFormattingParams(types.TextDocumentIdentifier(uri), OPTIONS)
    assert not await editor.client.text_document_formatting_async(params)


async def test_a_new_line_is_indented_in_a_form_that_is_not_closed(editor: Editor) -> None:
    uri = editor.open("(defun f (x)\n")
    params = types.DocumentOnTypeFormattingParams(types.TextDocumentIdentifier(uri), types.Position(1, 0), "\n", OPTIONS)
    assert applied(editor, uri, await editor.client.text_document_on_type_formatting_async(params)) == "(defun f (x)\n  "


async def test_what_is_typed_further_in_moves_nothing(editor: Editor) -> None:
    uri = editor.open("(defun f (x)\n      (+ x 1))")
    params = types.DocumentOnTypeFormattingParams(types.TextDocumentIdentifier(uri), types.Position(1, 13), ")", OPTIONS)
    assert not await editor.client.text_document_on_type_formatting_async(params)
