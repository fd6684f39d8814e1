"""Semantic tokens as a client gets them: in its units, cut where it wants them cut, and only what has changed."""

from __future__ import annotations

import random

import pytest
from lsprotocol import types

from sexpgpu.source import Source
from sexpgpu_lsp.tokens import edits, encoded
from support.editor import ENCODINGS, Editor, connected


def semantic(multiline: bool = False, encodings: list[str] | None = None) -> types.ClientCapabilities:
    return types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=encodings),
        text_document=types.TextDocumentClientCapabilities(
            semantic_tokens=types.SemanticTokensClientCapabilities(
                requests=types.ClientSemanticTokensRequestOptions(
                    range=True, full=types.ClientSemanticTokensRequestFullDelta(delta=True)
                ),
                token_types=[],
                token_modifiers=[],
                formats=[types.TokenFormat.Relative],
                multiline_token_support=multiline,
            )
        ),
    )


async def full(editor: Editor, uri: str) -> types.SemanticTokens:
    params = types.SemanticTokensParams(types.TextDocumentIdentifier(uri))
    found = await editor.client.text_document_semantic_tokens_full_async(params)
    assert found is not None
    return found


async def delta(editor: Editor, uri: str, result: str) -> types.SemanticTokens | types.SemanticTokensDelta:
    params = types.SemanticTokensDeltaParams(types.TextDocumentIdentifier(uri), result)
    found = await editor.client.text_document_semantic_tokens_full_delta_async(params)
    assert found is not None
    return found


def pieces(editor: Editor, uri: str, data: list[int]) -> list[str]:
    """The text of each token, taken from the document as a client would."""
    found: list[str] = []
    line = character = 0
    for at in range(0, len(data), 5):
        lines, units, length = data[at : at + 3]
        line, character = line + lines, units if lines else character + units
        span = types.Range(types.Position(line, character), types.Position(line, character + length))
        found.append(editor.piece(uri, span))
    return found


TEXT = '; é😀 words\r(def a "é😀") (def b (+ 1\u2028 é))\r\n(def s "one\n  two😀\r\n\nthree" )(def c 2)\n#| x\n y |#'
SPLIT = ["; é😀 words", "def", "a", '"é😀"', "def", "b", "+", "1", "é", "def", "s", '"one', "  two😀", 'three"']
SPLIT += ["def", "c", "2", "#| x", " y |#"]


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_tokens_are_in_the_units_of_the_client(encoding: str) -> None:
    async with connected(semantic(encodings=[encoding])) as editor:
        uri = editor.open(TEXT)
        assert pieces(editor, uri, list((await full(editor, uri)).data)) == SPLIT
        provider = editor.capabilities.semantic_tokens_provider
        assert isinstance(provider, types.SemanticTokensOptions)
        assert {"tensor", "host"} <= set(provider.legend.token_modifiers)


async def test_a_client_that_takes_many_lines_gets_them_whole() -> None:
    async with connected(semantic(multiline=True)) as editor:
        uri = editor.open(TEXT)
        data = list((await full(editor, uri)).data)
        lengths = dict(zip(pieces(editor, uri, data), data[2::5], strict=True))
        assert lengths['"one'] == len('"one\n  two😀\r\n\nthree"') + 1
        assert 'three"' not in lengths


async def test_a_range_has_its_own_tokens_alone(editor: Editor) -> None:
    uri = editor.open("(def a 1)\n(def b 2)\n(def c 3)\n")
    span = types.Range(types.Position(1, 0), types.Position(2, 0))
    params = types.SemanticTokensRangeParams(types.TextDocumentIdentifier(uri), span)
    found = await editor.client.text_document_semantic_tokens_range_async(params)
    assert found is not None
    assert pieces(editor, uri, list(found.data)) == ["def", "b", "2"]


async def test_a_client_that_knows_the_last_answer_is_told_what_has_changed(editor: Editor) -> None:
    uri = editor.open("".join(f"(def a{i} {i})\n" for i in range(200)))
    before = await full(editor, uri)
    assert before.result_id is not None
    editor.write(uri, "(def a7 7)", '(def a7 (ones [7]))\n"')
    change = await delta(editor, uri, before.result_id)
    assert isinstance(change, types.SemanticTokensDelta)
    editor.write(uri, '\n"', "")
    again = await delta(editor, uri, change.result_id or "")
    assert isinstance(again, types.SemanticTokensDelta)
    assert sum(len(each.data or ()) for each in again.edits) > 100
    data = applied(applied(list(before.data), list(change.edits)), list(again.edits))
    now = await full(editor, uri)
    assert data == list(now.data)
    assert pieces(editor, uri, data)[3 * 7 : 3 * 7 + 4] == ["def", "a7", "ones", "7"]
    same = await delta(editor, uri, now.result_id or "")
    assert isinstance(same, types.SemanticTokensDelta)
    assert not same.edits
    stranger = await delta(editor, uri, "no such answer")
    assert isinstance(stranger, types.SemanticTokens)
    assert stranger.data == now.data


async def test_a_closed_document_has_no_tokens(editor: Editor) -> None:
    uri = editor.open("(def a 1)")
    await full(editor, uri)
    editor.close(uri)
    params = types.SemanticTokensParams(types.TextDocumentIdentifier(uri))
    assert await editor.client.text_document_semantic_tokens_full_async(params) is None


def applied(data: list[int], changes: list[types.SemanticTokensEdit] | tuple[types.SemanticTokensEdit, ...]) -> list[int]:
    for each in changes:
        data = [*data[: each.start], *(each.data or ()), *data[each.start + each.delete_count :]]
    return data


def test_a_change_of_numbers_is_one_of_whole_tokens() -> None:
    source = random.Random(0)
    for _ in range(200):
        before = [source.randrange(2) for _ in range(5 * source.randrange(6))]
        after = [source.randrange(2) for _ in range(5 * source.randrange(6))]
        change = edits(before, after)
        assert applied(before, change) == after
        assert all(each.start % 5 == each.delete_count % 5 == 0 for each in change)


def test_a_form_feed_ends_no_line() -> None:
    source = Source("x.sx", "a\f\x85b\rc")
    found = encoded(source, [(0, 1, 0), (3, 4, 0), (5, 6, 0)], "utf-16", multiline=False)
    assert found == [*(0, 0, 1, 0, 0), *(0, 3, 1, 0, 0), *(1, 0, 1, 0, 0)]
