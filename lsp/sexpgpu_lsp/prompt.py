"""Answers to somebody who is typing: they are given at once, from the last analyses, while the next may be running.

They are worked out on the loop and not by the worker, which would finish its analysis first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from sexpgpu.ide.recall import View

if TYPE_CHECKING:
    from sexpgpu_lsp.documents import Document
    from sexpgpu_lsp.server import Server

T = TypeVar("T")

_SLICE = 0.0005  # seconds: how long an analysis keeps what else there is to do waiting


class Ready(NamedTuple):
    """An answer that is written down already: what stands behind `result` in its message, as JSON in ASCII."""

    text: str


async def at_once(server: Server, document: Document, question: Callable[[Sequence[View]], T]) -> T:
    """The answer to a question about the text of a document, given views of its last analyses; only the first analysis is waited
    for. Raises what `Server.ask` raises while there is none."""
    sys.setswitchinterval(_SLICE)
    views = server.analyses.recent(document)
    if not views:
        views = await server.ask(document, lambda fresh: [next(fresh)])
    return question([View(*each) for each in views])
