"""`sexpgpu explain`: what a run consists of, without running it."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, cast

from sexpgpu.analysis import Options, analyse
from sexpgpu.cli import complain
from sexpgpu.cli.arguments import Parser, add_colour, add_set, coloured
from sexpgpu.cli.gather import unreadable
from sexpgpu.diagnostics.colour import width_of
from sexpgpu.diagnostics.formats import Report, render
from sexpgpu.explain import RunReport, explain, graph_text, report_text
from sexpgpu.files import DISK
from sexpgpu.language.nearest import nearest
from sexpgpu.settings import SettingError
from sexpgpu.source import Source


def parser() -> Parser:
    """What `explain` takes."""
    parser = Parser("explain", "Tell what a run consists of: its graphs, parameters and memory, without running it.")
    parser.add_argument("file", metavar="FILE", help="a file with a defrun")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="as one JSON object")
    shown.add_argument("--graph", metavar="NAME", help="one graph, node by node, as objective or generate.step")
    parser.add_argument("--compile", action="store_true", help="add the compiled program's own figures (not built yet)")
    add_set(parser)
    add_colour(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the report; the diagnostics instead where the file has errors."""
    try:
        source = Source.decode(args.file, DISK.read(args.file))
        analysis = analyse(source, DISK, Options(args.set))
    except OSError as error:
        complain(unreadable(args.file, error))
        return 2
    except SettingError as error:
        complain(str(error))
        return 2
    if args.compile:
        complain("--compile is not built yet: the figures are the plan's, from the graphs alone")
    if args.graph is not None:
        graph = analysis.program.graphs.get(args.graph)
        if graph is None:
            near = nearest(args.graph, analysis.program.graphs, 1)
            known = ", ".join(analysis.program.graphs) or "none"
            complain(f"there is no graph {args.graph}; " + (f"did you mean {near[0]}?" if near else f"graphs: {known}"))
            return 2
        if not analysis.ok:
            complain(f"{args.file} has errors, which `sexpgpu check` shows: of the graph there is what came before them")
        sys.stdout.write(graph_text(graph))
        return 0
    report = explain(analysis)
    if report is None:
        if analysis.ok:
            complain(f"{args.file} has no defrun: there is no run to explain")
            return 2
        sys.stderr.write(render("full", Report(analysis.diagnostics, files=1, colour=coloured(args), width=width_of(sys.stderr))))
        return 1
    sys.stdout.write(json.dumps(as_json(report), indent=2) + "\n" if args.json else report_text(report))
    return 0


def as_json(report: RunReport) -> dict[str, Any]:
    """The report as JSON has it: objects by field name, lists in order."""

    return cast("dict[str, Any]", _plain(report))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in cast("dict[str, Any]", value).items()}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    return [_plain(item) for item in cast("tuple[Any, ...]", value)] if isinstance(value, tuple) else value
