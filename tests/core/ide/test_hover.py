"""What hover says of host values, of calls, of parameters and of memory, kind by kind."""

from __future__ import annotations

import pytest

from sexpgpu.ide.hover import Hover, hover
from sexpgpu.ide.markup import Code, Prose
from sexpgpu.ide.memory import plan_of
from sexpgpu.ide.signatures import written
from sexpgpu.ide.words import signature
from sexpgpu.language.host import HOST
from sexpgpu.language.signature import Signature, bind, counted, parse, shown
from sexpgpu.plan.memory import AVERAGE, gib
from support.renaming import analysed


def at(text: str, piece: str, inside: int = 0) -> Hover | None:
    analysis = analysed(text)
    return hover(analysis, analysis.unit.main, text.index(piece) + inside)


def codes(found: Hover | None) -> list[str]:
    return [part.text for part in found.parts if isinstance(part, Code)] if found is not None else []


def prose(found: Hover | None) -> str:
    return "\n".join(part.text for part in found.parts if isinstance(part, Prose)) if found is not None else ""


VALUES = {
    ":key": ":key",
    '\'(1 2 "x")': '(1 2 "x")',
    "nil": "nil",
    "()": "nil",
    "true": "true",
    "false": "false",
    "'sym": "sym",
    "'nil": "nil",
    "3": "3",
    '"s"': '"s"',
    "[1 2]": "[1 2]",
    "(list 1 :b)": "(1 :b)",
}


@pytest.mark.parametrize(("written_value", "value"), VALUES.items())
def test_the_name_of_a_host_value_says_it(written_value: str, value: str) -> None:
    for text, name in [
        (f"(def it {written_value})", "it"),
        (f"(def a (let ((it {written_value})) (list it)))", "it "),
        (f"(def a (let* ((it {written_value})) (list it)))", "it))"),
        (f"(def a (dolist (it (list {written_value})) (list it)))", "it ("),
        (f"(defun f (it) (list it))\n(def a (f {written_value}))", "it)"),
        (f"(defun f (&optional (it {written_value})) (list it))\n(def a (f))", "it "),
    ]:
        found = at(text, name)
        assert codes(found)[:1] == [f"it : {value}"], text
        assert found is not None
        assert found.typed


LITERALS = {
    ":key": "a keyword",
    "'(1 2)": "a list of 2 items",
    "'[1]": "a vector of 1 item",
    "nil": "nothing: false, and the empty list",
    "true": "a truth value",
    "'sym": "a symbol",
    "64": "an integer",
    "0.50": "a float",
    '"text"': "a string",
    "[16]": "a vector of 1 item",
}


@pytest.mark.parametrize(("literal", "kind"), LITERALS.items())
def test_a_literal_is_said_once_with_its_kind(literal: str, kind: str) -> None:
    for text in [
        f"(def it {literal})",
        f"(def it (list 1 {literal}))",
        f"(def it (list :a {literal}))",
        f"(def it (let ((a {literal})) (list a)))",
        f"(def it (if true {literal} 1))",
        f"(def it (cond (true {literal})))",
        f"(def it [{literal}])",
        f"(defun f (x) (list x))\n(def it (f {literal}))",
        f"(defun f (x &key (y 1)) (list x y))\n(def it (f {literal} :y 2))",
        f"(defun f (x &key (y 1)) (list x y))\n(def it (f 1 :y {literal}))",
        f"(defun f (&optional (x {literal})) (list x))\n(def it (f))",
        f"(defun f (x) (list x) {literal})\n(def it (f 1))",
    ]:
        found = at(text, literal)
        assert codes(found) == [literal], text
        assert prose(found) == kind


def test_inside_a_quote_the_whole_is_said() -> None:
    for piece, inside, whole in [("'(1", 0, "'(1 2)"), ("(1 2)", 0, "'(1 2)"), ("'a", 0, "'a"), ("'a", 1, "'a")]:
        assert codes(at("(def it (list '(1 2) 'a))", piece, inside)) == [whole]


