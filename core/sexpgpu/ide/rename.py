"""Another name for what stands at a place: whether it can have one, and what that changes.

A rename changes a program's words and not what it means. Where that cannot be promised it is refused, with the reason.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from sexpgpu.ide.handed import Space
from sexpgpu.ide.keyflow import Flow
from sexpgpu.ide.occurrences import Occurrence, Seen, Subject
from sexpgpu.ide.places import children
from sexpgpu.ide.reporters import Reporters, reported_names, shown
from sexpgpu.ide.reports import computed_observation, named
from sexpgpu.language.ctx import CTX
from sexpgpu.language.marks import Local
from sexpgpu.language.special import WORDS
from sexpgpu.program.unit import Definition, provided
from sexpgpu.reader import read
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, QuoteForm, SymbolForm, TopForm
from sexpgpu.reader.tokens import WORD
from sexpgpu.source import Source

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

CONTRACTS = ("model", "prepare", "objective", "curriculum")
_SPACES = {"defloader": "a loader", "defpass": "a pass"}
_STAGE = "stage-"


class Refused(Exception):
    """Why there is no other name: one sentence for whoever asked."""


def check_subject(seen: Seen) -> None:
    """Raise Refused where what stands at a place can have no other name, whichever it is."""
    analysis, found, places = seen
    name = found.name
    if any(place.part.source.builtin for place in places):
        raise Refused(f"`{name}` comes with the language, whose own files are only to be read")
    match found.what:
        case Definition() as definition:
            _check_definition(analysis, definition)
        case Local():
            pass
        case form:
            if found.keys is not None:
                _check_key(found.keys, form)
            else:
                _check_report(analysis, found, places)
    _check_text(analysis, found)


def _check_definition(analysis: Analysis, definition: Definition) -> None:
    name = definition.name
    if definition.form is None:
        what = {"operator": "an operator", "host": "a host function"}.get(definition.kind, "not defined by a form that reads")
        raise Refused(f"`{name}` is {what}" + (" of the language" if definition.kind in ("operator", "host") else ""))
    if definition.module is not None and definition.module.source.builtin:
        raise Refused(f"`{name}` comes with the language, whose own files are only to be read")
    if definition.name_form is None or definition.unknown:
        raise Refused(f"the form that defines `{name}` has an error")
    if definition.duplicated:
        raise Refused(f"`{name}` is defined more than once")
    if definition.kind in ("def", "defun", "defmodel") and name in CONTRACTS:
        raise Refused(f"the runtime knows `{name}` by this name")
    if definition.kind == "defpass":
        _check_observed(analysis)


def _check_key(keys: Flow, form: Form) -> None:
    obstacle = keys.obstacle(form)
    if obstacle is not None:
        reason, at = obstacle
        raise Refused(reason if at is form else f"{_line(keys.analysis, at)}: {reason}")


def _check_report(analysis: Analysis, found: Subject, places: Iterable[Occurrence]) -> None:
    if not any(place.writes for place in places):
        raise Refused(f'no {found.kind} is reported as "{found.name}" in so many words')
    if any(each.name == found.name and not each.whole for each in named(analysis, '"')):
        raise Refused(f'"{found.name}" is written with escapes')
    _check_observed(analysis)


def _check_observed(analysis: Analysis) -> None:
    computed = computed_observation(analysis)
    if computed is not None:
        raise Refused(f"{_line(analysis, computed)}: the name of an observation is computed here")


def _check_text(analysis: Analysis, found: Subject) -> None:
    """Text that does not read, or has no meaning, may hold the name too."""
    for module in analysis.unit.modules:
        for top in module.reading.forms:
            if found.name not in top.text:
                continue
            if top.broken and any(_is(word, found.name) for word in re.findall(WORD, top.text)):
                where = _line(analysis, Form(top, 0, 0))
                raise Refused(f"{where}: this form does not read, and `{found.name}` stands in it")
            if top.form is not None and not top.broken and analysis.marks.broken and not isinstance(found.what, Form):
                for form in _unclear(analysis, top.form, found.name):
                    raise Refused(
                        f"{_line(analysis, form)}: this form has an error, so that it is not known what `{found.name}` is here"
                    )


def _is(word: str, name: str) -> bool:
    return name in (word, word[1:], word.removeprefix(f":{_STAGE}"))


def _unclear(analysis: Analysis, top: Form, name: str) -> Iterator[Form]:
    """The symbols of a name, in forms with an error, that are not known to stand for anything."""
    waiting = [(top, False)]
    while waiting:
        form, broken = waiting.pop()
        if isinstance(form, SymbolForm):
            if broken and form.name == name and form not in analysis.marks.references:
                yield form
        elif not isinstance(form, QuoteForm) and not (isinstance(form, ListForm) and form.head == "quote"):
            broken = broken or form in analysis.marks.broken
            waiting += [(child, broken) for child in children(form)]


# The new name


def check_name(seen: Seen, new: str) -> str:
    """The new name as it is to be written. Raises Refused where it is no name, is taken, or would be caught by another."""
    analysis, found, places = seen
    if found.kind in ("metric", "diagnostic"):
        return _report_name(analysis, found, new)
    if found.kind == "key":
        return _key_name(found, new)
    if found.at.source.text.startswith(":", found.at.start):  # a parameter, asked for at a call's keyword
        new = new.removeprefix(":")
    if not isinstance(_read(new), SymbolForm):
        raise Refused(f"`{new}` is no name: a name is one word without brackets, quotes or semicolons, and no number or constant")
    if new in WORDS or new.startswith("&"):
        raise Refused(f"`{new}` is a word of the language")
    if isinstance(found.what, Local):
        _check_local(analysis, found.what, new)
    elif isinstance(found.what, Definition):
        _check_taken(analysis, found.what, places, new)
    return new


def _check_local(analysis: Analysis, local: Local, new: str) -> None:
    """A local variable may hide a name that is not used where it is seen, but not one that is, and nothing may hide it."""
    top = local.form.top
    references = analysis.marks.references
    symbols = list(_symbols(top))
    uses = [form for form in symbols if references.get(form) is local]
    for form in symbols:
        other = references.get(form) if form.name == new else None
        inner = isinstance(other, Local) and _is_inner(other, local)
        if isinstance(other, Local) and form is other.name_form:
            if other.form is local.form and local.form.head != "let*":
                raise Refused(f"`{new}` is bound here too, in {_line(analysis, form)}")
            if inner and any(_sees(other, use) for use in uses):
                raise Refused(f"a use of `{local.name}` would then mean the `{new}` that is bound in {_line(analysis, form)}")
        elif other is not None and not inner and _sees(local, form):
            raise Refused(f"`{new}` is used in {_line(analysis, form)}, and would then mean this variable")


def _check_taken(analysis: Analysis, definition: Definition, places: Sequence[Occurrence], new: str) -> None:
    if definition.kind in _SPACES:
        if any(other.kind == definition.kind and other.name == new for other in analysis.unit.definitions):
            raise Refused(f"there is {_SPACES[definition.kind]} `{new}` already")
        return
    if new in CONTRACTS:
        raise Refused(f"the runtime calls what is named `{new}`")
    other = provided(new)
    if other is not None:
        what = {"operator": "an operator", "host": "a host function"}.get(other.kind, "a function of the prelude")
        raise Refused(f"`{new}` is {what}, which this definition would hide")
    for taken in analysis.unit.definitions:
        if taken.name == new and taken.kind not in _SPACES:
            line = "" if taken.name_form is None else f", in {_line(analysis, taken.name_form)}"
            raise Refused(f"`{new}` is already defined{line}")
    for local in analysis.marks.locals:
        if local.name == new and any(_catches(local, place) for place in places):
            raise Refused(
                f"a use of `{definition.name}` would then mean the `{new}` that is bound in {_line(analysis, local.name_form)}"
            )


def _key_name(found: Subject, new: str) -> str:
    new = new.removeprefix(":")
    keys = found.keys
    assert keys is not None
    assert isinstance(found.what, Form)
    if not isinstance(_read(f":{new}"), KeywordForm):
        raise Refused(f"`:{new}` is no keyword: a colon, then one word without brackets, quotes or semicolons")
    spaces = keys.spaces(found.what)
    if ("ctx",) in spaces:
        if new in CTX or f"{_STAGE}{new}" in CTX:
            raise Refused(f":{new} is a key that ctx always has")
        if new.startswith(_STAGE):
            raise Refused(f"a counter's name does not begin with {_STAGE}: ctx gives each counter an entry of that name by itself")
        if new in keys.analysis.program.counters:
            raise Refused(f"there is a counter :{new} already")
    others = Flow(keys.analysis, new)
    mine = {site.form for site in keys.group(found.what)}
    calls = {site.call for site in keys.group(found.what) if site.makes}
    for site in others.sites.values():
        if (
            _meets(spaces, others.spaces(site.form))
            or (site.makes and site.call in calls)
            or others.reads_of(site, keys.name, mine)
        ):
            raise Refused(f":{new} is a key of the same plist, in {_line(keys.analysis, site.form)}")
    return new


def _meets(spaces: set[Space], others: set[Space]) -> bool:
    """Whether keys of two names may not be the same; what is generated and a loader's fields end up in one batch."""
    kinds, theirs = ({space[0] for space in each} for each in (spaces, others))
    return bool(spaces & others) or ("generated" in kinds and "field" in theirs) or ("field" in kinds and "generated" in theirs)


