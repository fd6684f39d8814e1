"""Completion: what can be written at the cursor. It never waits for the analysis of the text as it is, which may not read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from sexpgpu.ide.candidates import Item, Kind
from sexpgpu.ide.completion import TRIGGERS, complete, documentation
from sexpgpu.ide.markup import Part
from sexpgpu.ide.recall import View
from sexpgpu_lsp.client import Client
from sexpgpu_lsp.prompt import Ready, at_once

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

    async def answer(params: types.CompletionParams) -> Ready | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter
        can = _can(server.client_capabilities)
        snippets = can is not None and bool(can.completion_item and can.completion_item.snippet_support)
        defaults = can.completion_list.item_defaults if can is not None and can.completion_list is not None else None
        ranged = "editRange" in (defaults or ())
        trigger = (params.context.trigger_character if params.context is not None else None) or ""

        def question(views: Sequence[View]) -> Ready | None:
            offset = converter.offset(document.source, params.position)
            found = complete(views, document.source, offset, listing, trigger)
            if found is None:
                return None
            place = converter.range(found.span)
            ends = {"start": _position(place.start), "end": _position(place.end)}
            items = [
                _item(each, None if ranged else ends, params.text_document.uri, snippets, converter.client) for each in found.items
            ]
            if place.start != place.end:
                # A client may take items with edits for those that fit what is typed, all of them, unless it can tell by a text.
                for made, each in zip(items, found.items, strict=True):
                    made["filterText"] = each.label if each.snippet else each.text
            if not converter.client.resolves_documentation:
                _document(items, views, converter.client)
            # Made of the library's types, a list would take longer to write down than to find.
            content: dict[str, Any] = {"isIncomplete": False, "items": items}
            if ranged:
                content["itemDefaults"] = {"editRange": ends}
            return Ready(content)

        return await at_once(server, document, question)

    async def resolve(item: types.CompletionItem) -> types.CompletionItem:
        about = _about(item.data)
        document = server.document(about[0]) if about is not None else None
        if about is None or document is None:
            return item
        client = server.documents.converter.client

        def question(views: Sequence[View]) -> types.CompletionItem:
            parts = _parts(views, about)
            if parts:
                item.documentation = client.about_completion(parts)
            return item

        return await at_once(server, document, question)

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


def _position(position: types.Position) -> dict[str, int]:
    return {"line": position.line, "character": position.character}


def _item(item: Item, place: dict[str, dict[str, int]] | None, uri: str, snippets: bool, client: Client) -> dict[str, Any]:
    """A CompletionItem; without a place it is the list's."""
    as_snippet = snippets and bool(item.snippet)
    text = item.snippet if as_snippet else item.text
    made: dict[str, Any] = {"label": item.label, "kind": client.completion(_KINDS[item.kind]).value, "sortText": item.order}
    if item.detail:
        made["detail"] = item.detail
    if as_snippet:
        made["insertTextFormat"] = types.InsertTextFormat.Snippet.value
    if place is not None:
        made["textEdit"] = {"range": place, "newText": text}
    elif text != item.label:
        made["textEditText"] = text
    if item.about[0]:
        made["data"] = [uri, *item.about]
    return made


def _document(items: Sequence[dict[str, Any]], views: Sequence[View], client: Client) -> None:
    """Document items at once, for a client that would not ask for it later."""
    for made in items:
        about = _about(made.get("data"))
        parts = None if about is None else _parts(views, about)
        if parts:
            found = client.about_completion(parts)
            made["documentation"] = found if isinstance(found, str) else {"kind": found.kind.value, "value": found.value}


def _parts(views: Sequence[View], about: tuple[str, str, str, str]) -> Sequence[Part]:
    return next((parts for view in views if (parts := documentation(view, about[1:]))), ())


def _about(data: Any) -> tuple[str, str, str, str] | None:
    """What an item said of itself: the document, the kind of thing, its name, and whose it is."""
    match data:
        case [str(uri), str(what), str(name), str(owner)]:
            return uri, what, name, owner
        case _:
            return None


def _can(client: types.ClientCapabilities) -> types.CompletionClientCapabilities | None:
    return client.text_document.completion if client.text_document is not None else None
