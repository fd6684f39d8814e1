"""Renaming for tests: by a piece of the text, on one analysis."""

from __future__ import annotations

from sexpgpu.analysis import Analysis, Options, analyse
from sexpgpu.ide.occurrences import Occurrence, Seen, occurrences, subject
from sexpgpu.ide.rename import check_name, check_subject
from sexpgpu.language.marks import Local
from sexpgpu.reader.forms import Form, SymbolForm
from sexpgpu.source import Source


def analysed(text: str) -> Analysis:
    return analyse(Source("/x/run.sx", text), options=Options(record=True))


def seen_at(analysis: Analysis, offset: int) -> Seen | None:
    found = subject(analysis, analysis.unit.main, offset)
    return None if found is None else Seen(analysis, found, occurrences(analysis, found))


def found_at(text: str, piece: str, inside: int = 0) -> list[Occurrence]:
    """Where what stands at a piece of the text stands."""
    seen = seen_at(analysed(text), text.index(piece) + inside)
    return [] if seen is None else seen.places


def renamed(text: str, offset: int, new: str) -> str:
    """The text with another name for what stands at an offset. Raises Refused."""
    seen = seen_at(analysed(text), offset)
    assert seen is not None
    check_subject(seen)
    return replaced(text, seen.places, check_name(seen, new))


def replaced(text: str, places: list[Occurrence], new: str) -> str:
    for place in sorted(places, key=lambda each: each.part.start, reverse=True):
        text = text[: place.part.start] + new + text[place.part.end :]
    return text


def meanings(analysis: Analysis) -> list[object]:
    """What each symbol of a file stands for, in text order: the number of the symbol that defines or binds it, or the name of what
    the language provides."""
    symbols = sorted(
        (form for form in analysis.marks.references if form.top.source is analysis.source), key=lambda form: form.span.start
    )
    numbers: dict[Form, int] = {form: number for number, form in enumerate(symbols)}

    def meaning(form: SymbolForm) -> object:
        found = analysis.marks.references[form]
        name_form = found.name_form
        if isinstance(found, Local) or (name_form is not None and name_form in numbers):
            assert name_form is not None
            return numbers[name_form]
        return found.name

    return [meaning(form) for form in symbols]
