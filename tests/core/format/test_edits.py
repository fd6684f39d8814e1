"""Edits of the formatter: as small as they can be, and those of a range."""

from __future__ import annotations

import pytest

from sexpgpu.format import apply_edits, format_edits
from sexpgpu.reader import read
from sexpgpu.source import Source, Span

TEXT = "(def  x 1)\r\n\r\n(defun f (x)\r\n   (let ((a 1))  \r\n    a\r\n )\r\n)\r\n\r\n\r\n\r\n\r\n  (def y\r\n 2)"


def shown(text: str) -> list[tuple[int, str, str]]:
    """The edits of a text: 0-based line, what is replaced, and by what."""
    source = Source("test.sx", text)
    return [(source.line_at(edit.span.start), text[edit.span.start : edit.span.end], edit.text) for edit in format_edits(source)]


def in_range(text: str, start: int, end: int) -> str:
    source = Source("test.sx", text)
    return apply_edits(text, format_edits(source, Span(source, start, end)))


def test_an_edit_is_no_larger_than_what_changes() -> None:
    assert shown(TEXT) == [
        (0, " ", ""),
        (3, " ", ""),
        (3, "  ", ""),
        (4, "\r\n ", ""),
        (5, "\r\n", ""),
        (9, "\r\n\r\n", ""),
        (11, "  ", ""),
        (12, "", " "),
        (12, "", "\r\n"),
    ]


def test_a_closer_in_front_of_a_comment_is_two_small_edits() -> None:
    assert shown("(f 1 ; a\n)\n") == [(0, "", ")"), (1, ")\n", "")]


def test_a_formatted_text_has_no_edits() -> None:
    assert shown("(def x 1)\n") == []


@pytest.mark.parametrize("place", ["x 1", "y\r\n"])
def test_a_range_formats_the_forms_on_its_lines_and_nothing_else(place: str) -> None:
    start = TEXT.index(place)
    result = in_range(TEXT, start, start + 1)
    first, _, rest = TEXT.partition("\r\n")
    if place.startswith("x"):
        assert result == "(def x 1)\r\n" + rest
    else:
        assert result == TEXT[: TEXT.index("  (def y")] + "(def y\r\n  2)\r\n"
        assert result.startswith(first)


def test_a_range_inside_a_form_takes_all_of_it() -> None:
    start = TEXT.index("a\r\n )")
    expected = TEXT.replace("   (let ((a 1))  \r\n    a\r\n )\r\n)", "  (let ((a 1))\r\n    a))")
    assert in_range(TEXT, start, start) == expected


def test_a_range_of_whole_lines_ends_with_the_last_of_them() -> None:
    text = "(f  1)\n(f  2)\n(f  3)\n"
    assert in_range(text, 7, 14) == "(f  1)\n(f 2)\n(f  3)\n"
    assert in_range(text, 0, len(text)) == "(f 1)\n(f 2)\n(f 3)\n"


def test_a_range_of_forms_on_one_line() -> None:
    assert in_range("(f  1) (g\n2)\n(h  3)", 0, 1) == "(f 1)\n(g\n  2)\n(h  3)"


def test_a_range_with_comments_alone() -> None:
    assert in_range("  ; a  \n\n\n\n\n; b\n(f  1)", 0, 3) == "; a  \n\n\n\n\n; b\n(f  1)"


def test_a_range_that_lies_outside() -> None:
    assert in_range("(f  1)\n", 100, 200) == "(f  1)\n"


def test_a_known_reading_gives_the_same_edits() -> None:
    source = Source("test.sx", TEXT)
    assert format_edits(source, reading=read(source)) == format_edits(source)
