"""The server's text is the editor's, whatever is in it and however positions are counted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types

from sexpgpu.source import Encoding, Source
from sexpgpu_lsp.convert import Converter
from sexpgpu_lsp.documents import Documents, OpenFiles
from support.editor import ENCODINGS, Editor, connected

URI = "file:///somewhere/x.sx"
PIECES = ["a", "(", "é", "漢", "😀", "\n", "\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\ufeff", "", "(def a 1)\n"]
TEXT = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def capabilities(*encodings: str) -> types.ClientCapabilities:
    return types.ClientCapabilities(general=types.GeneralClientCapabilities(position_encodings=list(encodings)))


def documents(encoding: Encoding, text: str) -> Documents:
    made = Documents()
    made.converter = Converter(encoding)
    made.open(URI, 1, text)
    return made


def text_of(made: Documents) -> str:
    document = made.get(URI)
    assert document is not None
    return document.source.text


def edit(converter: Converter, text: str, start: int, end: int, new: str) -> types.TextDocumentContentChangePartial:
    source = Source("x", text)
    span = types.Range(converter.position(source, start), converter.position(source, end))
    return types.TextDocumentContentChangePartial(range=span, text=new, range_length=12345)


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=40)
@given(data=st.data())
def test_random_edits_give_the_editors_text(encoding: Encoding, data: st.DataObject) -> None:
    text = data.draw(TEXT)
    made = documents(encoding, text)
    for version in range(2, 6):
        changes: list[types.TextDocumentContentChangeEvent] = []
        for _ in range(data.draw(st.integers(1, 3))):
            ends = [at for at in range(len(text) + 1) if text[at - 1 : at + 1] != "\r\n"]  # no position stands inside a line end
            start, end = sorted((data.draw(st.sampled_from(ends)), data.draw(st.sampled_from(ends))))
            new = data.draw(TEXT)
            changes.append(edit(made.converter, text, start, end, new))
            text = text[:start] + new + text[end:]
        made.change(URI, version, changes)
        assert text_of(made) == text


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=TEXT, numbers=st.tuples(*[st.integers(0, 100)] * 4), new=TEXT)
def test_positions_outside_of_the_text_are_clamped(
    encoding: Encoding, text: str, numbers: tuple[int, int, int, int], new: str
) -> None:
    made = documents(encoding, text)
    span = types.Range(types.Position(*numbers[:2]), types.Position(*numbers[2:]))
    made.change(URI, 2, [types.TextDocumentContentChangePartial(range=span, text=new)])
    assert new in text_of(made)
    assert len(text_of(made)) <= len(text) + len(new)


def test_deleting_all_by_a_range_behind_the_end() -> None:
    made = documents("utf-16", "(def a 1)\n(def b 2)\n")
    far = types.Range(types.Position(0, 0), types.Position(2, 0))
    made.change(URI, 2, [types.TextDocumentContentChangePartial(range=far, text="")])
    assert text_of(made) == ""
    made.change(URI, 3, [types.TextDocumentContentChangePartial(range=far, text="(def c 3)")])
    assert text_of(made) == "(def c 3)"


def test_an_earlier_world_stays_as_it_was() -> None:
    made = documents("utf-16", "old")
    before = made.world
    made.change(URI, 2, [types.TextDocumentContentChangeWholeDocument(text="new")])
    made.close(URI)
    assert [document.source.text for document in before.documents.values()] == ["old"]
    assert not made.world.documents
    assert made.change(URI, 3, []) is None


def test_an_open_document_is_read_as_the_bytes_of_its_text() -> None:
    files = OpenFiles(documents("utf-16", "é(def a 1)").world)
    assert files.read("/somewhere/x.sx") == "é(def a 1)".encode()
    assert files.read("/somewhere/../somewhere/x.sx", 2, 4) == b"(def"
    assert files.size("/somewhere/x.sx") == 11
    with pytest.raises(FileNotFoundError):
        files.size("/somewhere/else.sx")
    assert {key: source is not None for key, source in files.used.items()} == {
        "file:/somewhere/x.sx": True,
        "file:/somewhere/else.sx": False,
    }


def test_a_mark_at_the_start_of_an_open_text_stays_part_of_it() -> None:
    text = "\ufeff(def a 1)"
    data = OpenFiles(documents("utf-16", text).world).read("/somewhere/x.sx")
    assert Source.decode("x", data).text == text


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_columns_are_those_that_were_agreed(encoding: Encoding) -> None:
    async with connected(capabilities("utf-7", encoding, "utf-16")) as editor:
        assert editor.encoding == encoding
        uri = editor.open('(def s (str "😀é" missing))\n')
        (found,) = await editor.published(uri)
        before = {"utf-8": 21, "utf-16": 18, "utf-32": 17}[encoding]
        assert found.range == types.Range(types.Position(0, before), types.Position(0, before + 7))
        editor.write(uri, "missing", "😀 lost")
        assert [editor.piece(uri, each.range) for each in await editor.published(uri)] == ["😀", "lost"]


async def test_only_line_ends_end_a_line(editor: Editor) -> None:
    uri = editor.open("; \x0b \x0c \x85 \u2028\r(def a b)\r\n(def c d)\n")
    found = await editor.published(uri)
    assert [(each.range.start.line, each.range.start.character) for each in found] == [(1, 7), (2, 7)]
    editor.write(uri, "(def a b)", "(def a 1)")
    editor.write(uri, "d)", "1)")
    assert await editor.published(uri) == []


async def test_a_byte_order_mark_is_no_part_of_the_first_form(editor: Editor) -> None:
    uri = editor.open("\ufeff(def a b)\n")
    (found,) = await editor.published(uri)
    assert editor.piece(uri, found.range) == "b"


async def test_a_change_without_changes_has_a_version(editor: Editor) -> None:
    uri = editor.open("(def a b)\n")
    editor.change(uri, [])
    assert await editor.codes(uri) == ["E-NAME-001"]


async def test_opening_again_replaces(editor: Editor) -> None:
    uri = editor.open("(def a b)\n")
    editor.open("(def a 1)\n", uri)
    assert await editor.published(uri, lambda params: not params.diagnostics) == []


async def test_a_change_of_what_is_not_open_is_survived(editor: Editor) -> None:
    uri = editor.open("(def a b)\n")
    editor.close(uri)
    editor.write(uri, "b", "c")
    assert await editor.codes(editor.open("(def a b)\n")) == ["E-NAME-001"]
