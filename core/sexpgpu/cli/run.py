"""`sexpgpu run`: check a file, then train. The backend does it; this says what may be asked."""

from __future__ import annotations

import argparse

from sexpgpu.cli import complain
from sexpgpu.cli.arguments import Parser, add_set
from sexpgpu.cli.extra import with_extra
from sexpgpu.cli.gather import SUFFIX

LAST_RUN = ""  # `--resume` without a folder


def parser() -> Parser:
    """What `run` takes. `args.resume` is None, `LAST_RUN` or a folder."""
    parser = Parser(
        "run",
        "Check a file, then train. Exit status: 0 done, 1 diagnostics or a failed run, 2 usage, 130 or 143 stopped.",
        usage="sexpgpu run FILE [OPTION…]",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="the run file")
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
        return with_extra("jax", "training runs on JAX", "sexpgpu_jax.command", "run_command", args)
    except SettingError as error:
        complain(f"{args.file}: {error}")
        return 2


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
