"""Reading after an edit: what has not changed stays, and nothing else differs from reading anew."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from support.reading import PROGRAM, everything, programs, reading, soup

Edit = tuple[float, int, str]
edits = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), soup.map(lambda text: text[:12])), min_size=1, max_size=8)


def edited(text: str, edit: Edit) -> str:
    """The text with some of it replaced, from a place that a fraction tells."""
    fraction, length, new = edit
    start = int(fraction * len(text))
    return text[:start] + new + text[start + length :]


@settings(max_examples=150)
@given(st.sampled_from([PROGRAM, PROGRAM * 2]) | programs() | soup, edits)
def test_reading_after_edits_says_what_reading_anew_says(text: str, changes: list[Edit]) -> None:
    now = reading(text)
    for change in changes:
        text = edited(text, change)
        now = reading(text, now)
        assert everything(now) == everything(reading(text))


@settings(max_examples=100)
@given(st.sampled_from([PROGRAM, PROGRAM * 2]) | programs(), edits)
def test_every_form_whose_text_stays_is_the_same_object(text: str, changes: list[Edit]) -> None:
    before = reading(text)
    known = [top for top in before.forms if not top.broken]
    for change in changes:
        text = edited(text, change)
    after = [top for top in reading(text, before).forms if not top.broken]
    same = Counter(top.text for top in after) & Counter(top.text for top in known)
    assert sum(top in known for top in after) == same.total()


def test_only_the_edited_form_is_new() -> None:
    before = reading(PROGRAM)
    forms = list(before.forms)
    after = reading("\n\n" + PROGRAM.replace("(* 4 seq)", "(* 8 seq)"), before)
    assert [new is old for new, old in zip(after.forms, forms, strict=True)] == [True, True, True, False, True]
    assert all(top.source is after.source for top in after.forms)
    assert after.forms[0].origin == PROGRAM.index("(def seq") + 2


def test_forms_that_change_places_are_the_same_objects() -> None:
    texts = [f"(def a{number} (f\n  {number}))\n" for number in range(30)]
    before = reading("".join(texts))
    forms = list(before.forms)
    after = reading("".join(reversed(texts)), before)
    assert after.forms == list(reversed(forms))


def test_two_forms_of_one_text_are_two_objects() -> None:
    before = reading("(print 1)\n(print 1)\n")
    forms = list(before.forms)
    after = reading("(print 1)\n(print 1)\n(print 1)\n", before)
    assert after.forms[:2] == forms
    assert after.forms[2] not in forms


def test_what_was_said_of_a_form_is_said_where_it_stands_now() -> None:
    before = reading("(def a 1.)")
    after = reading("(def b 2)\n(def a 1.)", before)
    assert after.forms[1] is before.forms[0]
    (finding,) = after.findings
    assert tuple(finding.at.span)[1:] == (17, 19)


def test_a_form_that_was_spoiled_reads_again() -> None:
    before = reading("(def a 1))\n(def b 2)")
    assert [top.broken for top in reading("(def a 1)\n(def b 2)", before).forms] == [False, False]
