"""Inlay hints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from sexpgpu.analysis import Analysis
from sexpgpu.ide.hints import KINDS, Hint, Kind, hints
from sexpgpu_lsp.analyses import View
from sexpgpu_lsp.convert import Converter, markup
from sexpgpu_lsp.documents import Document
from sexpgpu_lsp.views import running

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server


def register(server: Server) -> None:
    """Answer inlayHint."""

    clean: dict[str, Analysis] = {}

    async def answer(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        document = server.document(params.text_document.uri)
        settings = server.configuration.now
        kinds = {kind for kind in KINDS if settings.flag(f"inlayHints.{kind}")} - _told_by_lenses(server)
        if document is None or not kinds:
            return None
        converter = server.documents.converter
        for key in clean.keys() - server.documents.world.documents.keys():
            del clean[key]

        def question(views: Iterator[View]) -> list[types.InlayHint]:
            start, end = (converter.offset(document.source, at) for at in (params.range.start, params.range.end))
            analysis, module = running(views)
            earlier = clean.get(document.key)
            if all(each.rule.severity != "error" for each in analysis.diagnostics):
                clean[document.key] = analysis
            return [_hint(converter, document, hint) for hint in hints(analysis, module, start, end, kinds, earlier)]

        return await server.refresh.ask("hints", document, question)

    server.answers(types.TEXT_DOCUMENT_INLAY_HINT)(answer)


def _told_by_lenses(server: Server) -> set[Kind]:
    """What an editor that shows code lenses would say twice."""
    client = server.client_capabilities.text_document
    shown = client is not None and client.code_lens is not None and server.configuration.now.flag("codeLens.enable")
    return {"trips", "memory"} if shown else set()


def _hint(converter: Converter, document: Document, hint: Hint) -> types.InlayHint:
    typed = hint.kind in ("shapes", "values")
    return types.InlayHint(
        position=converter.position(document.source, hint.offset),
        label=hint.label,
        kind=types.InlayHintKind.Parameter if hint.before else types.InlayHintKind.Type,
        tooltip=markup(hint.tooltip, True),
        padding_left=not hint.before and not (typed and hint.label.startswith(":")),
        padding_right=hint.before,
    )
