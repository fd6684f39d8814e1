"""Code actions: the changes that mend what a diagnostic says, one by one or all that are safe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from sexpgpu.ide.fixes import all_safe, offers
from sexpgpu.source import Source, Span
from sexpgpu_lsp.analyses import View
from sexpgpu_lsp.applying import as_known
from sexpgpu_lsp.convert import UriOf
from sexpgpu_lsp.documents import Document, World
from sexpgpu_lsp.uris import key_of

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

QUICK_FIX = types.CodeActionKind.QuickFix.value
FIX_ALL = types.CodeActionKind.SourceFixAll.value

_OPTIONS = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll])


def register(server: Server) -> None:
    """Answer codeAction."""

    async def answer(params: types.CodeActionParams) -> Sequence[types.CodeAction] | Sequence[types.Command] | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        wanted = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
        versioned = versions(server.client_capabilities)

        def question(views: Iterator[View]) -> list[types.CodeAction]:
            analysis = next(views).analysis
            found = analysis.diagnostics
            world, converter = server.documents.world, server.documents.converter
            uri = server.publisher.uri_for(world, document)

            def edit(edits: Iterable[tuple[Span, str]]) -> types.WorkspaceEdit:
                return workspace_edit(server, world, document, uri, edits, versioned)

            actions: list[types.CodeAction] = []
            if _asked_for(QUICK_FIX, wanted, unasked=True):
                start = converter.offset(document.source, params.range.start)
                end = converter.offset(document.source, params.range.end)
                for offer in offers(found, document.source, start, end):
                    actions.append(
                        types.CodeAction(
                            title=offer.fix.title,
                            kind=types.CodeActionKind.QuickFix,
                            diagnostics=[converter.diagnostic(offer.diagnostic, uri)],
                            is_preferred=offer.preferred or None,
                            edit=edit((each.span, each.text) for each in offer.fix.edits),
                        )
                    )
            safe = all_safe(found, document.source) if _asked_for(FIX_ALL, wanted, unasked=False) else []
            if safe:
                actions.append(
                    types.CodeAction(
                        title="apply all safe fixes",
                        kind=types.CodeActionKind.SourceFixAll,
                        edit=edit((each.span, each.text) for each in safe),
                    )
                )
            return actions

        return as_known(server, document, await server.ask(document, question))

    server.answers(types.TEXT_DOCUMENT_CODE_ACTION, _OPTIONS)(answer)


def _asked_for(kind: str, wanted: list[str], *, unasked: bool) -> bool:
    """Whether a kind is one of those wanted, or inside one; `unasked` where none is named."""
    return unasked if not wanted else any(kind == each or kind.startswith(f"{each}.") or not each for each in wanted)


def workspace_edit(
    server: Server, world: World, document: Document, uri_of: UriOf, edits: Iterable[tuple[Span, str]], versioned: bool
) -> types.WorkspaceEdit:
    """The edits by file, bound to the versions that they are meant for where the client can hold them to that."""
    by_source: dict[Source, list[tuple[Span, str]]] = {}
    for span, text in edits:
        by_source.setdefault(span.source, []).append((span, text))
    converter = server.documents.converter
    if not versioned:
        return types.WorkspaceEdit(changes={uri_of(source): converter.edits(found) for source, found in by_source.items()})
    changes: list[types.TextDocumentEdit] = []
    for source, found in by_source.items():
        uri = uri_of(source)
        open_one = document if source is document.source else world.documents.get(key_of(uri))
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
    workspace = client.workspace
    edit = workspace.workspace_edit if workspace is not None else None
    return edit is not None and bool(edit.document_changes)
