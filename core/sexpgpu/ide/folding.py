"""What an editor may fold: forms over several lines, blocks of comments, runs of loads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from sexpgpu.ide.places import children, comments_in
from sexpgpu.program.unit import Module
from sexpgpu.reader.forms import Form
from sexpgpu.source import Source

Kind = Literal["", "comment", "imports"]


class Fold(NamedTuple):
    """The 0-based lines from `start` to `end`, both included; the first stays visible."""

    start: int
    end: int
    kind: Kind


def folds(module: Module) -> list[Fold]:
    """The folds of a file, by line. On a line where several begin there is only the longest."""
    longest: dict[int, Fold] = {}
    for fold in (*_loads(module), *_forms(module), *_comments(module)):
        known = longest.get(fold.start)
        if fold.end > fold.start and (known is None or fold.end > known.end):
            longest[fold.start] = fold
    return sorted(longest.values())


def _forms(module: Module) -> Iterator[Fold]:
    source = module.source
    starts = [*source.line_starts, len(source.text) + 1]
    for top in module.reading.forms:
        waiting: list[Form] = [] if top.form is None else [top.form]
        while waiting:
            form = waiting.pop()
            inside = children(form)
            if inside:
                first = source.line_at(top.origin + form.start)
                end = top.origin + form.end
                if starts[first + 1] < end:  # what is inside of a form on one line need not be looked at
                    waiting.extend(inside)
                    yield Fold(first, source.line_at(end - 1), "")


def _comments(module: Module) -> Iterator[Fold]:
    """Comments over several lines, and line comments below each other that have their lines to themselves."""
    source, text = module.source, module.source.text
    first = last = -2
    for start, end in comments_in(module):
        begun, ended = source.line_at(start), source.line_at(end - 1)
        if text[source.line_starts[begun] : start].strip() or text[start] != ";":
            yield Fold(begun, ended, "comment")
        elif begun == last + 1:
            last = begun
        else:
            yield Fold(first, last, "comment")
            first = last = begun
    yield Fold(first, last, "comment")


def _loads(module: Module) -> Iterator[Fold]:
    """Loads that stand below each other."""
    run: list[tuple[int, int]] = []
    for top in module.reading.forms:
        if top.head == "load":
            run.append(_lines(module.source, top.origin, top.origin + len(top.text)))
        elif run:
            yield Fold(run[0][0], run[-1][1], "imports")
            run = []
    if run:
        yield Fold(run[0][0], run[-1][1], "imports")


def _lines(source: Source, start: int, end: int) -> tuple[int, int]:
    return source.line_at(start), source.line_at(max(start, end - 1))
