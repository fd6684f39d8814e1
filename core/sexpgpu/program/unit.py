"""What a file defines, with all that it loads: the names that each of its forms sees, before anything is evaluated.

A file is a module: it sees its own names and those of its loads, however deep. A unit is a file with the modules that it loads, in
the order of the text with loads expanded in place, so that what stands above is evaluated first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sexpgpu.language.parameters import Malformed, ParameterList
from sexpgpu.language.shapes import Shape
from sexpgpu.reader.forms import Form, ListForm, StringForm, TopForm

if TYPE_CHECKING:
    from sexpgpu.language.signature import Signature
    from sexpgpu.reader import Reading
    from sexpgpu.source import Source


class Definition:
    """A name that a form of the top level defines, or that the language provides.

    `kind` is the form's head (`def`, `defun`, `defloader`, …; "" where it is not known), or `operator` or `host` for what has no
    form. An `unknown` one stands for what an unreadable or malformed form would define: nothing is said of its uses. `duplicated`
    marks a name that is defined more than once; the first definition stands. `name_form` is None where the form gives no name.
    """

    __slots__ = ("duplicated", "form", "kind", "module", "name", "name_form", "parameters", "signature", "top", "unknown")

    def __init__(
        self,
        kind: str,
        name: str,
        *,
        module: Module | None = None,
        top: TopForm | None = None,
        form: ListForm | None = None,
        name_form: Form | None = None,
        parameters: ParameterList | None = None,
        signature: Signature | None = None,
        unknown: bool = False,
    ) -> None:
        self.kind = kind
        self.name = name
        self.module = module
        self.top = top
        self.form = form
        self.name_form = name_form
        self.parameters = parameters
        self.signature: Signature | None = parameters.signature if parameters is not None else signature
        self.unknown = unknown
        self.duplicated = False

    @property
    def documentation(self) -> str:
        """The comment block above the form and the string that a `defun` begins its body with."""
        parts = [self.top.documentation] if self.top is not None and self.top.documentation else []
        if self.kind in ("defun", "defmodel") and self.form is not None and len(self.form.items) > 4:
            string = self.form.items[3]
            if isinstance(string, StringForm):
                parts.append(string.value)
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return f"<{self.kind or 'unknown'} {self.name}>"


class Entry(NamedTuple):
    """A readable form of the top level. `row` is its head's (None: a call of `assert` or `print`, or no form of the top level),
    `fault` what is wrong with its shape, `definition` what it defines."""

    module: Module
    top: TopForm
    form: Form
    row: Shape | None
    fault: Malformed | None
    definition: Definition | None


class Module:
    """One file. `scope`, `loaders` and `passes` hold by name what it and its loads define; `entries` its forms, without a loaded
    file's `defrun`, and `definitions` what they and its unreadable forms define.

    An `open` module may hold any name, because it or a load of its could not be read: none is reported as missing. `uncertain`
    holds the heads of the declarations that malformed forms of the top level may have been.
    """

    __slots__ = ("definitions", "entries", "loaders", "loads", "open", "passes", "reading", "scope", "seen", "source", "uncertain")

    def __init__(self, source: Source, reading: Reading) -> None:
        self.source = source
        self.reading = reading
        self.open = source.bad_byte is not None or reading.may_define("load")
        self.loads: list[Module] = []
        self.seen: list[Module] = [self]
        """This module and those whose names it sees."""
        self.entries: list[Entry] = []
        self.definitions: list[Definition] = []
        self.scope: dict[str, Definition] = {}
        self.loaders: dict[str, Definition] = {}
        self.passes: dict[str, Definition] = {}
        self.uncertain: set[str] = set()

    @property
    def path(self) -> str:
        """The file's path, as the user or the `load` wrote it."""
        return self.source.name

    def namespace(self, name: str) -> dict[str, Definition]:
        """The names of a namespace: `value`, `loader` or `pass`."""
        return {"value": self.scope, "loader": self.loaders, "pass": self.passes}[name]

    def may_define(self, name: str) -> bool:
        """Whether text that could not be read, here or in a load, may define the name."""
        return self.open or any(module.reading.may_define(name) for module in self.seen)

    def lookup(self, name: str) -> Definition | None:
        """What a name that no local variable has stands for in this file."""
        return self.scope.get(name) or provided(name)


class Unit:
    """A file with all that it loads. A module stands behind those that it loads; the file itself is the last.

    `entries` are the well-formed forms to evaluate, in text order, each load expanded in place where it first stands, without the
    `defrun` of a loaded file. `definitions` are those of all modules, in the same order.
    """

    __slots__ = ("definitions", "entries", "modules")

    def __init__(self, modules: tuple[Module, ...], entries: tuple[Entry, ...], definitions: tuple[Definition, ...]) -> None:
        self.modules = modules
        self.entries = entries
        self.definitions = definitions

    @property
    def main(self) -> Module:
        return self.modules[-1]

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms to evaluate."""
        return tuple(entry.form for entry in self.entries)

    def of_kind(self, *kinds: str) -> list[Definition]:
        """The definitions whose form begins with one of these heads."""
        return [definition for definition in self.definitions if definition.kind in kinds]

    def may_hold(self, kind: str) -> bool:
        """Whether a form that could not be read, or a file that could not be loaded, may have declared this."""
        return any(module.open or kind in module.uncertain or module.reading.may_define(kind) for module in self.modules)


_provided: dict[str, Definition | None] = {}


def provided(name: str) -> Definition | None:
    """The operator, host function or prelude function of that name."""
    if name not in _provided:
        _provided[name] = _provide(name)
    return _provided[name]


def _provide(name: str) -> Definition | None:
    from sexpgpu.language.builtins import HOST
    from sexpgpu.ops import OPS

    if name in OPS:
        return Definition("operator", name, signature=OPS[name].signature)
    if name in HOST:
        return Definition("host", name, signature=HOST[name].signature)
    from sexpgpu.prelude import PRELUDE

    return prelude_module(PRELUDE[name]).scope[name] if name in PRELUDE else None


_prelude: dict[str, Module] = {}


def prelude_module(file: str) -> Module:
    """The module of a file of the prelude, read when it is first asked for."""
    if file not in _prelude:
        from sexpgpu.prelude import source
        from sexpgpu.program.build import build_unit

        unit, findings = build_unit(source(file))
        assert not findings, findings
        _prelude[file] = unit.main
    return _prelude[file]


def provided_names() -> list[str]:
    """Every name that the language provides, special forms aside."""
    from sexpgpu.language.builtins import HOST
    from sexpgpu.ops import OPS
    from sexpgpu.prelude import PRELUDE

    return [*OPS, *HOST, *PRELUDE]
