"""Code lenses. Their commands are the server's own, so that a client without any can have them executed; and what such a client
would have no way to do is a lens too: stopping a run, seeing an explanation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from sexpgpu.ide.lenses import Action, lenses
from sexpgpu_lsp.analyses import View
from sexpgpu_lsp.views import running

if TYPE_CHECKING:
    from sexpgpu_lsp.runs import Run
    from sexpgpu_lsp.server import Server

COMMANDS: dict[Action, str] = {"run": "sexpgpu.run", "explain": "sexpgpu.explain"}


def register(server: Server) -> None:
    """Answer codeLens."""

    told: dict[str, dict[str, str]] = {}

    async def answer(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        document = server.document(params.text_document.uri)
        if document is None or not server.configuration.now.flag("codeLens.enable"):
            return None
        converter = server.documents.converter
        for key in told.keys() - server.documents.world.documents.keys():
            del told[key]
        known = told.setdefault(document.key, {})
        runs = server.runs.running(document.key)
        going = [_stop(run, alone=len(runs) == 1) for run in runs]

        def question(views: Iterator[View]) -> list[types.CodeLens]:
            analysis, module = running(views)
            found: list[types.CodeLens] = []
            for lens in lenses(analysis, module, known):
                command = types.Command(title=lens.title, command=COMMANDS.get(lens.action, ""))
                if lens.action:
                    command.arguments = [{"uri": document.uri} if lens.action == "run" else {"uri": document.uri, "show": True}]
                place = converter.range(lens.span)
                found.append(types.CodeLens(range=place, command=command))
                if lens.action == "run":
                    found += [types.CodeLens(range=place, command=each) for each in going]
            return found

        return await server.refresh.ask("lenses", document, question)

    server.answers(types.TEXT_DOCUMENT_CODE_LENS)(answer)


def _stop(run: Run, *, alone: bool) -> types.Command:
    """What stops a run. Asked a second time, it does not wait for the run to end itself."""
    says = "Stop at once" if run.stopping else "Stop"
    title = f"■ {says}" if alone else f"■ {says}: {run.number}"
    return types.Command(title=title, command="sexpgpu.stop", arguments=[{"run": run.number}])
