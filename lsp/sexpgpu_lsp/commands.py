"""The commands of `workspace/executeCommand`. Each takes one object; what cannot be done is answered with an error in words."""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sexpgpu.analysis import Analysis
from sexpgpu.cli.explain import as_json
from sexpgpu.explain import explain, report_text
from sexpgpu.files import DISK
from sexpgpu.plan.memory import plan_memory
from sexpgpu.records import page, process_of, read_run
from sexpgpu.source import Source
from sexpgpu_lsp.analyses import AnalysisFailed
from sexpgpu_lsp.documents import Document, World
from sexpgpu_lsp.log import log
from sexpgpu_lsp.runs import Asked
from sexpgpu_lsp.runs_child import in_thread
from sexpgpu_lsp.runs_report import Text
from sexpgpu_lsp.runs_why import advice
from sexpgpu_lsp.showing import show
from sexpgpu_lsp.uris import file_key, key_of, source_name
from sexpgpu_lsp.worker import QUERY

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

T = TypeVar("T")
Arguments = Mapping[str, Any]

DEVICES = ("cpu", "gpu", "tpu")
_FEW = 3  # errors that are told in a message


def register(server: Server) -> None:
    """Answer the commands."""

    async def run(given: Arguments) -> dict[str, Any]:
        device = given.get("device") or server.configuration.now.text("run.device") or None
        if device is not None and device not in DEVICES:
            _misused("device", f"one of {', '.join(DEVICES)}", device)
        steps = given.get("steps")
        if steps is not None and (not isinstance(steps, int) or isinstance(steps, bool) or steps < 1):
            _misused("steps", "an integer of 1 or more", steps)
        if given.get("resume"):
            _refuse("resuming is not built yet; without `resume` the file runs from step 0")

        def asked(world: World, document: Document, analysis: Analysis) -> Asked:
            _refuse_errors(server, world, document, analysis)
            program = analysis.program
            if program.run is None:
                _refuse("this file declares no run; write (defrun :steps …)")
            sources = {file_key(module.path): module.source for module in analysis.unit.modules if not module.source.builtin}
            sources[document.key] = document.source
            name = program.run.name or Path(document.source.name).stem.rpartition(":")[2]
            return Asked(Text(document, world, sources), name, steps, device, advice(plan_memory(program)))

        wanted = await _analysed(server, _text(given, "uri"), asked)
        try:
            begun = server.runs.start(wanted)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            _refuse(f"the run cannot begin: {where}{(error.strerror or str(error)).lower()}")
        return {"run": begun.number, "folder": begun.folder}

    async def stop(given: Arguments) -> dict[str, Any]:
        number = _text(given, "run")
        known = server.runs.get(number)
        if known is not None:
            server.runs.stop(known)
            return {"run": number, "state": known.state}
        process = process_of(number) if os.path.isabs(number) else None
        if process is None:
            _refuse(f"there is no run {number} here; one that was begun elsewhere is named by its folder's whole path")
        os.kill(process, signal.SIGTERM)
        return {"run": number, "state": "stopping"}

    async def runs(given: Arguments) -> dict[str, Any]:
        return {"runs": server.runs.facts()}

    async def explained(given: Arguments) -> dict[str, Any]:
        def told(world: World, document: Document, analysis: Analysis) -> dict[str, Any]:
            _refuse_errors(server, world, document, analysis)
            report = explain(analysis)
            if report is None:
                _refuse("there is no run to explain: this file declares none; write (defrun :steps …)")
            return {"text": report_text(report), "json": as_json(report)}

        answer = await _analysed(server, _text(given, "uri"), told)
        if given.get("compile"):
            answer["note"] = "the compiled program's own figures are not built yet: these are the plan's, from the graphs alone"
        if given.get("show"):
            show(server, f"{Path(source_name(_text(given, 'uri'), None)).stem} explained.txt", answer["text"])
        return answer

    async def plot(given: Arguments) -> dict[str, Any]:
        number = _text(given, "run")
        known = server.runs.get(number)
        folder = known.folder if known is not None else number
        if known is None and not os.path.isabs(number):
            _refuse(f"there is no run {number} here; one that was begun elsewhere is named by its folder's whole path")
        try:
            return {"html": await in_thread(lambda: page(read_run(folder)))}
        except OSError:
            _refuse(f"{number} has written no events" + (" yet" if known is not None and not known.over else ""))

    for name, command in {"run": run, "stop": stop, "runs": runs, "explain": explained, "plot": plot}.items():
        _register(server, f"sexpgpu.{name}", command)

    def cancel(params: types.WorkDoneProgressCancelParams) -> None:
        server.runs.cancelled(params.token)

    server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)(cancel)


