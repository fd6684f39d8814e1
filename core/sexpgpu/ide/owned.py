"""The parameters that a call makes, or finds again: those of a layer, of a `param`, of a function or model that has some inside."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from sexpgpu.graph.nodes import CallPath, typed
from sexpgpu.ide.markup import Code, Part, Prose
from sexpgpu.reader.forms import Form

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.program.model import Parameter

_MOST_SHOWN = 12

Owned = dict[Form, dict[str, None]]

_indexes: WeakKeyDictionary[Analysis, Owned] = WeakKeyDictionary()


def owned(analysis: Analysis, call: Form) -> list[Parameter]:
    """The parameters that are read below a call, on any path that leads there, in the order of tracing."""
    if analysis not in _indexes:
        _indexes[analysis] = _index(analysis)
    known = analysis.program.parameters
    return [known[path] for path in _indexes[analysis].get(call, ()) if path in known]


def _index(analysis: Analysis) -> Owned:
    found: Owned = {}
    for graph in analysis.program.graphs.values():
        for node in graph.nodes:
            if node.op == "parameter":
                path = str(node.attrs["path"])
                form: Form = node.form
                calls: CallPath | None = node.calls
                while True:
                    if not form.top.source.builtin:
                        found.setdefault(form, {})[path] = None
                    if calls is None:
                        break
                    form, calls = calls.form, calls.parent
    return found


def parts(analysis: Analysis, call: Form | None) -> list[Part]:
    """The parameters of a call: path, type, number of values, and whether they are frozen."""
    found = owned(analysis, call) if call is not None else []
    if not found:
        return []
    shown = found[:_MOST_SHOWN]
    types = [typed(each.shape, each.dtype) for each in shown]
    counts = [f"{_count(each):,}" for each in shown]
    widths = [max(map(len, column)) for column in ([each.path for each in shown], types, counts)]
    lines: list[str] = []
    for each, type_, count in zip(shown, types, counts, strict=True):
        frozen = "  frozen" if each.frozen else ""
        lines.append(f"{each.path:<{widths[0]}}  {type_:<{widths[1]}}  {count:>{widths[2]}}{frozen}")
    if len(found) > len(shown):
        lines.append(f"… {len(found) - len(shown)} more")
    total = sum(map(_count, found))
    still = sum(_count(each) for each in found if each.frozen)
    says = f"It has {total:,} parameters in {len(found)} tensor{'s' * (len(found) != 1)}"
    says += ", all of them frozen:" if still == total else f", {still:,} of them frozen:" if still else ":"
    return [Prose(says), Code("\n".join(lines))]


def _count(parameter: Parameter) -> int:
    count = 1
    for extent in parameter.shape:
        count *= extent
    return count
