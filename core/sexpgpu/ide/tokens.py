"""What each token of a file is, for colours that follow the meaning: a tensor from a host value, a parameter from an operator.

Types and modifiers go by the names of the language server protocol; `tensor`, `host`, `model` and `ctx` are modifiers of our own.
Forms that read are told apart by what they stand for, and text that does not by what its tokens say.
"""

from __future__ import annotations

from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING

from sexpgpu.graph.nodes import Node
from sexpgpu.ide import ctx
from sexpgpu.language.builtins import HOST
from sexpgpu.language.dtypes import DTYPES
from sexpgpu.language.marks import Local
from sexpgpu.language.parameters import MARKERS
from sexpgpu.language.special import SPECIAL_FORMS, TOP_LEVEL
from sexpgpu.language.values import Function, Model, Unknown
from sexpgpu.ops import OPS
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.reader import tokens as lexer
from sexpgpu.reader.forms import (
    ConstantForm,
    Form,
    KeywordForm,
    ListForm,
    NumberForm,
    QuoteForm,
    StringForm,
    SymbolForm,
    TopForm,
    VectorForm,
)

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.program.unit import Definition, Module

TYPES = (
    "comment",
    "string",
    "number",
    "keyword",
    "operator",
    "function",
    "class",
    "type",
    "interface",
    "event",
    "variable",
    "parameter",
    "property",
    "enumMember",
)
MODIFIERS = ("declaration", "definition", "readonly", "defaultLibrary", "tensor", "host", "model", "ctx")

COMMENT, STRING, NUMBER, KEYWORD, OPERATOR, FUNCTION, CLASS = range(7)
TYPE, INTERFACE, EVENT, VARIABLE, PARAMETER, PROPERTY, MEMBER = range(7, len(TYPES))
TYPE_BITS = 4
TYPE_MASK = (1 << TYPE_BITS) - 1
DECLARATION, DEFINITION, READONLY, LIBRARY, TENSOR, HOSTED, MODEL, CTX = (1 << bit + TYPE_BITS for bit in range(len(MODIFIERS)))

Code = int
"""The index of a type, and the bits of modifiers above it."""

Token = tuple[int, int, Code]
"""Where a token begins and ends, as offsets of the source, and what it is."""

Layout = list[tuple[int, int, Code, Form | None, ListForm | None, int]]
"""The tokens of a top-level form, relative to it: a symbol or keyword with the list in which it stands and its place there, or what
any other is whatever stands around it."""

Layouts = dict[TopForm, Layout]

_KINDS: dict[str, Code] = {
    "def": VARIABLE | READONLY,
    "defun": FUNCTION,
    "defmodel": CLASS | MODEL,
    "defloader": TYPE,
    "defpass": INTERFACE,
    "defrun": EVENT,
    "host": FUNCTION | LIBRARY,
}
_LITERALS: dict[type, Code] = {NumberForm: NUMBER, StringForm: STRING, ConstantForm: KEYWORD | READONLY}
_DTYPES = frozenset((*DTYPES, "float"))
_LOOPS = ("dotimes", "dolist")
_MOST_LOOKED_AT = 4


def tokens(
    analysis: Analysis, module: Module, start: int = 0, end: int | None = None, layouts: Layouts | None = None
) -> list[Token]:
    """The tokens that touch a range of a module, in text order, none on top of another. Brackets have none.

    `layouts` keeps what is found from one analysis to the next, for forms that have not changed.
    """
    text = module.source.text
    end = len(text) if end is None else end
    painter = _Painter(analysis, {} if layouts is None else layouts)
    at = 0
    for first, last, top in _pieces(module):
        if first > at:
            painter.lex(text, at, first)
        elif first < at:
            continue  # a comment that never ends is a form that does not read too
        at = last
        if first > end or last < start:
            continue
        if top is None:
            painter.found.append((first, last, COMMENT))
        elif top.broken or top.form is None:
            painter.lex(text, first, last)
        else:
            painter.form(top)
    painter.lex(text, at, len(text))
    found = painter.found
    if start <= 0 and end >= len(text):
        return found
    return [token for token in found if token[1] > start and token[0] < end]


