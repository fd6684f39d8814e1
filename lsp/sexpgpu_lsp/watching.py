"""What changes outside of documents: settings, and files on the disk, from which what was made is made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from sexpgpu_lsp.uris import key_of

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

WATCHED = ("**/*.sx", "**/sexpgpu.toml", "**/pyproject.toml", "**/*.{npz,bin,jsonl,parquet,safetensors}")

_REGISTRATION = "sexpgpu-files"


def register(server: Server) -> None:
    """Have the client watch files and settings, if it can, and look at what it says of files."""

    def initialized(_: types.InitializedParams) -> None:
        registrations = server.configuration.registrations()
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is not None and watching.dynamic_registration:
            options = types.DidChangeWatchedFilesRegistrationOptions(
                watchers=[types.FileSystemWatcher(glob_pattern=pattern) for pattern in WATCHED]
            )
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            registrations.append(types.Registration(id=_REGISTRATION, method=method, register_options=options))
        if registrations:
            server.client_register_capability(types.RegistrationParams(registrations=registrations))
        server.configuration.ask()

    def changed(params: types.DidChangeWatchedFilesParams) -> None:
        server.schedule.on_disk([key_of(change.uri) for change in params.changes])

    def configured(params: types.DidChangeConfigurationParams) -> None:
        server.configuration.told(params.settings)

    server.feature(types.INITIALIZED)(initialized)
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(configured)
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(changed)
