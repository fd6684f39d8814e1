"""`sexpgpu new`: a small run file that trains, to begin with."""

from __future__ import annotations

import argparse
import os
import re

from sexpgpu.cli import complain
from sexpgpu.cli.arguments import Parser
from sexpgpu.cli.gather import SUFFIX

TEMPLATE = os.path.join(os.path.dirname(__file__), "template.sx")
PLACEHOLDER = "first-run"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_CONSTANTS = ("nil", "true", "false", "inf", "nan")


def parser() -> Parser:
    """What `new` takes."""
    parser = Parser("new", "Write NAME.sx: a small run file that trains, with comments that explain it.")
    parser.add_argument("name", metavar="NAME", help="what the run is called; a folder may stand before it")
    return parser


def run(args: argparse.Namespace) -> int:
    """Write the file, unless there is one."""
    folder, name = os.path.split(args.name.removesuffix(SUFFIX))
    if not _NAME.fullmatch(name) or name in _CONSTANTS:
        complain(f"{name or args.name} cannot be the name of a run: it is a letter, then letters, digits, - and _, as first-run")
        return 2
    path = os.path.join(folder, f"{name}{SUFFIX}")
    with open(TEMPLATE, encoding="utf-8") as file:
        text = file.read().replace(PLACEHOLDER, name)
    try:
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        complain(f"{path} is there already, and is left as it is; choose another name")
        return 2
    except OSError as error:
        complain(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}")
        return 2
    print(f"wrote {path}\n\nnext:\n  sexpgpu check {path}\n  sexpgpu run {path}")
    return 0
