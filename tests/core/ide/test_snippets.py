"""Snippets: where they are offered, and that what they leave behind reads and holds."""

from __future__ import annotations

import re

import pytest

from sexpgpu.analysis import Options, analyse
from sexpgpu.ide.candidates import function_of
from sexpgpu.ide.completion import complete
from sexpgpu.ide.recall import CONTRACTS
from sexpgpu.ide.snippets import SNIPPETS
from sexpgpu.language.special import SPECIAL_FORMS, TOP_LEVEL
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.source import Source
from support.typing import RUN, typed

_STOP = re.compile(r"\$\{\d+:([^${}]*)\}")
# What only the user knows: a name that nothing binds says what is to be written there.
_UNKNOWN = {"value", "body", "condition", "then", "else", "items", "loader", '"file.sx"'}


def filled(snippet: str) -> str:
    """What a snippet leaves behind where nobody types anything over it."""
    while (found := _STOP.sub(r"\1", snippet)) != snippet:
        snippet = found
    assert "$" not in snippet
    return snippet


def without(head: str) -> str:
    """`RUN` without the forms of a head."""
    # With one loader alone, a run need not say which.
    gone = "|".join((head, "defpass", "defloader held") if head == "defrun" else (head,))
    return re.sub(rf"(?ms)^\((?:{gone})\s.*?(?=^\(|\Z)", "", RUN)


def errors(text: str, form: str) -> set[str]:
    """What the errors inside a form show, where it stands behind a text."""
    source = Source("run.sx", f"{text}\n{form}\n")
    start = len(text) + 1
    found = analyse(source, options=Options(record=True)).diagnostics
    wrong = [each for each in found if each.rule.severity == "error" and each.span.start >= start]
    return {source.text[each.span.start : each.span.end] for each in wrong}


def test_every_form_of_the_top_level_has_one() -> None:
    assert set(TOP_LEVEL) <= set(SNIPPETS) <= {*TOP_LEVEL, *SPECIAL_FORMS}


@pytest.mark.parametrize("name", SNIPPETS)
def test_what_is_left_behind_holds_but_for_what_only_the_user_knows(name: str) -> None:
    form = f"({filled(SNIPPETS[name])})"
    if name in SPECIAL_FORMS:
        form = f"(def probe {form})"
    found = errors(without(name) if name in DECLARATIONS and name != "defmodel" else "", form)
    assert found <= _UNKNOWN


@pytest.mark.parametrize("name", ["defloader", "defgenerate", "defoptimizer", "defrun"])
def test_a_declaration_holds_as_it_is(name: str) -> None:
    assert errors(without(name), f"({filled(SNIPPETS[name])})") == set()


@pytest.mark.parametrize("key", [each for each in CONTRACTS if each.startswith("def")])
def test_every_function_that_a_key_wants_takes_what_it_is_handed(key: str) -> None:
    (found,) = function_of(key)
    head, _, name = key.partition(" ")
    form = f"({head}{' probe' if DECLARATIONS[head].named else ''} {name} {filled(found.snippet)})"
    assert errors("", form) <= {"body", head}


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize(
    ("new", "bare"),
    [
        ("(lam¦)", False),
        ("(lam¦", False),
        ("(lam¦ (y) (+ y 1))", True),
        ("(let¦ ((y 1)) y)", True),
        ("(¦ ((y 1)) y)", True),
        ("(cond¦ ; whether\n    (rest 1))", True),
        ("(dotimes¦\n    (i 3) i)", True),
        ("(le¦\n    (mean out)", False),
        ("(if¦ ; so far", False),
        ("(scope¦ \n)", False),
        ("(le¦\n\n(def later 1)", False),
    ],
)
def test_a_head_with_something_behind_it_is_inserted_bare(new: str, bare: bool, fresh: bool) -> None:
    views, source, offset = typed("(mean out)", new, fresh=fresh)
    found = complete(views, source, offset)
    assert found is not None
    forms = [each for each in found.items if each.label in SPECIAL_FORMS]
    assert {each.label for each in forms} == set(SPECIAL_FORMS)
    assert any(each.snippet for each in forms) is not bare
    assert all(each.text == each.label for each in forms)


@pytest.mark.parametrize(
    ("new", "bare"),
    [
        ("\n(defu¦)", False),
        ("\n(defu¦", False),
        ("\n(defu¦ g (x) x)", True),
        ("\n(¦ g 1)", True),
        ("\n(defloader¦\n  held2 :batch 1)", True),
        ("\n(defu¦\n\n(def g 1)", False),
        ("\ndefu¦", False),
    ],
)
def test_a_head_of_the_top_level_too(new: str, bare: bool) -> None:
    views, source, offset = typed("", new)
    found = complete(views, source, offset)
    assert found is not None
    forms = [each for each in found.items if each.label in TOP_LEVEL]
    assert len(forms) == len(TOP_LEVEL)
    assert all(bool(each.snippet) is not bare for each in forms)
