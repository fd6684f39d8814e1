"""Files that change on the disk: loaded ones, data, project files. What was made from them is made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from sexpgpu_lsp.uris import key_of

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

WATCHED = ("**/*.sx", "**/sexpgpu.toml", "**/pyproject.toml", "**/*.{npz,bin,jsonl,parquet,safetensors}")

_REGISTRATION = "sexpgpu-files"


def register(server: Server) -> None:
    """Have the client watch files, if it can, and look at what it says of them."""

    def initialized(_: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is not None and watching.dynamic_registration:
            options = types.DidChangeWatchedFilesRegistrationOptions(
                watchers=[types.FileSystemWatcher(glob_pattern=pattern) for pattern in WATCHED]
            )
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            registration = types.Registration(id=_REGISTRATION, method=method, register_options=options)
            server.client_register_capability(types.RegistrationParams(registrations=[registration]))

    def changed(params: types.DidChangeWatchedFilesParams) -> None:
        server.schedule.on_disk([key_of(change.uri) for change in params.changes])

    server.feature(types.INITIALIZED)(initialized)
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(changed)
