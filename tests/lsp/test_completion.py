"""Completion as a client sees it: where it stands, what it replaces, what it knows while the text is broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from sexpgpu.language.ctx import CTX
from sexpgpu.source import Position
from support.editor import Editor, connected, uri_for

RUN = """\
(def width 64)
(defloader train :batch 2 :fields (list :x (spec [3] :f32))
  :source (synthetic 8 (lambda (index) (list :x (zeros [3])))))
(defmodel model (x) (linear :out x 1))
(defun prepare (batch ctx)
  (counter :words 6)
  (list :x (field batch :x)))
(defun objective (inputs ctx)
  (let ((out (model (field inputs :x))))
    (mean out)))
(defoptimizer (sgd :lr 0.1))
(defrun :steps 10)
"""


async def listed(editor: Editor, uri: str, offset: int, trigger: str | None = None) -> types.CompletionList | None:
    """The list at an offset."""
    source = editor.sources[uri]
    line, character = source.position(offset, editor.encoding)
    context = (
        types.CompletionContext(types.CompletionTriggerKind.TriggerCharacter, trigger)
        if trigger is not None
        else types.CompletionContext(types.CompletionTriggerKind.Invoked)
    )
    params = types.CompletionParams(types.TextDocumentIdentifier(uri), types.Position(line, character), context)
    found = await editor.client.text_document_completion_async(params)
    assert found is None or isinstance(found, types.CompletionList)
    return found


async def completed(editor: Editor, uri: str, offset: int, trigger: str | None = None) -> list[types.CompletionItem]:
    """The items at an offset."""
    found = await listed(editor, uri, offset, trigger)
    return list(found.items) if found is not None else []


async def typed(editor: Editor, uri: str, old: str, new: str, trigger: str | None = None) -> list[types.CompletionItem]:
    """The items behind a piece that was typed in the place of another."""
    start = editor.sources[uri].text.index(old)
    editor.replace(uri, start, start + len(old), new)
    return await completed(editor, uri, start + len(new), trigger)


def labels(items: list[types.CompletionItem]) -> list[str]:
    return [item.label for item in items]


def applied(editor: Editor, uri: str, item: types.CompletionItem) -> str:
    """The document after an item was taken."""
    edit = item.text_edit
    assert isinstance(edit, types.TextEdit)
    source = editor.sources[uri]
    ends = edit.range.start, edit.range.end
    start, end = (source.offset(Position(at.line, at.character), editor.encoding) for at in ends)
    return source.text[:start] + edit.new_text + source.text[end:]


async def test_the_edit_covers_the_whole_symbol(editor: Editor) -> None:
    text = "(def a-b? (zeros [2]))\n(def c (stop-grxyz? a-b?))\n"
    uri = editor.open(text)
    items = await completed(editor, uri, text.index("grxyz"))
    taken = next(item for item in items if item.label == "stop-gradient")
    assert applied(editor, uri, taken) == text.replace("stop-grxyz?", "stop-gradient")


async def test_a_keyword_is_replaced_with_its_colon_behind_wide_characters(editor: Editor) -> None:
    uri = editor.open(f'(def s "😀") {RUN}')
    items = await typed(editor, uri, "(defrun :steps 10)", "(defrun :st")
    taken = next(item for item in items if item.label == ":steps")
    assert applied(editor, uri, taken).rstrip().endswith("(defrun :steps")
    uri = editor.open('(def s (list "😀" (sum (zeros [2]) :ax')
    items = await completed(editor, uri, len(editor.sources[uri].text))
    assert applied(editor, uri, items[0]) == '(def s (list "😀" (sum (zeros [2]) :axes'


@pytest.mark.parametrize("version", ["broken", "unread"])
async def test_fields_are_known_while_the_form_is_broken(editor: Editor, version: str) -> None:
    uri = editor.open(RUN)
    if version == "broken":
        await editor.published(uri)
    first = await typed(editor, uri, "(field batch :x)))", "(field batch :")
    await editor.published(uri)
    again = await completed(editor, uri, editor.sources[uri].text.index("(field batch :") + len("(field batch :"))
    assert labels(first) == labels(again) == [":x"]
    assert first[0].detail == "f32[2 3]"


async def test_ctx_keys_and_counters(editor: Editor) -> None:
    uri = editor.open(RUN)
    await editor.published(uri)
    items = await typed(editor, uri, "(mean out)", "(getf ctx :", ":")
    assert labels(items) == sorted([*(f":{key}" for key in CTX), ":stage-words", ":words"])
    resolved = await editor.client.completion_item_resolve_async(next(item for item in items if item.label == ":words"))
    assert isinstance(resolved.documentation, types.MarkupContent)
    assert "(counter :words 6)" in resolved.documentation.value


async def test_silence_in_strings_and_comments(editor: Editor) -> None:
    text = '; a (remark \n(def s "(so ")\n(def t 3.5)\n#| (b |#\n(print s "")\n'
    uri = editor.open(text)
    for piece in ("(remark ", '"(so ', "3.5", "#| (b ", ' ""'[:2]):
        assert await completed(editor, uri, text.index(piece) + len(piece)) == [], piece
    assert await completed(editor, uri, text.index('")') + 1, '"') == []
    assert await completed(editor, uri, text.index('(print s "") '[:-1]) + 10, '"') == []


async def test_codes_to_ignore(editor: Editor) -> None:
    text = "(def a (uniform [2])) ; sexpgpu: ignore[W-GEN-001, ]\n"
    uri = editor.open(text)
    items = await completed(editor, uri, text.index("]\n"), "[")
    assert "W-GEN-002" in labels(items)
    assert "W-GEN-001" not in labels(items)
    assert not any(label.startswith("E-") for label in labels(items))
    assert await completed(editor, uri, text.index("[2") + 1, "[") == []


async def test_files(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "part.sx").write_text("")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.npz").write_bytes(b"")
    (tmp_path / "data" / "note.txt").write_bytes(b"")
    uri = editor.open('(load "', uri_for(tmp_path / "run.sx"))
    items = await completed(editor, uri, 7, '"')
    assert labels(items) == ["part.sx", "data/"]
    assert applied(editor, uri, items[0]) == '(load "part.sx"'
    uri = editor.open('(def s (npz "data/r"))', uri_for(tmp_path / "other.sx"))
    items = await completed(editor, uri, 19)
    assert labels(items) == ["rows.npz"]
    assert applied(editor, uri, items[0]) == '(def s (npz "data/rows.npz"))'


async def test_snippets_only_for_a_client_that_knows_them(editor: Editor) -> None:
    uri = editor.open("(def")
    plain = await completed(editor, uri, 4)
    assert all(item.insert_text_format is None for item in plain)
    assert applied(editor, uri, next(item for item in plain if item.label == "defun")) == "(defun"
    can = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(
            completion=types.CompletionClientCapabilities(
                completion_item=types.ClientCompletionItemOptions(
                    snippet_support=True, documentation_format=[types.MarkupKind.PlainText]
                )
            )
        )
    )
    async with connected(can) as other:
        uri = other.open("def")
        items = await completed(other, uri, 3)
        taken = next(item for item in items if item.label == "defpass")
        assert taken.insert_text_format == types.InsertTextFormat.Snippet
        assert applied(other, uri, taken) == "(defpass ${1:name}\n  :loader ${2:loader}\n  :every ${3:100})"
        resolved = await other.client.completion_item_resolve_async(taken)
        assert isinstance(resolved.documentation, types.MarkupContent)
        assert resolved.documentation.kind == types.MarkupKind.PlainText


async def test_a_library_knows_what_the_file_that_loads_it_hands_over(editor: Editor, tmp_path: Path) -> None:
    part = editor.open("(defun prepare (batch ctx) (list :x (field batch :x)))\n", uri_for(tmp_path / "part.sx"))
    rest = RUN.replace(RUN[RUN.index("(defun prepare") : RUN.index("(defun objective")], '(load "part.sx")\n')
    run = editor.open(rest, uri_for(tmp_path / "run.sx"))
    await editor.published(run)
    assert labels(await typed(editor, part, ":x)))", ":")) == [":x"]


async def test_an_item_of_a_document_that_is_closed_or_unknown_resolves_to_itself(editor: Editor) -> None:
    for data in (None, 3, ["untitled:gone", "name", "sum", ""], ["untitled:gone", 3], {"a": 1}):
        item = types.CompletionItem(label="sum", data=data)
        assert (await editor.client.completion_item_resolve_async(item)).label == "sum"


async def test_a_list_from_an_older_text_says_that_it_is_incomplete(editor: Editor) -> None:
    uri = editor.open(RUN)
    await editor.published(uri)
    text = RUN.replace("(mean out)", "(mean bra)").replace("(def width 64)", "(def width 64)\n(def brand-new 7)")
    offset = text.index("(mean bra") + len("(mean bra")
    editor.replace(uri, 0, len(RUN), text)
    first = await listed(editor, uri, offset)
    assert first is not None
    assert first.is_incomplete is True
    assert "brand-new" in labels(list(first.items))
    await editor.published(uri)
    again = await listed(editor, uri, offset)
    assert again is not None
    assert again.is_incomplete is False
    assert {each.label: each.detail for each in again.items}["brand-new"] == "7"


async def test_typing_a_word_leaves_lists_complete(editor: Editor) -> None:
    uri = editor.open(RUN)
    await editor.published(uri)
    offset = RUN.index("(mean out)")
    for character in "(softmax":
        editor.replace(uri, offset, offset, character)
        offset += 1
        found = await listed(editor, uri, offset, "(" if character == "(" else None)
        assert found is not None
        assert found.is_incomplete is False


async def test_a_head_in_front_of_its_arguments_is_inserted_alone() -> None:
    can = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(
            completion=types.CompletionClientCapabilities(completion_item=types.ClientCompletionItemOptions(snippet_support=True))
        )
    )
    async with connected(can) as editor:
        for head, rest in (("lambda", " (y) y))"), ("let", " ((y 1)) y))")):
            begun = f"(def f ({head[:2]}"
            uri = editor.open(begun + rest)
            items = await completed(editor, uri, len(begun))
            taken = next(item for item in items if item.label == head)
            assert applied(editor, uri, taken) == f"(def f ({head}{rest}"
            assert all(item.insert_text_format is None for item in items)
