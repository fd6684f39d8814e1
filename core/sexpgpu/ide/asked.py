"""What single places ask for that no table says: the axes of this tensor, the fields of this loader, what this run reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise

from sexpgpu.graph.nodes import Node, Shape, typed
from sexpgpu.ide import candidates
from sexpgpu.ide.arguments import Callee, callee_of
from sexpgpu.ide.candidates import Item
from sexpgpu.ide.recall import Recall, entries
from sexpgpu.ide.roles import Place
from sexpgpu.language.values import List, Value
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, NumberForm, VectorForm

AXES = ("axis", "axes")
_NEW_AXES = ("stack", "expand-dims")  # they make the axis that is asked for
_EXTENTS = "shape"
_BODIES = ("lambda", "let", "let*", "when", "unless", "if", "scope")
_MOST_VALUES = 50


# Axes


def axes(recall: Recall, callee: Callee, given: Sequence[Form], place: Place, written: Iterable[str] = ()) -> Iterator[Item]:
    """The axes of the tensor that a call is given, each with its extent."""
    shapes = _shapes(recall, zip(callee.signature.positional, given, strict=False), place)
    made = callee.what == "operator" and callee.name in _NEW_AXES
    rank = max(map(len, shapes), default=-1) + made
    for index, axis in enumerate([*range(rank), -1] if rank > 0 else []):
        extents = {str(shape[axis]): None for shape in shapes if -1 <= axis < len(shape) and shape}
        if str(axis) not in written:
            yield candidates.item(str(axis), "value", "" if made else " | ".join(extents), candidates.ASKED, order=f"{index:02}")


def _shapes(recall: Recall, given: Iterable[tuple[str, Form]], place: Place) -> list[Shape]:
    """The shapes that the first argument which has one had."""
    for parameter, form in given:
        found = _shapes_of(recall, form, place, extents=parameter == _EXTENTS)
        if found:
            return found
    return []


def _shapes_of(recall: Recall, form: Form, place: Place, *, extents: bool) -> list[Shape]:
    """The shapes that a form had; where it is new, or in a call that cannot be evaluated yet, what can be seen of one."""
    values = islice(recall.values(form, place), _MOST_VALUES)
    found = [shape for value in values if (shape := _shape(value, extents=extents)) is not None]
    items: Sequence[Form] = form.items if isinstance(form, (ListForm, VectorForm)) else ()
    if found or not items:
        return found
    if extents and isinstance(form, VectorForm):
        written = [each.value for each in items if isinstance(each, NumberForm)]
        return [tuple(each for each in written if isinstance(each, int))] if len(written) == len(items) else []
    if isinstance(form, VectorForm):
        return _shapes_of(recall, items[0], place, extents=False)
    head, *arguments = items
    callee = callee_of(head, place, recall) if arguments else None
    if callee is None or callee.what not in ("operator", "host"):
        return []
    extents = callee.signature.positional[:1] == (_EXTENTS,)
    return _shapes_of(recall, arguments[0], place, extents=extents) if extents or callee.name == "list" else []


def _shape(value: Value, *, extents: bool) -> Shape | None:
    """The shape of a tensor, of the first of several, or where a vector gives the extents, that."""
    if isinstance(value, List) and value.items:
        if not extents:
            return _shape(value.items[0], extents=False)
        found = tuple(each for each in value.items if isinstance(each, int))
        return found if len(found) == len(value.items) else None
    return value.shape if isinstance(value, Node) else None


# Loaders


def fields(recall: Recall, loader: Form) -> Iterator[Item]:
    """The fields of the loader that is being written, as far as its own text says, else as they were."""
    name = loader.items[1].text if isinstance(loader, ListForm) and len(loader.items) > 1 else ""
    known = [view.analysis.program.loaders.get(name) for view in recall.views]
    types = {
        field: typed(each.shape, each.dtype)
        for declared in reversed(known)
        if declared is not None
        for field, each in (declared.fields or {}).items()
    }
    for field in _declared(loader) or types:
        yield candidates.item(f":{field}", "entry", types.get(field, ""), candidates.ASKED)


def _declared(loader: Form) -> list[str]:
    for key, value in pairwise(loader.items if isinstance(loader, ListForm) else ()):
        if key.text == ":fields" and isinstance(value, ListForm):
            return [each.name for each in value.items[1::2] if isinstance(each, KeywordForm)]
    return []


def is_record(path: Sequence[Form]) -> bool:
    """Whether the list around a place is what the function of a `synthetic` source gives."""
    for index, form in enumerate(path):
        if isinstance(form, ListForm) and form.head == "synthetic":
            inside = [each for each in path[index + 1 : -1] if isinstance(each, ListForm)]
            around = inside[:-1]
            if not around or around[0].head != "lambda" or len(inside) != len(path) - index - 2:
                return False
            return all(each.head in _BODIES and len(each.items) > 2 for each in around)
    return False


# Reports


def diagnostics(recall: Recall) -> Iterator[Item]:
    for view in recall.views:
        for graph in view.analysis.program.graphs.values():
            for report in graph.diagnostics:
                yield candidates.item(report.name, "text", "diagnostic", candidates.ASKED)


def metrics(recall: Recall) -> Iterator[Item]:
    """What the passes report: by their graphs, and by what the curriculum was handed where a graph could not be traced."""
    for view in recall.views:
        for name, found in view.analysis.program.passes.items():
            for report in found.objective.metrics if found.objective is not None else ():
                yield candidates.item(f"{name}/{report.name}", "text", "metric", candidates.ASKED)
    for key in entries(recall.handed("observations")):
        if isinstance(key, str):
            yield candidates.item(key, "text", "metric", candidates.ASKED)
