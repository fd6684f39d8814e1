"""What an editor writes between the words of a file: types of bindings, names of parameters, trips, memory. Short in the line,
whole in the tooltip."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from sexpgpu.graph.nodes import Node
from sexpgpu.ide import memory, words
from sexpgpu.ide.bindings import described, values_of
from sexpgpu.ide.markup import Code, Part, Prose, inline
from sexpgpu.ide.places import lists_in
from sexpgpu.ide.types import type_of
from sexpgpu.language.marks import Local
from sexpgpu.language.values import List, Plist, Unknown, Value, is_number
from sexpgpu.reader.forms import (
    ConstantForm,
    Form,
    KeywordForm,
    ListForm,
    NumberForm,
    QuoteForm,
    StringForm,
    SymbolForm,
    VectorForm,
)

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.program.unit import Module

Kind = Literal["shapes", "values", "parameters", "trips", "memory"]
KINDS: tuple[Kind, ...] = ("shapes", "values", "parameters", "trips", "memory")

_OF_VALUES: tuple[Kind, ...] = ("shapes", "values")
_LONGEST = 32
_MOST_VARIANTS = 2
_MOST_LOOKED_AT = 200
_MOST_ITEMS = 8
_SHORTEST_NAME = 2


class Hint(NamedTuple):
    """A hint at an offset of the source: behind what it speaks of, or in front of it if it is `before`."""

    offset: int
    kind: Kind
    label: str
    tooltip: tuple[Part, ...]
    before: bool = False


def hints(
    analysis: Analysis,
    module: Module,
    start: int = 0,
    end: int | None = None,
    kinds: Container[str] = KINDS,
    earlier: Analysis | None = None,
) -> list[Hint]:
    """The hints of some kinds in a range of a module, in text order. Needs an analysis that recorded.

    `earlier` says what is unknown now, of forms that have not changed since: while somebody types, most of a file may not be
    traced, and its text would jump to and fro with every word. Of its graphs nothing is asked.
    """
    found = _hints(analysis, module, start, end, kinds)
    if earlier is None or earlier is analysis:
        return found
    told = {hint.offset for hint in found}
    known = {id(top) for each in earlier.unit.modules for top in each.reading.forms}
    still = [(top.origin, top.origin + len(top.text)) for top in module.reading.forms if id(top) in known]
    for hint in _hints(earlier, module, start, end, [kind for kind in _OF_VALUES if kind in kinds]):
        if hint.offset not in told and any(first <= hint.offset <= last for first, last in still):
            found.append(hint)
    return sorted(found, key=lambda hint: hint.offset)


def _hints(analysis: Analysis, module: Module, start: int, end: int | None, kinds: Container[str]) -> list[Hint]:
    end = len(module.source.text) if end is None else end
    found: list[Hint] = []
    if "shapes" in kinds or "values" in kinds:
        found += _bindings(analysis, module, start, end, kinds)
    for top in module.reading.forms:
        form = top.form
        if top.broken or not isinstance(form, ListForm) or top.origin > end or top.origin + len(top.text) < start:
            continue
        if form.head in memory.HEADS:
            found += _declared(analysis, form, kinds)
        if "parameters" in kinds:
            for call in lists_in(form):
                found += _arguments(analysis, call)
    return sorted((hint for hint in found if start <= hint.offset <= end), key=lambda hint: hint.offset)


# Bindings


def _bindings(analysis: Analysis, module: Module, start: int, end: int, kinds: Container[str]) -> Iterator[Hint]:
    source = module.source
    for top in module.reading.forms:
        form = top.form
        if top.head == "def" and not top.broken and isinstance(form, ListForm) and len(form.items) == 3:
            yield from _binding(analysis, form.items[1], form.items[2], kinds)
    for local in analysis.marks.locals:
        name = local.name_form
        if name.top.source is source and start <= name.top.origin + name.end <= end:
            yield from _binding(analysis, name, local.value, kinds)


def _binding(analysis: Analysis, name: Form, value: Form | None, kinds: Container[str]) -> Iterator[Hint]:
    """What a name was bound to: the type of a tensor, and on the host what was computed. `value` is None for a parameter."""
    bound = values_of(analysis, value) if value is not None else []
    known = [each for each in islice(bound or values_of(analysis, name), _MOST_LOOKED_AT) if not isinstance(each, Unknown)]
    if any(_holds_tensors(each) for each in known):
        if "shapes" in kinds:
            yield Hint(name.span.end, "shapes", f": {_short(known)}", _whole(analysis, name, value))
    elif "values" in kinds and value is not None and not _literal(value):
        texts = {described(each) for each in known}
        if len(texts) == 1 and _is_figure(known[0]):
            yield Hint(name.span.end, "values", f"= {_cut(texts.pop())}", _whole(analysis, name, value))


def _whole(analysis: Analysis, name: Form, value: Form | None) -> tuple[Part, ...]:
    text = (type_of(analysis, value) if value is not None else "") or type_of(analysis, name)
    return (Code(f"{name.text} : {text}"),)


def _short(values: Sequence[Value]) -> str:
    texts = list(dict.fromkeys(map(described, values)))
    more = [] if len(texts) <= _MOST_VARIANTS else ["…"]
    return " | ".join([*map(_cut, texts[:_MOST_VARIANTS]), *more])


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _holds_tensors(value: Value) -> bool:
    """A tensor, or a list in which some stand; a plist of the runtime has its entries in hover."""
    if isinstance(value, List) and not isinstance(value, Plist):
        return any(isinstance(item, Node) for item in value.items[: 2 * _MOST_ITEMS])
    return isinstance(value, Node)


def _is_figure(value: Value) -> bool:
    """A number or a truth value, or a few of them."""
    if isinstance(value, List) and not isinstance(value, Plist):
        return 0 < len(value.items) <= _MOST_ITEMS and all(is_number(item) for item in value.items)
    return is_number(value) or isinstance(value, bool)


def _literal(form: Form) -> bool:
    """Whether a form says itself what it is."""
    items = form.items if isinstance(form, ListForm | VectorForm) else (form,)
    return all(isinstance(item, NumberForm | StringForm | ConstantForm | KeywordForm | QuoteForm | VectorForm) for item in items)


# Arguments


def _arguments(analysis: Analysis, call: ListForm) -> Iterator[Hint]:
    """The parameters of arguments that do not say what they are for: numbers and truth values among several arguments."""
    head = call.items[0] if call.items else None
    found = analysis.marks.references.get(head) if isinstance(head, SymbolForm) else None
    signature = None if found is None or isinstance(found, Local) else found.signature
    if found is None or signature is None or len(signature.positional) < 2 or not found.name[0].isalpha():
        return
    given = call.items[1:]
    if len(given) < 2 or isinstance(given[1], KeywordForm):
        return  # one argument by itself is what the function is for
    for parameter, argument in zip(signature.positional, given, strict=False):
        if len(parameter) >= _SHORTEST_NAME and isinstance(argument, NumberForm | ConstantForm):
            yield Hint(
                argument.span.start, "parameters", f"{parameter}:", (Code(words.signature(found.name, signature)),), before=True
            )


# Declarations


def _declared(analysis: Analysis, form: ListForm, kinds: Container[str]) -> Iterator[Hint]:
    """What stands behind the name of a form of the run, or its head: how many trips it makes, what it takes of memory."""
    named = len(form.items) > 1 and isinstance(form.items[1], SymbolForm)
    at = form.items[1 if named else 0].span.end
    if form.head == "defgenerate" and "trips" in kinds:
        trips, microbatches = trips_of(analysis)
        if trips is not None:
            says = f"In every microbatch {inline(':step')} runs {_times(trips)}"
            says += f", in every step {_times(trips * microbatches)}." if microbatches > 1 else "."
            yield Hint(at, "trips", counted(trips), (Prose(says),))
    if "memory" in kinds and (figure := memory.figure(analysis, form)):
        yield Hint(at, "memory", figure, tuple(memory.table(analysis, form)))


def trips_of(analysis: Analysis) -> tuple[int | None, int]:
    """How many trips the generator makes for a microbatch (None: not known), and how many microbatches a step has."""
    program = analysis.program
    microbatches = program.run.settings.get("microbatches") if program.run is not None else 1
    return (
        program.generator.trips if program.generator is not None else None,
        microbatches if isinstance(microbatches, int) and not isinstance(microbatches, bool) else 1,
    )


def counted(trips: int) -> str:
    """`1 trip`, `4 trips`."""
    return f"{trips:,} trip{'s' * (trips != 1)}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