def _report_name(analysis: Analysis, found: Subject, new: str) -> str:
    new = new.removeprefix('"').removesuffix('"')
    if not new or any(character in '"\\' or character < " " for character in new):
        raise Refused("the name of a report is text without quotation marks, backslashes or line ends")
    assert isinstance(found.what, Form)
    mine = Reporters(analysis, found.kind, found.name)
    owners = {owner for each in mine.group(found.what) for owner in mine.owners_of(each.form)}
    others = Reporters(analysis, found.kind, new)
    for each in others.places:
        if not owners or others.owners_of(each.form) & owners:
            raise Refused(f'there is a {found.kind} "{new}" already, in {_line(analysis, each.form)}')
    for owner in sorted(owners):
        if new in reported_names(analysis, found.kind, owner):
            raise Refused(f'there is a {found.kind} "{shown(owner)}/{new}" already, whose name is computed')
    return new


# Forms


def _read(text: str) -> Form | None:
    """The one form that a text is, whole and without a space."""
    reading = read(Source("", text))
    if len(reading.forms) != 1 or reading.findings or reading.comments:
        return None
    form = reading.forms[0].form
    return form if form is not None and form.text == text else None


def _symbols(top: TopForm) -> Iterator[SymbolForm]:
    waiting: list[Form] = [] if top.form is None else [top.form]
    while waiting:
        form = waiting.pop()
        if isinstance(form, SymbolForm):
            yield form
        else:
            waiting.extend(reversed(children(form)))


def _is_inner(local: Local, outer: Local) -> bool:
    """Whether a local variable is bound where another one may be seen: in a form inside, or further down in one `let*`."""
    form, around = local.form, outer.form
    if form is around:
        return form.head == "let*" and local.name_form.start > outer.name_form.start
    return form.top is around.top and around.start <= form.start and form.end <= around.end


def _sees(local: Local, form: Form) -> bool:
    """Whether a form stands where a local variable is seen."""
    return form.top is local.form.top and form.end <= local.form.end and _seen_from(local) <= form.start


def _catches(local: Local, place: Occurrence) -> bool:
    """Whether a place is where a local variable is seen."""
    top = local.form.top
    return place.part.source is top.source and _seen_from(local) <= place.part.start - top.origin < local.form.end


def _seen_from(local: Local) -> int:
    form = local.form
    if form.head in ("let", "dotimes", "dolist"):
        return form.items[1].end
    return local.value.end if form.head == "let*" and local.value is not None else form.start


def _line(analysis: Analysis, form: Form) -> str:
    """Where a form stands, in words, for whoever looks at the file of the analysis."""
    source, start, _ = form.span
    line = f"line {source.line_at(start) + 1}"
    return line if source is analysis.source else f"{line} of {os.path.basename(source.name)}"
