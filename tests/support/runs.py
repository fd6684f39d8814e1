"""An editor that starts runs: a server whose runs are the fake backend, or the real one, and all that it says of them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from support.command import environment
from support.editor import ENCODINGS, PATIENCE, Client, Editor, make_client, uri_for

FAKE = Path(__file__).parent / "fake_run.py"
BACKEND = "import sys; from sexpgpu.cli import main; sys.exit(main(sys.argv[1:]))"
PROGRESS = types.ClientCapabilities(window=types.WindowClientCapabilities(work_done_progress=True))


def server_for(how: str, command: str = sys.executable, limit: int = 0, files: int = 0, **constants: float) -> list[str]:
    """The command of a server whose runs behave so; `real` is the backend. Constants of its module `runs` may be changed. `limit`
    bounds the memory of a run in MiB, `files` each of its files in bytes."""
    fake = "" if how == "real" else f"c.COMMAND = [{command!r}, '-P', {str(FAKE)!r}, {how!r}]\n"
    set_them = "".join(f"r.{name} = {value}\n" for name, value in constants.items())
    bounds = {name: bound for name, bound in (("RLIMIT_AS", limit * 2**20), ("RLIMIT_FSIZE", files)) if bound}
    given = [f"import resource as m; m.setrlimit(m.{name}, ({bound}, m.RLIM_INFINITY))\n" for name, bound in bounds.items()]
    if given:
        fake = f"c.COMMAND = [{sys.executable!r}, '-c', {''.join(given) + BACKEND!r}]\n"
    imports = "import sys, sexpgpu_lsp.runs_child as c, sexpgpu_lsp.runs as r\n"
    return [sys.executable, "-c", f"{imports}{fake}{set_them}from sexpgpu_lsp.server import serve\nsys.exit(serve())"]


def run_environment() -> dict[str, str]:
    """The environment of a server whose runs find the backend."""
    return environment("core", "lsp", "backend", JAX_PLATFORMS="cpu")


class RunEditor(Editor):
    """An editor, and what it was told of runs."""

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self.told: list[tuple[str, dict[str, Any]]] = []

        def event(params: Any) -> None:
            plain = _plain(params)
            self.told.append((plain["run"], plain["event"]))
            client.news.set()

        client.feature("sexpgpu/event")(event)

    async def command(self, name: str, **argument: Any) -> Any:
        params = types.ExecuteCommandParams(command=f"sexpgpu.{name}", arguments=[argument])
        answer = await asyncio.wait_for(self.client.workspace_execute_command_async(params), PATIENCE)
        return _plain(answer)

    async def refused(self, name: str, **argument: Any) -> JsonRpcException:
        """The error with which a command is answered."""
        try:
            answer = await self.command(name, **argument)
        except JsonRpcException as error:
            error.data = _plain(error.data)
            return error
        raise AssertionError(answer)

    def events(self, run: str) -> list[dict[str, Any]]:
        return [event for number, event in self.told if number == run]

    def states(self, run: str) -> list[str]:
        return [event["state"] for event in self.events(run) if event["kind"] == "run"]

    async def facts(self, run: str) -> dict[str, Any]:
        """What `sexpgpu.runs` says of a run."""
        return next(each for each in (await self.command("runs"))["runs"] if each["run"] == run)

    async def over(self, run: str) -> dict[str, Any]:
        """Wait until a run's process has ended, and tell what is known of it."""
        async with asyncio.timeout(PATIENCE):
            while (facts := await self.facts(run))["running"]:
                await asyncio.sleep(0.02)
        return facts

    async def heard(self, run: str, holds: Callable[[dict[str, Any]], bool]) -> None:
        """Wait until a run has told of such an event."""
        await self.until(lambda: any(holds(event) for event in self.events(run)))

    async def started(self, run: str) -> None:
        await self.heard(run, lambda event: event.get("state") == "compiled")

    async def process(self, run: str) -> int:
        """The number of the fake run's process, once it waits."""
        await self.heard(run, lambda event: event["kind"] == "process")
        return next(event["number"] for event in self.events(run) if event["kind"] == "process")

    def runs_process(self) -> int:
        """The number of the process of the one run that goes on."""
        server = self.client._server
        assert server is not None
        (found,) = filter(is_run, children(server.pid))
        return found

    @property
    def shown(self) -> list[str]:
        """The messages that popped up."""
        return [each.message for each in self.client.messages]

    async def popped_up(self) -> None:
        """Wait until there is such a message."""
        async with asyncio.timeout(PATIENCE):
            while not self.shown:
                await asyncio.sleep(0.02)

    def progress(self, run: str) -> list[Any]:
        """What was reported of a run's progress."""
        return self.client.progress_reports.get(f"sexpgpu/{run}", [])


@asynccontextmanager
async def runner(
    how: str,
    capabilities: types.ClientCapabilities | None = None,
    folder: Path | None = None,
    settings: Any = None,
    command: str = sys.executable,
    limit: int = 0,
    files: int = 0,
    **constants: float,
) -> AsyncIterator[RunEditor]:
    """An editor with a server of its own."""
    client = make_client()
    editor = RunEditor(client)
    await client.start_io(*server_for(how, command, limit, files, **constants), env=run_environment())
    params = types.InitializeParams(
        capabilities or PROGRESS, root_uri=None if folder is None else uri_for(folder), initialization_options=settings
    )
    answer = await asyncio.wait_for(client.initialize_session(params), PATIENCE)
    agreed = answer.capabilities.position_encoding
    editor.encoding = next(known for known in ENCODINGS if known == getattr(agreed, "value", agreed))
    try:
        yield editor
        await asyncio.wait_for(client.shutdown_session(), PATIENCE)
    finally:
        if client._server is not None and client._server.returncode is None:
            client._server.kill()
        await asyncio.wait_for(client.stop(), PATIENCE)


def alive(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    except OSError:
        os.kill(process, 0)
        return True
    return state != "Z"


def children(process: int) -> list[int]:
    """The processes that a process has started and not taken leave of, zombies too."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return [int(each) for task in tasks for each in _of_the_living(task / "children").split()]


def is_run(process: int) -> bool:
    """Whether a process is a run, and goes on."""
    return b"--events" in _of_the_living(Path(f"/proc/{process}/cmdline"))


def _of_the_living(path: Path) -> bytes:
    """What the system tells of a thread or process; nothing of one that has gone between being listed and being looked at."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def _plain(value: Any) -> Any:
    """JSON as the client's library has it, as plain data."""
    if hasattr(value, "_asdict"):
        return {key: _plain(each) for key, each in value._asdict().items()}
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
