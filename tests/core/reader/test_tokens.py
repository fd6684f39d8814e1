"""What is written how: the table of language §1."""

from __future__ import annotations

import math
import sys
import unicodedata
from collections.abc import Iterator

import pytest

from sexpgpu.reader import read
from sexpgpu.reader.forms import Form, ListForm, NumberForm, VectorForm
from sexpgpu.reader.tokens import HUGE
from sexpgpu.source import Source
from support.reading import diagnostics, reading, reported, value


def only(text: str) -> Form:
    """The one form of a text that reads."""
    result = reading(text)
    assert not result.findings
    assert len(result.forms) == 1
    form = result.forms[0].form
    assert form
    return form


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a [b 1] ())", (("Symbol", "a"), [("Symbol", "b"), ("Number", 1)], ())),
        ("[]", []),
        ("Foo", ("Symbol", "Foo")),
        ("layer-norm", ("Symbol", "layer-norm")),
        ("&optional", ("Symbol", "&optional")),
        ("a#|b", ("Symbol", "a#|b")),
        ("|#", ("Symbol", "|#")),
        ("-", ("Symbol", "-")),
        ("-x", ("Symbol", "-x")),
        ("...", ("Symbol", "...")),
        (".x", ("Symbol", ".x")),
        ("+", ("Symbol", "+")),
        ("λ", ("Symbol", "λ")),
        ("٣", ("Symbol", "٣")),
        ("+inf", ("Symbol", "+inf")),
        ("Nil", ("Symbol", "Nil")),
        ("trueish", ("Symbol", "trueish")),
        (":name", ("Keyword", "name")),
        (":1", ("Keyword", "1")),
        ("::a", ("Keyword", ":a")),
        ("nil", ("Constant", None)),
        ("true", ("Constant", True)),
        ("false", ("Constant", False)),
        ("'a", ("'", ("Symbol", "a"))),
        ("' \n a", ("'", ("Symbol", "a"))),
        ("''(a)", ("'", ("'", (("Symbol", "a"),)))),
        ('"two\nlines"', ("String", "two\nlines")),
        ('""', ("String", "")),
        (r'"\n\t\"\\\u{1F600}\u{41}\u{00000a}"', ("String", '\n\t"\\\U0001f600A\n')),
        ('"; #| ( no comment"', ("String", "; #| ( no comment")),
        ('"a\x07b"', ("String", "a\x07b")),
    ],
)
def test_what_is_written_how(text: str, expected: object) -> None:
    assert value(only(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", 12),
        ("-3", -3),
        ("+3", 3),
        ("007", 7),
        ("1_000_000", 1_000_000),
        ("0x1f", 31),
        ("-0xF_F", -255),
        ("1.5", 1.5),
        ("-2e-3", -2e-3),
        ("2E+3", 2000.0),
        (".5", 0.5),
        ("-.5", -0.5),
        ("1_0.5", 10.5),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("1e999", math.inf),
    ],
)
def test_numbers(text: str, expected: float) -> None:
    form = only(text)
    assert isinstance(form, NumberForm)
    assert form.value == expected
    assert type(form.value) is type(expected)


def test_nan_is_a_float() -> None:
    form = only("nan")
    assert isinstance(form, NumberForm)
    assert math.isnan(form.value)


