"""Host values: what an expression is while the file is evaluated. A tensor is a node of the graph being traced.

Numbers, booleans and strings are Python's own. What else there is stands here, with the little that diagnostics need to know of
where a value came from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from sexpgpu.graph.nodes import Node, typed
from sexpgpu.language.dtypes import DType
from sexpgpu.reader.forms import Form, ListForm

if TYPE_CHECKING:
    from sexpgpu.language.signature import Signature
    from sexpgpu.ops.call import Call


class Nil:
    """The value of `nil` and `()`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "nil"


class Absent(Nil):
    """The nil of a `getf` that found nothing: it remembers what was looked for (`name`, without a colon), and where (`key`).

    `used` tells that its use was reported; `uses` takes down every use of such a nil in an evaluation.
    """

    __slots__ = ("key", "name", "plist", "used", "uses")

    def __init__(self, plist: List, name: str, key: Form, uses: list[Absent]) -> None:
        self.plist = plist
        self.name = name
        self.key = key
        self.used = False
        self.uses = uses

    def use(self) -> bool:
        """Note that its use is reported; whether none was before."""
        first = not self.used
        self.used = True
        self.uses.append(self)
        return first


class Unknown:
    """A value that could not be computed; it silences what follows from it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "unknown"


NIL = Nil()
UNKNOWN = Unknown()


class Keyword:
    """`:name`, interned by `keyword`; the name is without its colon."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f":{self.name}"


def key_text(key: Keyword | str) -> str:
    """The name that a key of a plist gives."""
    return key if isinstance(key, str) else key.name


class Symbol:
    """A quoted symbol."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


_keywords: dict[str, Keyword] = {}


def keyword(name: str) -> Keyword:
    """The one keyword of that name."""
    known = _keywords.get(name)
    if known is None:
        known = _keywords[name] = Keyword(name)
    return known


class List:
    """A list or a vector, which serve alike. `made_by` is the call of `list` or the vector that wrote it item by item, if one
    did; `names` says of a plist that several calls made where its keys were written.
    """

    __slots__ = ("items", "made_by", "names", "vector")

    def __init__(self, items: Sequence[Value], *, vector: bool = False, made_by: Form | None = None) -> None:
        self.items: tuple[Value, ...] = tuple(items)
        self.vector = vector
        self.made_by = made_by
        self.names: dict[str, Form] | None = None


def written_names(plist: List) -> dict[str, Form]:
    """Where the keys of a plist were written, those that the prelude did not write."""
    if plist.names is not None:
        return plist.names
    made_by = plist.made_by
    if not isinstance(made_by, ListForm) or made_by.top.source.builtin or len(made_by.items) != len(plist.items) + 1:
        return {}
    keys = zip(plist.items[::2], made_by.items[1::2], strict=False)
    return {key_text(key): form for key, form in keys if isinstance(key, (Keyword, str))}


PlistRole = Literal["batch", "ctx", "observations", "state", "inputs"]


class Plist(List):
    """A plist that the runtime hands to a contract function: `batch`, `ctx`, `observations`, `state` or `inputs`.

    `open` says that entries may exist which are not known here, because something went wrong where they are made. `read` collects
    the names that were read, by key form; `whole` turns true once it was used other than entry by entry. `owner` is the pass that
    it belongs to; `elsewhere` says of names that are not in it why not, `withheld` which of them only a generator would have made.
    """

    __slots__ = ("elsewhere", "open", "owner", "read", "role", "whole", "withheld")

    def __init__(self, role: PlistRole, items: Sequence[Value], *, open: bool = False) -> None:
        super().__init__(items)
        self.role: PlistRole = role
        self.open = open
        self.read: dict[str, Form] = {}
        self.whole = False
        self.owner = ""
        self.elsewhere: dict[str, str] = {}
        self.withheld: tuple[frozenset[str], Form] | None = None


class Made:
    """What a constructor of the language describes: a spec, a source, an initializer, an optimizer, a pretrained file.

    `group` is which of these it is, `name` the constructor's (`npz`, `init-normal`, `adamw`, …), `arguments` its bound arguments
    and `forms` where each was written.
    """

    __slots__ = ("arguments", "form", "forms", "group", "name")

    def __init__(self, group: str, name: str, arguments: dict[str, Value], forms: dict[str, Form], form: Form) -> None:
        self.group = group
        self.name = name
        self.arguments = arguments
        self.forms = forms
        self.form = form


class Function:
    """What can be called. `name` is how messages and draws' places call it."""

    __slots__ = ("name", "signature")

    def __init__(self, name: str, signature: Signature) -> None:
        self.name = name
        self.signature = signature


class Closure(Function):
    """A `lambda` or `defun` with the environment it was made in; `parameters` is the form of its parameter list."""

    __slots__ = ("body", "environment", "form", "parameters")

    def __init__(
        self, name: str, signature: Signature, parameters: Form, body: tuple[Form, ...], environment: object, form: ListForm
    ) -> None:
        super().__init__(name, signature)
        self.parameters = parameters
        self.body = body
        self.environment = environment
        self.form = form


class Model(Closure):
    """A function that owns parameters. `settings` are its keys; `variant` is whose parameter values it runs at."""

    __slots__ = ("settings", "variant")

    def __init__(
        self,
        name: str,
        signature: Signature,
        parameters: Form,
        body: tuple[Form, ...],
        environment: object,
        form: ListForm,
        settings: dict[str, Value],
        variant: str = "current",
    ) -> None:
        super().__init__(name, signature, parameters, body, environment, form)
        self.settings = settings
        self.variant = variant


class Builtin(Function):
    """A host function or an operator of the tables.

    `rule` gives its value for a call; `host` computes it on host numbers alone, if it can. A `strict` one is unknown as soon as
    one of its arguments is; the others look at them one by one.
    """

    __slots__ = ("host", "rule", "strict")

    def __init__(
        self,
        name: str,
        signature: Signature,
        rule: Callable[[Call], Value],
        host: Callable[..., Value] | None = None,
        strict: bool = True,
    ) -> None:
        super().__init__(name, signature)
        self.rule = rule
        self.host = host
        self.strict = strict


Number = int | float
Value = Nil | Unknown | bool | int | float | str | Keyword | Symbol | List | Made | Function | Node | DType


def is_number(value: object) -> bool:
    """A host number; a boolean is none."""
    return type(value) is int or type(value) is float


def truthy(value: Value) -> bool:
    """`nil` and `false` are false; all else is true (language §2)."""
    return not (value is False or isinstance(value, Nil))


def kind_of(value: Value) -> str:
    """What a value is, with its article, for messages: `a string`, `an f32[4 8] tensor`, `nil`."""
    match value:
        case Nil():
            return "nil"
        case Plist():
            return f"a plist, {value.role}" if value.role in ("ctx", "observations") else f"a plist, the {value.role}"
        case bool():
            return "true" if value else "false"
        case int():
            return "an integer"
        case float():
            return "a float"
        case str():
            return "a string"
        case Keyword():
            return f"the keyword :{value.name}"
        case Symbol():
            return "a symbol"
        case List():
            return "a vector" if value.vector else "a list"
        case Made():
            return f"a `{value.name}`"
        case Model():
            return "a model"
        case Function():
            return "a function"
        case Node():
            return f"a tensor {typed(value.shape, value.dtype)}"
        case DType():
            return f"the dtype :{value.name}"
        case Unknown():
            return "an unknown value"
