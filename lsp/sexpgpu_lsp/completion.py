"""Completion: what can be written at the cursor. It never waits for the analysis of the text as it is, which may not read."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

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
_MOST_WRITTEN = 2048


def register(server: Server) -> None:
    """Answer completion and completionItem/resolve."""

    async def answer(params: types.CompletionParams) -> Ready | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter
        can = _can(server.client_capabilities)
        snippets = can is not None and bool(can.completion_item and can.completion_item.snippet_support)
        defaulted = can.completion_list.item_defaults if can is not None and can.completion_list is not None else None
        ranged = "editRange" in (defaulted or ())
        trigger = (params.context.trigger_character if params.context is not None else None) or ""

        def question(views: Sequence[View]) -> Ready | None:
            offset = converter.offset(document.source, params.position)
            found = complete(views, document.source, offset, listing, trigger)
            if found is None:
                return None
            uri = json.dumps(params.text_document.uri)
            place = json.dumps(server.connection.plain(converter.range(found.span)))
            typed = found.span.start != found.span.end
            items: list[str] = []
            for each in found.items:
                written = _written(each, converter.client.completion(_KINDS[each.kind]).value, snippets, ranged)
                text = f"{{{written.same}"
                if typed:  # a client may take items with edits for those that fit what is typed, unless it can tell by a text
                    text += written.filter
                if written.about:
                    text += f', "data": [{uri}, {written.about}]'
                if not ranged:
                    text += f', "textEdit": {{"newText": {written.new}, "range": {place}}}'
                if not converter.client.resolves_documentation:
                    text += _documented(views, each, converter.client)
                items.append(f"{text}}}")
            everywhere = f', "itemDefaults": {{"editRange": {place}}}' if ranged else ""
            again = "false" if found.settled else "true"  # the next analysis may know more, so that it is worth asking again
            return Ready(f'{{"isIncomplete": {again}, "items": [{", ".join(items)}]{everywhere}}}')

        return await at_once(server, document, question)

    async def resolve(item: types.CompletionItem) -> types.CompletionItem:
        about = _about(item.data)
        document = server.document(about[0]) if about is not None else None
        if about is None or document is None:
            return item
        client = server.documents.converter.client

        def question(views: Sequence[View]) -> types.CompletionItem:
            parts = _parts(views, about[1:])
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


class _Written(NamedTuple):
    """A CompletionItem as JSON, in pieces: the properties that are the `same` in every list, with a comma before it the `filter`
    text, the items of its data behind the document's URI, and the `new` text."""

    same: str
    filter: str
    about: str
    new: str


@lru_cache(_MOST_WRITTEN)
def _written(item: Item, kind: int, snippets: bool, ranged: bool) -> _Written:
    """What there is to write of an item. The lists of one place after another have most items in common, and to write one down
    takes longer than to find it. `ranged` lists say by themselves which range their items replace.
    """
    as_snippet = snippets and bool(item.snippet)
    text = item.snippet if as_snippet else item.text
    made: dict[str, Any] = {"label": item.label, "kind": kind, "sortText": item.order}
    if item.detail:
        made["detail"] = item.detail
    if as_snippet:
        made["insertTextFormat"] = types.InsertTextFormat.Snippet.value
    if ranged and text != item.label:
        made["textEditText"] = text
    filter = f', "filterText": {json.dumps(item.label if item.snippet else item.text)}'
    about = json.dumps(item.about)[1:-1] if item.about[0] else ""
    return _Written(json.dumps(made)[1:-1], filter, about, json.dumps(text))


def _documented(views: Sequence[View], item: Item, client: Client) -> str:
    """What an item says beside, as JSON, to a client that would not ask for it later."""
    parts = _parts(views, item.about) if item.about[0] else ()
    if not parts:
        return ""
    found = client.about_completion(parts)
    made = found if isinstance(found, str) else {"kind": found.kind.value, "value": found.value}
    return f', "documentation": {json.dumps(made)}'


def _parts(views: Sequence[View], about: tuple[str, str, str]) -> Sequence[Part]:
    return next((parts for view in views if (parts := documentation(view, about))), ())


def _about(data: Any) -> tuple[str, str, str, str] | None:
    """What an item said of itself: the document, the kind of thing, its name, and whose it is."""
    match data:
        case [str(uri), str(what), str(name), str(owner)]:
            return uri, what, name, owner
        case _:
            return None


def _can(client: types.ClientCapabilities) -> types.CompletionClientCapabilities | None:
    return client.text_document.completion if client.text_document is not None else None
