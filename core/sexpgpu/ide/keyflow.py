"""Which keys of plists are the same key: where an entry is written, handed on by the runtime, and read.

Every place at which a name stands as a key is a node; so is each plist of the runtime under that name (a *space*): a loader's
fields, the generator's state and what it makes, the inputs of `objective` and of each pass's own, the optimizer's state, ctx. What
an analysis recorded tells which of them meet: a call that reads an entry was given a plist that some other call wrote, or one of
the runtime's.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from sexpgpu.graph.nodes import Node
from sexpgpu.ide.bindings import values_of
from sexpgpu.ide.handed import Handed, Space
from sexpgpu.ide.owners import TRAINING, own, owners
from sexpgpu.ide.places import lists_in
from sexpgpu.language.ctx import CTX
from sexpgpu.language.plists import entry
from sexpgpu.language.shapes import declared_pairs
from sexpgpu.language.values import Closure, Keyword, List, Made, Plist, Unknown, Value, keyword, written_names
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.program.unit import Definition
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, StringForm, SymbolForm

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

_MOST_VALUES = 5_000
_BY_NAME = ("npz", "jsonl", "parquet")
_STAGE = "stage-"


class Site(NamedTuple):
    """A key where it is written: in which call, and whether it makes the entry there."""

    form: Form
    call: ListForm
    makes: bool


def provided_head(analysis: Analysis, call: ListForm) -> str:
    """The name of the host function that a call calls, as it is written; empty for any other call."""
    head = next(iter(call.items), None)
    found = analysis.marks.references.get(head) if isinstance(head, SymbolForm) else None
    return found.name if isinstance(found, Definition) and found.kind == "host" else ""


def calls_with(analysis: Analysis, word: str) -> Iterator[ListForm]:
    """The calls of the file and its loads in whose top-level form a word occurs."""
    for module in analysis.unit.modules:
        for top in module.reading.forms:
            if top.form is not None and not top.broken and word in top.text:
                yield from lists_in(top.form)


def different(values: Iterable[Value]) -> list[Value]:
    """Values without those that are the very same again."""
    found: dict[int, Value] = {}
    for count, value in enumerate(values):
        found[id(value)] = value
        if count >= _MOST_VALUES:
            break
    return list(found.values())


class Flow:
    """The keys of one name, joined where they are the same key.

    `loose` are reads that nothing evaluated, `unclear` what has an entry of the name from no literal key, `fixed` what is named by
    something outside the file, with the reason.
    """

    def __init__(self, analysis: Analysis, name: str) -> None:
        self.analysis = analysis
        self.name = name
        self._handed = Handed(analysis, name)
        self.sites: dict[Form, Site] = {}
        self.loose: list[Form] = []
        self.unclear: set[Form | Space] = set()
        self.fixed: dict[Form | Space, str] = {}
        self._above: dict[Form | Space, Form | Space] = {}
        for call in calls_with(analysis, name):
            self._enter(call)
        for site in list(self.sites.values()):
            self._follow(site)
        self._loaders()
        self._generator()
        self._prepare()
        self._optimizer()

    # What is joined

    def root(self, node: Form | Space) -> Form | Space:
        while (above := self._above.get(node, node)) is not node:
            node = above
        return node

    def join(self, one: Form | Space, other: Form | Space) -> None:
        one, other = self.root(one), self.root(other)
        if one != other:
            self._above[one] = other

    def group(self, form: Form) -> list[Site]:
        """The places at which the key at `form` stands, in no order."""
        root = self.root(form)
        return [site for site in self.sites.values() if self.root(site.form) == root]

    def spaces(self, form: Form) -> set[Space]:
        """The plists of the runtime that the key at `form` belongs to."""
        root = self.root(form)
        nodes = {*self._above, *self._above.values()}
        return {node for node in nodes if isinstance(node, tuple) and self.root(node) == root}

    def reads_of(self, site: Site, name: str, forms: Container[Form]) -> bool:
        """Whether a site is given a plist that holds an entry of another name, from one of these keys."""
        if site.call.head not in ("getf", "field", "plist-set"):
            return False
        values = different(values_of(self.analysis, site.call.items[1]))
        origins = [written_names(value).get(name) for value in values if isinstance(value, List)]
        return any(origin is not None and origin in forms for origin in origins)

    # Where it stands

    def _enter(self, call: ListForm) -> None:
        head = provided_head(self.analysis, call)
        items = call.items
        if head == "list":
            keys = items[1::2]
            if len(items) % 2 and all(isinstance(key, (KeywordForm, StringForm, SymbolForm)) for key in keys) and _own(call):
                for key in keys:
                    self._site(key, call, makes=True)
        elif head in ("getf", "field", "plist-set") and len(items) > 2:
            if isinstance(items[2], (KeywordForm, StringForm)):
                self._site(items[2], call, makes=head == "plist-set", staged=True)
        elif head == "counter" and len(items) > 1:
            self._site(items[1], call, makes=True)
        elif head == "tokens":
            for key, value in pairwise(items):
                if isinstance(key, KeywordForm) and key.name == "field":
                    self._site(value, call, makes=False)

    def _site(self, form: Form, call: ListForm, *, makes: bool, staged: bool = False) -> None:
        written = key_name(form)
        if written == self.name or (staged and written == _STAGE + self.name):
            self.sites[form] = Site(form, call, makes)

    def _follow(self, site: Site) -> None:
        head = site.call.head
        if head == "counter":
            self.join(site.form, ("ctx",))
        elif head in ("getf", "field", "plist-set"):
            values = different(values_of(self.analysis, site.call.items[1]))
            for value in values:
                if isinstance(value, Plist):
                    self._meet(site.form, value)
                elif isinstance(value, List) and key_name(site.form) == self.name:
                    self._entry(value, site.form)
            if not values:
                plist = site.call.items[1]
                if isinstance(plist, SymbolForm) and plist.name == "ctx":
                    self.join(site.form, ("ctx",))
                else:
                    self.loose.append(site.form)

    def _meet(self, form: Form, plist: Plist) -> None:
        if plist.role == "ctx" or key_name(form) == self.name:
            for space in self._handed.spaces(plist, form):
                self.join(form, space)

    # Plists

    def _entry(self, plist: List, node: Form | Space) -> None:
        """Join a node with where a list has an entry of this name from."""
        value = self._handed.value(plist.items)
        if value is None:
            return
        origin = written_names(plist).get(self.name)
        if origin is not None and origin in self.sites:
            self.join(node, origin)
        elif isinstance(value, Node) and value.op == "input" and value.attrs.get("name") == self.name:
            self.join(node, self._handed.input(value))
        else:
            self.unclear.add(node)

    def _result(self, values: Iterable[Value], space: Space, owner: str = TRAINING) -> None:
        """Join what a function returned with the plist that the runtime makes of it for training or a pass. The function may have
        returned for others too."""
        for value in values:
            if isinstance(value, Plist):
                for found in self._handed.spaces(value) if value.role != "batch" or value.owner == owner else ():
                    self.join(space, found)
            elif isinstance(value, List):
                made = self._handed.value(value.items)
                others = isinstance(made, Node) and made.attrs.get("kind") == "batch" and self._handed.batch_of(made) != owner
                if not others or self.name in written_names(value):
                    self._entry(value, space)

    def _returned(self, function: Closure) -> list[Value]:
        return different(values_of(self.analysis, function.body[-1])) if function.body else []

    def _functions(self, form: Form | None) -> list[Closure]:
        values = [] if form is None else different(values_of(self.analysis, form))
        return [value for value in values if isinstance(value, Closure) and not value.form.top.source.builtin]

    # The runtime

    def _loaders(self) -> None:
        program = self.analysis.program
        for loader in program.loaders.values():
            space: Space = ("field", loader.name)
            field = (loader.fields or {}).get(self.name)
            if field is not None:
                if field.form in self.sites:
                    self.join(field.form, space)
                else:
                    self.unclear.add(space)
            for source in _sources(loader.sources or ()):
                function = source.arguments.get("function")
                if source.name == "synthetic" and isinstance(function, Closure):
                    self._result(self._returned(function), space)
                elif source.name == "tokens":
                    self._option(source, space)
                elif source.name in _BY_NAME and field is not None:
                    self.fixed[space] = f"`{source.name}` reads the field :{self.name} from its file by this name"
        for pass_ in program.passes.values():
            if pass_.generator is not None and pass_.loader is not None and program.training is not None:
                self.join(("field", program.training.name), ("field", pass_.loader.name))

    def _option(self, source: Made, space: Space) -> None:
        named = source.arguments.get("field")
        if isinstance(named, Keyword) and named.name == self.name:
            form = source.forms.get("field")
            if form is not None and form in self.sites:
                self.join(form, space)
            elif form is None:
                self.fixed[space] = f"`tokens` fills the field :{self.name} where no `:field` names another"
            else:
                self.unclear.add(space)

    def _generator(self) -> None:
        keys = _declared(self.analysis, "defgenerate")
        for key, space in (("init", "state"), ("step", "state"), ("finish", "generated")):
            for function in self._functions(keys.get(key)):
                self._result(self._returned(function), (space,))
        if "finish" not in keys:
            self.join(("generated",), ("state",))

    def _prepare(self) -> None:
        definition = self.analysis.unit.main.scope.get("prepare")
        for owner in owners(self.analysis):
            space: Space = ("inputs", self._handed.reader(owner))
            written = own(self.analysis, owner, "prepare")
            if written is not None or definition is not None:
                form = definition.form if definition is not None and written is None else None
                self._result(self._prepared(written if form is None else form), space, owner)
            elif (handed := self._handed.handed_on(owner)) is not None:
                self.join(space, handed)

    def _prepared(self, form: Form | None) -> list[Value]:
        """What a function gives that is written at a form, or defined by one."""
        if isinstance(form, ListForm) and form.head == "defun":
            return different(values_of(self.analysis, form.items[-1])) if len(form.items) > 3 else []
        if isinstance(form, ListForm) and form.head == "def":
            form = form.items[2] if len(form.items) > 2 else None
        return [value for function in self._functions(form) for value in self._returned(function)]

    def _optimizer(self) -> None:
        keys = _declared(self.analysis, "defoptimizer")
        for function in self._functions(keys.get("init")):
            self._result(self._returned(function), ("optimizer",))
        for function in self._functions(keys.get("update")):
            for value in self._returned(function):
                if isinstance(value, List):
                    state = entry(value.items, keyword("state"))
                    if isinstance(state, List):
                        self._entry(state, ("optimizer",))
                    origin = written_names(value).get(self.name)
                    if origin is not None:
                        self.fixed[origin] = f"the runtime reads :{self.name} of what `:update` returns by this name"

    # What stands in the way of another name

    def obstacle(self, form: Form) -> tuple[str, Form] | None:
        """Why the key at `form` cannot get another name everywhere, and where that shows; None where it can."""
        root = self.root(form)
        for node, reason in self.fixed.items():
            if self.root(node) == root:
                return reason, form
        spaces = self.spaces(form)
        if ("ctx",) in spaces and self.name in CTX:
            return f":{self.name} is a key that ctx always has", form
        both = {"generated", "field"}
        for site in self.sites.values():
            others = self.spaces(site.form)
            if others.isdisjoint(spaces) and {*_kinds(spaces) & both, *_kinds(others) & both} == both:
                return f":{self.name} is a field of a loader, and made by the generator too", form
        if any(self.root(node) == root for node in self.unclear):
            return f"an entry :{self.name} is made where no key of that name is written", form
        if self.loose:
            return f":{self.name} is read here too, and nothing evaluates it, so that it is not known of what", self.loose[0]
        for call in calls_with(self.analysis, "("):
            if provided_head(self.analysis, call) in ("getf", "field", "plist-set") and len(call.items) > 2:
                key = call.items[2]
                computed = not isinstance(key, (KeywordForm, StringForm))
                if computed and any(_named(value, self.name) for value in different(values_of(self.analysis, key))):
                    return f"the key is computed here, and may be :{self.name}", key
        return None


def key_name(form: Form) -> str | None:
    """The name that a literal key gives."""
    if isinstance(form, KeywordForm):
        return form.name
    return form.value if isinstance(form, StringForm) else None


def _kinds(spaces: Iterable[Space]) -> set[str]:
    return {space[0] for space in spaces}


def _named(value: Value, name: str) -> bool:
    return isinstance(value, Unknown) or value == name or (isinstance(value, Keyword) and value.name == name)


def _own(call: ListForm) -> bool:
    """Whether the keys of a list are the file's: those in the value of a declaration's key are the language's, fields aside."""
    top = call.top.form
    if isinstance(top, ListForm) and top.head in DECLARATIONS and top.head != "defmodel":
        return all(value is not call or key.name == "fields" for key, value in declared_pairs(top))
    return True


def _sources(sources: Iterable[Made | None]) -> Iterator[Made]:
    for source in sources:
        parts = source.arguments.get("sources") if source is not None and source.name == "mix" else None
        if isinstance(parts, List):
            firsts = [part.items[0] for part in parts.items if isinstance(part, List) and part.items]
            yield from _sources(first for first in firsts if isinstance(first, Made))
        elif source is not None:
            yield source


def _declarations(analysis: Analysis) -> Iterator[tuple[str, dict[str, Form]]]:
    """The well-formed declarations: their heads, and the values of their keys."""
    for each in analysis.unit.entries:
        form = each.form
        if each.row is not None and each.fault is None and each.row.name in DECLARATIONS and isinstance(form, ListForm):
            yield each.row.name, {key.name: value for key, value in declared_pairs(form)}


def _declared(analysis: Analysis, head: str) -> dict[str, Form]:
    for found, keys in _declarations(analysis):
        if found == head:
            return keys
    return {}
