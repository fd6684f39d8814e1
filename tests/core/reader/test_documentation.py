"""The comment block right above a form is its documentation."""

from __future__ import annotations

import pytest

from support.reading import PROGRAM, reading


def documented(text: str) -> list[str]:
    """The documentation of every form."""
    return [top.documentation for top in reading(text).forms]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("; One.\n(def a 1)", ["One."]),
        (";; One.\n;;; Two.\n(def a 1)", ["One.\nTwo."]),
        (";One.\n;\n;  Two.\n(def a 1)", ["One.\n\n Two."]),
        ("; One.\r\n; Two.\r\n(def a 1)", ["One.\nTwo."]),
        ("; One.\r; Two.\r(def a 1)", ["One.\nTwo."]),
        ("  ; One.\n  (def a 1)", ["One."]),
        ("\ufeff; One.\n(def a 1)", ["One."]),
        ("; a\n'x", ["a"]),
        ("; a\nx", ["a"]),
        ("; Not this.\n\n; One.\n(def a 1)", ["One."]),
        ("; Far.\n\n(def a 1)", [""]),
        ("(def a 1) ; Of a.\n(def b 1)", ["", ""]),
        ("(def a 1) ; Of a.\n; Of b.\n(def b 1)", ["", "Of b."]),
        ("; Of a.\n(def a 1) (def b 1)", ["Of a.", ""]),
        ("#| Block. |#\n(def a 1)", [""]),
        ("; One.\n#| Block. |#\n(def a 1)", [""]),
        ("#;(x)\n; One.\n(def a 1)", ["One."]),
        ("; One.\n; sexpgpu: ignore[W-NAME-001]\n(def a 1)", ["One."]),
        (";sexpgpu:ignore[W-NAME-001] because\n(def a 1)", [""]),
        ("; sexpgpu is a language\n(def a 1)", ["sexpgpu is a language"]),
        (";;;;;;;;\n; One.\n;;;;;;;;\n(def a 1)", ["One."]),
        ("; One.\n(def a", ["One."]),
    ],
)
def test_documentation(text: str, expected: list[str]) -> None:
    assert documented(text) == expected


def test_documentation_of_a_program() -> None:
    assert documented(PROGRAM) == ["How long a row is.", "", "", "Reads nothing.\nReturns x.", ""]


def test_documentation_moves_on_while_the_form_stays() -> None:
    before = reading("; One.\n(def a 1)")
    (form,) = before.forms
    after = reading("; Two.\n; Three.\n(def a 1)", before)
    assert after.forms == [form]
    assert form.documentation == "Two.\nThree."
    assert reading("(def a 1)", after).forms == [form]
    assert form.documentation == ""
