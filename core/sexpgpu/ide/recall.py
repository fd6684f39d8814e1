"""What an earlier analysis knows of a place that somebody is typing at: the values that the expressions around it had.

A form is met again by its place in the form of the top level, as far as that has not changed, or by its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from sexpgpu.graph.nodes import Node, Shape
from sexpgpu.ide.bindings import values_of
from sexpgpu.ide.places import children
from sexpgpu.language.ctx import CTX, counter_keys
from sexpgpu.language.dtypes import F32, I64, DType
from sexpgpu.language.marks import Local
from sexpgpu.language.values import Keyword, List, Plist, PlistRole, Unknown, Value, keyword
from sexpgpu.reader.forms import Form, ListForm, SymbolForm, TopForm
from sexpgpu.source import Source

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.ide.roles import Place
    from sexpgpu.program.model import Program
    from sexpgpu.program.unit import Definition, Module

CONTRACTS: dict[str, tuple[str, ...]] = {
    "prepare": ("batch", "ctx"),
    "objective": ("inputs", "ctx"),
    "curriculum": ("stage", "ctx", "observations"),
    "defgenerate :init": ("batch", "ctx"),
    "defgenerate :step": ("state", "trip", "ctx"),
    "defgenerate :finish": ("state", "ctx"),
    "defoptimizer :init": ("param",),
    "defoptimizer :update": ("param", "grad", "state", "ctx"),
    "defpass :prepare": ("batch", "ctx"),
    "defpass :objective": ("inputs", "ctx"),
    "defrun :stop-when": ("ctx", "observations"),
}
"""What the runtime hands to the functions that it calls, by position."""

ROLES = ("batch", "ctx", "inputs", "observations", "state")


_NOWHERE = Form(TopForm(Source("", ""), 0, ""), 0, 0)


class View(NamedTuple):
    """A file as an analysis sees it."""

    analysis: Analysis
    module: Module


class Recall:
    """What is known of one form of the top level, from several analyses: that of the best is taken, the first is the latest."""

    def __init__(self, views: Sequence[View], top: TopForm, path: Sequence[Form]) -> None:
        self.views = views
        self.path = path
        self._top = top
        self._met: list[tuple[Analysis, TopForm]] = []
        for view in views:
            found = _same(view.module, top)
            if found is not None and not any(found is known for _, known in self._met):
                self._met.append((view.analysis, found))
        self.scope: dict[str, Definition] = {}
        """What the file defines: as it stands now, but where that has an error, as it stood."""
        for view in reversed(views):
            for name, definition in view.module.scope.items():
                known = self.scope.get(name)
                if known is None or known.unknown or not definition.unknown:
                    self.scope[name] = definition

    @property
    def latest(self) -> View:
        return self.views[0]

    def definition(self, name: str) -> Definition | None:
        """What a name that is no local variable stands for."""
        return self.scope.get(name) or self.latest.module.lookup(name)

    def values(self, form: Form, place: Place) -> list[Value]:
        """What a form in front of the place was, as far as that is known; where it is new, what its name stands for now."""
        for analysis, top in self._met:
            found = _known(self._met_form(top, form, analysis), analysis)
            if found:
                return found
        if not isinstance(form, SymbolForm):
            return []
        bound = place.locals.get(form.name)
        if bound is not None:
            return self.of_local(bound)
        definition = self.definition(form.name)
        return self.of_definition(definition) if definition is not None else []

    def of_local(self, name: SymbolForm) -> list[Value]:
        """What a local variable was."""
        for analysis, top in self._met:
            best: tuple[int, Local] | None = None
            for local in analysis.marks.locals:
                if local.name == name.name and local.name_form.top is top:
                    distance = abs(local.name_form.start - name.start)
                    if best is None or distance < best[0]:
                        best = distance, local
            if best is not None:
                found = _local_values(analysis, best[1])
                if found:
                    return found
        role = self._handed(name)
        if role in ("batch", "ctx"):
            # It holds more behind the generator than in it, so what one function was handed says too little, or too much.
            return list(self._declared(role, generating=self._top.head == "defgenerate"))
        return list(self.handed(role)) if role else []

    def of_definition(self, definition: Definition) -> list[Value]:
        """What a `def` was."""
        if definition.kind != "def" or definition.form is None or definition.unknown:
            return []
        for view in self.views:
            found = _meant(values_of(view.analysis, definition.form.items[2]))
            if found:
                return found
        return []

    def handed(self, role: str) -> Iterator[Plist]:
        """The plists of that role that the runtime handed over anywhere in the file; where it did not, what it would hand over."""
        for view in self.views:
            analysis, met = view.analysis, False
            for local in analysis.marks.locals:
                for value in analysis.values.get(local.name_form, ()):
                    if isinstance(value, Plist) and value.role == role and not _unfilled(value):
                        met = True
                        yield value
            if met:
                return
        yield from self._declared(role)

    def _declared(self, role: str, *, generating: bool = False) -> Iterator[Plist]:
        """What the declarations of the file make a plist of that role hold, before a function takes it."""
        for view in self.views:
            declared = _declared(view.analysis.program, role, generating)
            if declared:
                yield Plist(cast("PlistRole", role), [each for entry in declared for each in entry])
                return

    def _handed(self, name: SymbolForm) -> str:
        """The role of a parameter of a function that the runtime calls; else what its name says."""
        for index, form in enumerate(self.path):
            if isinstance(form, ListForm) and len(form.items) > 1:
                called, parameters = _called(self.path, index, form)
                if isinstance(parameters, ListForm) and name in parameters.items:
                    position = parameters.items.index(name)
                    roles = CONTRACTS.get(called, ())
                    if position < len(roles):
                        return roles[position] if roles[position] in ROLES else ""
        return name.name if name.name in ROLES else ""

    def _met_form(self, top: TopForm, form: Form, analysis: Analysis) -> Form | None:
        """The form of an earlier top-level form that is this one."""
        text = form.text
        if top.form is None:
            return None
        if top.text[: form.end] == form.top.text[: form.end]:
            return _at(top.form, form.start, form.end)
        same = [each for each in _inside(top.form) if each.end - each.start == len(text) and each.text == text]
        same = [each for each in same if analysis.values.get(each)]
        return min(same, key=lambda each: abs(each.start - form.start), default=None)


def entries(values: Iterable[Value]) -> dict[Value, list[Value]]:
    """The entries of values that are plists, by key, in order."""
    found: dict[Value, list[Value]] = {}
    for value in values:
        if not isinstance(value, List) or len(value.items) % 2:
            continue
        keys = value.items[::2]
        if all(isinstance(key, (Keyword, str)) for key in keys):
            for key, item in zip(keys, value.items[1::2], strict=True):
                found.setdefault(key, []).append(item)
    return found


def _declared(program: Program, role: str, generating: bool) -> list[tuple[Value, Value]]:
    """The entries of a plist of that role, by the declarations; `generating` tells that the generator is handed it."""
    loader = program.training or next(iter(program.loaders.values()), None)
    made, found = program.generator, dict[Value, Value]()

    def add(key: Value, shape: Shape, dtype: DType) -> None:
        found[key] = Node("input", (), {}, shape, dtype, _NOWHERE)

    match role:
        case "batch":
            for name, field in (loader.fields or {}).items() if loader is not None else ():
                rows = () if loader is None or loader.batch is None else (loader.batch,)
                add(keyword(name), (*rows, *field.shape), field.dtype)
            last = (made.finish or made.step) if made is not None and not generating else None
            for name, node in last.outputs.items() if last is not None else ():
                add(keyword(name), node.shape, node.dtype)
        case "state":
            for name, node in made.init.outputs.items() if made is not None and made.init is not None else ():
                add(keyword(name), node.shape, node.dtype)
        case "inputs":
            for name, node in program.prepare.outputs.items() if program.prepare is not None else ():
                add(keyword(name), node.shape, node.dtype)
        case "ctx":
            for name, key in CTX.items():
                add(keyword(name), (), key.dtype)
            for name in (each for counter in (() if generating else program.counters) for each in counter_keys(counter)):
                add(keyword(name), (), I64)
        case "observations":
            for name, each in program.passes.items():
                for report in each.objective.metrics if each.objective is not None else ():
                    add(f"{name}/{report.name}", (), F32)
        case _:
            pass
    return list(found.items())


def _called(path: Sequence[Form], index: int, form: ListForm) -> tuple[str, Form | None]:
    """How the runtime knows a function that is being written, and its parameter list."""
    items: Sequence[Form] = form.items
    if index == 0 and form.head == "defun" and len(items) > 2:
        return items[1].text, items[2]
    around = path[0]
    if index == 1 and form.head == "lambda" and len(items) > 1 and isinstance(around, ListForm):
        at = around.items.index(form)
        return f"{around.head} {around.items[at - 1].text}", items[1]
    return "", None


def _same(module: Module, top: TopForm) -> TopForm | None:
    """The form of a module that an edited one was: that of the same head and name; of several, the nearest."""
    same = [each for each in module.reading.forms if each.head == top.head and each.form is not None]
    if top.name is not None:
        same = [each for each in same if each.name == top.name] or same[: len(same) == 1]
    return min(same, key=lambda each: abs(each.origin - top.origin), default=None)


def _known(form: Form | None, analysis: Analysis) -> list[Value]:
    return [] if form is None else _meant(values_of(analysis, form))


def _local_values(analysis: Analysis, local: Local) -> list[Value]:
    found = _meant(analysis.values.get(local.name_form, ()))
    return found or (_meant(values_of(analysis, local.value)) if local.value is not None else [])


def _meant(values: Iterable[Value]) -> list[Value]:
    return [value for value in values if not isinstance(value, Unknown) and not _unfilled(value)]


def _unfilled(value: Value) -> bool:
    """Whether a plist of the runtime is one of which nothing is known here."""
    return isinstance(value, Plist) and value.open and not value.items


def _at(form: Form, start: int, end: int) -> Form | None:
    """The form that stands exactly there."""
    found: Form | None = form
    while found is not None and (found.start, found.end) != (start, end):
        found = next((each for each in children(found) if each.start <= start and end <= each.end), None)
    return found


def _inside(form: Form) -> Iterator[Form]:
    waiting = [form]
    while waiting:
        form = waiting.pop()
        yield form
        waiting.extend(reversed(children(form)))
