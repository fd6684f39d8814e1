"""`sexpgpu lsp`: the language server."""

from __future__ import annotations

import argparse

from sexpgpu.cli.arguments import Parser
from sexpgpu.cli.extra import with_extra


def parser() -> Parser:
    """What `lsp` takes."""
    parser = Parser("lsp", "The language server, for editors: speaks on standard input and output.")
    parser.add_argument("--stdio", action="store_true", help="standard input and output, which is the default")
    parser.add_argument("--tcp", type=_port, metavar="PORT", help="listen on this port of this machine alone instead")
    return parser


def run(args: argparse.Namespace) -> int:
    """Serve until the editor goes."""
    return with_extra("lsp", "the language server is built on pygls", "sexpgpu_lsp.server", "serve", args.tcp)


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 <= int(text) < 1 << 16:
        raise argparse.ArgumentTypeError(f"{text} is no port: a number from 0 to 65535")
    return int(text)
