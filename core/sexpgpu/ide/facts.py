"""What a hover adds to a type: bytes, what a key of a plist is for, where a report appears, dtypes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sexpgpu.graph.nodes import Node, typed
from sexpgpu.ide.bindings import values_of
from sexpgpu.ide.handed import Space
from sexpgpu.ide.keyflow import Flow
from sexpgpu.ide.markup import Code, Part, Prose, inline
from sexpgpu.ide.owners import TRAINING
from sexpgpu.ide.places import lists_in
from sexpgpu.ide.reporters import Reporters, shown
from sexpgpu.ide.reports import Named, named
from sexpgpu.ide.types import type_of
from sexpgpu.language.dtypes import DTYPES
from sexpgpu.language.values import Value
from sexpgpu.plan.memory import gib
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, StringForm

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

_MOST_WAYS = 6
_KINDS = {"int": "integers", "uint": "integers", "float": "floats", "bool": "true or false"}
_SPACES = {
    "state": "It is an entry of the generator's state: each trip is handed it, and gives the next.",
    "generated": "The generator makes it: it is in the batch that `prepare` is handed.",
    "optimizer": "It is an entry of the optimizer's state.",
}
_SAMPLED = "It is sampled in training, where `:diagnostics` of the run names it."
_DROPPED = "It is dropped here: passes do not sample diagnostics."


def size(values: Iterable[Value]) -> str:
    """How many bytes tensors take, `40.0 KiB`; several, where calls differ. Empty for what is no tensor."""
    sizes: dict[str, None] = {}
    for value in values:
        if not isinstance(value, Node):
            continue
        count = value.dtype.bytes
        for extent in value.shape:
            count *= extent
        sizes.setdefault(f"{count} byte{'s' * (count != 1)}" if count < 1024 else gib(count))
        if len(sizes) > _MOST_WAYS:
            return f"{' | '.join(list(sizes)[:_MOST_WAYS])} | …"
    return " | ".join(sizes)


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
    known = list(dict.fromkeys(says for space in spaces if (says := _space(analysis, form.name, space))))
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


def _space(analysis: Analysis, name: str, space: Space) -> str:
    match space:
        case ("field", ""):
            return "It is a field of the batch."
        case ("field", loader):
            known = analysis.program.loaders.get(loader)
            has = known is None or known.fields is None or name in known.fields
            return f"It is a field of the loader {inline(loader)}." if has else ""
        case ("inputs", owner):
            whose = "`objective`" if owner == TRAINING else f"The `:objective` of the pass {inline(owner)}"
            return f"{whose} is handed it as one of its inputs."
        case _:
            return _SPACES.get(space[0], "")


def report(analysis: Analysis, form: StringForm) -> list[Part]:
    """The name of a metric or a diagnostic, where it is given or asked for: what it is, and under which names it appears."""
    found = next((each for each in named(analysis, form.text) if each.form is form), None)
    if found is None:
        return []
    reporters = Reporters(analysis, found.kind, found.name)
    given = [each for each in reporters.group(form) if each.gives]
    values = {text for each in given if (text := _reported(analysis, each))}
    head = f'{found.kind} "{found.name}"'
    parts: list[Part] = [Code(f"{head} : {' | '.join(sorted(values))}" if values else head)]
    reported = reporters.reported(form)
    if found.kind == "diagnostic":
        return [*parts, Prose(_DROPPED if reported and TRAINING not in reported else _SAMPLED)]
    places = dict.fromkeys(inline(f"{shown(owner)}/{found.name}") for owner in reported)
    return [*parts, Prose(f"It is reported as {', '.join(places)}.")] if places else parts


def _reported(analysis: Analysis, each: Named) -> str:
    for call in _calls(each.form):
        return type_of(analysis, call)
    return ""


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
