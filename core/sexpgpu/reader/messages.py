"""What the reader says: each cause in plain words, what was expected, and what to write instead."""

from __future__ import annotations

import re

from sexpgpu.diagnostics.finding import Edit, Finding, Fix, Related
from sexpgpu.diagnostics.rules import READ_ENCODING, READ_STRAY_CLOSER, READ_TOKEN, READ_TOO_DEEP, READ_UNCLOSED, READ_UNENDED
from sexpgpu.reader.forms import Form
from sexpgpu.reader.tokens import CONTROL

DEEPEST = 512
CLOSER = {"(": ")", "[": "]"}

_SHOWN = 40
_BARE_POINT = r"([+-]?[0-9]+(?:_[0-9]+)*)\."
# What is wrong with a number, by the first pattern that fits, and what to write.
_NUMBERS = (
    (r"[+-]?0[bBoOX]", "`{}` is not a number", "write it in decimal, or in hexadecimal as in 0x1f"),
    (r"[+-]?0x", "`{}` is no hexadecimal number", "behind 0x stand digits and a to f, with single underscores between them"),
    (r"[+-]?[0-9][0-9_]*\Z", "`{}` has a misplaced underscore", "single underscores stand between digits, as in 1_000_000"),
    (r"[+-]?[0-9.][0-9_.]*[eE][+-]?\Z", "the exponent of `{}` has no digits", "write digits behind the e, as in 2e-3"),
    (r"[+-]?[0-9]+/[0-9]+\Z", "`{}` is not a number: there are no fractions", "write a decimal, or divide, as in (/ 1.0 3.0)"),
    (r"", "`{}` begins like a number and is none", "write a number, or a name that does not begin like one"),
)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def unclosed(at: Form, opener: str, missing: str, next_line: int | None) -> Finding:
    """`missing` are the closers that would close all that is open; `next_line` is the 1-based line of the form in column 0 that
    begins instead, None at the end of the file."""
    shown = f"`{missing}`" if len(missing) <= 4 else f"the {len(missing)} missing closing brackets"
    if next_line is None:
        help = f"write {shown} at the end of the file"
    else:
        help = f"write {shown} before line {next_line}, or indent that line: a bracket in column 0 always begins a new form"
    return Finding(READ_UNCLOSED, at, f"this `{opener}` is never closed", help)


def outside(finding: Finding, at: Form, line: int, opener: str, opener_line: int) -> Finding:
    """The finding, told that the form `at` stands, by its indentation, outside an opener that is still open before it."""
    help = f"going by the indentation, a `{CLOSER[opener]}` is missing before line {line}"
    related = Related(at, f"by its indentation, this stands outside the `{opener}` of line {opener_line}")
    return finding._replace(help=help, related=(related,))


def next_form(at: Form) -> Related:
    """The form in column 0 that begins while brackets are open."""
    return Related(at, "this begins a new form, because it stands in column 0")


def stray(at: Form, closer: str) -> Finding:
    """A closer with nothing open."""
    opener = "(" if closer == ")" else "["
    return Finding(
        READ_STRAY_CLOSER, at, f"this `{closer}` closes nothing", f"remove it, or write the `{opener}` that it should close"
    )


def mismatch(at: Form, closer: str, opener: str, met: Form) -> Finding:
    """A closer that meets an opener of the other kind."""
    right = CLOSER[opener]
    return Finding(
        READ_STRAY_CLOSER,
        at,
        f"this `{closer}` meets a `{opener}`, which only `{right}` closes",
        f"write `{right}` here, or close the `{opener}` before it",
        (Related(met, f"the `{opener}` that is open"),),
    )


def not_a_token(at: Form, word: str) -> Finding:
    """A word that is none of the language's; `at` is the control character in it, if there is one."""
    if control := re.search(CONTROL, word):
        code = f"U+{ord(control[0][0]):04X}"
        return Finding(READ_TOKEN, at, f"a control character, {code}, stands outside of strings and comments", "remove it")
    if word.startswith(":"):
        return Finding(READ_TOKEN, at, "a colon without a name", "a keyword is a colon and a name, as in :axis")
    if point := re.fullmatch(_BARE_POINT, word):
        number = point[1] + ".0"
        fixes = (Fix(f"write {number}", (Edit(at, number),)),) if len(word) <= _SHOWN else ()
        return Finding(READ_TOKEN, at, f"`{_short(word)}` has no digits behind its point", f"write {_short(number)}", (), fixes)
    message, help = next((message, help) for pattern, message, help in _NUMBERS if re.match(pattern, word))
    return Finding(READ_TOKEN, at, message.format(_short(word)), help)


def nothing_behind(at: Form, quote: bool) -> Finding:
    """A quote or `#;` with no form behind it."""
    if quote:
        return Finding(READ_TOKEN, at, "this quote has nothing to quote", "write a form behind it, as in 'name")
    return Finding(
        READ_TOKEN, at, "this `#;` has no form to comment out", "write a form behind it, or begin a line comment with `;`"
    )


def bad_escape(at: Form, escape: str) -> Finding:
    """An escape that there is not."""
    if escape.startswith("\\u"):
        return Finding(
            READ_TOKEN, at, f"`{escape}` names no character", r"write 1 to 6 hexadecimal digits in braces, as in \u{1F600}"
        )
    shown = f"`{escape}`" if len(escape) > 1 and escape.isprintable() else "a backslash here"
    return Finding(
        READ_TOKEN, at, f"{shown} is no escape", r"the escapes are \n \t \" \\ and \u{1F600}; a backslash itself is written \\"
    )


def unended(at: Form, comment: bool) -> Finding:
    """A string, or a block comment, that runs to the end of the file."""
    if comment:
        return Finding(READ_UNENDED, at, "this comment never ends", "write `|#` where it ends; a `#|` inside it needs its own `|#`")
    return Finding(READ_UNENDED, at, "this string never ends", 'write `"` where it ends; a quotation mark inside it is written \\"')


def too_deep(at: Form) -> Finding:
    """An opener, or a quote, that nests deeper than the language allows."""
    return Finding(
        READ_TOO_DEEP, at, f"forms nest more than {DEEPEST} deep here", "take parts out into functions or `let*` bindings"
    )


def not_utf8(at: Form) -> Finding:
    """The first byte that is not UTF-8."""
    return Finding(READ_ENCODING, at, "this byte is not UTF-8", "save the file as UTF-8; nothing else of it was checked")
