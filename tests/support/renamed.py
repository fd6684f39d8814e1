"""What a rename over the protocol makes of the texts of an editor and of a folder."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from sexpgpu.source import Position, Source
from sexpgpu_lsp.uris import path_of
from support.editor import Editor


def changes_of(edit: types.WorkspaceEdit) -> dict[str, tuple[int | None, list[types.TextEdit]]]:
    """By URI the version that is meant, and the edits."""
    found: dict[str, tuple[int | None, list[types.TextEdit]]] = {}
    for each in edit.document_changes or ():
        assert isinstance(each, types.TextDocumentEdit)
        assert each.text_document.uri not in found
        found[each.text_document.uri] = (each.text_document.version, [one for one in each.edits if isinstance(one, types.TextEdit)])
    for uri, edits in (edit.changes or {}).items():
        found[uri] = (None, list(edits))
    return found


def texts_after(editor: Editor, edit: types.WorkspaceEdit) -> dict[str, str]:
    """By URI the text of each file that is changed, open or not, after it. No two edits touch the same."""
    texts: dict[str, str] = {}
    for uri, (_, edits) in changes_of(edit).items():
        source = editor.sources.get(uri)
        if source is None:
            path = path_of(uri)
            assert path is not None
            source = Source.decode(path, Path(path).read_bytes())
        places = [
            [source.offset(Position(at.line, at.character), editor.encoding) for at in (each.range.start, each.range.end)]
            for each in edits
        ]
        text, last = source.text, len(source.text)
        for (start, end), each in sorted(zip(places, edits, strict=True), key=lambda pair: pair[0], reverse=True):
            assert start <= end <= last
            text, last = text[:start] + each.new_text + text[end:], start
        texts[uri] = text
    return texts
