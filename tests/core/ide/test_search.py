"""Definitions found without reading, and how names answer queries."""

from __future__ import annotations

import pytest

from bench.programs import run_file, transformer
from sexpgpu.ide.search import definitions, rank
from sexpgpu.ide.symbols import symbols
from sexpgpu.source import Source
from support.drawn import fixtures
from support.renaming import analysed

CLEAN = [path.read_text("utf-8") for path in fixtures("diagnostics/clean")]


@pytest.mark.parametrize("text", [run_file(), transformer(), *CLEAN])
def test_it_finds_what_the_outline_has(text: str) -> None:
    module = analysed(text).unit.main
    names = [symbol.name for symbol in symbols(module) if symbol.name_span != symbol.whole and text[symbol.name_span.start] != '"']
    found = [each.name for each in definitions(module.source)]
    assert found == [name for name in names if not name.startswith("def")]
    assert all(text[each.at.start : each.at.end] == each.name for each in definitions(module.source))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("(def a 1) (def b 2)\n  (defun c (x)\n x)", ["a", "b", "c"]),
        ("(def a (def inner 1))\n(defrun :steps 1)\n(defrun named :steps 1)", ["a", "named"]),
        ('; (def a 1)\n#| (def b 1) #| |# (def c 1) |#\n"(def d 1)" #;(def e 1) (def f 1)\n(def g "\\"\n(def h 1)")', ["f", "g"]),
        ("(defun broken (x\n(def after 1)", ["broken", "after"]),
        ("(def größe 1)\r(def 💡 2)\r\n(def x", ["größe", "💡", "x"]),
        ("(define x 1) (defunx y 1) (def :k 1) (def \\n)", ["\\n"]),
        ('(def a "never ended\n(def b 1)', ["a"]),
        ("", []),
        ("#|", []),
        ("))) (def a 1)", ["a"]),
    ],
)
def test_what_counts_as_a_definition(text: str, names: list[str]) -> None:
    assert [each.name for each in definitions(Source("x.sx", text))] == names


def test_better_answers_come_first() -> None:
    names = ["ema", "ema-decay", "my-ema", "schema", "e-m-a", "other"]
    ranks = [rank("EMA", name) for name in names]
    assert ranks == [0, 1, 2, 3, 4, None]
    assert rank("", "anything") is not None