KEYS = [
    ("(def it (nothing-known :a 1))", ":a"),
    ("(def it (list :a nothing-known))", ":a"),
    ("(def it '(:a 1))", ":a"),
    ("(defmodel m (x) (param :w [1] :init (init-zeros)))", ":init"),
    ("(def it (getf (list :b 1) :c))", ":c"),
    ("(defloader l :nothing-known 1)", ":nothing-known"),
]


@pytest.mark.parametrize(("text", "key"), KEYS)
def test_a_key_is_no_value(text: str, key: str) -> None:
    assert "a keyword" not in prose(at(text, key))


def test_a_text_that_documents_and_a_file_are_no_values() -> None:
    assert at('(defun f (x) "Says." (list x))', "Says") is None
    assert at('(load "nothing.sx")', "nothing") is None or "a string" not in prose(at('(load "nothing.sx")', "nothing"))


# Calls

CALLS = [
    ("x", "(f 1)", "(f 1)"),
    ("x &key (salt 0)", "(f (ones [2]) :salt 7)", "(f f32[2] :salt 7)"),
    ("x &key (salt 0)", "(f (ones [2]))", "(f f32[2])"),
    ("x &key (salt 0) (rate 0.5)", "(f 1 :rate 0.1)", "(f 1 :rate 0.1)"),
    ("x &key (a nil) (b nil)", "(f 1 :b :only)", "(f 1 :b :only)"),
    ("x &key (n (dim x 0))", "(f (ones [3]))", "(f f32[3])"),
    ("x &key (n (dim x 0))", "(f (ones [3]) :n 4)", "(f f32[3] :n 4)"),
    ("x &optional (a 1) (b 2)", "(f 1 5)", "(f 1 5)"),
    ("x &optional (a 1) (b 2)", "(f 1 1 5)", "(f 1 1 5)"),
    ("x &optional (a 1) &key (b 2)", "(f 1 1 :b 3)", "(f 1 1 :b 3)"),
    ("x &optional (a 1) &key (b 2)", "(f 0)", "(f 0)"),
    ("x &optional (y (ones [2]))", "(f 1)", "(f 1)"),
    ("x &optional (y (ones [2]))", "(f 1 (ones [2]))", "(f 1 f32[2])"),
    ("x &rest more", "(f 1 2 :a)", "(f 1 2 :a)"),
    ("x &rest more", "(f 1)", "(f 1)"),
    ("x", "(f '(1 2))", "(f (list 1 2))"),
    ("x", "(f (spec [1] :i32))", "(f (spec i32[1]))"),
    ("&key (a nil)", "(f :a true)", "(f :a true)"),
]


@pytest.mark.parametrize(("parameters", "call", "told"), CALLS)
def test_a_call_is_told_as_it_is_written(parameters: str, call: str, told: str) -> None:
    found = at(f"(defun f ({parameters}) 1)\n(def a {call})", "f (")
    assert codes(found) == [f"(defun f ({parameters}))", f"{told} → 1"]
    assert found is not None
    assert found.typed


def test_calls_that_differ_in_what_they_leave_out() -> None:
    text = "(defun f (x &key (n (dim x 0))) (+ n 0))\n(def a (list (f (ones [3])) (f (ones [4]) :n 9) (f (ones [5]))))"
    assert codes(at(text, "f (x"))[1].split("\n") == ["(f f32[3]) → 3", "(f f32[4] :n 9) → 9", "(f f32[5]) → 5"]


def test_a_function_that_calls_itself_gives_what_each_call_gave() -> None:
    text = "(defun f (n) (if (= n 0) 1 (* n (f (- n 1)))))\n(def a (f 3))"
    assert codes(at(text, "f (n"))[1].split("\n") == ["(f 3) → 6", "(f 2) → 2", "(f 1) → 1", "(f 0) → 1"]


def test_a_function_that_nothing_calls_has_no_ways() -> None:
    for body in ("x", "1", ":a"):
        found = at(f"(defun f (x) {body})", "f (")
        assert codes(found) == ["(defun f (x))"]
        assert found is not None
        assert not found.typed
    assert codes(at("(defun f () 1)", "f (")) == ["(defun f ())"]


# `print`


