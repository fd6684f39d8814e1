"""Showing what a command answers, in clients that make nothing of the answer: in a document of its own."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server


@functools.cache
def _folder() -> str:
    return tempfile.mkdtemp(prefix="sexpgpu-")


def leave() -> None:
    """Remove what was shown: the editor that shows it is about to go."""
    if _folder.cache_info().currsize:
        shutil.rmtree(_folder(), ignore_errors=True)


def show(server: Server, name: str, text: str) -> None:
    """Have the client open a text as a file of that name, which no one but this user can read. Where a client opens no files, the
    text is a message. Raises OSError where the file cannot be written.
    """
    window = server.client_capabilities.window
    if window is None or window.show_document is None or not window.show_document.support:
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))
        return
    path = Path(_folder(), name.replace(os.sep, "_"))
    path.write_text(text, encoding="utf-8")
    server.connection.send_request(types.WINDOW_SHOW_DOCUMENT, types.ShowDocumentParams(uri=path.as_uri(), take_focus=True))
