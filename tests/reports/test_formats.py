"""What `check` prints, pinned: one golden for each shape of a report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from sexpgpu.diagnostics.finding import Diagnostic
from sexpgpu.diagnostics.formats import Report, ordered, render
from sexpgpu.diagnostics.formats.full import show
from sexpgpu.source import Source, Span
from support.diagnosed import diagnostic, fix, span
from support.golden import golden

GOLDENS = Path(__file__).parent / "goldens"

RUN = Source(
    "runs/student.sx",
    """\
(defgenerate
  :trips 6
  :init (lambda (batch ctx)
          (list :row (field batch :row)))
  :step (lambda (state trip ctx)
          (let ((row (getf state :row)))
            (metric "age" (cast trip :f32))
            (list :row (argmax (model row)))))
  :finish (lambda (state ctx)
            (list :sample (getf state :row))))

(defun objective (inputs ctx)
  (let ((noise (normal [4 8])))
    (+ (getf inputs :x) (getf inputs :y))))
""",
)
LIBRARY = Source("lib/mixer.sx", '; layers\n(defun mix (x)\n  (metric "mix" (mean x))\n  x)\n')
WIDE = Source(
    "wide.sx",
    '(def a "漢字" b)\n\t(f\tx "👩‍🚀é" y)\n(def c "\x1b[31m\u202e" \x7f z)\n(def 𝒳 (+ ｘ 한글 w))\n',
)
LONG = Source("long.sx", f"(def table (list {' '.join(f'(row {n})' for n in range(60))}))\n(def short table)\n")


def one_label() -> Diagnostic:
    metric = span(RUN, "metric")
    return diagnostic(
        "E-GEN-004",
        metric,
        "a metric inside a generator",
        "return the value in the state and report it from `objective`",
        ((span(RUN, ":step"), "in this function"),),
    )


def overlapping_labels() -> Diagnostic:
    return diagnostic(
        "E-SHAPE-001",
        span(RUN, "(+ (getf inputs :x) (getf inputs :y))"),
        "shapes do not broadcast: [4 8] and [3]",
        related=((span(RUN, "(getf inputs :x)"), "[4 8]"), (span(RUN, "(getf inputs :y)"), "[3]")),
    )


def labels_side_by_side() -> Diagnostic:
    return diagnostic(
        "E-DTYPE-001",
        span(RUN, "+"),
        "f32 and i32 meet",
        "cast one of them: (cast (getf inputs :y) :f32)",
        ((span(RUN, "(getf inputs :x)"), "f32"), (span(RUN, "(getf inputs :y)"), "i32")),
        (fix("cast the second", (span(RUN, "(getf inputs :y)"), "(cast (getf inputs :y) :f32)")),),
    )


def several_lines() -> Diagnostic:
    start, end = RUN.text.index("(lambda (state trip"), RUN.text.index(")))\n  :finish") + 3
    whole = Span(RUN, 0, RUN.text.index("\n\n(defun"))
    return diagnostic(
        "E-GEN-002",
        Span(RUN, start, end),
        "the state changes from trip to trip\n  :row  i32[4,8] -> i32[4]\n  :age  f32[] -> absent",
        "keep keys, shapes and dtypes as `:init` made them\nfor a reduction: `:keepdims true`",
        ((whole, "of this generator"), (span(RUN, "(getf state :row)"), "as it was")),
        (fix("drop the entry", (span(RUN, ":row"), ""), safe=False),),
    )


def other_file() -> Diagnostic:
    return diagnostic(
        "E-GEN-004",
        span(LIBRARY, "metric"),
        "a metric inside a generator",
        related=((span(RUN, "(model row)"), "reached by this call"), (span(LIBRARY, "mix"), "in this function")),
    )


def ends_of_a_file() -> list[Diagnostic]:
    empty = Source("empty.sx", "")
    last = Source("last.sx", "(def x 1)\n")
    return [
        diagnostic("E-READ-001", Span(empty, 0, 0)),
        diagnostic("W-CTX-001", Span(last, len(last.text), len(last.text) + 5)),
        diagnostic("H-NAME-001", span(last, "1)\n")),
        diagnostic("W-GEN-002", Span(last, 9, 9)),
    ]


def wide() -> list[Diagnostic]:
    return [
        diagnostic("E-NAME-001", span(WIDE, piece), f"`{piece}` stands there")
        for piece in ("b", "字", "y", "👩‍🚀", "z", "ｘ", "한글", "w")
    ]


def long() -> list[Diagnostic]:
    return [
        diagnostic("E-NAME-001", span(LONG, "(row 0)"), "the beginning", related=((span(LONG, "short"), "another line"),)),
        diagnostic("E-NAME-001", span(LONG, "(row 30)"), "the middle"),
        diagnostic("E-NAME-001", span(LONG, "(row 59)"), "the end"),
        diagnostic("E-NAME-001", span(LONG, LONG.text[12:500]), "wider than the terminal"),
        diagnostic("E-NAME-001", span(LONG, "(row 30)"), "beside", related=((span(LONG, "(row 32)"), "a label"),)),
    ]


CASES: dict[str, Callable[[], Diagnostic | list[Diagnostic]]] = {
    case.__name__.replace("_", "-"): case
    for case in (
        one_label,
        overlapping_labels,
        labels_side_by_side,
        several_lines,
        other_file,
        ends_of_a_file,
        wide,
        long,
    )
}


def report(colour: bool = False) -> Report:
    diagnostics = ordered([one_label(), labels_side_by_side(), several_lines(), other_file(), *ends_of_a_file(), wide()[3]])
    return Report(diagnostics, 3, colour, 80)


@pytest.mark.parametrize("case", CASES)
def test_full(case: str, update: bool) -> None:
    made = CASES[case]()
    shown = "\n".join(show(each, width=80) for each in (made if isinstance(made, list) else [made]))
    golden(GOLDENS / "full" / f"{case}.txt", shown, update=update)


@pytest.mark.parametrize("name", ["full", "concise", "json"])
def test_a_report(name: str, update: bool) -> None:
    golden(GOLDENS / f"{name}.{'json' if name == 'json' else 'txt'}", render(name, report()), update=update)


@pytest.mark.parametrize("name", ["full", "concise"])
def test_colours(name: str, update: bool) -> None:
    shown = render(name, report(colour=True))
    golden(GOLDENS / f"{name}-colour.txt", shown.replace("\x1b", "\N{SYMBOL FOR ESCAPE}"), update=update)
    assert re.sub("\x1b" + r"\[[0-9;]*m", "", shown) == render(name, report())


def test_nothing_found() -> None:
    assert render("full", Report([], 2)) == "no findings in 2 files\n"
    assert render("full", Report([], 1)) == "no findings in 1 file\n"
    assert render("concise", Report([], 1)) == ""
    assert json.loads(render("json", Report([], 1))) == []


def test_a_fix_that_the_help_names_is_not_named_again() -> None:
    source = Source("a.sx", "y")
    at = span(source, "y")
    shown = show(diagnostic("E-NAME-001", at, help="write x or z", fixes=(fix("write x", (at, "x")), fix("write z", (at, "z")))))
    assert "= help: write x or z\n" in shown
    assert "= fix: write x\n" not in shown
    assert "= fix: write z\n" in shown


def test_guesses_are_left_to_the_help() -> None:
    source = Source("a.sx", "y")
    at = span(source, "y")
    guesses = (fix("write x", (at, "x"), safe=False), fix("write z", (at, "z"), safe=False))
    assert "= fix" not in show(diagnostic("E-NAME-001", at, help="write x or z", fixes=guesses))


def test_json_counts_utf_16_units() -> None:
    source = Source("a.sx", '\n(f "👩" x)\n')
    (entry,) = json.loads(render("json", Report([diagnostic("E-NAME-001", span(source, "x"))])))
    assert entry["range"] == {"start": {"line": 1, "character": 8}, "end": {"line": 1, "character": 9}}


def test_text_columns_count_characters() -> None:
    source = Source("a.sx", '\n(f "👩" x)\n')
    assert render("concise", Report([diagnostic("E-NAME-001", span(source, "x"), "no")])) == "a.sx:2:8: error[E-NAME-001] no\n"


def test_sorted_by_file_then_position_then_code() -> None:
    a, b = Source("a.sx", "x y"), Source("b.sx", "x y")
    made = [
        diagnostic("W-CTX-001", span(b, "x")),
        diagnostic("W-CTX-001", span(a, "y")),
        diagnostic("W-CTX-001", span(a, "x")),
        diagnostic("E-NAME-001", span(a, "x")),
    ]
    assert [(each.span.source.name, each.span.start, each.code) for each in ordered(made)] == [
        ("a.sx", 0, "E-NAME-001"),
        ("a.sx", 0, "W-CTX-001"),
        ("a.sx", 2, "W-CTX-001"),
        ("b.sx", 0, "W-CTX-001"),
    ]
