"""From a source to its unit: reads the file and what it loads, and finds what each defines."""

from __future__ import annotations

import os

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Finding, Related, Rule
from sexpgpu.files import DISK, Files, beside
from sexpgpu.language.nearest import nearest
from sexpgpu.language.parameters import Malformed, parse_parameters
from sexpgpu.language.shapes import Shape, check_shape
from sexpgpu.language.special import SPECIAL_FORMS, TOP_LEVEL, TOP_LEVEL_CALLS, unknown_top_level
from sexpgpu.program.unit import Definition, Entry, Module, Unit, provided
from sexpgpu.reader import Reading, read
from sexpgpu.reader.forms import Form, ListForm, QuoteForm, StringForm, SymbolForm, TopForm, VectorForm
from sexpgpu.source import Source

MOST_BYTES = 16 * 2**20
MOST_LOADS = 100

_NAMESPACES = ("value", "loader", "pass")


class Known:
    """What an earlier build of a unit leaves for the next: the readings of its files by path, and what their forms define."""

    def __init__(self) -> None:
        self.readings: dict[str, Reading] = {}
        self.entries: dict[TopForm, Entry] = {}


def build_unit(source: Source, files: Files = DISK, known: Known | None = None) -> tuple[Unit, list[Finding]]:
    """The unit of a source, and what is wrong with its text, its loads and the names that it defines.

    What is `known` from an earlier build is brought up to date: forms whose text has not changed stay the same objects, and so do
    their definitions.
    """
    known = Known() if known is None else known
    builder = _Builder(files, known)
    builder.module(source, _key(source.name))
    known.readings = {path: builder.readings[path] for path in builder.modules}
    known.entries = builder.known
    unit = Unit(tuple(builder.modules.values()), tuple(builder.entries), tuple(builder.definitions))
    return unit, builder.findings


def _key(path: str) -> str:
    """What tells one file from another."""
    return os.path.abspath(path)