def _operator(name: str) -> Code:
    """Signs are operators. An operator with a name is a function that makes tensors: themes give operators no colour."""
    return FUNCTION | LIBRARY | TENSOR if name[0].isalpha() else OPERATOR | LIBRARY


def _pieces(module: Module) -> list[tuple[int, int, TopForm | None]]:
    """Where the forms of a file and the comments between them begin and end, in text order."""
    found: list[tuple[int, int, TopForm | None]] = [(each.start, each.end, None) for each in module.reading.comments]
    found += [(top.origin, top.origin + len(top.text), top) for top in module.reading.forms]
    return sorted(found, key=lambda piece: piece[0])


def _layout(top: TopForm) -> Layout:
    """The tokens of a form that reads, in order."""
    found: Layout = [(comment.start, comment.end, COMMENT, None, None, 0) for comment in top.comments]
    assert top.form is not None
    waiting: list[tuple[Form, bool]] = [(top.form, False)]
    while waiting:
        form, quoted = waiting.pop()
        items: tuple[Form, ...] = form.items if isinstance(form, ListForm | VectorForm) else (form,)
        call = form if isinstance(form, ListForm) else None
        for index, item in enumerate(items):
            if isinstance(item, ListForm | VectorForm):
                waiting.append((item, quoted))
            elif isinstance(item, QuoteForm):
                waiting.append((item.form, True))
            elif (code := _LITERALS.get(type(item))) is not None:
                found.append((item.start, item.end, code, None, None, 0))
            elif isinstance(item, SymbolForm | KeywordForm):
                found.append((item.start, item.end, MEMBER, None if quoted else item, call, index))
    found.sort(key=itemgetter(0))
    return found


def parts_of(code: Code) -> tuple[int, int]:
    """The index of a token's type, and the bits of its modifiers."""
    return code & TYPE_MASK, code >> TYPE_BITS


