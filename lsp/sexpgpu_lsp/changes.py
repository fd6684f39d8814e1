"""Edits as the protocol has them, by file and version."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lsprotocol import types

from sexpgpu.source import Span
from sexpgpu_lsp.convert import UriOf
from sexpgpu_lsp.documents import Document, World
from sexpgpu_lsp.uris import key_of

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server


def workspace_edit(
    server: Server, world: World, document: Document, uri_of: UriOf, edits: Iterable[tuple[Span, str]], versioned: bool
) -> types.WorkspaceEdit:
    """The edits by file, bound to the versions that they are meant for where the client can hold them to that."""
    by_uri: dict[str, list[tuple[Span, str]]] = {}  # several analyses may each have read a file
    for span, text in edits:
        by_uri.setdefault(uri_of(span.source), []).append((span, text))
    converter = server.documents.converter
    if not versioned:
        return types.WorkspaceEdit(changes={uri: converter.edits(found) for uri, found in by_uri.items()})
    changes: list[types.TextDocumentEdit] = []
    for uri, found in by_uri.items():
        open_one = document if uri == document.uri else world.documents.get(key_of(uri))
        changes.append(
            types.TextDocumentEdit(
                text_document=types.OptionalVersionedTextDocumentIdentifier(
                    uri=uri, version=open_one.version if open_one is not None else None
                ),
                edits=list(converter.edits(found)),
            )
        )
    return types.WorkspaceEdit(document_changes=list(changes))


def versions(client: types.ClientCapabilities) -> bool:
    """Whether a client holds edits to the versions that they are meant for."""
    workspace = client.workspace
    edit = workspace.workspace_edit if workspace is not None else None
    return edit is not None and bool(edit.document_changes)
