"""What the names of a file stand for, in a reader's words: its definitions and those of the prelude, and local variables."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TYPE_CHECKING

from sexpgpu.graph.nodes import typed
from sexpgpu.ide import facts, memory, words
from sexpgpu.ide.bindings import values_of
from sexpgpu.ide.markup import Code, Part, Prose, inline
from sexpgpu.ide.types import shown, type_of
from sexpgpu.ide.ways import ways
from sexpgpu.language.marks import Local
from sexpgpu.language.special import TOP_LEVEL
from sexpgpu.language.values import Value
from sexpgpu.reader.forms import Form, ListForm, VectorForm

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.program.unit import Definition
    from sexpgpu.source import Source

_LONGEST_CODE = 400
_LOOPS = ("dotimes", "dolist")


def definition(analysis: Analysis, found: Definition, *, owned: bool = False, within: Source | None = None) -> list[Part]:
    """A definition: how it is used, what it says of itself, and what the analysis knows of it. With `owned`, the parameters of a
    model are told elsewhere; `within` is the file in which somebody asks, the analysed one without it."""
    if found.kind in ("operator", "host"):
        return words.provided(found.name)
    parts: list[Part] = []
    if found.signature is not None:
        parts.append(Code(f"({' '.join(filter(None, (found.kind, found.name, f'({found.signature})')))})"))
    elif found.kind == "def" and found.form is not None and not found.unknown:
        value = type_of(analysis, found.form.items[2])
        parts.append(Code(f"{found.name} : {value}" if value else f"(def {found.name} …)"))
        size = facts.size(values_of(analysis, found.form.items[2]))
        parts += [Prose(size)] if size else []
    else:
        parts.append(Code(f"({found.kind or 'def…'} {found.name} …)"))
    if found.documentation:
        parts.append(Prose(found.documentation))
    parts += ways(analysis, found)
    if found.kind == "defmodel":
        parts += [] if owned else _parameters(analysis, found.name)
    elif found.kind == "defloader":
        parts += _batch(analysis, found.name)
    elif found.kind == "defpass" and found.form is not None:
        parts += memory.table(analysis, found.form)
    elif found.kind == "def" and found.form is not None:
        written = found.form.items[2:]
        if written and isinstance(written[0], (ListForm, VectorForm)) and len(found.form.text) <= _LONGEST_CODE:
            parts.append(Code(found.form.text))
    if found.unknown:
        parts.append(Prose("Its form has an error, so nothing more is known of it."))
    if found.module is not None and found.module.source is not (within or analysis.source):
        parts.append(Prose(_origin(found.module.source.builtin, found.module.path)))
    return parts


def local(analysis: Analysis, found: Local) -> list[Part]:
    """A local variable or parameter, with what it was on each path."""
    values = local_values(analysis, found)
    value = shown(values)
    says = ", ".join(filter(None, (_bound_by(analysis, found), facts.size(values))))
    return [Code(f"{found.name} : {value}" if value else found.name), Prose(says)]


def local_values(analysis: Analysis, found: Local) -> list[Value]:
    """What a local variable was on each path; of what a loop binds, wherever it is read."""
    values = analysis.values.get(found.name_form) or (values_of(analysis, found.value) if found.value is not None else [])
    if values or found.form.head not in _LOOPS:
        return values
    uses = [form for form, what in analysis.marks.references.items() if what is found]
    return next((read for use in uses if (read := values_of(analysis, use))), values)


def _bound_by(analysis: Analysis, found: Local) -> str:
    form = found.form
    head = form.head or ""
    if head in TOP_LEVEL:
        name = form.items[1].text if len(form.items) > 1 else ""
        return f"a parameter of {inline(name)}"
    if head == "lambda":
        owner = _key_of(analysis, form)
        return f"a parameter of the function of {inline(owner)}" if owner else "a parameter of a `lambda`"
    return f"bound by {inline(head)}"


def _key_of(analysis: Analysis, function: Form) -> str:
    """The key of a declaration whose value a function is."""
    for entry in analysis.unit.entries:
        if entry.top is function.top and isinstance(entry.form, ListForm):
            items = entry.form.items
            for key, value in pairwise(items):
                if value is function and key.text.startswith(":"):
                    return f"{entry.form.head} {key.text}"
    return ""


def _parameters(analysis: Analysis, model: str) -> list[Part]:
    """How many parameters a model owns."""
    sizes: list[int] = []
    for parameter in analysis.program.parameters.values():
        if parameter.model == model:
            size = 1
            for extent in parameter.shape:
                size *= extent
            sizes.append(size)
    if not sizes:
        return []
    return [Prose(f"It owns {sum(sizes):,} parameters in {len(sizes)} tensor{'s' * (len(sizes) != 1)}.")]


def _batch(analysis: Analysis, name: str) -> list[Part]:
    """The fields of a loader's batch."""
    loader = analysis.program.loaders.get(name)
    if loader is None or not loader.fields:
        return []
    rows = () if loader.batch is None else (loader.batch,)
    width = max(len(field) for field in loader.fields) + 1
    lines = [f"{f':{key}':<{width}}  {typed((*rows, *field.shape), field.dtype)}" for key, field in loader.fields.items()]
    return [Prose("A batch of it:" if rows else "A record of it:"), Code("\n".join(lines))]


def _origin(builtin: bool, path: str) -> str:
    if builtin:
        return "It comes with the language and is written in it: go to its definition to see how."
    return f"From {inline(os.path.basename(path))}."
