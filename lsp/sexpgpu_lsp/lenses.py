"""Code lenses. Their commands are the server's own, so that a client without any can have them executed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from sexpgpu.ide.lenses import Action, lenses
from sexpgpu_lsp.analyses import View
from sexpgpu_lsp.views import running

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

COMMANDS: dict[Action, str] = {"run": "sexpgpu.run", "explain": "sexpgpu.explain"}


def register(server: Server) -> None:
    """Answer codeLens."""

    async def answer(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        document = server.document(params.text_document.uri)
        if document is None or not server.configuration.now.flag("codeLens.enable"):
            return None
        converter = server.documents.converter

        def question(views: Iterator[View]) -> list[types.CodeLens]:
            analysis, module = running(views)
            found: list[types.CodeLens] = []
            for lens in lenses(analysis, module):
                command = types.Command(title=lens.title, command=COMMANDS.get(lens.action, ""))
                if lens.action:
                    command.arguments = [{"uri": document.uri}]
                start, end = (converter.position(document.source, offset) for offset in (lens.span.start, lens.span.end))
                found.append(types.CodeLens(range=types.Range(start, end), command=command))
            return found

        return await server.ask(document, question)

    server.answers(types.TEXT_DOCUMENT_CODE_LENS)(answer)
