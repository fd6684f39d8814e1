"""Semantic tokens: what each piece of a text is told apart as."""

from __future__ import annotations

from pathlib import Path

import pytest

from sexpgpu.analysis import Analysis, Options, analyse
from sexpgpu.ide.tokens import MODIFIERS, TYPES, Layouts, parts_of, tokens
from sexpgpu.program.cache import Cache
from sexpgpu.source import Source
from support.drawn import FIXTURES, fixtures, strip

CASES = [pytest.param(path, id=path.relative_to(FIXTURES).as_posix()) for path in fixtures("diagnostics")]

RUN = """\
; Words.
(def width 8)
(def table (ones [width]))
(defloader train :batch 2 :fields (list :x (spec [width] :f32)) :source (synthetic 4 (lambda (index) (list :x table))))
(defun wide (x times)
  (let ((h (concat (list x x) :axis 0)))
    (* times (gelu h))))
(defmodel model (x) (linear :out x 1))
(defun prepare (batch ctx)
  (counter :rows 2)
  (list :x (field batch :x) :made (getf ctx :step)))
(defun objective (inputs ctx)
  (metric "loss" (mean (model (wide (field inputs :x) 3)))))
(defpass held :loader train :every 5)
(defoptimizer (sgd :lr 0.1))
(defrun tiny :steps 10 :precision :bf16)
"""


def analysed(text: str) -> Analysis:
    return analyse(Source("x.sx", text), options=Options(record=True))


def told(text: str) -> list[tuple[str, str]]:
    """The tokens of a text: what is written, and its type with its modifiers: `variable tensor`."""
    analysis = analysed(text)
    found: list[tuple[str, str]] = []
    for start, end, code in tokens(analysis, analysis.unit.main):
        kind, modifiers = parts_of(code)
        names = [name for bit, name in enumerate(MODIFIERS) if modifiers >> bit & 1]
        found.append((text[start:end], " ".join([TYPES[kind], *names])))
    return found


@pytest.mark.parametrize(
    ("written", "kinds"),
    [
        ("; Words.", ["comment"]),
        ("defun", ["keyword"] * 3),
        ("let", ["keyword"]),
        ("width", ["variable definition readonly host", "variable readonly host", "variable readonly host"]),
        ("table", ["variable definition readonly tensor", "variable readonly tensor"]),
        ("train", ["type definition", "type"]),
        ("held", ["interface definition"]),
        ("tiny", ["event definition"]),
        ("model", ["class definition model", "class model"]),
        ("wide", ["function definition", "function"]),
        ("h", ["variable declaration tensor", "variable tensor"]),
        ("times", ["parameter declaration host", "parameter host"]),
        ("index", ["parameter declaration tensor"]),
        ("gelu", ["function defaultLibrary tensor"]),
        ("linear", ["function defaultLibrary"]),
        ("field", ["function defaultLibrary"] * 2),
        (":step", ["property ctx"]),
        (":rows", ["property declaration ctx"]),
        (":made", ["property"]),
        (":axis", ["parameter"]),
        (":out", ["property definition"]),
        (":steps", ["property defaultLibrary"]),
        (":f32", ["enumMember defaultLibrary"]),
        ('"loss"', ["string"]),
        ("0.1", ["number"]),
    ],
)
def test_what_a_word_is(written: str, kinds: list[str]) -> None:
    assert [kind for word, kind in told(RUN) if word == written] == kinds


def test_one_name_is_what_it_stands_for_where_it_stands() -> None:
    found = told("(def a 1)\n(defun f (a) (+ a (ones [2])))\n(def b (f (ones [2])))\n(def c (list 'a nil true))\n(def d missing)\n")
    assert [kind for word, kind in found if word == "a"] == [
        "variable definition readonly host",
        "parameter declaration tensor",
        "parameter tensor",
        "enumMember",
    ]
    assert dict(found)["missing"] == "variable"
    assert dict(found)["nil"] == "keyword readonly"


def test_a_head_that_is_bound_is_no_special_form() -> None:
    assert dict(told("(def a ((lambda (when) (when 1)) (lambda (x) x)))\n"))["when"].startswith("parameter")


@pytest.mark.parametrize("end", ["", "\n(def z 1)\n"])
@pytest.mark.parametrize(
    "begun", ['(def a (+ x "y" :axis 1 ; c\n', '(def a "no end', "(def b [1 (matmul", "#| no end", "(def a 1))", "(let"]
)
def test_text_that_does_not_read_has_what_its_tokens_say(begun: str, end: str) -> None:
    text = f"(def first 1)\n{begun}{end}"
    found = told(text)
    check(text)
    assert found[:3] == told("(def first 1)")
    lexed = dict(found)
    assert lexed.get("matmul", "function defaultLibrary tensor") == "function defaultLibrary tensor"
    assert lexed.get("let", "keyword") == "keyword"
    assert lexed.get("; c", "comment") == "comment"
    assert lexed.get("+", "operator defaultLibrary") == "operator defaultLibrary"
    written = "".join(word for word, _ in found)
    assert all(word in written for word in ("x", "y", "axis") if word in begun)


def check(text: str) -> None:
    """Tokens are in order, apart, and those of a range are those of the whole that touch it."""
    analysis = analysed(text)
    found = tokens(analysis, analysis.unit.main)
    behind = 0
    for start, end, code in found:
        kind, modifiers = parts_of(code)
        assert behind <= start < end <= len(text)
        assert kind < len(TYPES)
        assert modifiers < 1 << len(MODIFIERS)
        behind = end
    for start in range(0, len(text), max(1, len(text) // 7)):
        end = start + len(text) // 3
        some = tokens(analysis, analysis.unit.main, start, end)
        assert some == [token for token in found if token[1] > start and token[0] < end]


@pytest.mark.parametrize("path", CASES)
def test_every_file_has_tokens_in_order(path: Path) -> None:
    text = strip(path.read_bytes().decode("utf-8-sig"))[0]
    check(text)
    check(text[: len(text) * 2 // 3])


def test_quotes_and_comments_of_data() -> None:
    found = dict(told('(def a \'(b :c (d 1 "s")))\n#;(def e 1)\n(def f #;(g h) 2)\n#| i |#\n'))
    assert found["b"] == found[":c"] == found["d"] == "enumMember"
    assert found["#;(def e 1)"] == found["#;(g h)"] == found["#| i |#"] == "comment"
    assert "g" not in found


def test_what_is_kept_of_forms_that_do_not_change_changes_nothing() -> None:
    cache = Cache()
    layouts: Layouts = {}
    parts = RUN.splitlines(keepends=True)
    for turn in range(len(parts)):
        text = "".join([*parts[:turn], "; more\n", *parts[turn + 1 :]]) if turn % 2 else RUN.replace("width", f"width{turn}")
        analysis = analyse(Source("x.sx", text), options=Options(record=True, cache=cache))
        with_kept = tokens(analysis, analysis.unit.main, layouts=layouts)
        assert with_kept == tokens(analysis, analysis.unit.main)
    assert layouts
