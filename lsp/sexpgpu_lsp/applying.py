"""Code actions for a client that knows commands alone: the server has the client make the edit when the command is executed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sexpgpu_lsp.documents import Document

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

APPLY = "sexpgpu.apply"


def as_known(
    server: Server, document: Document, actions: Sequence[types.CodeAction]
) -> Sequence[types.CodeAction] | Sequence[types.Command]:
    """The actions as they are, or as commands; none to a client that makes no edits for the server either."""
    client = server.documents.converter.client
    if client.literals:
        return actions
    if not client.applies:
        return []
    version = document.version
    return [
        types.Command(
            title=each.title,
            command=APPLY,
            arguments=[{"uri": document.uri, "version": version, "edit": server.connection.plain(each.edit)}],
        )
        for each in actions
        if each.edit is not None
    ]


def register(server: Server) -> None:
    """Answer the command that such actions are."""

    async def apply(*given: Any) -> None:
        try:
            uri, version, edit = (given[0][key] for key in ("uri", "version", "edit"))
            document = server.documents.get(uri)
            wanted = server.connection.structured(edit, types.WorkspaceEdit)
        except Exception:  # noqa: BLE001  the library raises many kinds
            raise JsonRpcException(f"{APPLY} takes what an action of the server holds", types.ErrorCodes.InvalidParams) from None
        if not server.documents.converter.client.applies:
            raise JsonRpcException("this editor makes no edits for a server", types.LSPErrorCodes.RequestFailed)
        if document is None or document.version != version:
            raise JsonRpcException("the document has changed; ask for its actions again", types.LSPErrorCodes.RequestFailed)
        answer = await server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit=wanted))
        if not answer.applied:
            raise JsonRpcException(answer.failure_reason or "the editor made no edit", types.LSPErrorCodes.RequestFailed)

    server.command(APPLY)(apply)
