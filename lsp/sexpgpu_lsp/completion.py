"""Completion: what can be written at the cursor. It never waits for the analysis of the text as it is, which may not read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from sexpgpu.ide.candidates import Item, Kind
from sexpgpu.ide.completion import TRIGGERS, complete, documentation
from sexpgpu.ide.recall import View
from sexpgpu_lsp import analyses
from sexpgpu_lsp.convert import markup

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

_KINDS: dict[Kind, types.CompletionItemKind] = {
    "local": types.CompletionItemKind.Variable,
    "constant": types.CompletionItemKind.Constant,
    "function": types.CompletionItemKind.Function,
    "model": types.CompletionItemKind.Class,
    "loader": types.CompletionItemKind.Module,
    "operator": types.CompletionItemKind.Operator,
    "form": types.CompletionItemKind.Keyword,
    "key": types.CompletionItemKind.Property,
    "entry": types.CompletionItemKind.Field,
    "keyword": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
    "code": types.CompletionItemKind.Event,
    "file": types.CompletionItemKind.File,
    "folder": types.CompletionItemKind.Folder,
    "text": types.CompletionItemKind.Text,
}
_MOST_LISTED = 10_000


def register(server: Server) -> None:
    """Answer completion and completionItem/resolve."""

    async def answer(params: types.CompletionParams) -> types.CompletionList | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter
        snippets = _takes_snippets(server.client_capabilities)
        trigger = (params.context.trigger_character if params.context is not None else None) or ""

        def question(_: Iterator[analyses.View]) -> types.CompletionList | None:
            views = [View(*each) for each in server.analyses.recent(server.documents.world, document)]
            offset = converter.offset(document.source, params.position)
            found = complete(views, document.source, offset, listing, trigger)
            if found is None:
                return None
            place = converter.range(found.span)
            return types.CompletionList(
                is_incomplete=False, items=[_item(each, place, params.text_document.uri, snippets) for each in found.items]
            )

        return await server.ask(document, question)

    async def resolve(item: types.CompletionItem) -> types.CompletionItem:
        about = _about(item.data)
        document = server.document(about[0]) if about is not None else None
        if about is None or document is None:
            return item
        as_markdown = _shows_markdown(server.client_capabilities)

        def question(_: Iterator[analyses.View]) -> types.CompletionItem:
            for view in server.analyses.recent(server.documents.world, document):
                parts = documentation(View(*view), about[1:])
                if parts:
                    item.documentation = markup(parts, as_markdown)
                    break
            return item

        return await server.ask(document, question)

    options = types.CompletionOptions(trigger_characters=list(TRIGGERS), resolve_provider=True)
    server.answers(types.TEXT_DOCUMENT_COMPLETION, options)(answer)
    server.answers(types.COMPLETION_ITEM_RESOLVE)(resolve)


def listing(folder: str) -> list[tuple[str, bool]]:
    """The names in a folder, each with whether it is a folder. Raises OSError."""
    found: list[tuple[str, bool]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            found.append((entry.name, entry.is_dir()))
            if len(found) == _MOST_LISTED:
                break
    return found


def _item(item: Item, place: types.Range, uri: str, snippets: bool) -> types.CompletionItem:
    as_snippet = snippets and bool(item.snippet)
    return types.CompletionItem(
        label=item.label,
        kind=_KINDS[item.kind],
        detail=item.detail or None,
        sort_text=item.order,
        insert_text_format=types.InsertTextFormat.Snippet if as_snippet else None,
        text_edit=types.TextEdit(place, item.snippet if as_snippet else item.text),
        data=[uri, *item.about] if item.about[0] else None,
    )


def _about(data: Any) -> tuple[str, str, str, str] | None:
    """What an item said of itself: the document, the kind of thing, its name, and whose it is."""
    match data:
        case [str(uri), str(what), str(name), str(owner)]:
            return uri, what, name, owner
        case _:
            return None


def _takes_snippets(client: types.ClientCapabilities) -> bool:
    text = client.text_document
    item = text.completion.completion_item if text is not None and text.completion is not None else None
    return item is not None and bool(item.snippet_support)


def _shows_markdown(client: types.ClientCapabilities) -> bool:
    """Whether the client shows Markdown: one that does not say what it shows is expected to."""
    text = client.text_document
    item = text.completion.completion_item if text is not None and text.completion is not None else None
    formats = item.documentation_format if item is not None else None
    return not formats or types.MarkupKind.Markdown in formats
