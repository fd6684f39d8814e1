"""The command line: one module a command, imported when it is asked for, so that none pays for another.

A command module has `parser() -> Parser` and `run(args) -> int`, the exit status: 0 all is well, 1 findings or a failed run,
2 usage, a missing file or an internal error; 130 after Ctrl-C, 141 when the reader of a pipe has gone. A new command is a row of
`COMMANDS` and a module. Nobody is shown a stack trace unless the environment has SEXPGPU_DEBUG.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

COMMANDS = {
    "check": "say what is wrong with files, without running them",
    "run": "check a file, then train",
    "explain": "tell what a run consists of, without running it",
    "runs": "list runs, show one, draw its curves",
    "fmt": "put the white space of files in place",
    "rule": "explain a diagnostic code",
    "new": "write a small run file that trains",
    "lsp": "the language server, for editors",
}

_HELP = ("-h", "--help", "help")
_VERSION = ("-V", "--version")
_INTERRUPTED = 130
_NO_READER = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status. `argv` is without the program's name; by default the process's own."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a message in a script that the terminal cannot write is no reason to fail
            reconfigure(errors="backslashreplace")
    try:
        status = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return status
    except SystemExit as exit:  # argparse has spoken
        return exit.code if isinstance(exit.code, int) else 0
    except BrokenPipeError:
        # Nothing more can be written; Python would try again, and complain, when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return _NO_READER
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001  whatever happens, people get a sentence
        return _internal_error(error)


def complain(message: str) -> None:
    """One line on standard error."""
    print(f"sexpgpu: {message}", file=sys.stderr)


def _run(argv: Sequence[str]) -> int:
    if not argv or argv[0] in _HELP:
        (sys.stdout if argv else sys.stderr).write(_help())
        return 0 if argv else 2
    if argv[0] in _VERSION:
        print(f"sexpgpu {_version()}")
        return 0
    name = argv[0]
    if name not in COMMANDS:
        from sexpgpu.language.nearest import nearest

        near = nearest(name, COMMANDS, 1)
        kind = "option" if name.startswith("-") else "command"
        complain(f"there is no {kind} {name}; " + (f"did you mean {near[0]}?" if near else f"commands: {', '.join(COMMANDS)}"))
        return 2
    from importlib import import_module

    command = import_module(f"{__name__}.{name}")
    return command.run(command.parser().parse_args(argv[1:]))


def _help() -> str:
    commands = "".join(f"  {name:<8} {says}\n" for name, says in COMMANDS.items())
    return (
        "usage: sexpgpu COMMAND [OPTION…]\n\n"
        "Checks and runs .sx files, each of which declares one training run.\n\n"
        f"commands:\n{commands}\n"
        "`sexpgpu COMMAND --help` says more; `sexpgpu --version` tells the version.\n"
    )


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("sexpgpu")
    except PackageNotFoundError:
        return "(not installed: run from its sources)"


def _internal_error(error: Exception) -> int:
    reason = " ".join(str(error).split())
    where = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    complain(f"internal error: {type(error).__name__}{f': {reason}' if reason else ''}{where}")
    if os.environ.get("SEXPGPU_DEBUG"):
        import traceback

        traceback.print_exception(error)
    return 2
