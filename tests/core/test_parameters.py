"""Parameter lists: what they may hold, and at which part a wrong one is wrong."""

from __future__ import annotations

import pytest

from sexpgpu.language.parameters import Malformed, ParameterList, parse_parameters
from sexpgpu.reader import read
from sexpgpu.reader.forms import Form
from sexpgpu.source import Source


def form_of(text: str) -> Form:
    form = read(Source("x.sx", text)).forms[0].form
    assert form is not None
    return form


def parsed(text: str) -> ParameterList:
    return parse_parameters(form_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "()",
        "(x y)",
        "(x &optional (y nil))",
        "(x &rest more)",
        "(x &optional (y 1) &key (axis -1) (keepdims false))",
        "(x y &optional (z (+ x y)) &rest more &key (k nil))",
    ],
)
def test_a_signature_shows_the_list_as_it_was_written(text: str) -> None:
    assert f"({parsed(text).signature})" == text


def test_a_parameter_without_a_default_is_nil() -> None:
    parameters = parsed("(&optional a (b 2) &key c (d [1 2]))")
    assert [(symbol.name, default and default.text) for symbol, default in parameters.optional] == [("a", None), ("b", "2")]
    assert [(symbol.name, default and default.text) for symbol, default in parameters.keys] == [("c", None), ("d", "[1 2]")]
    assert parameters.signature.required_keys == ()


def test_keys_may_stand_before_and_behind_rest() -> None:
    for text in ("(&key a &rest r)", "(&rest r &key a)"):
        parameters = parsed(text)
        assert parameters.rest is not None
        assert (parameters.rest.name, [symbol.name for symbol, _ in parameters.keys]) == ("r", ["a"])


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("x", "x"),
        ("[x y]", "[x y]"),
        ('"x"', '"x"'),
        ("nil", "nil"),
        ("(x 3)", "3"),
        ("(:x)", ":x"),
        ("(x nil)", "nil"),
        ('(x "y")', '"y"'),
        ("(x 'y)", "'y"),
        ("(x () y)", "()"),
        ("(x [y])", "[y]"),
        ("((x 1))", "(x 1)"),
        ("((lambda x))", "(lambda x)"),
        ("((3 1))", "(3 1)"),
        ("(&optional (x))", "(x)"),
        ("(&optional (x 1 2))", "2"),
        ("(&optional (3 1))", "3"),
        ("(&key ())", "()"),
        ("(&optional (&key 1))", "&key"),
        ("(x y x)", "x"),
        ("(x &key (x 1))", "x"),
        ("(x &options y)", "&options"),
        ("(x & y)", "&"),
        ("(&key a &optional b)", "&optional"),
        ("(&rest a &optional b)", "&optional"),
        ("(&key a &key b)", "&key"),
        ("(x &rest)", "&rest"),
        ("(x &rest &key y)", "&rest"),
        ("(&rest (a 1))", "(a 1)"),
        ("(&rest a b)", "b"),
        ("(x &optional)", "&optional"),
        ("(x &key)", "&key"),
    ],
)
def test_the_smallest_malformed_part_is_shown(text: str, part: str) -> None:
    with pytest.raises(Malformed) as caught:
        parsed(text)
    assert caught.value.at.text == part
    assert caught.value.message


def test_the_second_of_two_names_is_shown() -> None:
    with pytest.raises(Malformed) as caught:
        parsed("(abc d abc)")
    assert caught.value.at.start == 7


def test_a_misspelt_marker_is_offered_its_right_spelling() -> None:
    with pytest.raises(Malformed) as caught:
        parsed("(x &optinal y)")
    assert caught.value.help == "write &optional"
