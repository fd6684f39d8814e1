"""Signature help as a client sees it."""

from __future__ import annotations

import pytest
from lsprotocol import types

from support.editor import Editor, connected


async def asked(editor: Editor, uri: str) -> types.SignatureHelp | None:
    """The help at the end of a document."""
    source = editor.sources[uri]
    line, character = source.position(len(source.text), editor.encoding)
    params = types.SignatureHelpParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
    return await editor.client.text_document_signature_help_async(params)


async def test_the_active_parameter_of_an_open_call(editor: Editor) -> None:
    uri = editor.open('(defun f-😀 (a b) (+ a b))\n(def s (str "😀" (f-😀 1 ')
    found = await asked(editor, uri)
    assert found is not None
    assert found.signatures[0].label == "(f-😀 a b)"
    assert found.active_parameter == 1
    assert found.signatures[0].parameters is not None
    assert [each.label for each in found.signatures[0].parameters] == ["a", "b"]


async def test_places_in_the_label_count_utf_16_whatever_was_agreed_for_positions() -> None:
    can = types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind.Utf8]),
        text_document=types.TextDocumentClientCapabilities(
            signature_help=types.SignatureHelpClientCapabilities(
                signature_information=types.ClientSignatureInformationOptions(
                    documentation_format=[types.MarkupKind.PlainText],
                    parameter_information=types.ClientSignatureParameterInformationOptions(label_offset_support=True),
                )
            )
        ),
    )
    async with connected(can) as editor:
        options = editor.capabilities.signature_help_provider
        assert options is not None
        assert list(options.trigger_characters or ()) == ["(", " "]
        uri = editor.open("; Adds.\n(defun f-😀 (a b) (+ a b))\n(def s (f-😀 1 ")
        found = await asked(editor, uri)
        assert found is not None
        signature = found.signatures[0]
        assert signature.parameters is not None
        assert [tuple(each.label) for each in signature.parameters] == [(6, 7), (8, 9)]
        assert signature.documentation == types.MarkupContent(types.MarkupKind.PlainText, "Adds.")


async def test_nothing_outside_of_calls(editor: Editor) -> None:
    for text in ("", "; (sum ", "(sum 1) ", "(unknown "):
        assert await asked(editor, editor.open(text)) is None


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("none", [False, True])
async def test_where_no_parameter_is_meant_none_is_shown_as_active(none: bool, each: bool) -> None:
    can = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(
            signature_help=types.SignatureHelpClientCapabilities(
                signature_information=types.ClientSignatureInformationOptions(
                    no_active_parameter_support=none, active_parameter_support=each
                )
            )
        )
    )
    start = "(defun foo (a b) (+ a b))\n(def s "
    async with connected(can) as editor:
        for call in ("(foo 1 2 3", "(foo 1 2 :zz ", "(sum 1 :axes 0 :zz ", "(if 1 2 3 4"):
            found = await asked(editor, editor.open(start + call))
            assert found is not None
            (signature,) = found.signatures
            # A number outside means the first parameter, so that a client to which none cannot be told has no parameters to show.
            assert found.active_parameter is None
            assert signature.active_parameter is None
            assert bool(signature.parameters) is none
        found = await asked(editor, editor.open(start + "(foo 1 "))
        assert found is not None
        assert found.active_parameter == 1
        assert found.signatures[0].active_parameter == (1 if each else None)
        assert len(found.signatures[0].parameters or ()) == 2
