"""Whose function is whose: training's `prepare` and `objective`, and those of each pass, its own or training's too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from sexpgpu.ide.places import children
from sexpgpu.language.shapes import declared_pairs
from sexpgpu.program.unit import Definition
from sexpgpu.reader.forms import ConstantForm, Form, ListForm, SymbolForm

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.graph.nodes import Graph

Contract = Literal["prepare", "objective"]

TRAINING = ""
"""What stands for training where a pass stands by its name."""


def owners(analysis: Analysis) -> list[str]:
    """Training and the passes, in text order."""
    return [TRAINING, *analysis.program.passes]


def own(analysis: Analysis, owner: str, key: Contract) -> Form | None:
    """The function that a pass writes in place of the file's; None where it has the file's, and for training."""
    pass_ = analysis.program.passes.get(owner)
    top = pass_.form.top.form if pass_ is not None else None
    written = next((value for name, value in declared_pairs(top) if name.name == key), None) if isinstance(top, ListForm) else None
    return None if isinstance(written, ConstantForm) and written.value is None else written


def objective_of(analysis: Analysis, owner: str) -> Graph | None:
    """The graph that reports for training or a pass."""
    if owner == TRAINING:
        return analysis.program.objective
    return analysis.program.passes[owner].objective


def owner_at(analysis: Analysis, form: Form) -> str:
    """The pass in whose declaration a form stands; training, where it stands in none."""
    return next((name for name, pass_ in analysis.program.passes.items() if pass_.form.top is form.top), TRAINING)


def reaching(analysis: Analysis, key: Contract, form: Form) -> set[str]:
    """Whose function may evaluate a form, by what the text calls and mentions."""
    return {
        owner for owner in owners(analysis) if any(_holds(part, form) for part in _reached(analysis, _begins(analysis, owner, key)))
    }


def _begins(analysis: Analysis, owner: str, key: Contract) -> Form | None:
    written = own(analysis, owner, key)
    definition = analysis.unit.main.scope.get(key)
    return written if written is not None or definition is None else definition.form


def _reached(analysis: Analysis, begin: Form | None) -> Iterator[Form]:
    """A form, and the definitions of the file that it leads to."""
    waiting = [] if begin is None else [begin]
    known: set[Form] = set(waiting)
    while waiting:
        part = waiting.pop()
        yield part
        inside = [part]
        while inside:
            form = inside.pop()
            inside.extend(children(form))
            found = analysis.marks.references.get(form) if isinstance(form, SymbolForm) else None
            if isinstance(found, Definition) and found.form is not None and found.form not in known:
                known.add(found.form)
                if not found.form.top.source.builtin:
                    waiting.append(found.form)


def _holds(part: Form, form: Form) -> bool:
    return part.top is form.top and part.start <= form.start and form.end <= part.end
