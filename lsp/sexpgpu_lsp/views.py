"""Which of several views of a document says the most of what its forms evaluate to."""

from __future__ import annotations

from collections.abc import Iterator

from sexpgpu_lsp.analyses import View


def running(views: Iterator[View]) -> View:
    """The view of a run: a library's functions may run only where it is loaded. Its own, where no open file loads it."""
    own = next(views)
    return own if any(top.head == "defrun" for top in own.module.reading.forms) else next(views, own)
