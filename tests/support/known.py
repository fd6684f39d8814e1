"""All that is known of a file as plain data: whatever two analyses of one text say must be equal, to the character.

`everything` is made section by section of an analysis of the text as it is; `lasting` is what an analysis must go on saying when
later ones have moved its forms.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sexpgpu.analysis import Analysis
from sexpgpu.cli.explain import as_json
from sexpgpu.diagnostics.finding import Diagnostic
from sexpgpu.explain import explain
from sexpgpu.fixes import with_fixes
from sexpgpu.graph.nodes import CallPath, Graph, Node, typed
from sexpgpu.graph.printer import printed
from sexpgpu.graph.verify import verify
from sexpgpu.ide.bindings import folded
from sexpgpu.ide.completion import complete
from sexpgpu.ide.definition import definitions
from sexpgpu.ide.folding import folds
from sexpgpu.ide.hints import hints
from sexpgpu.ide.hover import hover
from sexpgpu.ide.lenses import lenses
from sexpgpu.ide.links import links
from sexpgpu.ide.markup import markdown
from sexpgpu.ide.occurrences import occurrences, subject
from sexpgpu.ide.recall import View
from sexpgpu.ide.signatures import signature_help
from sexpgpu.ide.symbols import symbols
from sexpgpu.ide.tokens import Layouts, tokens
from sexpgpu.language.marks import Local
from sexpgpu.language.values import Function, List, Made, Plist
from sexpgpu.plan.memory import plan_memory
from sexpgpu.program.model import Generator
from sexpgpu.reader.forms import Form
from sexpgpu.source import Source, Span

Known = dict[str, Any]


def everything(
    analysis: Analysis, chance: random.Random, places: int = 6, layouts: Layouts | None = None
) -> Iterator[tuple[str, Any]]:
    """Section by section, its name and what it says. `places` many places of each file are asked about; `layouts` are those that
    an editor keeps."""
    yield "diagnostics", diagnostics(analysis.diagnostics)
    yield "graphs", [graph for each in graphs(analysis) for graph in _drawn(*each)]
    yield "program", _program(analysis)
    yield "explain", _report(analysis)
    yield "memory", plan_memory(analysis.program)
    yield "unit", _unit(analysis)
    yield "marks", _marks(analysis)
    yield "values", sorted((_at(form), folded(found), _different(found)) for form, found in analysis.values.items())
    for module in analysis.unit.modules:
        yield f"symbols of {module.path}", plain(symbols(module))
        yield f"folds of {module.path}", plain(folds(module))
        yield f"links of {module.path}", plain(links(analysis, module))
        yield f"tokens of {module.path}", tokens(analysis, module, 0, None, layouts)
        yield f"hints of {module.path}", plain(hints(analysis, module))
        yield f"lenses of {module.path}", plain(lenses(analysis, module))
        yield (
            f"fixes of {module.path}",
            [plain(with_fixes(analysis, found).fixes) for found in analysis.diagnostics if found.span.source is module.source],
        )
        for _ in range(places):
            offset = chance.randrange(len(module.source.text) + 1)
            for name, ask in QUESTIONS.items():
                yield f"{name} at {offset} of {module.path}", plain(ask(analysis, module, offset))


def lasting(analysis: Analysis) -> Known:
    """What an analysis says whatever has become of the text since: shapes, dtypes and texts, and where its diagnostics stood. Its
    graphs go on into those of the next.
    """
    return {
        "diagnostics": diagnostics(analysis.diagnostics),
        "values": [(form.text, folded(found)) for form, found in analysis.values.items()],
        "references": [(form.name, _stands_for(found)[0]) for form, found in analysis.marks.references.items()],
        "definitions": [(each.kind, each.name, each.unknown, str(each.signature)) for each in analysis.unit.definitions],
        "parameters": [(each.path, each.shape, each.dtype, each.frozen) for each in analysis.program.parameters.values()],
    }


def diagnostics(found: Iterable[Diagnostic]) -> list[Any]:
    """Diagnostics with all that belongs to them."""
    return [plain(each._replace(rule=each.rule.code)) for each in found]  # pyright: ignore[reportArgumentType]


def graphs(analysis: Analysis) -> Iterator[tuple[str, Graph]]:
    """Every graph of a program, by where it is kept."""
    program = analysis.program
    for name, graph in program.graphs.items():
        verify(graph)
        yield f"graphs {name}", graph
    for loader in program.loaders.values():
        for made, graph in loader.records.items():
            yield f"record of {loader.name} at {made.name}", graph
    yield from _parts("program", generator=program.generator, prepare=program.prepare, objective=program.objective)
    for each in program.passes.values():
        parts = {name: getattr(each, name) for name in ("generator", "prepare", "objective", "curriculum", "stop_when")}
        yield from _parts(each.name, **parts)
    optimizer = program.optimizer
    if optimizer is not None:
        updates = {f"{part} {path}": graph for part in ("init", "update") for path, graph in getattr(optimizer, part).items()}
        yield from _parts("optimizer", schedule=optimizer.schedule, **optimizer.schedules, **updates)


def plain(value: Any) -> Any:
    """A value with spans and sources by name, and what is shown of forms."""
    match value:
        case Span():
            return (value.source.name, value.start, value.end)
        case Source():
            return value.name
        case Form():
            return _at(value)
        case dict():
            return {plain(key): plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            items = [plain(item) for item in value]
            return sorted(items, key=repr) if isinstance(value, (set, frozenset)) else items
        case Node():
            return [value.op, value.index, plain(value.attrs), typed(value.shape, value.dtype), _at(value.form)]
        case Made():
            return [value.group, value.name, plain(value.arguments), plain(value.forms), _at(value.form)]
        case Plist():
            return [*plain(value.items), *_plain(value, "role open whole owner elsewhere withheld read")]
        case List():
            return [*plain(value.items), value.vector, plain(value.made_by), plain(value.names)]
        case Function():
            return [type(value).__name__, value.name, str(value.signature), plain(getattr(value, "form", None))]
        case str():
            return value
        case _:
            return repr(value)  # 1 is not 1.0, nor true


def _parts(where: str, **parts: Any) -> Iterator[tuple[str, Graph]]:
    for name, part in parts.items():
        if isinstance(part, Generator):
            yield from _parts(f"{where} generator of {part.trips} trips", init=part.init, step=part.step, finish=part.finish)
        elif part is not None:
            yield f"{where} {name}", part


def _drawn(where: str, graph: Graph) -> list[Any]:
    """A graph as it is printed, and of each node where it comes from."""
    calls: dict[CallPath | None, int] = {None: 0}
    paths: list[Any] = []
    regions = {0: 0}
    nodes = [
        (_at(node.form), _path(node.calls, calls, paths), regions.setdefault(node.remat, len(regions))) for node in graph.nodes
    ]
    reports = [
        (each.name, each.reduce, _at(each.form), each.node.index, each.weight and each.weight.index)
        for each in (*graph.metrics, *graph.diagnostics)
    ]
    return [where, graph.name, graph.role, graph.whole, printed(graph).split("\n"), nodes, paths, reports]


def _path(calls: CallPath | None, known: dict[CallPath | None, int], paths: list[Any]) -> int:
    """The number of a path of calls; `paths` holds each once, as the innermost call and the number of the rest."""
    waiting: list[CallPath] = []
    while calls is not None and calls not in known:
        waiting.append(calls)
        calls = calls.parent
    for each in reversed(waiting):
        entry = (_at(each.form), known[each.parent])
        if entry not in paths:
            paths.append(entry)
        known[each] = paths.index(entry) + 1
    return known[calls] if not waiting else known[waiting[0]]


def _at(form: Form) -> tuple[str, int, int]:
    return form.top.source.name, form.top.origin + form.start, form.top.origin + form.end


def _different(found: Iterable[Any]) -> list[Any]:
    """The different things that a form was, in order: of tensors their types, their places being known."""
    shown = (typed(value.shape, value.dtype) if isinstance(value, Node) else plain(value) for value in found)
    return list({repr(each): each for each in shown}.values())


def _report(analysis: Analysis) -> str | None:
    report = explain(analysis)
    return None if report is None else json.dumps(as_json(report))


def _program(analysis: Analysis) -> Any:
    program = analysis.program
    run = program.run
    return {
        "loaders": [
            (name, _plain(each, "form batch shuffle repeat disputed sources"), _fields(each.fields))
            for name, each in program.loaders.items()
        ],
        "parameters": [
            (name, _plain(each, "path shape dtype init frozen pretrained entry model form shown"), plain(each.init.arguments))
            for name, each in program.parameters.items()
        ],
        "passes": [
            (name, _plain(each, "form every batches"), each.loader and each.loader.name) for name, each in program.passes.items()
        ],
        "run": run and _plain(run, "name form settings keys"),
        "rest": (list(program.models), program.counters, program.unstacked, program.training and program.training.name),
        "ok": analysis.ok,
    }


def _plain(value: Any, names: str) -> list[Any]:
    return [plain(getattr(value, name)) for name in names.split()]


def _fields(fields: Any) -> Any:
    return fields and [(name, _plain(each, "shape dtype form")) for name, each in fields.items()]


def _unit(analysis: Analysis) -> Any:
    unit = analysis.unit
    return {
        "entries": [(_at(entry.form), entry.module.path) for entry in unit.entries],
        "definitions": [
            (_plain(each, "kind name form unknown duplicated documentation"), str(each.signature)) for each in unit.definitions
        ],
        "modules": [
            (_plain(each, "path open uncertain"), list(each.scope), list(each.loaders), list(each.passes), each.reading.lost)
            for each in unit.modules
        ],
        "comments": [[(each.start, each.end) for each in module.reading.comments] for module in unit.modules],
    }


def _marks(analysis: Analysis) -> Any:
    marks = analysis.marks
    return {
        "references": sorted((_at(form), _stands_for(found)) for form, found in marks.references.items()),
        "locals": [_plain(each, "name name_form form value used") for each in marks.locals],
        "broken": sorted(map(_at, marks.broken)),
        "ordinary": sorted(map(_at, marks.ordinary)),
        "used": sorted((each.kind, each.name) for each in marks.definitions_used),
    }


def _stands_for(found: Any) -> tuple[str, Any]:
    if isinstance(found, Local):
        return f"local {found.name}", _at(found.name_form)
    return f"{found.kind} {found.name}", () if found.form is None else _at(found.form)


def _hover(analysis: Analysis, module: Any, offset: int) -> Any:
    found = hover(analysis, module, offset)
    return found and (found.span, markdown(found.parts), found.typed)


def _occurrences(analysis: Analysis, module: Any, offset: int) -> Any:
    found = subject(analysis, module, offset)
    return found and (found.kind, found.name, found.at, [(each.span, each.part) for each in occurrences(analysis, found)])


def _complete(analysis: Analysis, module: Any, offset: int) -> Any:
    return complete([View(analysis, module)], module.source, offset, lambda _: [])


def _signature(analysis: Analysis, module: Any, offset: int) -> Any:
    return signature_help([View(analysis, module)], module.source, offset)


QUESTIONS: dict[str, Callable[[Analysis, Any, int], Any]] = {
    "hover": _hover,
    "definition": definitions,
    "occurrences": _occurrences,
    "completion": _complete,
    "signature": _signature,
}