class _Painter:
    """What a name stands for is asked once, and holds wherever the name stands."""

    def __init__(self, analysis: Analysis, layouts: Layouts) -> None:
        self.layouts = layouts
        self.found: list[Token] = []
        self.analysis = analysis
        self.references = analysis.marks.references
        self.values = analysis.values
        self.words = lexer.Words()
        self.named: dict[Definition | Local, Code] = {}
        self.root: Form | None = None

    # Text that does not read, and what stands between forms

    def lex(self, text: str, start: int, end: int) -> None:
        """What the tokens of a piece of text say by themselves."""
        add, words = self.found.append, self.words
        at, opened = start, False
        while at < end:
            match = lexer.TOKEN.match(text, at, end)
            if match is None:
                at += 1
                continue
            kind = match.lastindex or 0
            first, at = match.span(kind)
            if kind == lexer.RUN:
                known = _word(words[match[kind]][0], match[kind], opened)
                if known is not None:
                    add((first, at, known))
            elif kind == lexer.STRING:
                add((first, at, STRING))
            elif kind == lexer.UNENDED:
                at = end
                add((first, at, STRING))
            elif kind in (lexer.LINE_COMMENT, lexer.DATUM_COMMENT):
                add((first, at, COMMENT))
            elif kind == lexer.BLOCK_OPEN:
                at = min(lexer.end_of_block(text, first) or end, end)
                add((first, at, COMMENT))
            elif kind == lexer.END:
                break
            opened = kind == lexer.OPEN_LIST

    # Forms

    def form(self, top: TopForm) -> None:
        """What the tokens of a form stand for."""
        origin, add, references, named = top.origin, self.found.append, self.references, self.named
        layout = self.layouts.get(top)
        if layout is None:
            layout = self.layouts[top] = _layout(top)
        self.root = top.form
        for start, end, code, form, call, index in layout:
            if form is None:
                add((origin + start, origin + end, code))
            elif type(form) is KeywordForm:
                add((origin + start, origin + end, self._keyword(form, call, index)))
            else:
                assert type(form) is SymbolForm
                name = references.get(form)
                if name is None:
                    code = self._symbol(form, call, index)
                else:
                    code = named.get(name, -1)
                    if code < 0:
                        code = named[name] = self._named(name)
                    if name.name_form is form:
                        code |= DECLARATION if type(name) is Local else DEFINITION
                add((origin + start, origin + end, code))

    def _symbol(self, form: SymbolForm, call: ListForm | None, index: int) -> Code:
        """A symbol that names nothing: a word of the language, or a name that is not defined."""
        name = form.name
        if call is not None and index == 0 and (name in SPECIAL_FORMS or (call is self.root and name in TOP_LEVEL)):
            return KEYWORD
        if name in MARKERS:
            return KEYWORD
        return VARIABLE

    def _named(self, name: Definition | Local) -> Code:
        if isinstance(name, Local):
            variable = name.value is not None or name.form.head in _LOOPS
            about = self._about(name.name_form) or (self._about(name.value) if name.value is not None else 0)
            return (VARIABLE if variable else PARAMETER) | about
        code = _operator(name.name) if name.kind == "operator" else _KINDS.get(name.kind, VARIABLE)
        if name.module is not None and name.module.source.builtin:
            code |= LIBRARY
        if name.kind == "def" and name.form is not None and len(name.form.items) > 2:
            code |= self._about(name.form.items[2])
        return code

    def _about(self, form: Form) -> Code:
        """Whether a form was a tensor, a model, or another value of the host; 0 where it was not evaluated."""
        for value in islice(self.values.get(form, ()), _MOST_LOOKED_AT):
            if isinstance(value, Node):
                return TENSOR
            if isinstance(value, Model):
                return MODEL
            if isinstance(value, Function):
                return 0
            if not isinstance(value, Unknown):
                return HOSTED
        return HOSTED if type(form) in _LITERALS else 0

    def _keyword(self, form: KeywordForm, call: ListForm | None, index: int) -> Code:
        name, items = form.name, call.items if call is not None else ()
        head = items[0] if items else None
        if call is None or not isinstance(head, SymbolForm):
            return MEMBER | LIBRARY if name in _DTYPES else PROPERTY
        declaration = DECLARATIONS.get(head.name) if call is self.root else None
        if declaration is not None:
            return PROPERTY | LIBRARY if name in declaration.keys else PROPERTY
        if index == 1 and head.name == "counter":
            return PROPERTY | CTX | DECLARATION
        if index == 2 and head.name in ctx.READERS:
            return PROPERTY | CTX if ctx.reads(self.analysis, [call, form]) else PROPERTY
        if head.name == "scope":
            return PROPERTY | DEFINITION if index == 1 else PARAMETER | LIBRARY
        found = self.references.get(head)
        signature = None if found is None or isinstance(found, Local) else found.signature
        if signature is not None:
            if index > len(signature.positional) and name in signature.keys:
                return PARAMETER
            if index == 1 and signature.positional[:1] == ("name",):
                return PROPERTY | DEFINITION
        return MEMBER | LIBRARY if name in _DTYPES else PROPERTY


def _word(make: object, word: str, opened: bool) -> Code | None:
    """What a word is without what stands around it; None for one that is no token."""
    if make is SymbolForm:
        if word in MARKERS or (opened and (word in SPECIAL_FORMS or word in TOP_LEVEL)):
            return KEYWORD
        return _operator(word) if word in OPS else _KINDS["host"] if word in HOST else VARIABLE
    if make is KeywordForm:
        return MEMBER | LIBRARY if word[1:] in _DTYPES else PROPERTY
    return _LITERALS.get(make) if isinstance(make, type) else None
