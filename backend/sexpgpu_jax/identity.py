"""What a run is, as one hash: the meaning of its files, not how they are written (language §8, checkpoints)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from sexpgpu.program.model import Program
from sexpgpu.program.unit import Unit
from sexpgpu.reader.forms import ConstantForm, Form, KeywordForm, ListForm, NumberForm, QuoteForm, StringForm, VectorForm
from sexpgpu_jax.whole import whole

_WITHOUT = frozenset(
    {"report-every", "checkpoint-every", "keep", "keep-best", "memory", "mesh", "stack"}
    | {"diagnostics", "diagnostics-every", "steps", "seed"}
)
"""Keys of `defrun` that do not change what is computed; `:seed` and, where a graph reads it, `:steps` are added by their values."""


def identity(unit: Unit, program: Program, settings: Mapping[str, str]) -> str:
    """The identity of a run, 32 hexadecimal digits. `settings` are the values of `--set`."""
    run = whole(program.run)
    parts = [written(entry.form) for entry in unit.entries if entry.row is None or entry.row.name != "defrun"]
    parts.append(" ".join(_run(run.form)))
    parts += [f"{name}={value}" for name, value in sorted(settings.items())]
    parts.append(f"seed={run.integer('seed')}")
    if _reads_steps(program):
        parts.append(f"steps={run.integer('steps')}")
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


def written(form: Form) -> str:
    """A form as text, the same however white space, comments and numbers are written."""
    match form:
        case ListForm():
            return f"({' '.join(map(written, form.items))})"
        case VectorForm():
            return f"[{' '.join(map(written, form.items))}]"
        case QuoteForm():
            return f"'{written(form.form)}"
        case StringForm():
            return json.dumps(form.value)
        case NumberForm() | ConstantForm():
            return repr(form.value)
        case _:
            return form.text


def _run(form: Form) -> Iterator[str]:
    items = form.items if isinstance(form, ListForm) else ()
    key = ""
    for item in items:
        if isinstance(item, KeywordForm) and not key:
            key = item.name
        elif key:
            if key not in _WITHOUT:
                yield f":{key} {written(item)}"
            key = ""


def _reads_steps(program: Program) -> bool:
    return any(
        node.op == "input" and node.attrs["kind"] == "ctx" and node.attrs["name"] in ("steps", "progress")
        for graph in program.graphs.values()
        for node in graph.nodes
    )
