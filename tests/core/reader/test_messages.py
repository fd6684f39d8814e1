"""What the reader says, word for word."""

from __future__ import annotations

import pytest

from support.reading import diagnostics


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("(f x", "this `(` is never closed", "write `)` at the end of the file"),
        ("(f [x", "this `(` is never closed", "write `])` at the end of the file"),
        ("(f (g (h (i (j x", "this `(` is never closed", "write the 5 missing closing brackets at the end of the file"),
        (
            "[f (x\n\n(g)",
            "this `[` is never closed",
            "write `)]` before line 3, or indent that line: a bracket in column 0 always begins a new form",
        ),
        ("(f [g 1\n   x", "this `(` is never closed", "going by the indentation, a `]` is missing before line 2"),
        ("(f))", "this `)` closes nothing", "remove it, or write the `(` that it should close"),
        ("]", "this `]` closes nothing", "remove it, or write the `[` that it should close"),
        ("(f [x)", "this `)` meets a `[`, which only `]` closes", "write `]` here, or close the `[` before it"),
        ("1.", "`1.` has no digits behind its point", "write 1.0"),
        ("-1_0.", "`-1_0.` has no digits behind its point", "write -1_0.0"),
        ("3d", "`3d` begins like a number and is none", "write a number, or a name that does not begin like one"),
        ("1__0", "`1__0` has a misplaced underscore", "single underscores stand between digits, as in 1_000_000"),
        ("0xfg", "`0xfg` is no hexadecimal number", "behind 0x stand digits and a to f, with single underscores between them"),
        ("0b1", "`0b1` is not a number", "write it in decimal, or in hexadecimal as in 0x1f"),
        ("1e", "the exponent of `1e` has no digits", "write digits behind the e, as in 2e-3"),
        ("1/3", "`1/3` is not a number: there are no fractions", "write a decimal, or divide, as in (/ 1.0 3.0)"),
        (
            "9" * 50 + "z",
            f"`{'9' * 39}…` begins like a number and is none",
            "write a number, or a name that does not begin like one",
        ),
        (":", "a colon without a name", "a keyword is a colon and a name, as in :axis"),
        ("a\x07b", "a control character, U+0007, stands outside of strings and comments", "remove it"),
        ("'", "this quote has nothing to quote", "write a form behind it, as in 'name"),
        ("#;", "this `#;` has no form to comment out", "write a form behind it, or begin a line comment with `;`"),
        (r'"\d"', r"`\d` is no escape", r"the escapes are \n \t \" \\ and \u{1F600}; a backslash itself is written \\"),
        ('"\\\n"', "a backslash here is no escape", r"the escapes are \n \t \" \\ and \u{1F600}; a backslash itself is written \\"),
        (r'"\u{D800}"', r"`\u{D800}` names no character", r"write 1 to 6 hexadecimal digits in braces, as in \u{1F600}"),
        ('"a', "this string never ends", 'write `"` where it ends; a quotation mark inside it is written \\"'),
        ("#| a", "this comment never ends", "write `|#` where it ends; a `#|` inside it needs its own `|#`"),
        ("(" * 600, "forms nest more than 512 deep here", "take parts out into functions or `let*` bindings"),
    ],
)
def test_message_and_help(text: str, message: str, help: str) -> None:
    (found,) = diagnostics(text)
    assert (found.message, found.help) == (message, help)


@pytest.mark.parametrize(
    ("text", "marked", "message"),
    [
        ("(f (x\n\n(g)", "(g)", "this begins a new form, because it stands in column 0"),
        ("(f\n  (g 1\n  x)", "x", "by its indentation, this stands outside the `(` of line 2"),
        ("(f [x)", "[", "the `[` that is open"),
    ],
)
def test_what_is_said_of_related_places(text: str, marked: str, message: str) -> None:
    (found,) = diagnostics(text)
    (note,) = found.related
    assert (text[note.span.start : note.span.end], note.message) == (marked, message)


def test_no_message_is_longer_than_what_it_speaks_of_needs() -> None:
    for text in ("9" * 10_000 + "z", "9" * 10_000 + ".", ":" + "\x00" * 10_000, '"\\u{' + "9" * 10_000 + '}"'):
        (found,) = diagnostics(text)
        assert len(found.message) < 120
        assert len(found.help) < 120
