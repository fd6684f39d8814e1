"""The files that a text names: loads, data and pretrained parameters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from sexpgpu.files import beside
from sexpgpu.ide.keyflow import provided_head
from sexpgpu.ide.places import lists_in
from sexpgpu.language.special import WORDS
from sexpgpu.program.unit import Module
from sexpgpu.reader.forms import Form, KeywordForm, ListForm, StringForm
from sexpgpu.source import Span

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

_READ = ("npz", "tokens", "jsonl", "parquet", "pretrained")
_KEYED = ("defmodel", "scope")


class Link(NamedTuple):
    """The text of a path, without its quotation marks, and the path that it means."""

    span: Span
    path: str


def links(analysis: Analysis, module: Module) -> list[Link]:
    """The paths that are written out in a file, in text order, whether or not there is such a file."""
    found: list[Link] = []
    for top in module.reading.forms:
        if top.form is None or '"' not in top.text:
            continue
        for form in lists_in(top.form):
            for written in _paths(analysis, form, top.form):
                source, start, end = written.span
                found.append(Link(Span(source, start + 1, end - 1), beside(module.source.name, written.value)))
    return sorted(found, key=lambda link: link.span.start)


def _paths(analysis: Analysis, form: ListForm, top: Form) -> Iterator[StringForm]:
    items, head = form.items, form.head
    first = items[1] if len(items) > 1 else None
    if isinstance(first, StringForm) and first.value:
        if (head == "load" and form is top) or (head in _READ and provided_head(analysis, form)):
            yield first
    if head in _KEYED and head in WORDS:
        for key, value in pairwise(items):
            if isinstance(key, KeywordForm) and key.name == "pretrained" and isinstance(value, StringForm) and value.value:
                yield value