@pytest.fixture
def few_digits() -> Iterator[None]:
    """Python's own limit on digits at its least."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    yield
    sys.set_int_max_str_digits(limit)


@pytest.mark.usefixtures("few_digits")
@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize(
    ("digits", "expected"),
    [
        ("0x" + "f" * 1024, 2**4096 - 1),
        ("0x" + "0" * 2000 + "f" * 1024, 2**4096 - 1),
        ("0x1" + "0" * 1024, HUGE),
        ("0x" + "f" * 100_000, HUGE),
        ("1" + "0" * 1233, 10**1233),
        ("0" * 2000 + "1" + "0" * 1233, 10**1233),
        ("1" + "_000" * 411, 10**1233),
        ("1" + "0" * 1234, HUGE),
        ("9" * 100_000, HUGE),
        ("0" * 2000, 0),
    ],
)
def test_integers_of_any_length_read_and_stop_growing_beyond_4096_bits(sign: str, digits: str, expected: int) -> None:
    form = only(sign + digits)
    assert isinstance(form, NumberForm)
    assert form.value == (-expected if sign else expected)


_NO_NUMBERS = "1. -1. 1.e5 3d 1+ -3x .5. 1__0 1_ 0x 0xg 0x_1 0X1f 0b1 1e 1e+ 1/2 1.2.3 1:2"


@pytest.mark.parametrize("word", _NO_NUMBERS.split())
def test_what_begins_like_a_number_and_is_none_is_reported_whole(word: str) -> None:
    assert reported(f"(f {word} x)") == [("E-READ-003", 3, word)]


@pytest.mark.parametrize(
    ("text", "start", "marked"),
    [
        ("(f :)", 3, ":"),
        ("(f : x)", 3, ":"),
        ("(f a\x07b)", 4, "\x07"),
        ("(f \x00\x01 x)", 3, "\x00\x01"),
        ("(f \x1c)", 3, "\x1c"),
        ("(f \x7f)", 3, "\x7f"),
        ("(f ')", 3, "'"),
        ("(f '')", 4, "'"),
        ("' ; nothing\n", 0, "'"),
        ("(f #;)", 3, "#;"),
        ("(f '#;)", 4, "#;"),
        ("#;", 0, "#;"),
        (r'"a\qb"', 2, r"\q"),
        (r'"C:\data"', 3, r"\d"),
        (r'"\u{110000}"', 1, r"\u{110000}"),
        (r'"\u{D800}"', 1, r"\u{D800}"),
        (r'"\u{}"', 1, r"\u{}"),
        (r'"\u{0001F600}"', 1, r"\u{0001F600}"),
        (r'"\u{12 x"', 1, r"\u{12"),
        (r'"\u1F600"', 1, r"\u"),
        ('"a\\\nb"', 2, "\\"),
        (r'"\q \q"', 1, r"\q"),
    ],
)
def test_a_token_that_does_not_read_is_one_diagnostic_at_its_place(text: str, start: int, marked: str) -> None:
    assert reported(text) == [("E-READ-003", start, marked)]


def test_a_bad_token_is_an_unknown_value_and_its_form_is_whole() -> None:
    top = reading('(def a 1.) (def b "\\q") (def c \')').forms
    assert [each.broken for each in top] == [False, False, False]
    assert [value(each.form)[2][0] for each in top if each.form] == ["Bad", "Bad", "Bad"]
    assert [each.name for each in top] == ["a", "b", "c"]


def test_white_space_is_unicodes_and_any_other_control_character_is_stray() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        between = code < 0x3400 or 0x8000 <= code < 0x8100 or (code > 0xD7FF and code < 0xE100) or code > 0x10FFF0
        if not between or character in "()[]\"';":
            continue
        white = character in "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" or 0x2000 <= code <= 0x200A
        result = reading(f"[a{character}b]")
        form = result.forms[0].form
        assert isinstance(form, VectorForm)
        if white:
            assert len(form.items) == 2
        else:
            assert len(form.items) == 1
            assert bool(result.findings) == (unicodedata.category(character) == "Cc")


def test_line_ends_in_strings_are_one_character() -> None:
    assert value(only('"a\r\nb\rc\nd"')) == ("String", "a\nb\nc\nd")


def test_a_byte_order_mark_is_skipped() -> None:
    result = reading("\ufeff(def a 1)")
    assert not result.findings
    assert result.forms[0].origin == 1
    assert result.forms[0].name == "a"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_comment_ends_with_its_line(end: str) -> None:
    assert value(only(f"(a ; b{end} c)")) == (("Symbol", "a"), ("Symbol", "c"))


@pytest.mark.parametrize("character", ["\v", "\f", "\x85", "\u2028", "\u2029"])
def test_nothing_else_ends_a_line(character: str) -> None:
    assert value(only(f"(a ; b{character}c\n)")) == (("Symbol", "a"),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a #| b |# c)", "ac"),
        ('(a #| b #| ( |# " |# c)', "ac"),
        ("(a #||# c)", "ac"),
        ("(a #;b c)", "ac"),
        ('(a #;(b "|#" [d]) c)', "ac"),
        ("(a #; #;b d c)", "ac"),
        ("(a #;'b c)", "ac"),
        ("(a #; ; x\n #| y |# b c)", "ac"),
        ("(a #;3d c)", "ac"),
        ("(a c #;b)", "ac"),
        ("#;b (a c)", "ac"),
        ("#;\n(b)\n(a c)", "ac"),
    ],
)
def test_comments(text: str, expected: str) -> None:
    assert value(only(text)) == tuple(("Symbol", name) for name in expected)


def test_a_quote_takes_the_form_behind_a_comment() -> None:
    assert value(only("'#;a #|b|# ;c\n d")) == ("'", ("Symbol", "d"))


def test_comments_are_kept_with_their_places() -> None:
    text = "; a\n(f ; b\n #| c |# #;(d ; e\n) x)\n#;\n(g) #| h |#"
    result = reading(text)
    (top,) = result.forms
    assert [text[comment.start : comment.end] for comment in result.comments] == ["; a", "#;\n(g)", "#| h |#"]
    assert [top.text[comment.start : comment.end] for comment in top.comments] == ["; b", "#| c |#", "#;(d ; e\n)"]


@pytest.mark.parametrize("text", ["(" * 512 + ")" * 512, "'" * 512 + "a", "'(" * 256 + ")" * 256, "[(" * 256 + ")]" * 256])
def test_nesting_of_512_reads(text: str) -> None:
    assert reported(text) == []


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("(" * 513 + ")" * 513, 512),
        ("(" * 100_000, 512),
        ("(" * 513 + "a" + ")" * 513 + "\n(def x 1)", 512),
        ("'" * 513 + "a", 512),
        ("'(" * 257 + ")" * 257, 512),
        ("(" + "(a " * 1000 + ")" * 1001, 1 + 3 * 511),
    ],
)
def test_nesting_deeper_is_one_error_at_the_opener_that_passes_the_bound(text: str, start: int) -> None:
    (found,) = reported(text)
    assert found == ("E-READ-005", start, text[start])


def test_a_form_knows_its_place() -> None:
    text = "  (a\n [b 'c])"
    form = only(text)
    assert isinstance(form, ListForm)
    vector = form.items[1]
    assert form.text == text[2:]
    assert vector.text == "[b 'c]"
    assert tuple(vector.span)[1:] == (6, 12)


def test_a_file_that_is_not_utf8_says_only_that() -> None:
    source = Source.decode("a.sx", b"(def a 1.) \xff\xfe \xff (def b")
    result = read(source)
    (finding,) = result.findings
    assert (finding.rule.code, tuple(finding.at.span)[1:]) == ("E-READ-006", (11, 12))
    assert result.lost
    assert all(top.broken for top in result.forms)


def test_a_fix_is_offered_where_it_is_certain() -> None:
    (found,) = diagnostics("(f -1_0.)")
    ((edit,),) = (fix.edits for fix in found.fixes)
    assert (edit.span.start, edit.span.end, edit.text) == (3, 8, "-1_0.0")
    assert not diagnostics("(f 3d)")[0].fixes
