"""A salt as an argument: for a draw in a function or model that sees nothing a salt could be made from, from where that is seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.fixes.draws import moving_salt, salted
from sexpgpu.fixes.edits import put_behind, replaced
from sexpgpu.fixes.proposal import Proposal
from sexpgpu.fixes.spots import Spot, spot_at, symbols_in
from sexpgpu.fixes.table import Case, proposes
from sexpgpu.ide.bindings import values_of
from sexpgpu.ide.occurrences import parameters_of
from sexpgpu.ide.places import forms_at, module_of
from sexpgpu.language.marks import Local
from sexpgpu.language.parameters import ParameterList
from sexpgpu.language.values import Closure
from sexpgpu.program.draws import function_in, written_salt
from sexpgpu.program.unit import Definition
from sexpgpu.reader.forms import Form, KeywordForm, ListForm

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

_MOST_FUNCTIONS = 16
_READ_BY = ("getf", "nth", "first", "ema", "initial")
_OF_THE_RUNTIME = ("prepare", "objective", "curriculum")


class Stuck(Exception):
    """A salt does not get to where it is needed."""


@proposes("W-GEN-001")
def carried(case: Case) -> Iterable[Proposal]:
    """The salt as an argument of the function that holds the draw, given to it wherever it is called."""
    if moving_salt(case.spot):
        return
    try:
        definition, edits = Carrying(case.analysis).to(case.spot)
    except Stuck:
        return
    yield Proposal(f"give {definition.name} a salt where it is called", tuple(edits))


class Carrying:
    """The way of a salt through calls: which functions take one, by which keyword, and the edits that make them."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.edits: list[TextEdit] = []
        self.added: dict[Definition, str] = {}
        self.known: set[tuple[Definition, str]] = set()
        self.waiting: list[tuple[Definition, str]] = []

    def to(self, spot: Spot) -> tuple[Definition, list[TextEdit]]:
        """The function that holds a draw, and the edits that bring a salt to the draw. Raises Stuck."""
        holder = self._holder(spot)
        call = spot.parent
        key = self._read(holder, written_salt(call) if call is not None else None)
        if key:
            self._through(holder, key)
        else:
            edits = salted(spot, self._parameter(holder))
            if not edits:
                raise Stuck
            self.edits += edits
        while self.waiting:
            definition, name = self.waiting.pop()
            for each in self._calls(definition):
                self._give(each, definition, name)
        if not any(edit.text for edit in self.edits):
            raise Stuck
        return holder, self.edits

    # Functions

    def _holder(self, spot: Spot) -> Definition:
        """The function of the file in whose body a spot stands; the runtime calls none of them by itself."""
        top = spot.path[0]
        function = function_in(top)
        found = next((each for each in spot.module.definitions if each.form is top and not each.unknown), None)
        if function is None or found is None or found.name in _OF_THE_RUNTIME or found.duplicated:
            raise Stuck
        if function.items[1 if function.head == "lambda" else 2] in spot.path:
            raise Stuck  # a default sees the parameters before it alone
        return found

    def _through(self, definition: Definition, key: str) -> None:
        if (definition, key) not in self.known:
            self.known.add((definition, key))
            self.waiting.append((definition, key))
            if len(self.known) > _MOST_FUNCTIONS:
                raise Stuck

    def _parameter(self, definition: Definition) -> str:
        """The keyword parameter by which a function takes a salt: one that it has, or a new one."""
        name = self.added.get(definition)
        if name is None:
            function = _function(definition)
            keys = [symbol.name for symbol, _ in _parameters(function).keys]
            name = "salt" if "salt" in keys else self._free(definition)
            if name not in keys:
                self.edits.append(_key_parameter(function, f"({name} 0)"))
            self.added[definition] = name
            self._through(definition, name)
        return name

    def _free(self, definition: Definition) -> str:
        """A name that nothing in a function or in its file has."""
        taken = {local.name for local in self.analysis.marks.locals if local.form.top is definition.top}
        name, count = "salt", 1
        while name in taken or (definition.module is not None and definition.module.lookup(name) is not None):
            count += 1
            name = f"salt-{count}"
        return name

    def _read(self, definition: Definition, salt: Form | None) -> str:
        """The keyword parameter of a function that a salt in it is made from. Raises Stuck, where it is one that has a place."""
        function = _function(definition)
        keys = [symbol for symbol, _ in _parameters(function).keys]
        for symbol in symbols_in(salt) if salt is not None else ():
            local = self.analysis.marks.references.get(symbol)
            if isinstance(local, Local) and local.form is function:
                if local.name_form not in keys:
                    raise Stuck
                return local.name
        return ""

    # Calls

    def _calls(self, definition: Definition) -> list[ListForm]:
        """The calls of a function. Raises Stuck where it is handed on, so that not all of them are known."""
        found: list[ListForm] = []
        for path in self._mentions(definition):
            call = _called_by(path)
            if call is not None:
                found.append(call)
            elif _bound_by(path):
                found += [each for each in self._calls_of_alias(path[0], _function(definition)) if each not in found]
            else:
                raise Stuck
        return found

    def _mentions(self, definition: Definition) -> Iterator[list[Form]]:
        """The forms around each symbol that stands for a definition."""
        for symbol, what in self.analysis.marks.references.items():
            if what is definition and symbol is not definition.name_form:
                module = module_of(self.analysis, symbol.span.source)
                if module is None:
                    raise Stuck
                yield forms_at(module, symbol.span.start)

    def _calls_of_alias(self, top: Form, function: ListForm) -> Iterator[ListForm]:
        """The calls of a function by a `def` that binds it: those whose head came out as it. `((getf model :student) x)`."""
        alias = next((each for each in self.analysis.unit.definitions if each.form is top), None)
        if alias is None:
            raise Stuck
        for path in self._mentions(alias):
            call = _called_through(path)
            if call is None:
                raise Stuck
            forms = [value.form if isinstance(value, Closure) else None for value in values_of(self.analysis, call.items[0])]
            if function in forms:
                if any(form is not function for form in forms):
                    raise Stuck
                yield call

    def _give(self, call: ListForm, definition: Definition, key: str) -> None:
        """A salt for a call, if it has none that moves."""
        parameters = _parameters(_function(definition))
        placed = len(parameters.required) + len(parameters.optional)
        spot = spot_at(self.analysis, call.items[0].span)
        keyed = call.items[1 + placed :]
        if spot is None or len(call.items) <= placed or not all(isinstance(each, KeywordForm) for each in keyed[::2]):
            raise Stuck
        given = _behind(keyed, key)
        salt = moving_salt(spot)
        if given is not None:
            name = "" if salt else self._read(self._holder(spot), given)
            if name:
                self._through(self._holder(spot), name)
                return
            values = spot.known(given)
            if not values or not all(isinstance(value, int) for value in values):
                return
        if not salt:
            holder = self._holder(spot)
            if not any(True for _ in self._mentions(holder)):
                return  # nobody calls it
            salt = self._parameter(holder)
        self.edits.append(put_behind(call.items[-1], f" :{key} {salt}") if given is None else replaced(given, salt))


