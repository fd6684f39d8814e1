"""Where settings come from, and what follows from them: from `initialize`, pushed, or asked for where the client answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sexpgpu_lsp.log import log
from sexpgpu_lsp.settings import SECTION, Settings, read_settings

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

_REGISTRATION = "sexpgpu-settings"


class Configuration:
    """The settings as they are now. What is wrong with one is a line in the log, once."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._initial: dict[str, object] = {}
        self._complaints: set[str] = set()
        self._asking: asyncio.Task[None] | None = None
        self.now = Settings()

    def began(self, options: object) -> None:
        """The client has introduced itself, with settings perhaps."""
        self._initial = read_settings(options, self._complain)
        self.now = Settings(self._initial)
        self._server.analyses.ignore = self.now.ignore

    def registrations(self) -> list[types.Registration]:
        """What the client is asked to tell of: changes of the settings, where it can be asked."""
        workspace = self._server.client_capabilities.workspace
        telling = workspace.did_change_configuration if workspace is not None else None
        if telling is None or not telling.dynamic_registration:
            return []
        options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
        return [types.Registration(_REGISTRATION, types.WORKSPACE_DID_CHANGE_CONFIGURATION, options)]

    def ask(self) -> bool:
        """Ask the client for its settings, if it can be asked."""
        workspace = self._server.client_capabilities.workspace
        if workspace is None or not workspace.configuration:
            return False
        if self._asking is not None:
            self._asking.cancel()
        self._asking = asyncio.get_running_loop().create_task(self._ask())
        return True

    def told(self, settings: object) -> None:
        """The client says that settings have changed, and to what, unless it wants to be asked."""
        if not self.ask() and settings is not None:
            self._take(read_settings(settings, self._complain))

    async def _ask(self) -> None:
        params = types.ConfigurationParams(items=[types.ConfigurationItem(section=SECTION)])
        try:
            answer = await self._server.workspace_configuration_async(params)
        except JsonRpcException as error:
            self._complain(f"the client does not tell its settings: {error}")
        else:
            self._take(read_settings(answer[0] if answer else None, self._complain))

    def _take(self, values: dict[str, object]) -> None:
        before, self.now = self.now, Settings({**self._initial, **values})
        changed = self.now.changed(before)
        server = self._server
        if "check.ignore" in changed:
            server.analyses.ignore = self.now.ignore
            server.schedule.anew()
        if any(name.startswith(("inlayHints.", "codeLens.")) for name in changed):  # what no lens says, a hint does
            server.refresh.send("hints")
        if "codeLens.enable" in changed:
            server.refresh.send("lenses")

    def _complain(self, message: str) -> None:
        if message not in self._complaints:
            self._complaints.add(message)
            log.warning("%s", message)
