"""What is missing together: the parts of a run, and the keys of a declaration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sexpgpu.fixes.declarations import FIRST_VALUES, OPTIMIZER
from sexpgpu.fixes.edits import form_before, key_added
from sexpgpu.fixes.proposal import BREAK, Proposal
from sexpgpu.fixes.table import Case, proposes
from sexpgpu.language.dtypes import F32
from sexpgpu.language.shapes import declared_pairs
from sexpgpu.program.declarations import DECLARATIONS

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

_FIELDS = "(list :x (spec [8] :f32))"
_SOURCE = "(synthetic 256 (lambda (index) (list :x (uniform [8] :salt index))))"
_LOADER = f"(defloader train{BREAK}:batch 16{BREAK}:fields {_FIELDS}{BREAK}:source {_SOURCE})"
_MODEL = f"(defmodel model (x){BREAK}(linear :out x {{size}}))"
_OBJECTIVE = (
    f"(defun objective (inputs ctx){BREAK}(let ((x (field inputs :{{field}}))){BREAK}"
    f'(metric "loss" (mean (square (- (model x) x))))))'
)
# Values that only make sense with each other, by the declaration; those alone are in `FIRST_VALUES`.
_TOGETHER = {
    ("defloader", "fields"): _FIELDS,
    ("defloader", "source"): _SOURCE,
    ("defgenerate", "init"): "(lambda (batch ctx) (list :generated (zeros [1])))",
}


@proposes("E-CONTRACT-001")
def all_missing_parts(case: Case) -> Iterable[Proposal]:
    """A small model with what it learns on and by, where a run lacks model and objective alike."""
    message = case.diagnostic.message
    if "`model`" not in message or "`objective`" not in message or case.analysis.program.models:
        return
    field = ("x", 8) if "a loader" in message else _learnt(case.analysis)
    if field is None:
        return
    name, size = field
    parts = [_LOADER] if "a loader" in message else []
    parts += [_MODEL.format(size=size), _OBJECTIVE.format(field=name)]
    parts += [OPTIMIZER] if "an optimizer" in message else []
    yield Proposal("add all that is missing", (form_before(case.spot.path[0], f"{BREAK}{BREAK}".join(parts)),))


def _learnt(analysis: Analysis) -> tuple[str, int] | None:
    """A field of the training loader that a linear layer takes, by name and size."""
    fields = (analysis.program.training.fields if analysis.program.training is not None else None) or {}
    return next(((name, each.shape[-1]) for name, each in fields.items() if each.shape and each.dtype is F32), None)


@proposes("E-CONTRACT-013", "E-GEN-006")
def all_missing_keys(case: Case) -> Iterable[Proposal]:
    """Every key that a declaration needs, where it lacks several."""
    declaration = case.spot.parent
    known = DECLARATIONS.get(declaration.head or "") if declaration is not None else None
    if (
        known is None
        or declaration is None
        or case.spot.form is not declaration.items[0]
        or "needs :" not in case.diagnostic.message
    ):
        return
    written = {key.name for key, _ in declared_pairs(declaration)}
    missing = [key.name for key in known.keys.values() if key.required and key.name not in written]
    if known.head == "defloader" and not written & {"source", "stages"}:
        missing.append("source")
    values = {key: _value(case.analysis, known.head, key) for key in missing}
    if len(missing) > 1 and all(values.values()):
        text = BREAK.join(f":{key} {value}" for key, value in values.items())
        names = [f":{key}" for key in missing]
        yield Proposal(f"add {', '.join(names[:-1])} and {names[-1]}", (key_added(declaration, text),))


def _value(analysis: Analysis, head: str, key: str) -> str:
    if key == "loader":
        loader = analysis.program.training or next(iter(analysis.program.loaders.values()), None)
        return loader.name if loader is not None else ""
    if (head, key) == ("defgenerate", "init"):
        fields = (analysis.program.training.fields if analysis.program.training is not None else None) or {}
        for name in fields:
            return f"(lambda (batch ctx) (list :generated-{name} (field batch :{name})))"
    return FIRST_VALUES.get((head, key)) or _TOGETHER.get((head, key), "")
