"""`sexpgpu rule`: what a code means; a table of all codes without one."""

from __future__ import annotations

import argparse
import re
import sys

from sexpgpu.cli import complain
from sexpgpu.cli.arguments import Parser, add_colour, coloured
from sexpgpu.diagnostics.colour import paint, width_of
from sexpgpu.diagnostics.page import page
from sexpgpu.diagnostics.rules import RULES
from sexpgpu.language.nearest import nearest

_WIDEST = 100


def parser() -> Parser:
    """What `rule` takes."""
    parser = Parser("rule", "Explain a diagnostic code, with an example that draws it and one that is right.")
    parser.add_argument(
        "code", nargs="?", metavar="CODE", help="as E-GEN-004, or E-GEN for all that begin so; without one: all codes"
    )
    add_colour(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the page, or a table."""
    colour = coloured(args)
    if args.code is None:
        _table(list(RULES), colour)
        return 0
    asked = args.code.upper()
    codes = [asked] if asked in RULES else [code for code in RULES if code.startswith(f"{asked.rstrip('-')}-")]
    if not codes:
        near = nearest(asked, RULES, 1)
        complain(f"there is no code {args.code}; " + (f"did you mean {near[0]}?" if near else "`sexpgpu rule` lists all codes"))
        return 2
    if len(codes) > 1:
        _table(codes, colour)
        return 0
    found = page(codes[0])
    rule = RULES[codes[0]]
    text = found.text if found else f"# {rule.code}: {rule.title}\n"
    head, _, rest = text.partition("\n")
    code = paint(f"{rule.severity}[{rule.code}]", rule.severity, colour)
    print(code + paint(head.removeprefix(f"# {rule.code}"), "strong", colour))
    sys.stdout.write(_prose(rest, colour, min(width_of(sys.stdout), _WIDEST)))
    return 0


def _table(codes: list[str], colour: bool) -> None:
    widest = max(len(code) for code in codes)
    for code in codes:
        rule = RULES[code]
        severity = paint(f"{rule.severity:<11}", rule.severity, colour)
        print(f"{code:<{widest}}  {severity}  {rule.title}")


def _prose(text: str, colour: bool, width: int) -> str:
    """Markdown for a terminal: headings stand out, blocks are indented, paragraphs and items are filled to the width."""
    from textwrap import fill

    shown: list[str] = []
    paragraph: list[str] = []
    fenced = False

    def end_paragraph() -> None:
        if paragraph:
            hanging = "  " if paragraph[0].startswith("- ") else ""
            filled = fill(" ".join(paragraph), width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)
            shown.append(re.sub("`([^`]+)`", lambda found: paint(found[1], "code", colour), filled) if colour else filled)
            paragraph.clear()

    for line in text.split("\n"):
        if line.startswith("```"):
            end_paragraph()
            fenced = not fenced
        elif fenced:
            shown.append(f"    {line}".rstrip())
        elif line.startswith("## "):
            end_paragraph()
            shown.append(paint(line.removeprefix("## "), "strong", colour))
        elif not line.strip():
            end_paragraph()
            if not shown or shown[-1]:
                shown.append("")
        elif line.startswith("- "):
            end_paragraph()
            paragraph.append(line)
        else:
            paragraph.append(line.strip())
    end_paragraph()
    return "\n".join(shown).rstrip() + "\n" if "".join(shown).strip() else ""