def _function(definition: Definition) -> ListForm:
    function = function_in(definition.form)
    if function is None:
        raise Stuck
    return function


def _parameters(function: ListForm) -> ParameterList:
    parameters = parameters_of(function)
    if parameters is None or (parameters.rest is not None and not parameters.keys):
        raise Stuck  # what stands behind would no longer be the rest alone
    return parameters


def _key_parameter(function: ListForm, text: str) -> TextEdit:
    """Another keyword parameter of a function."""
    written = function.items[1 if function.head == "lambda" else 2]
    assert isinstance(written, ListForm)
    if not written.items:
        return replaced(written, f"(&key {text})")
    marks = [index for index, each in enumerate(written.items) if each.text.startswith("&")]
    key = next((index for index in marks if written.items[index].text == "&key"), None)
    if key is None:
        return put_behind(written.items[-1], f" &key {text}")
    end = next((index for index in marks if index > key), len(written.items))
    return put_behind(written.items[end - 1], f" {text}")


def _behind(arguments: tuple[Form, ...], name: str) -> Form | None:
    """What keyword arguments give by a name."""
    for key, value in zip(arguments[::2], arguments[1::2], strict=False):
        if isinstance(key, KeywordForm) and key.name == name:
            return value
    return None


def _called_by(path: list[Form]) -> ListForm | None:
    """The call whose head is the symbol at the end of a path, as it is or at other parameters: `((ema model) x)`."""
    parent = path[-2] if len(path) > 1 else None
    if not isinstance(parent, ListForm):
        return None
    if parent.items[0] is path[-1]:
        return parent
    around = path[-3] if len(path) > 2 else None
    if parent.head in ("ema", "initial") and isinstance(around, ListForm) and around.items[0] is parent:
        return around
    return None


def _bound_by(path: list[Form]) -> bool:
    """Whether a path is of a symbol that a `def` binds, alone or in a list."""
    return isinstance(path[0], ListForm) and path[0].head == "def" and all(_head(each) == "list" for each in path[1:-1])


def _head(form: Form) -> str | None:
    return form.head if isinstance(form, ListForm) else None


def _called_through(path: list[Form]) -> ListForm | None:
    """The call in whose head the symbol at the end of a path is read: `((getf model :student) x)`."""
    below = path[-1]
    for form in reversed(path[:-1]):
        if isinstance(form, ListForm) and form.items[0] is below:
            return form
        if _head(form) not in _READ_BY:
            return None
        below = form
    return None
