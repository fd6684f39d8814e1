"""Parameter lists: `(x y &optional (n 1) &key (axis -1) &rest more)`, read once for the static pass and the evaluator alike."""

from __future__ import annotations

from sexpgpu.language.nearest import nearest
from sexpgpu.language.signature import Signature
from sexpgpu.reader.forms import Form, ListForm, SymbolForm

MARKERS = ("&optional", "&key", "&rest")

_SHAPE = "write (x y &optional (z default) &key (k default) &rest more)"


class Malformed(Exception):
    """A form whose shape is wrong: `at` is the smallest part that shows it."""

    def __init__(self, at: Form, message: str, help: str = "") -> None:
        super().__init__(message)
        self.at = at
        self.message = message
        self.help = help


class ParameterList:
    """The parameters of a function by kind, each as the symbol that was written, with the form of its default (None: nil)."""

    __slots__ = ("_signature", "keys", "optional", "required", "rest")

    def __init__(
        self,
        required: tuple[SymbolForm, ...] = (),
        optional: tuple[tuple[SymbolForm, Form | None], ...] = (),
        keys: tuple[tuple[SymbolForm, Form | None], ...] = (),
        rest: SymbolForm | None = None,
    ) -> None:
        self.required = required
        self.optional = optional
        self.keys = keys
        self.rest = rest
        self._signature: Signature | None = None

    @property
    def signature(self) -> Signature:
        """The names alone, for the binder; defaults as they are written. A key of the prelude's without one is required."""
        if self._signature is None:
            self._signature = Signature(
                [symbol.name for symbol in self.required],
                _written(self.optional),
                _written(self.keys),
                None if self.rest is None else self.rest.name,
                [symbol.name for symbol, default in self.keys if default is None and symbol.top.source.builtin],
            )
        return self._signature


def _written(parameters: tuple[tuple[SymbolForm, Form | None], ...]) -> list[tuple[str, str]]:
    return [(symbol.name, "nil" if default is None else default.text) for symbol, default in parameters]


def parse_parameters(form: Form) -> ParameterList:
    """The parameters that a form lists: required, `&optional`, then `&key` and `&rest` in either order.

    Raises Malformed at the first part that is no parameter.
    """
    if not isinstance(form, ListForm):
        raise Malformed(form, f"a parameter list stands in round brackets, and this is `{_short(form)}`", _SHAPE)
    if (known := getattr(form, "parameters", None)) is not None:
        return known
    form.parameters = _Parser().parse(form)
    return form.parameters


class _Parser:
    """One pass over the items; `mode` is the marker that was met last."""

    def __init__(self) -> None:
        self.mode = ""
        self.seen: set[str] = set()
        self.names: set[str] = set()
        self.required: list[SymbolForm] = []
        self.optional: list[tuple[SymbolForm, Form | None]] = []
        self.keys: list[tuple[SymbolForm, Form | None]] = []
        self.rest: SymbolForm | None = None

    def parse(self, form: ListForm) -> ParameterList:
        marker: SymbolForm | None = None
        for item in form.items:
            if isinstance(item, SymbolForm) and item.name.startswith("&"):
                _not_empty(marker)
                self._mark(item)
                marker = item
            else:
                self._parameter(item)
                marker = None
        _not_empty(marker)
        return ParameterList(tuple(self.required), tuple(self.optional), tuple(self.keys), self.rest)

    def _mark(self, item: SymbolForm) -> None:
        name = item.name
        if name not in MARKERS:
            near = nearest(name, MARKERS)
            help = f"write {near[0]}" if near else f"a parameter list knows {', '.join(MARKERS)}"
            raise Malformed(item, f"a parameter list has no `{name}`", help)
        if name in self.seen:
            raise Malformed(item, f"`{name}` stands twice in one parameter list", "put all its parameters behind the first")
        if name == "&optional" and self.seen:
            raise Malformed(item, f"`&optional` stands behind `{self.mode}`", "put optional parameters in front of it")
        self.seen.add(name)
        self.mode = name

    def _parameter(self, item: Form) -> None:
        default: Form | None = None
        symbol = item
        if isinstance(item, ListForm) and item.items and self.mode != "&rest":
            symbol, default = self._with_default(item)
        if not isinstance(symbol, SymbolForm):
            raise Malformed(symbol, f"a parameter is a name, and this is `{_short(symbol)}`", _SHAPE)
        if symbol.name.startswith("&"):
            raise Malformed(symbol, f"`{symbol.name}` is no name for a parameter", _SHAPE)
        if symbol.name in self.names:
            raise Malformed(symbol, f"the parameter `{symbol.name}` stands twice in one list", "give the second another name")
        self.names.add(symbol.name)
        if self.mode == "&optional":
            self.optional.append((symbol, default))
        elif self.mode == "&key":
            self.keys.append((symbol, default))
        elif self.mode == "":
            self.required.append(symbol)
        elif self.rest is None:
            self.rest = symbol
        else:
            raise Malformed(symbol, "`&rest` takes one name", f"leave out `{symbol.name}`")

    def _with_default(self, item: ListForm) -> tuple[Form, Form]:
        symbol = item.items[0]
        if isinstance(symbol, SymbolForm):
            if self.mode == "":
                raise Malformed(item, "a required parameter has no default", f"write &optional or &key in front of {_short(item)}")
            if len(item.items) == 1:
                raise Malformed(item, f"`{symbol.name}` has no default here", f"write {symbol.name}, or ({symbol.name} default)")
            if len(item.items) > 2:
                raise Malformed(item.items[2], f"`{symbol.name}` has one default", f"write ({symbol.name} default)")
        elif self.mode == "":
            return item, item
        return symbol, item.items[1] if len(item.items) > 1 else symbol


def _not_empty(marker: SymbolForm | None) -> None:
    if marker is not None:
        raise Malformed(marker, f"no parameter stands behind `{marker.name}`", "name one, or leave it out")


def _short(form: Form) -> str:
    text = " ".join(form.text.split())
    return text if len(text) <= 30 else text[:29] + "…"