class _Builder:
    """`modules` holds finished modules, those that are loaded in front of those that load them; `building` the others."""

    def __init__(self, files: Files, known: Known) -> None:
        self.files = files
        self.readings = known.readings
        self.before = known.entries
        self.known: dict[TopForm, Entry] = {}
        self.modules: dict[str, Module] = {}
        self.building: dict[str, Source] = {}
        self.entries: list[Entry] = []
        self.definitions: list[Definition] = []
        self.findings: list[Finding] = []
        self.first: dict[tuple[str, str], Definition] = {}

    def module(self, source: Source, key: str) -> Module:
        self.building[key] = source
        reading = self.readings[key] = read(source, self.readings.get(key))
        self.findings += reading.findings
        module = Module(source, reading)
        for top in reading.forms:
            self._top(module, top, loaded=len(self.building) > 1)
        del self.building[key]
        self.modules[key] = module
        return module

    def report(self, rule: Rule, at: Form, message: str, help: str = "", *related: Related) -> None:
        self.findings.append(Finding(rule, at, message, help, related))

    # Forms of the top level

    def _top(self, module: Module, top: TopForm, *, loaded: bool) -> None:
        if top.broken or top.form is None:
            self._unreadable(module, top)
            return
        form = top.form
        row = TOP_LEVEL.get(top.head or "")
        if row is None:
            called = isinstance(form, ListForm) and form.head in TOP_LEVEL_CALLS
            entry = Entry(module, top, form, None, None if called else unknown_top_level(form), None)
            if not called:
                self._guess(module, top)
        else:
            if loaded and row.name == "defrun":
                return
            assert isinstance(form, ListForm)
            entry = self._again(module, top) or self._known(module, top, form, row)
            if entry.fault is None:
                self.known[top] = entry
        module.entries.append(entry)
        if entry.fault is None:
            self.entries.append(entry)
        if entry.definition is not None:
            self._define(entry.definition, row.namespace if row is not None else "")
        elif row is not None and row.name == "load":
            self._load(entry)

    def _again(self, module: Module, top: TopForm) -> Entry | None:
        """The entry that the form was before, in the module as it is now."""
        entry = self.before.get(top)
        if entry is None:
            return None
        if entry.definition is not None:
            entry.definition.module, entry.definition.duplicated = module, False
        return entry._replace(module=module)

    def _known(self, module: Module, top: TopForm, form: ListForm, row: Shape) -> Entry:
        fault: Malformed | None = None
        try:
            check_shape(row, form)
        except Malformed as malformed:
            fault = malformed.with_traceback(None)  # which holds the frames that raised it
        if row.name == "load":
            return Entry(module, top, form, row, fault, None)
        name_form = next(iter(form.items[1:2]), None)
        if not row.namespace and not isinstance(name_form, SymbolForm):
            name_form = None
        name = name_form.text if name_form is not None else ""
        parameters = parse_parameters(form.items[2]) if fault is None and row.namespace == "value" and row.binds else None
        definition = Definition(
            row.name,
            name,
            module=module,
            top=top,
            form=form,
            name_form=name_form,
            parameters=parameters,
            unknown=fault is not None,
        )
        if fault is not None:
            module.uncertain.add(row.name)
        return Entry(module, top, form, row, fault, definition)

    # Forms that are not what they were meant to be

    def _unreadable(self, module: Module, top: TopForm) -> None:
        """What an unreadable form would define is defined, and unknown."""
        head = top.head
        if head is None or head not in TOP_LEVEL:
            self._guess(module, top)
        elif head == "load":
            module.open = True
        else:
            self._suppose(module, top, [head])

    def _guess(self, module: Module, top: TopForm) -> None:
        """A form with an unknown head may be any definition whose head is nearly that, and so may the definitions inside it."""
        if top.form is not None and not isinstance(top.form, (ListForm, VectorForm, QuoteForm)):
            return
        near = nearest(top.head, TOP_LEVEL) if top.head is not None else []
        if "load" in near or _names_a_file(top.form):
            module.open = True
        self._suppose(module, top, [head for head in near if head != "load"] or [head for head in TOP_LEVEL if head != "load"])
        for inner in _definitions_inside(top.form):
            if inner.head == "load":
                module.open = True
            elif len(inner.items) > 1 and isinstance(inner.items[1], SymbolForm):
                self._unknown(module, top, inner.items[1].name, [inner.head or ""])

    def _suppose(self, module: Module, top: TopForm, heads: list[str]) -> None:
        module.uncertain.update(heads)
        if top.name is not None:
            self._unknown(module, top, top.name, heads)

    def _unknown(self, module: Module, top: TopForm, name: str, heads: list[str]) -> None:
        """A name that may be defined, in each namespace that it may be defined in."""
        spaces = {TOP_LEVEL[head].namespace for head in heads}
        for space in _NAMESPACES:
            if space in spaces:
                kind = heads[0] if len(heads) == 1 else ""
                self._define(Definition(kind, name, module=module, top=top, unknown=True), space)

    # Names

    def _define(self, definition: Definition, space: str) -> None:
        module, name = definition.module, definition.name
        assert module is not None
        module.definitions.append(definition)
        self.definitions.append(definition)
        at = definition.name_form
        if not space:
            return
        if space == "value" and (name in SPECIAL_FORMS or (at is not None and not isinstance(at, SymbolForm))):
            if at is not None and not definition.unknown:
                what = "a special form" if isinstance(at, SymbolForm) else "a constant"
                self.report(rules.NAME_REDEFINED, at, f"`{name}` is {what}, which cannot be redefined", "take another name")
            return
        module.namespace(space).setdefault(name, definition)
        before = self.first.setdefault((space, name), definition)
        if before is not definition:
            before.duplicated = definition.duplicated = True
            if at is not None and not definition.unknown and not before.unknown:
                assert before.name_form is not None
                related = Related(before.name_form, "the first definition")
                self.report(rules.NAME_REDEFINED, at, f"`{name}` is already defined", "give one of the two another name", related)
        elif space == "value" and at is not None and not definition.unknown:
            self._shadows(module, at, name)

    def _shadows(self, module: Module, at: Form, name: str) -> None:
        given = None if module.source.builtin else provided(name)
        if given is not None:
            what = {"operator": "an operator", "host": "a host function"}.get(given.kind, "a function of the prelude")
            self.report(rules.NAME_SHADOWS, at, f"`{name}` is also {what}, which this definition hides", "take another name")

    # Loads

    def _load(self, entry: Entry) -> None:
        module, form = entry.module, entry.form
        loaded = None
        if entry.fault is None:
            assert isinstance(form, ListForm)
            path = form.items[1]
            assert isinstance(path, StringForm)
            loaded = self._loaded(module, path)
        if loaded is None:
            module.open = True
            return
        module.open = module.open or loaded.open
        module.loads.append(loaded)
        module.seen += [each for each in loaded.seen if each not in module.seen]
        for space in _NAMESPACES:
            names = module.namespace(space)
            for name, definition in loaded.namespace(space).items():
                names.setdefault(name, definition)

    def _loaded(self, module: Module, at: StringForm) -> Module | None:
        """The module of a path, read if it has not been; None after a report where that cannot be."""
        path = beside(module.source.name, at.value)
        key = _key(path)
        if key in self.modules:
            return self.modules[key]
        if key in self.building:
            within = list(self.building.values())[list(self.building).index(key) :]
            circle = [os.path.basename(name) for name in (*(source.name for source in within), path)]
            self.report(rules.LOAD_FAILED, at, f"the loads go in a circle: {' → '.join(circle)}", "leave one of them out")
            return None
        if len(self.building) > MOST_LOADS:
            self.report(rules.LOAD_FAILED, at, f"more than {MOST_LOADS} files load each other", "load fewer files in a row")
            return None
        try:
            data = self.files.read(path, 0, MOST_BYTES + 1)
        except FileNotFoundError:
            self.report(rules.LOAD_FAILED, at, f"there is no file {at.value}", "a path is relative to the file that writes it")
            return None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self.report(rules.LOAD_FAILED, at, f"{at.value} cannot be read: {reason[:1].lower()}{reason[1:]}")
            return None
        if len(data) > MOST_BYTES:
            self.report(rules.LOAD_FAILED, at, f"{at.value} has more than {MOST_BYTES // 2**20} MiB", "a file of forms is smaller")
            return None
        return self.module(Source.decode(path, data), key)


def _names_a_file(form: Form | None) -> bool:
    return isinstance(form, ListForm) and any(isinstance(item, StringForm) and item.value.endswith(".sx") for item in form.items)


def _definitions_inside(form: Form | None) -> list[ListForm]:
    """The definitions that stand inside a form, where none should."""
    found: list[ListForm] = []
    waiting = [form]
    while waiting:
        form = waiting.pop()
        if isinstance(form, (ListForm, VectorForm)):
            waiting.extend(form.items)
            if isinstance(form, ListForm) and form.head in TOP_LEVEL:
                found.append(form)
        elif isinstance(form, QuoteForm):
            waiting.append(form.form)
    return found
