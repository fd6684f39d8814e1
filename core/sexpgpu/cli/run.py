"""`sexpgpu run`: check a file, then train. The backend does it; this says what may be asked."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, cast

from sexpgpu.cli import complain
from sexpgpu.cli.arguments import Parser, add_set
from sexpgpu.cli.extra import with_extra
from sexpgpu.cli.gather import SUFFIX
from sexpgpu.files import DISK, Files, Texts

_STANDARD_INPUT = "-"
_UNNAMED = "stdin.sx"
LAST_RUN = ""  # `--resume` without a folder


def parser() -> Parser:
    """What `run` takes. `args.resume` is None, `LAST_RUN` or a folder."""
    parser = Parser(
        "run",
        "Check a file, then train. Exit status: 0 done, 1 diagnostics or a failed run, 2 usage, 130 or 143 stopped.",
        usage="sexpgpu run FILE [OPTION…]",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="the run file, or - for standard input")
    parser.add_argument("--stdin-filename", metavar="NAME", help="what standard input is called, and where its loads begin")
    parser.add_argument(
        "--texts", choices=("-",), help="-: standard input is a JSON object of paths and texts, which stand in front of the disk"
    )
    parser.add_argument("--out", metavar="DIR", help="the run's folder (default: runs/NAME-TIME)")
    parser.add_argument("--resume", nargs="?", const=LAST_RUN, metavar="DIR", help="go on from the last checkpoint of a run")
    parser.add_argument("--steps", type=_count, metavar="N", help="steps to take instead of the file's :steps")
    parser.add_argument("--seed", type=_integer, metavar="N", help="seed instead of the file's :seed")
    add_set(parser)
    parser.add_argument("--device", choices=("cpu", "gpu", "tpu"), help="default: the best there is")
    parser.add_argument(
        "--events", choices=("-",), help="-: events on standard output, one JSON object a line, and nothing else there"
    )
    parser.add_argument(
        "--progress", choices=("auto", "plain", "none"), default="auto", help="how progress is shown (default: auto)"
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Hand the arguments to the backend."""
    if args.file is None and args.resume and args.resume.endswith(SUFFIX):
        args.file, args.resume = args.resume, LAST_RUN  # `run --resume FILE`
    if args.file is None:
        parser().error("which file? as: sexpgpu run FILE")
    from sexpgpu.settings import SettingError

    try:
        args.file, args.files = _given(args)
    except _NotGiven as error:
        complain(str(error))
        return 2
    try:
        return with_extra("jax", "training runs on JAX", "sexpgpu_jax.command", "run_command", args)
    except SettingError as error:
        complain(f"{args.file}: {error}")
        return 2


class _NotGiven(Exception):
    """Standard input is not what the options say; the message is for the user."""


def _given(args: argparse.Namespace) -> tuple[str, Files]:
    """The name of the run file, and the files in which it is found. Raises _NotGiven."""
    if args.file != _STANDARD_INPUT:
        if args.stdin_filename:
            raise _NotGiven("--stdin-filename names what is read for the file -, which is not there")
        return args.file, DISK if args.texts is None else Texts(_texts(sys.stdin.buffer.read()))
    if args.texts is not None:
        raise _NotGiven("standard input is the file - or the --texts, not both; write the file's name in place of -")
    name = args.stdin_filename or _UNNAMED
    return name, Texts({os.path.abspath(name): sys.stdin.buffer.read()})


def _texts(data: bytes) -> dict[str, bytes]:
    """The texts of a JSON object, by absolute path. Raises _NotGiven."""
    import json

    try:
        given: Any = json.loads(data)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict) or not all(isinstance(text, str) for text in cast("dict[str, Any]", given).values()):
        raise _NotGiven('--texts: standard input is no JSON object of paths and texts, as {"run.sx": "(defrun …)"}')
    texts = cast("dict[str, str]", given)
    return {os.path.abspath(path): text.encode("utf-8", "replace") for path, text in texts.items()}


def _count(text: str) -> int:
    number = _integer(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number of steps: 1 or more")
    return number


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no integer") from None