def test_print_has_its_label_in_front() -> None:
    found = at('(def a (print "so" 3))', "print")
    assert codes(found)[0] == "(print label value)"
    assert written("print", HOST["print"].signature)[0] == signature("print", HOST["print"].signature) == "(print label value)"


def keyword_of(argument: str) -> str | None:
    return argument.removeprefix(":") if argument.startswith(":") else None


def test_what_may_be_left_out_in_front() -> None:
    spare: Signature = parse("[label] value")
    assert spare.positional == ("label", "value")
    assert bind("print", spare, ["1"], keyword_of).values == {"value": "1"}
    assert bind("print", spare, ["1"], keyword_of).at == {"value": 0}
    assert bind("print", spare, ["l", "1"], keyword_of).values == {"label": "l", "value": "1"}
    assert bind("print", spare, ["l", "1"], keyword_of).at == {"label": 0, "value": 1}
    assert [spare.takes(count) for count in range(4)] == [False, True, True, False]
    assert (counted(spare), shown("print", spare)) == ("1 to 2 arguments", "write (print [label] value)")
    for count, says in [(0, "`print` needs 1 to 2 arguments, and 0 are given: value missing"), (3, "takes 1 to 2 arguments")]:
        with pytest.raises(Exception, match=says):
            bind("print", spare, ["1"] * count, keyword_of)


@pytest.mark.parametrize(("call", "says"), [('(print "so" 3)', "so: 3"), ("(print 3)", "3"), ('(print "so")', '"so"')])
def test_print_says_what_its_signature_promises(call: str, says: str) -> None:
    assert [each.message for each in analysed(f"(def a {call})").diagnostics] == [says]


# Wording and memory

RUN = """(defloader train :batch 4 :fields (list :x (spec [8] :f32)) :source (synthetic 48 (lambda (i) (list :x (zeros [8])))))
(defloader held :batch 4 :fields (list :x (spec [8] :f32)) :source (npz (str "he" "ld.npz")))
(defmodel model (x) (linear :out x 2))
(defun objective (inputs ctx) (metric "loss" (mean (model (field inputs :x)))))
(defoptimizer (adamw :lr 0.1 :b1 (* 0.9 1)))
(defrun :steps 10 :loader train :ema 0.99)
"""


def test_scalars_have_bytes() -> None:
    text = "(def a (let ((s (mean (ones [2])))) (+ s 1)))"
    for piece in ("a (", "s (", "(mean", "mean", "s 1", "(+ s"):
        assert "4 bytes" in prose(at(text, piece)), piece


def test_the_parameters_of_a_call_are_told_once() -> None:
    assert prose(at(RUN, "model (field")).count("18 parameters") == 1
    assert prose(at(RUN, "model (x)")).count("18 parameters") == 1


@pytest.mark.parametrize(
    ("piece", "says"),
    [
        ("spec", "Here: `spec f32[8]`"),
        ("synthetic", "Here: `synthetic 48`"),
        ("npz", 'Here: `npz "held.npz"`'),
        ("adamw", ""),
        (":batch", ""),
        (":lr", ""),
        (":b1", "Here: `0.9`"),
        (":steps", ""),
    ],
)
def test_here_says_what_the_text_does_not(piece: str, says: str) -> None:
    told = [line for line in prose(at(RUN, piece)).split("\n") if line.startswith("Here")]
    assert told == ([says] if says else [])


def test_the_averages_have_a_row_of_their_own() -> None:
    averaged, plain = analysed(RUN), analysed(RUN.replace(" :ema 0.99", ""))
    plan, without = plan_of(averaged), plan_of(plain)
    assert plan is not None
    assert without is not None
    assert (plan.average, without.average) == (18 * 4, 0)
    assert plan.parameters == without.parameters == 18 * 4
    assert [phase.bytes - plan.average for phase in plan.phases] == [phase.bytes for phase in without.phases]
    table = codes(hover(averaged, averaged.unit.main, RUN.index("defrun")))[0].split("\n")
    assert [line.split()[-2:] for line in table if line.startswith(AVERAGE)] == [gib(18 * 4).split()]
    assert AVERAGE not in codes(hover(plain, plain.unit.main, RUN.index("defrun")))[0]
