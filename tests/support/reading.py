"""What tests of the reader share: readings as plain data, and texts to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from sexpgpu.diagnostics.finding import Diagnostic, resolve
from sexpgpu.reader import Reading, read
from sexpgpu.reader.forms import Form, ListForm, QuoteForm, TopForm, VectorForm
from sexpgpu.source import Source

PROGRAM = """\
; How long a row is.
(def seq 8)
(def vocab 16) ; and how many tokens there are

#| A loader that #| needs |# no file. |#
(defloader train
  :batch 4
  :fields (list :row (spec [seq] :i32) :stride (spec [1] :i32))
  :source (synthetic 512 (lambda (index) (list :row '(a "b\\n\\u{1F600}") #;(not this) :x -2e-3))))

;; Reads nothing.
;; sexpgpu: ignore[W-NAME-001]
;; Returns x.
(defun prepare (batch ctx)
  "over
two lines"
  (counter :tokens (* 4 seq)) ; inside
  (list :tokens (field batch :sample) :flags [true false nil () inf nan 0x1f 1_000 .5]))
#;
(defun gone (x) x)
(load "other.sx")
"""


def reading(text: str, previous: Reading | None = None) -> Reading:
    """The reading of a text."""
    return read(Source("test.sx", text), previous)


def inside(form: Form) -> tuple[Form, ...]:
    """The forms right inside a form."""
    if isinstance(form, QuoteForm):
        return (form.form,)
    return form.items if isinstance(form, ListForm | VectorForm) else ()


def every(form: Form | None) -> Iterator[Form]:
    """The form and all inside it, outermost first."""
    rest = [form] if form else []
    while rest:
        form = rest.pop()
        yield form
        rest.extend(reversed(inside(form)))


def value(form: Form) -> Any:
    """A form's value as plain data: lists are tuples, vectors lists, a quote is a pair."""
    match form:
        case ListForm():
            return tuple(value(item) for item in form.items)
        case VectorForm():
            return [value(item) for item in form.items]
        case QuoteForm():
            return ("'", value(form.form))
        case _:
            name = getattr(form, "name", None)
            return (type(form).__name__.removesuffix("Form"), getattr(form, "value", form.text) if name is None else name)


def outline(top: TopForm) -> list[tuple[str, int, int, str]]:
    """Kind, place in the text and value of the form and all inside it."""
    return [
        (type(form).__name__, form.span.start, form.span.end, "" if inside(form) else repr(value(form))) for form in every(top.form)
    ]


def diagnostics(text: str) -> list[Diagnostic]:
    """What is reported of a text."""
    return [resolve(finding) for finding in reading(text).findings]


def reported(text: str) -> list[tuple[str, int, str]]:
    """What is reported of a text: code, 0-based offset, and the text that is marked."""
    return [(each.code, each.span.start, text[each.span.start : each.span.end]) for each in diagnostics(text)]


def everything(result: Reading) -> dict[str, object]:
    """All that a reading says, as data that can be compared."""
    return {
        "forms": [
            (
                top.origin,
                top.text,
                top.broken,
                top.documentation,
                top.source is result.source,
                [(comment.start, comment.end) for comment in top.comments],
                outline(top),
            )
            for top in result.forms
        ],
        "comments": [(comment.start, comment.end) for comment in result.comments],
        "findings": [
            (
                found.code,
                tuple(found.span)[1:],
                found.message,
                found.help,
                [(tuple(note.span)[1:], note.message) for note in found.related],
                [(fix.title, [(tuple(edit.span)[1:], edit.text) for edit in fix.edits]) for fix in found.fixes],
            )
            for found in map(resolve, result.findings)
        ],
        "lost": result.lost,
    }


_WORDS = [
    *(
        "a",
        "def",
        "defun",
        "x-y",
        "&key",
        "-",
        "+",
        "...",
        "#",
        "|#",
        "|",
        "nil",
        "true",
        "false",
        "nano",
        "λ",
        ":k",
        ":",
        "::",
        ":1",
    ),
    *(
        "0",
        "12",
        "-3",
        "+3",
        "1_000",
        "0x1f",
        "-0xF_f",
        "1.5",
        ".5",
        "-.5",
        "-2e-3",
        "1E9",
        "inf",
        "-inf",
        "nan",
        "1.",
        "1__0",
        "3d",
    ),
    *('"s"', '""', '"two\nlines"', '"\\n\\"\\\\"', '"\\u{1F600}"', '"\\q"', '"\\u{D800}"', "1e", "0x", "\x07", "a\x00b", "\ufeff"),
]
_MARKS = ["(", ")", "[", "]", "'", '"', "#|", "|#", "#;", ";", "; c\n", "\\", "#| b |#", "#;(q)"]
_SPACE = [" ", "\n", "\r\n", "\r", "\t", "\f", "\x0b", "\x1c", "\x85", "\u2028", "\xa0", "\u3000", "\n(", "\n[", "\n\n"]

tokens = st.sampled_from(_WORDS) | st.sampled_from(_MARKS) | st.sampled_from(_SPACE)
"""Pieces of text, right and wrong ones."""

soup = st.lists(tokens, max_size=60).map("".join)
"""Any mixture of pieces: mostly texts that do not read."""


def programs() -> st.SearchStrategy[str]:
    """Texts that read, in any layout. No bracket but a top-level form's stands in column 0."""
    gap = st.lists(
        st.sampled_from([" ", "\n ", "\r\n ", "\t", "; c\n ", "#| b #| n |# ( |#", "#;x ", "#;'(a [b]) ", "\u3000"]), max_size=2
    )
    space = gap.map(lambda parts: "".join([" ", *parts, " "]))
    readable = [word for word in _WORDS if not reading(word).findings]
    atom = st.sampled_from(readable) | st.text(max_size=5).map(lambda text: f'"{text}"'.replace("\\", "/")).filter(
        lambda text: not reading(text).findings
    )

    def nested(form: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        items = st.lists(st.tuples(space, form), max_size=4).map(lambda pairs: "".join(map("".join, pairs)))
        return (
            st.tuples(items, space).map(lambda parts: f"({parts[0]}{parts[1]})")
            | st.tuples(items, space).map(lambda parts: f"[{parts[0]}{parts[1]}]")
            | form.map(lambda text: f"'{text}")
        )

    form = st.recursive(atom, nested, max_leaves=12)
    return st.lists(st.tuples(space, form), max_size=6).map(lambda pairs: "\n".join(map("".join, pairs)) + "\n")