def _register(server: Server, name: str, command: Callable[[Arguments], Awaitable[dict[str, Any]]]) -> None:
    @functools.wraps(command, assigned=())
    async def guarded(*given: Any) -> dict[str, Any]:
        argument: object = given[0] if given else {}
        if len(given) > 1 or not isinstance(argument, Mapping):
            raise _invalid(f"{name} takes one object")
        try:
            return await command(cast("Arguments", argument))
        except JsonRpcException:
            raise
        except AnalysisFailed:
            _refuse("the document could not be analysed; the server's log says why")
        except Exception as error:  # noqa: BLE001  whatever it was, the server goes on
            log.error("%s failed: %s: %s", name, type(error).__name__, error, exc_info=error)
            _refuse(f"{name} failed: {type(error).__name__}: {error}")

    del guarded.__wrapped__
    server.command(name)(guarded)


async def _analysed(server: Server, uri: str, question: Callable[[World, Document, Analysis], T]) -> T:
    """The answer to a question about a document as it is now, or about a file that no editor has open. Raises AnalysisFailed."""

    def work() -> T:
        world = server.documents.world
        document = world.documents.get(key_of(uri)) or _on_disk(server, uri)
        return question(world, document, server.analyses.of(world, document))

    return await server.worker.run(QUERY, work)


def _on_disk(server: Server, uri: str) -> Document:
    name = source_name(uri, server.documents.folder)
    try:
        return Document(uri, key_of(uri), None, Source.decode(name, DISK.read(name)))
    except OSError as error:
        _refuse(f"{uri} is not open, and cannot be read: {(error.strerror or str(error)).lower()}")


def _refuse_errors(server: Server, world: World, document: Document, analysis: Analysis) -> None:
    errors = [each for each in analysis.diagnostics if each.rule.severity == "error"]
    if not errors:
        return
    uri = server.publisher.uri_for(world, document)
    converter = server.documents.converter
    lines = [f"{_place(document, each.span.source, each.span.start)}: {each.message} [{each.code}]" for each in errors[:_FEW]]
    more = [f"and {len(errors) - _FEW} more"] if len(errors) > _FEW else []
    count = "an error" if len(errors) == 1 else f"{len(errors)} errors"
    by_file: dict[str, list[types.Diagnostic]] = {}
    for each in errors:
        by_file.setdefault(uri(each.span.source), []).append(converter.diagnostic(each, uri))
    found = [types.PublishDiagnosticsParams(uri=file, diagnostics=diagnostics) for file, diagnostics in by_file.items()]
    _refuse("\n".join((f"there {'is' if len(errors) == 1 else 'are'} {count} to mend first:", *lines, *more)), {"files": found})


def _place(document: Document, source: Source, offset: int) -> str:
    line = source.position(offset).line + 1
    return f"line {line}" if source is document.source else f"{os.path.basename(source.name)}, line {line}"


def _text(given: Arguments, key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str) or not value:
        _misused(key, "a string", value)
    return value


def _misused(key: str, expected: str, value: object) -> NoReturn:
    raise _invalid(f"`{key}` must be {expected}" + ("" if value is None else f", not {value!r}"))


def _invalid(message: str) -> JsonRpcException:
    return JsonRpcException(message, code=types.ErrorCodes.InvalidParams.value)


def _refuse(message: str, data: Any = None) -> NoReturn:
    raise JsonRpcException(message, code=types.LSPErrorCodes.RequestFailed.value, data=data)
