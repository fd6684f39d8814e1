"""Forms: what the reader makes of text.

A form knows its place relative to the top-level form that holds it, so that an edit elsewhere in the file leaves it whole:
only the `origin` of the top-level forms behind the edit moves. Everything that is reported is reported at a form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sexpgpu.source import Source, Span

if TYPE_CHECKING:
    from sexpgpu.diagnostics.finding import Finding
    from sexpgpu.language.parameters import ParameterList


class TopForm:
    """One top-level form: where it begins, its tree, and the comment block right above it.

    `form` is None where nothing readable stands. A `broken` form has a bracket error, or swallowed the rest of the file: it is not
    analysed, but `head` and `name` (None where they could not be read either) say what it would have defined. `comments` are those
    inside it, and `findings` says which of its tokens do not read.
    """

    __slots__ = ("broken", "comments", "documentation", "findings", "form", "origin", "source", "text")

    def __init__(self, source: Source, origin: int, text: str) -> None:
        self.source = source
        self.origin = origin
        self.text = text
        self.form: Form | None = None
        self.broken = False
        self.documentation = ""
        self.comments: list[Comment] = []
        self.findings: list[Finding] = []

    @property
    def head(self) -> str | None:
        """The symbol that the form begins with: `defun`, `def`, …"""
        form = self.form
        if isinstance(form, ListForm) and form.items and isinstance(form.items[0], SymbolForm):
            return form.items[0].name
        return None

    @property
    def name(self) -> str | None:
        """The symbol in second place, which a definition defines."""
        form = self.form
        if isinstance(form, ListForm) and len(form.items) > 1 and isinstance(form.items[1], SymbolForm):
            return form.items[1].name
        return None


class Comment:
    """A comment, `#;` with its datum included. Inside a top-level form `start` and `end` are relative to its origin, between forms
    they are offsets."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end


class Form:
    """A piece of syntax. `start` and `end` count code points from the origin of `top`; `end` is exclusive.

    A file has many: each kind sets its own slots, without a call to this class.
    """

    __slots__ = ("end", "start", "top")

    def __init__(self, top: TopForm, start: int, end: int) -> None:
        self.top = top
        self.start = start
        self.end = end

    @property
    def span(self) -> Span:
        """Where the form stands in its source now."""
        origin = self.top.origin
        return Span(self.top.source, origin + self.start, origin + self.end)

    @property
    def text(self) -> str:
        """The form as it is written."""
        return self.top.text[self.start : self.end]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.text!r}>"


class SymbolForm(Form):
    __slots__ = ("name",)

    def __init__(self, top: TopForm, start: int, end: int, name: str) -> None:
        self.top = top
        self.start = start
        self.end = end
        self.name = name


class KeywordForm(Form):
    """`:name`; the name is without its colon."""

    __slots__ = ("name",)

    def __init__(self, top: TopForm, start: int, end: int, name: str) -> None:
        self.top = top
        self.start = start
        self.end = end
        self.name = name


class NumberForm(Form):
    """An integer beyond 4,096 bits, more than any value may have, reads as `reader.tokens.HUGE` or its negative."""

    __slots__ = ("value",)

    def __init__(self, top: TopForm, start: int, end: int, value: int | float) -> None:
        self.top = top
        self.start = start
        self.end = end
        self.value = value


class StringForm(Form):
    """`value` has its escapes resolved; a line end in it is `\\n`, however the file writes its line ends."""

    __slots__ = ("value",)

    def __init__(self, top: TopForm, start: int, end: int, value: str) -> None:
        self.top = top
        self.start = start
        self.end = end
        self.value = value


class ConstantForm(Form):
    """`nil`, `true` or `false`; None stands for nil."""

    __slots__ = ("value",)

    def __init__(self, top: TopForm, start: int, end: int, value: bool | None) -> None:
        self.top = top
        self.start = start
        self.end = end
        self.value = value


class ListForm(Form):
    """`( … )`; an empty one is nil. `parameters` are those that it lists, once it has been read as a parameter list."""

    __slots__ = ("items", "parameters")

    parameters: ParameterList

    def __init__(self, top: TopForm, start: int, end: int, items: tuple[Form, ...]) -> None:
        self.top = top
        self.start = start
        self.end = end
        self.items = items

    @property
    def head(self) -> str | None:
        """The symbol in first place, if one stands there."""
        return self.items[0].name if self.items and isinstance(self.items[0], SymbolForm) else None


class VectorForm(Form):
    """`[ … ]`"""

    __slots__ = ("items",)

    def __init__(self, top: TopForm, start: int, end: int, items: tuple[Form, ...]) -> None:
        self.top = top
        self.start = start
        self.end = end
        self.items = items


class QuoteForm(Form):
    """`'form`"""

    __slots__ = ("form",)

    def __init__(self, top: TopForm, start: int, end: int, form: Form) -> None:
        self.top = top
        self.start = start
        self.end = end
        self.form = form


class BadForm(Form):
    """A token that does not read, or a bracket that has no partner: its value is unknown."""

    __slots__ = ()
