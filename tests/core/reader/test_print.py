"""Forms are written as text that reads as the same forms."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sexpgpu.reader.print import write, write_number, write_string
from support.reading import PROGRAM, programs, reading, soup, value


def written(text: str) -> list[str]:
    """Every form of a text, written."""
    return [write(top.form) for top in reading(text).forms if top.form]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("( a [ b ; c\n ()]  'd )", "(a [b ()] 'd)"),
        ("'  ''x", "'''x"),
        ("(:k nil true false)", "(:k nil true false)"),
        ("[1_000 0x1f -007 +3]", "[1000 31 -7 3]"),
        ("[1.50 2e3 .5 -0.0 1e999 -inf nan]", "[1.5 2000.0 0.5 -0.0 inf -inf nan]"),
        ('"a\nb\\u{9}\\u{1F600}\\u{d}\x07\\"\\\\"', '"a\\nb\\t😀\\u{d}\\u{7}\\"\\\\"'),
        ("(a #;b c)", "(a c)"),
        ("(f 1. x", "(f 1. x)"),
    ],
)
def test_how_forms_are_written(text: str, expected: str) -> None:
    assert written(text) == [expected]


@settings(max_examples=150)
@given(programs())
@example(PROGRAM)
@example("0x" + "f" * 2000)
def test_what_is_written_reads_as_the_same_values(text: str) -> None:
    once = written(text)
    again = reading("\n".join(once))
    assert not again.findings
    assert repr([value(top.form) for top in again.forms if top.form]) == repr(
        [value(top.form) for top in reading(text).forms if top.form]
    )
    assert written("\n".join(once)) == once


@given(soup)
def test_broken_forms_are_written_too(text: str) -> None:
    assert all(isinstance(each, str) for each in written(text))


@given(st.text())
def test_any_string_can_be_written(text: str) -> None:
    shown = write_string(text)
    assert "\n" not in shown
    (top,) = reading(shown).forms
    assert top.form
    assert value(top.form) == ("String", text)


@given(st.integers() | st.floats() | st.integers(-(2**4096), 2**4096))
def test_any_number_can_be_written(number: float) -> None:
    (top,) = reading(write_number(number)).forms
    assert top.form
    kind, read = value(top.form)
    assert kind == "Number"
    assert read == number or (math.isnan(read) and math.isnan(number))
    assert type(read) is type(number)


def test_deep_forms_are_written() -> None:
    text = "'(" * 256 + ")" * 256
    assert written(text) == [text]
