"""What several commands read from the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn, cast

from sexpgpu.diagnostics.colour import wants_colour


class Parser(argparse.ArgumentParser):
    """A parser of one command: no abbreviated options, and an error ends with where to read more."""

    def __init__(self, command: str, description: str, *, usage: str | None = None) -> None:
        super().__init__(prog=f"sexpgpu {command}", description=description, usage=usage, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {message}\ntry: {self.prog} --help\n")
        raise SystemExit(2)


class Settings(argparse.Action):
    """`--set NAME=VALUE`, repeatable: a dictionary of texts; of one name the last stands."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        name, equals, value = str(values).partition("=")
        if not equals or not name.strip() or not value.strip():
            parser.error(f"{option_string} takes NAME=VALUE, as --set width=64; this is {values}")
        settings = cast("dict[str, str]", getattr(namespace, self.dest) or {})
        setattr(namespace, self.dest, {**settings, name.strip(): value})


def add_set(parser: Parser) -> None:
    """`args.set`: a dictionary."""
    parser.add_argument(
        "--set", action=Settings, default={}, metavar="NAME=VALUE", help="replace the value of a top-level `def`; repeatable"
    )


def add_colour(parser: Parser) -> None:
    """`args.color`: auto, always or never."""
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="auto (the default): on a terminal, unless NO_COLOR is set",
    )


def coloured(args: argparse.Namespace) -> bool:
    """Whether to colour standard output."""
    return wants_colour(args.color, sys.stdout)
