"""What changes outside of documents: settings, and files on the disk, from which what was made is made anew.

The client is asked to tell of files, but nothing rests on it: some cannot, some tell nothing of files outside of their folders, or
of those in a folder that was renamed. So the files that the analyses were made from are looked at now and then, too; there are few.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types

from sexpgpu_lsp.worker import DEPENDENT

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

WATCHED = ("**/*.sx", "**/sexpgpu.toml", "**/pyproject.toml", "**/*.{npz,bin,jsonl,parquet,safetensors}")
SELDOM, OFTEN = 4.0, 1.0
"""Seconds between two looks at the disk, for a client that tells of files and one that does not."""

_REGISTRATION = "sexpgpu-files"
_STEADY = 0.05  # seconds in which nothing more changes: a branch that is switched to changes many files, one by one
_MOST_WAITS = 20


class Disk:
    """Looks at the files that open documents depend on, and has those analysed anew for which one has changed."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._every = OFTEN
        self._hint = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def began(self, *, told: bool) -> None:
        """Look from now on; seldom, where the client tells of changes."""
        self._every = SELDOM if told else OFTEN
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._watch())

    def look(self) -> None:
        """Something may have changed: look now."""
        self._hint.set()

    async def _watch(self) -> None:
        while True:
            try:
                async with asyncio.timeout(self._every):
                    await self._hint.wait()
            except TimeoutError:
                pass
            self._hint.clear()
            await self._look()

    async def _look(self) -> None:
        server = self._server
        outdated = await server.worker.run(DEPENDENT, server.analyses.outdated)
        for _ in range(_MOST_WAITS if outdated else 0):
            await asyncio.sleep(_STEADY)
            before, outdated = outdated, await server.worker.run(DEPENDENT, server.analyses.outdated)
            if outdated == before:
                break
        if outdated:
            await server.worker.run(DEPENDENT, lambda: server.analyses.forget(outdated))
            server.schedule.settle()


def register(server: Server) -> None:
    """Have the client watch files and settings, if it can, and look at what it says of files."""

    def initialized(_: types.InitializedParams) -> None:
        registrations = server.configuration.registrations()
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        told = watching is not None and bool(watching.dynamic_registration)
        if told:
            options = types.DidChangeWatchedFilesRegistrationOptions(
                watchers=[types.FileSystemWatcher(glob_pattern=pattern) for pattern in WATCHED]
            )
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            registrations.append(types.Registration(id=_REGISTRATION, method=method, register_options=options))
        if registrations:
            server.client_register_capability(types.RegistrationParams(registrations=registrations))
        server.configuration.ask()
        server.disk.began(told=told)

    def changed(_: types.DidChangeWatchedFilesParams) -> None:
        server.disk.look()

    def configured(params: types.DidChangeConfigurationParams) -> None:
        server.configuration.told(params.settings)

    server.feature(types.INITIALIZED)(initialized)
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(configured)
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(changed)
