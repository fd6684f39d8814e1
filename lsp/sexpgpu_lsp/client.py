"""What the client can, as far as answers depend on it. What it does not say that it can, it is not sent."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from lsprotocol import types

from sexpgpu.ide.markup import Part, markdown, plain

Symbols = types.SymbolKind
Completions = types.CompletionItemKind

# Kinds that came with later versions of the protocol, and what is nearest to them in the first: a client that names none has those.
_FIRST_SYMBOLS: dict[types.SymbolKind, types.SymbolKind] = {
    Symbols.Event: Symbols.Module,
    Symbols.Operator: Symbols.Function,
}
_FIRST_COMPLETIONS: dict[types.CompletionItemKind, types.CompletionItemKind] = {
    Completions.Folder: Completions.File,
    Completions.EnumMember: Completions.Value,
    Completions.Constant: Completions.Variable,
    Completions.Event: Completions.Value,
    Completions.Operator: Completions.Function,
}
_MARKDOWN = types.MarkupKind.Markdown
_written = lru_cache(2048)(markdown)  # a client that wants all documentation at once wants it at every key


class Client:
    """The abilities of one client."""

    def __init__(self, said: types.ClientCapabilities) -> None:
        text = said.text_document or types.TextDocumentClientCapabilities()
        workspace = said.workspace or types.WorkspaceClientCapabilities()
        pushed, pulled = text.publish_diagnostics, text.diagnostic
        self.related = any(each is not None and bool(each.related_information) for each in (pushed, pulled))
        """Whether a diagnostic may name other places."""
        sets = [each.tag_support for each in (pushed, pulled) if each is not None]
        self.tags = frozenset(tag for each in sets if each is not None for tag in each.value_set)
        """The tags that a diagnostic may have."""

        action = text.code_action
        self.literals = action is not None and action.code_action_literal_support is not None
        """Whether an action may hold its edit; otherwise it is a command, which the server executes."""
        self.applies = bool(workspace.apply_edit)
        """Whether it makes edits that the server asks for."""

        item = text.completion.completion_item if text.completion is not None else None
        resolved = item.resolve_support if item is not None else None
        self.resolves_documentation = resolved is None or "documentation" in resolved.properties
        """Whether it asks for the documentation of an item when that is looked at. The first clients did, and could not say so."""
        kinds = text.completion.completion_item_kind if text.completion is not None else None
        self._all_completions = kinds is not None and kinds.value_set is not None
        outline = text.document_symbol.symbol_kind if text.document_symbol is not None else None
        self._all_symbols = outline is not None and outline.value_set is not None
        search = workspace.symbol.symbol_kind if workspace.symbol is not None else None
        self._all_search = search is not None and search.value_set is not None

        hover = text.hover.content_format if text.hover is not None else None
        self._hover_markdown = _MARKDOWN in (hover or ())
        self._completion_formats = (item.documentation_format if item is not None else None) or ()
        help = text.signature_help.signature_information if text.signature_help is not None else None
        self._signature_formats = (help.documentation_format if help is not None else None) or ()
        parameters = help.parameter_information if help is not None else None
        self.offsets_of_parameters = parameters is not None and bool(parameters.label_offset_support)
        """Whether a parameter may be a place in the text of its signature."""
        self.active_of_signature = help is not None and bool(help.active_parameter_support)
        """Whether each signature may have an active parameter of its own."""
        self.no_active = help is not None and bool(help.no_active_parameter_support)
        """Whether it may be that no parameter is active."""

    def symbol(self, kind: types.SymbolKind) -> types.SymbolKind:
        """The kind of a symbol of a document, as this client knows it."""
        return kind if self._all_symbols else _FIRST_SYMBOLS.get(kind, kind)

    def searched(self, kind: types.SymbolKind) -> types.SymbolKind:
        """The kind of a symbol of the workspace, as this client knows it."""
        return kind if self._all_search else _FIRST_SYMBOLS.get(kind, kind)

    def completion(self, kind: types.CompletionItemKind) -> types.CompletionItemKind:
        """The kind of a completion, as this client knows it."""
        return kind if self._all_completions else _FIRST_COMPLETIONS.get(kind, kind)

    def about_completion(self, parts: Iterable[Part]) -> types.MarkupContent | str:
        """The documentation of a completion."""
        return self._documentation(parts, self._completion_formats)

    def about_signature(self, parts: Iterable[Part]) -> types.MarkupContent | str:
        """The documentation of a signature."""
        return self._documentation(parts, self._signature_formats)

    def _documentation(self, parts: Iterable[Part], formats: Iterable[types.MarkupKind]) -> types.MarkupContent | str:
        """Documentation in the best of these formats. Who names none gets a string, in the format that hovers are shown in."""
        parts, known = tuple(parts), list(formats)
        if not known:
            return _written(parts) if self._hover_markdown else plain(parts)
        if _MARKDOWN in known:
            return types.MarkupContent(kind=_MARKDOWN, value=_written(parts))
        return types.MarkupContent(kind=types.MarkupKind.PlainText, value=plain(parts))


def adapt(client: Client, server: types.ServerCapabilities) -> None:
    """Say what the server does in words that the client knows."""
    if not client.literals:
        server.code_action_provider = True
