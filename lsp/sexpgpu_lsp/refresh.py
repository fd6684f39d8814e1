"""What the client shows of documents that nobody types in: where another file has changed it, the client is told to ask again.

Nothing is said unless an answer would be another one: a client asks for all that can be seen, and it blinks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from lsprotocol import types

from sexpgpu_lsp.analyses import View
from sexpgpu_lsp.documents import Document
from sexpgpu_lsp.log import log
from sexpgpu_lsp.worker import DEPENDENT

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

T = TypeVar("T")

Kind = Literal["tokens", "hints", "lenses"]
_TOGETHER = 0.2  # seconds from what may change something until it is looked at


class _Answer(NamedTuple):
    """What a client was answered last about one document."""

    document: Document
    question: Callable[[Iterator[View]], object]
    answer: object


class Refresh:
    """Remembers what was answered, and compares."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._answers: dict[Kind, dict[str, _Answer]] = {}
        self._due: asyncio.TimerHandle | None = None
        self._comparing: asyncio.Task[None] | None = None

    def began(self, client: types.ClientCapabilities) -> None:
        """The client says of which kinds it can be told."""
        workspace = client.workspace or types.WorkspaceClientCapabilities()
        can: dict[Kind, bool | None] = {
            "tokens": workspace.semantic_tokens is not None and workspace.semantic_tokens.refresh_support,
            "hints": workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support,
            "lenses": workspace.code_lens is not None and workspace.code_lens.refresh_support,
        }
        self._answers = {kind: {} for kind, told in can.items() if told}

    async def ask(self, kind: Kind, document: Document, question: Callable[[Iterator[View]], T]) -> T:
        """The answer to a question about what a document looks like. Raises what `Server.ask` raises."""
        answer = await self._server.ask(document, question)
        if kind in self._answers:
            self._answers[kind][document.key] = _Answer(document, question, answer)
        return answer

    def send(self, kind: Kind) -> None:
        """Have the client ask again for all that it shows of a kind, if it can be told to."""
        if kind in self._answers:
            self._answers[kind].clear()
            match kind:
                case "tokens":
                    self._server.workspace_semantic_tokens_refresh(None)
                case "hints":
                    self._server.workspace_inlay_hint_refresh(None)
                case "lenses":
                    self._server.workspace_code_lens_refresh(None)

    def compare(self) -> None:
        """Something has changed that a document may depend on: see soon what it changes."""
        if self._due is None and any(self._answers.values()):
            self._due = asyncio.get_running_loop().call_later(_TOGETHER, self._begin)

    def _begin(self) -> None:
        self._due = None
        if self._comparing is None or self._comparing.done():
            self._comparing = asyncio.get_running_loop().create_task(self._compare())
        else:
            self.compare()

    async def _compare(self) -> None:
        for kind, answers in self._answers.items():
            for key, known in list(answers.items()):
                if self._server.documents.world.source(key) is not known.document.source:
                    if answers.get(key) is known:  # about what was edited since, the client asks by itself
                        del answers[key]
                elif await self._differs(known) and answers.get(key) is known:
                    self.send(kind)
                    break

    async def _differs(self, known: _Answer) -> bool:
        server = self._server

        def work() -> bool:
            world = server.documents.world
            if world.source(known.document.key) is not known.document.source:
                return False
            return known.question(server.analyses.views(world, known.document)) != known.answer

        try:
            return await server.worker.run(DEPENDENT, work)
        except Exception as error:  # noqa: BLE001  whoever asks for it will see
            log.debug("%s cannot be looked at again: %s: %s", known.document.uri, type(error).__name__, error)
            return False
