"""What a hover adds to a type: bytes, how a function is called, what a key of a plist is for, where a report appears, dtypes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from sexpgpu.graph.nodes import Node, typed
from sexpgpu.ide.bindings import described, values_of
from sexpgpu.ide.keyflow import Flow, Space
from sexpgpu.ide.markup import Code, Part, Prose, inline
from sexpgpu.ide.places import lists_in
from sexpgpu.ide.reports import Named, named
from sexpgpu.ide.types import type_of
from sexpgpu.language.dtypes import DTYPES
from sexpgpu.language.marks import Local
from sexpgpu.language.values import Unknown, Value
from sexpgpu.plan.memory import gib
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, StringForm

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.program.unit import Definition

_MOST_WAYS = 6
_MOST_CALLS = 2_000
_KINDS = {"int": "integers", "uint": "integers", "float": "floats", "bool": "true or false"}
_SPACES = {
    "state": "It is an entry of the generator's state: each trip is handed it, and gives the next.",
    "generated": "The generator makes it: it is in the batch that `prepare` is handed.",
    "inputs": "`objective` is handed it as one of its inputs.",
    "optimizer": "It is an entry of the optimizer's state.",
}


def size(values: Iterable[Value]) -> str:
    """How many bytes tensors take, `40.0 KiB`; several, where calls differ. Empty for scalars and for what is no tensor."""
    sizes: dict[str, None] = {}
    for value in values:
        if not isinstance(value, Node) or not value.shape:
            continue
        count = value.dtype.bytes
        for extent in value.shape:
            count *= extent
        sizes.setdefault(f"{count} byte{'s' * (count != 1)}" if count < 1024 else gib(count))
        if len(sizes) > _MOST_WAYS:
            return f"{' | '.join(list(sizes)[:_MOST_WAYS])} | …"
    return " | ".join(sizes)


def ways(analysis: Analysis, function: Definition) -> list[Part]:
    """How a function of the file is called, and what it then gives: each way once."""
    form = function.form
    if form is None or function.unknown or function.kind not in ("defun", "defmodel"):
        return []
    parameters = [each for each in _parameters(analysis, form) if analysis.values.get(each.name_form)]
    results = values_of(analysis, form.items[-1])
    columns = [analysis.values[each.name_form] for each in parameters]
    if not results or any(len(column) != len(results) for column in columns):
        return []
    found: dict[str, None] = {}
    for row in islice(zip(*columns, results, strict=True), _MOST_CALLS):
        *given, result = (described(value) for value in row)
        gives = "" if isinstance(row[-1], Unknown) else f" → {result}"
        found.setdefault(f"({' '.join([function.name, *given])}){gives}")
        if len(found) > _MOST_WAYS:
            break
    lines = list(found)[:_MOST_WAYS] + ["…"] * (len(found) > _MOST_WAYS)
    return [Prose("It is called as:"), Code("\n".join(lines))]


def _parameters(analysis: Analysis, form: ListForm) -> list[Local]:
    """The parameters of a function, in the order of the text."""
    listed = form.items[2]
    found = [
        each
        for each in analysis.marks.locals
        if each.form is form and listed.start <= each.name_form.start and each.name_form.end <= listed.end
    ]
    return sorted(found, key=lambda each: each.name_form.start)


def key(analysis: Analysis, form: KeywordForm) -> list[Part]:
    """A key by which an entry of a plist is made: what the entry is, and what for."""
    flow = Flow(analysis, form.name)
    site = flow.sites.get(form)
    if site is None or not site.makes:
        return []
    items = site.call.items
    at = next((index for index, item in enumerate(items) if item is form), 0)
    value = type_of(analysis, items[at + 1]) if at + 1 < len(items) else ""
    spaces = sorted(flow.spaces(form))
    declared = _declared(analysis, form.name, spaces)
    value = declared or ("" if "\n" in value else value)
    known = list(dict.fromkeys(says for space in spaces if (says := _space(space))))
    if not value and not known:
        return []
    taken = size(values_of(analysis, items[at + 1])) if at + 1 < len(items) else ""
    says = [Prose(text) for text in (" ".join(known), taken) if text]
    return [Code(f"{form.text} : {value}" if value else form.text), *says]


def _declared(analysis: Analysis, name: str, spaces: Iterable[Space]) -> str:
    """What one record of a loader holds under a name."""
    for space in spaces:
        loader = analysis.program.loaders.get(space[1]) if space[0] == "field" and space[1:] else None
        field = (loader.fields or {}).get(name) if loader is not None else None
        if field is not None:
            return typed(field.shape, field.dtype)
    return ""


def _space(space: Space) -> str:
    if space[0] == "field":
        return f"It is a field of the loader {inline(space[1])}." if space[1:] and space[1] else "It is a field of the batch."
    return _SPACES.get(space[0], "")


def report(analysis: Analysis, form: StringForm) -> list[Part]:
    """The name of a metric or a diagnostic, where it is given or asked for: what it is, and under which names it appears."""
    found = next((each for each in named(analysis, form.text) if each.form is form), None)
    if found is None:
        return []
    given = [each for each in named(analysis, found.name) if each.gives and (each.kind, each.name) == (found.kind, found.name)]
    values = {text for each in given if (text := _reported(analysis, each))}
    head = f'{found.kind} "{found.name}"'
    parts: list[Part] = [Code(f"{head} : {' | '.join(sorted(values))}" if values else head)]
    if found.kind == "diagnostic":
        return [*parts, Prose("It is sampled in training, where `:diagnostics` of the run names it.")]
    passes = [name for name in analysis.unit.main.passes if any(_reports(analysis, name, each) for each in given)]
    places = [inline(f"{name}/{found.name}") for name in ("train", *passes)]
    return [*parts, Prose(f"It is reported as {', '.join(places)}.")] if given else parts


def _reported(analysis: Analysis, each: Named) -> str:
    for call in _calls(each.form):
        return type_of(analysis, call)
    return ""


def _reports(analysis: Analysis, pass_: str, each: Named) -> bool:
    """Whether a pass reports a metric that is given somewhere."""
    found = analysis.program.passes.get(pass_)
    return found is not None and found.objective is not None and any(one.name == each.name for one in found.objective.metrics)


def _calls(form: Form) -> list[ListForm]:
    """The call around a form."""
    top = form.top.form
    return [call for call in lists_in(top) if any(item is form for item in call.items)] if top is not None else []


def dtype(form: KeywordForm) -> list[Part]:
    """A dtype, by its keyword."""
    found = DTYPES.get(form.name)
    if found is None:
        return []
    each = f"{found.bytes} byte{'s' * (found.bytes != 1)} each"
    match found.kind:
        case "float":
            span = f" up to {found.most:.4g}"
        case "bool":
            span = ""
        case _:
            span = f" from {found.least:,} to {found.most:,}"
    return [Code(form.text), Prose(f"The dtype of {_KINDS[found.kind]}{span}: {each}.")]
