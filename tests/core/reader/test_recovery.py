"""A file that does not read completely is still checked: the recovery rules of language §1."""

from __future__ import annotations

import pytest

from sexpgpu.source import Source
from support.reading import diagnostics, reading, reported


def whole(text: str) -> list[str]:
    """The names of the forms that can be analysed."""
    return [top.name or top.text for top in reading(text).forms if not top.broken]


def broken(text: str) -> list[str]:
    """The names of the forms that cannot."""
    return [top.name or top.text for top in reading(text).forms if top.broken]


LOST = "(defun lost (x)\n  (+ x 1)\n\n(defun found (x)\n  (+ x 1))\n"


def test_an_opener_in_column_0_starts_a_new_form_whatever_is_open() -> None:
    assert reported(LOST) == [("E-READ-001", 0, "(")]
    assert broken(LOST) == ["lost"]
    assert whole(LOST) == ["found"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_begins_behind_every_line_end(end: str) -> None:
    assert whole(f"(def a{end}(def b 1)") == ["b"]


@pytest.mark.parametrize("character", ["\f", "\v", "\x85", "\u2028"])
def test_and_behind_nothing_else(character: str) -> None:
    assert whole(f"(def a{character}(b 1))") == ["a"]


@pytest.mark.parametrize("text", ["(a\n[b]", "[a\n(b)", "(a [b\n(c)", "(a '\n(c)", "(a #;\n(c)"])
def test_either_bracket_starts_a_form_and_the_outermost_that_is_open_is_reported(text: str) -> None:
    assert reported(text) == [("E-READ-001", 0, text[0])]
    assert len(whole(text)) == 1


def test_of_the_openers_left_open_at_the_end_the_outermost_is_reported() -> None:
    assert reported("(def a 1)\n (f (g [h") == [("E-READ-001", 11, "(")]


def test_an_opener_in_column_0_of_a_string_or_comment_is_none() -> None:
    assert whole('(def a "\n(\n")') == ["a"]
    assert whole("(def a #|\n(\n|# 1)") == ["a"]


def test_a_quote_does_not_reach_over_an_opener_in_column_0() -> None:
    assert reported("'\n(def a 1)") == [("E-READ-003", 0, "'")]
    assert "a" in whole("'\n(def a 1)")


def test_a_comment_of_one_datum_at_the_top_level_may_stand_on_the_line_above() -> None:
    text = "#;\n(def a 1)\n(def b 2)"
    assert reported(text) == []
    assert whole(text) == ["b"]


@pytest.mark.parametrize(
    ("text", "start", "closer", "opener"),
    [
        ("(def a [b c))", 11, ")", "["),
        ("(def a (b [c (d]))", 15, "]", "("),
        ("(f (g [h i) j)", 10, ")", "["),
    ],
)
def test_a_closer_of_the_other_kind_closes_up_to_the_nearest_opener_of_its_own(
    text: str, start: int, closer: str, opener: str
) -> None:
    (found,) = diagnostics(text)
    assert (found.code, found.span.start, text[start]) == ("E-READ-002", start, closer)
    (met,) = found.related
    assert text[met.span.start : met.span.end] == opener
    assert met.span.start < start
    assert broken(text)


def test_what_it_closes_is_closed() -> None:
    (top,) = reading("(f (g [h i) j)").forms
    assert top.form
    assert [item.text for item in top.form.items] == ["f", "(g [h i)", "j"]  # pyright: ignore[reportAttributeAccessIssue]


def test_with_no_opener_of_its_own_kind_it_is_skipped() -> None:
    text = "(def a (f ] 1))\n(def b 2)"
    (found,) = diagnostics(text)
    assert (found.code, text[found.span.start]) == ("E-READ-002", "]")
    assert found.related[0].span.start == 7
    assert broken(text) == ["a"]
    assert reading(text).forms[0].text == "(def a (f ] 1))"
    assert whole(text) == ["b"]


def test_a_closer_that_closes_nothing() -> None:
    text = "(def a 1))\n(def b 2)"
    assert reported(text) == [("E-READ-002", 9, ")")]
    assert not diagnostics(text)[0].related


def test_a_stray_closer_spoils_the_form_before_it() -> None:
    text = "(def a 1)\n(def b 2)\n)\n(def c 3)"
    assert broken(text) == ["b"]
    assert whole(text) == ["a", "c"]


def test_a_form_that_ended_too_early_is_spoiled_with_its_rest() -> None:
    text = "(def a 1)\n(defun f (x)\n  (+ x 1))\n  (* x 2)\n  y)\n(def b 2)"
    assert reported(text) == [("E-READ-002", text.index("y)") + 1, ")")]
    assert broken(text) == ["f", "x", "y"]
    assert whole(text) == ["a", "b"]


def test_a_stray_closer_spoils_no_declaration_but_the_last() -> None:
    text = "(def a 1)\n (def b 2))\n"
    assert broken(text) == ["b"]
    assert whole(text) == ["a"]


def test_a_bracket_error_is_the_only_one_up_to_the_next_opener_in_column_0() -> None:
    text = '(def a 1)) 1. ) ] (def b : [) \n "x" (def c\n(def d 1.)'
    assert reported(text) == [("E-READ-002", 9, ")"), ("E-READ-003", text.index("1.)"), "1.")]


def test_what_stands_before_a_bracket_error_is_reported() -> None:
    assert [code for code, _, _ in reported("(def a 1.)) (def b 2.)")] == ["E-READ-003", "E-READ-002"]
    assert [code for code, _, _ in reported("(def a 1. [b) 2.)")] == ["E-READ-003", "E-READ-002"]


def test_what_stands_behind_an_unclosed_opener_is_not() -> None:
    assert reported('(def a 1. : "\\q"\n(def b 2)') == [("E-READ-001", 0, "(")]
    assert reported(" 1. (def a 2.\n(def b 2)") == [("E-READ-003", 1, "1."), ("E-READ-001", 4, "(")]


def test_what_stands_between_is_not_taken_for_top_level_forms() -> None:
    text = "(def a 1)) (def b 2)\n (def c 3)\n(def d 4)"
    assert broken(text) == ["a", "b", "c"]
    assert whole(text) == ["d"]


def test_too_deep_nesting_is_a_bracket_error_too() -> None:
    text = "(def a " + "(" * 600 + ")" * 600 + ") (def b 1.) )\n(def c 3)"
    assert [code for code, _, _ in reported(text)] == ["E-READ-005"]
    assert broken(text) == ["a", "b"]
    assert whole(text) == ["c"]


def test_too_deep_nesting_ends_at_an_opener_in_column_0() -> None:
    text = "(def a " + "(" * 600 + "\n(def c 3)"
    assert [code for code, _, _ in reported(text)] == ["E-READ-005"]
    assert whole(text) == ["c"]


@pytest.mark.parametrize(
    "text",
    [
        '(def a 1)\n(def b (f "text)\n(def c 2)\n',
        "(def a 1)\n(def b (f #| text)\n(def c 2)\n",
        "(def a 1)\n(def b (f #| text #| |# )\n(def c 2)\n",
        '(def a 1)\n(def b (f "text\\")\n(def c 2)\n',
    ],
)
def test_an_unclosed_string_or_comment_takes_the_rest_and_the_lists_around_it_are_not_reported(text: str) -> None:
    start = text.index("(f ") + 3
    assert reported(text) == [("E-READ-004", start, text[start])]
    result = reading(text)
    assert whole(text) == ["a"]
    assert broken(text) == ["b"]
    assert result.lost
    assert result.forms[-1].text == text[10:]


def test_an_unclosed_comment_between_forms_takes_the_rest() -> None:
    text = "(def a 1)\n#| (def b 2)\n(def c 3)"
    assert reported(text) == [("E-READ-004", 10, "#")]
    result = reading(text)
    assert whole(text) == ["a"]
    assert result.lost
    assert [(comment.start, comment.end) for comment in result.comments] == [(10, len(text))]


def test_the_name_that_an_unreadable_form_would_define_is_known() -> None:
    forms = reading('(def a (f\n(defun b (x) "\\q" ]\n(defmodel c (x) "\n').forms
    assert [(top.head, top.name, top.broken) for top in forms] == [
        ("def", "a", True),
        ("defun", "b", True),
        ("defmodel", "c", True),
    ]


def test_what_unreadable_text_may_hold_can_be_asked() -> None:
    result = reading("(def a 1)\n(def b (f\n  (def inner 2)\n(def c 3)")
    assert result.may_define("b")
    assert result.may_define("inner")
    assert result.may_define("def")
    assert not result.may_define("a")
    assert not result.may_define("c")
    assert not result.may_define("nowhere")
    assert result.lost
    assert not reading("(def a 1)\n(def b (f\n(def c 3)").lost


def test_swallowed_text_may_define_what_it_names() -> None:
    result = reading('(def a "\n(def c 3)\n(defrun :steps 1)')
    assert result.may_define("c")
    assert result.may_define("defrun")
    assert not result.may_define("defloader")


def test_a_form_that_does_not_read_may_have_no_head() -> None:
    top = reading("(\n(def a 1)").forms[0]
    assert (top.head, top.name) == (None, None)
    assert top.broken


def test_comments_before_the_next_form_are_not_part_of_an_unclosed_one() -> None:
    text = "(def a (f\n\n; About b.\n(def b 1)"
    result = reading(text)
    assert result.forms[0].text == "(def a (f"
    assert result.forms[1].documentation == "About b."
    assert [text[comment.start : comment.end] for comment in result.comments] == ["; About b."]


# Where indentation says that a form should have closed.


def related(text: str) -> tuple[int, str]:
    """The 1-based line and the text of the one place that the one diagnostic points to."""
    (found,) = diagnostics(text)
    assert found.code == "E-READ-001"
    (note,) = found.related
    source = Source("", text)
    return source.position(note.span.start).line + 1, text[note.span.start : note.span.end]


def test_the_next_form_is_where_an_unclosed_one_should_have_ended() -> None:
    assert related(LOST) == (4, "(defun found (x)\n  (+ x 1))")


def test_the_first_form_that_stands_outside_by_its_indentation() -> None:
    assert related("(defun f (x)\n  (let ((y 1)\n    (+ x y)))\n\n(def a 1)") == (3, "(+ x y)")
    assert related("(defun f (x)\n  (g (h x)\n  (+ x 1))\n") == (3, "(+ x 1)")
    assert related("(defloader a\n  :fields (list :row 1\n  :batch 4)\n") == (3, ":batch")
    assert related("(f (g 1\n   'a)\n") == (2, "'a")


def test_comments_closers_and_lines_of_strings_say_nothing_about_indentation() -> None:
    assert related('(f (g\n; c\n#| d\n|#\n    "a\nb"\n)\n(h)')[0] == 8
    (found,) = diagnostics("(f (g\n)\n  x")
    assert not found.related


def test_without_such_a_form_there_is_none() -> None:
    (found,) = diagnostics("(defun f (x)\n  (+ x 1)\n")
    assert not found.related
