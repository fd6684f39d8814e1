"""The static pass: undefined names, malformed forms, arguments of direct calls, unused locals."""

from __future__ import annotations

import pytest

from sexpgpu.language.marks import Local
from sexpgpu.program.unit import Definition
from sexpgpu.reader.forms import ListForm
from support.units import assert_drawn, checked

# Names


def test_names_are_found_in_every_form_reached_or_not() -> None:
    assert_drawn("""\
(defun never (x)
  (if x (list missing-a) [missing-b 'quoted (quote also)]))
;             ^^^^^^^^^ error[E-NAME-001]
;                         ^^^^^^^^^ error[E-NAME-001]
(defmodel m (x) :frozen missing-c (scope missing-d :pretrained missing-e x))
;                       ^^^^^^^^^ error[E-NAME-001]
;                                        ^^^^^^^^^ error[E-NAME-001]
;                                                              ^^^^^^^^^ error[E-NAME-001]
(defun defaults (x &optional (y missing-f) &key (z y)) (list x y z))
;                               ^^^^^^^^^ error[E-NAME-001]
(print missing-g)
;      ^^^^^^^^^ error[E-NAME-001]
(defgenerate :trips missing-h :init (lambda (batch ctx) missing-i))
;                   ^^^^^^^^^ error[E-NAME-001]
;                                                       ^^^^^^^^^ error[E-NAME-001]
(defoptimizer (sgd :lr missing-j))
;                      ^^^^^^^^^ error[E-NAME-001]
""")


def test_locals_are_seen_where_they_are_bound_and_no_further() -> None:
    assert_drawn("""\
(def a (let ((x 1) (y x)) y))
;                     ^ error[E-NAME-001]
(def b (let* ((x 1) (y x)) y))
(def c (list (dolist (i (list i)) i) (dotimes (j 3) j) j))
;                             ^ error[E-NAME-001]
;                                                      ^ error[E-NAME-001]
(def d (lambda (p &optional (q p) &rest r &key (s (list q r t)) (t s)) t))
;                                                           ^ error[E-NAME-001]
(def e ((lambda (p) p) p))
;                      ^ error[E-NAME-001]
(defun f (p) (g p))
(defun g (q) (if q (f q) p))
;                        ^ error[E-NAME-001]
""")


def test_the_names_of_loaders_and_passes_are_no_values() -> None:
    found = assert_drawn("""\
(defloader train :batch 4)
(defpass eval :loader train :every 10)
(defpass other :loader trian :every 10)
(defrun :steps 10 :loader train)
(def x train)
;      ^^^^^ error[E-NAME-001]
""")
    assert found.diagnostics[0].help == "`train` is a loader, and no value"


def test_the_value_of_an_unknown_key_is_not_looked_at_for_names() -> None:
    assert_drawn("(defloader train :batch 4)\n(defpass eval :loder train :every 10)\n(defpass again :every train :every 10)")


def test_nearest_names_are_offered_locals_among_them() -> None:
    found = checked("(def width 8)\n(defun f (state) (list stat widht reluu (lett 1)))")
    helps = [diagnostic.help for diagnostic in found.diagnostics if diagnostic.rule.severity == "error"]
    assert helps == ["write state", "write width", "write relu", "write let or let*"]
    titles = [[(fix.title, fix.edits[0].text, fix.safe) for fix in diagnostic.fixes] for diagnostic in found.diagnostics]
    assert titles[1] == [("write width", "width", False)]


def test_a_call_of_something_undefined_silences_the_names_in_it_alone() -> None:
    assert_drawn("""\
(defun f (x) (reluu y (list z (nothing x)) (exp x x) (if x)))
;             ^^^^^ error[E-NAME-001]
;                                           ^^^ error[E-CALL-001]
;                                                     ^^ error[E-FORM-001]
(defun g (x) (lett ((exp 1) (if 2)) (list y x)))
;             ^^^^ error[E-NAME-001]
""")


def test_parameters_whose_lambda_is_gone_are_one_thing() -> None:
    assert_drawn("(def f ((a b c) (list a b)))\n;        ^ error[E-NAME-001]")


# Malformed forms


@pytest.mark.parametrize(
    "drawn",
    [
        "(def a (if))\n;       ^^ error[E-FORM-001]",
        "(def a (when true))\n;       ^^^^ error[E-FORM-001]",
        "(def a (quote 1 2))\n;               ^ error[E-FORM-001]",
        "(def a (let ((x 1))))\n;       ^^^ error[E-FORM-001]",
        "(def a (let ((x)) x))\n;            ^^^ error[E-FORM-001]",
        "(def a (let (()) 1))\n;            ^^ error[E-FORM-001]",
        "(def a (let ((x 1 2)) x))\n;                 ^ error[E-FORM-001]",
        "(def a (let [[x 1]] x))\n;           ^^^^^^^ error[E-FORM-001]",
        "(def a (let ((x 1) (x 2)) x))\n;                   ^ error[E-FORM-001]",
        "(def a (let* ((x 1) (x 2)) x))",
        "(def a (let () 1))",
        "(def a (list (and) (or) (progn) (cond)))",
        "(def a (lambda (x)))\n;       ^^^^^^ error[E-FORM-001]",
        "(def a (lambda (x &optional (y)) x))\n;                           ^^^ error[E-FORM-001]",
        "(def a (dotimes i 1))\n;               ^ error[E-FORM-001]",
        "(def a (dotimes (i) 1))\n;               ^^^ error[E-FORM-001]",
        "(def a (dolist (i 1 2) 1))\n;                   ^ error[E-FORM-001]",
        "(def a (dolist (i 1)))\n;       ^^^^^^ error[E-FORM-001]",
        "(def a (cond () (true 1)))\n;            ^^ error[E-FORM-001]",
        "(def a (cond (true)))",
        "(def a (scope :a))\n;       ^^^^^ error[E-FORM-001]",
        "(def a (scope :a :frozen true))\n;       ^^^^^ error[E-FORM-001]",
        "(def a (scope :a :forzen true 1))\n;                ^^^^^^^ error[E-FORM-001]",
        "(def a (scope :a :remat true :remat true 1))\n;                            ^^^^^^ error[E-FORM-001]",
        "(def a (scope 1 :frozen true :pretrained nil :remat false 1))",
        " (def)\n; ^^^ error[E-FORM-001]",
        " (def :a 1)\n;     ^^ error[E-FORM-001]",
        " (def (a) 1)\n;     ^^^ error[E-FORM-001]",
        " (defun f (x))\n; ^^^^^ error[E-FORM-001]",
        ' (defun f () "text")',
        " (defun (f x) x 1)\n;       ^^^^^ error[E-FORM-001]",
        " (defmodel m (x) :frozen true)\n; ^^^^^^^^ error[E-FORM-001]",
        " (defmodel m (x) :frozen)\n; ^^^^^^^^ error[E-FORM-001]",
        " (defmodel m x :frozen true 1)\n;            ^ error[E-FORM-001]",
        " (defloader)\n; ^^^^^^^^^ error[E-FORM-001]",
        " (defloader :batch 4)\n;           ^^^^^^ error[E-FORM-001]",
        " (defloader train :batch)\n;                 ^^^^^^ error[E-FORM-001]",
        " (defloader train :batch 4 5)\n;                          ^ error[E-FORM-001]",
        ' (defpass "eval" :every 1)\n;         ^^^^^^ error[E-FORM-001]',
        " (defgenerate 6 :trips 6)\n;             ^ error[E-FORM-001]",
        " (defgenerate)",
        " (defoptimizer)\n; ^^^^^^^^^^^^ error[E-FORM-001]",
        " (defoptimizer (sgd :lr 1.0) :clip 1.0)\n;                            ^^^^^ error[E-FORM-001]",
        ' (defrun "mine" :steps 1)\n;        ^^^^^^ error[E-FORM-001]',
        " (defrun mine yours :steps 1)\n;             ^^^^^ error[E-FORM-001]",
        " (defrun)",
        " (foo 1)\n; ^^^ error[E-FORM-001]",
        " ()\n;^^ error[E-FORM-001]",
        " [1 2]\n;^^^^^ error[E-FORM-001]",
        " 'a\n;^^ error[E-FORM-001]",
        " :a\n;^^ error[E-FORM-001]",
        ' "text"\n;^^^^^^ error[E-FORM-001]',
        " ((lambda (x) x) 1)\n; ^^^^^^^^^^^^^^ error[E-FORM-001]",
        " (let ((x 1)) missing)\n; ^^^ error[E-FORM-001]",
        "(def a (progn (defun f (x) missing) (f 1)))\n;              ^^^^^ error[E-FORM-001]",
        "(def a (mapcar let (list 1)))\n;              ^^^ error[E-FORM-001]",
        "(def a (list defrun))\n;            ^^^^^^ error[E-FORM-001]",
        '(assert true "m")\n(print 1)',
    ],
)
def test_a_malformed_form_is_shown_at_its_smallest_part(drawn: str) -> None:
    assert_drawn(drawn)


def test_names_in_a_malformed_form_are_not_missed_but_calls_and_forms_are_judged() -> None:
    assert_drawn("""\
(defun f (x)
  (let ((3 missing) (y (exp x x)) (abs z)) (list missing (if x) (abs 1 2))))
;        ^ error[E-FORM-001]
;                       ^^^ error[E-CALL-001]
;                                                         ^^ error[E-FORM-001]
(defun g (x 3) (list missing (exp x x)))
;           ^ error[E-FORM-001]
;                             ^^^ error[E-CALL-001]
(defloader train :batch missing 4)
;                               ^ error[E-FORM-001]
""")


def test_a_token_that_does_not_read_is_told_once() -> None:
    assert_drawn("""\
(def a (let ((12x 1)) (+ y 1)))
;             ^^^ error[E-READ-003]
(def b (lambda (x 1.) y))
;                 ^^ error[E-READ-003]
(def c (exp 1.))
;           ^^ error[E-READ-003]
(def d (exp 1. 2))
;       ^^^ error[E-CALL-001]
;           ^^ error[E-READ-003]
(def e (exp 1 :))
;             ^ error[E-READ-003]
(def f (sum c :))
;             ^ error[E-READ-003]
(defloader train : 4)
;                ^ error[E-READ-003]
""")


# Locals may shadow anything


def test_locals_shadow_special_forms_operators_and_definitions() -> None:
    found = assert_drawn("""\
(defun f (if exp let list)
  (if exp let list 1 2 3 4 5)
  (exp 1 2)
  (let 1)
  (mapcar let (list if)))
(defun g (x def)
  (list (def x) def (when x (exp x))))
""")
    assert sorted(form.text for form in found.marks.ordinary) == ["(if exp let list 1 2 3 4 5)", "(let 1)"]


# Arguments


def test_the_arguments_of_direct_calls() -> None:
    found = assert_drawn("""\
(defun own (a &optional b &key (c 1) &rest more) (list a b c more))
(defun fixed (a b) (+ a b))
(defmodel net (x) x)
(def f (lambda (x) x))
(def calls (list (fixed 1) (fixed 1 2) (net) (own) (f 1 2 3)))
;                 ^^^^^ error[E-CALL-001]
;                                       ^^^ error[E-CALL-001]
;                                             ^^^ error[E-CALL-001]
(defun local (fixed) (fixed 1 2 3))
(def ops (list (sum 1 :axs 0) (sum 1 2) (sum 1 f) (sum 1 :axes) (roll 1 2 :axis 0)))
;                     ^^^^ error[E-CALL-001]
;                              ^^^ error[E-CALL-001]
;                                        ^^^ error[E-CALL-001]
;                                                        ^^^^^ error[E-CALL-001]
(def unsure (list (sum 1 f 0) (sum 1 f :axs) (sum 1 (first (list :axes)) 0)))
(def prelude (list (linear :a 1) (linear :a 1 2 :bais false)))
;                   ^^^^^^ error[E-CALL-001]
;                                               ^^^^^ error[E-CALL-001]
(print)
;^^^^^ error[E-CALL-001]
""")
    typo = next(
        diagnostic for diagnostic in found.diagnostics if diagnostic.span.source.text[diagnostic.span.start :][:4] == ":axs"
    )
    assert typo.help == "write :axes"
    assert [edit.text for fix in typo.fixes for edit in fix.edits] == [":axes"]


def test_a_function_defined_twice_or_unreadably_is_not_counted() -> None:
    assert_drawn("""\
(defun f (x) x)
(defun f (x y) (+ x y))
;      ^ error[E-NAME-002]
(def a (list (f 1) (f 1 2) (f 1 2 3)))
""")


# Unused locals


def test_unused_locals() -> None:
    assert_drawn("""\
(defun f (a b &optional (c a) &key d &rest _e)
;           ^ hint[H-NAME-001]
;                        ^ hint[H-NAME-001]
;                                  ^ hint[H-NAME-001]
  (let ((x 1) (y 2)) (let* ((y y) (z y)) x)))
;                                  ^ hint[H-NAME-001]
(def g (dolist (i (list 1)) (dotimes (_ 3) 1)))
;               ^ hint[H-NAME-001]
(def h (lambda (x) (lambda (x) x)))
;               ^ hint[H-NAME-001]
(defmodel model (x unused) x)
;                  ^^^^^^ hint[H-NAME-001]
""")


def test_nothing_is_called_unused_where_something_is_wrong() -> None:
    assert_drawn("""\
(defun a (x y) (+ x yy))
;                   ^^ error[E-NAME-001]
(defun b (x y) (let ((z)) x))
;                    ^^^ error[E-FORM-001]
(defun c (x y) (+ x 1.))
;                   ^^ error[E-READ-003]
(defun d (x y) (exp))
;               ^^^ error[E-CALL-001]
(defun e (x y)
;           ^ hint[H-NAME-001]
  x)
""")


def test_the_parameters_of_functions_for_the_runtime_are_exempt() -> None:
    assert_drawn("""\
(defun record (index) (list :x 1))
(def rows record)
(defloader train :batch 1 :fields (list :x (spec [] :i32))
  :stages (list (synthetic 4 record) (synthetic 4 (lambda (i) (list :x 1))) (synthetic 4 rows)))
(defun prepare (batch ctx) (list :x 1))
(def objective (lambda (inputs ctx) 1.0))
(defun curriculum (stage ctx observations) 0)
(defun start (batch ctx) (list :x 1))
(def advance (let ((step (lambda (state trip ctx) state))) step))
(defgenerate :trips 1 :init start :step advance :finish (if true (lambda (state ctx) (list :y 1)) start))
(defpass eval :loader train :every 1 :prepare (lambda (batch ctx) 1) :objective (cond (true (lambda (inputs ctx) 1))))
(defun flat (peak) (lambda (ctx) peak))
(defoptimizer (adamw :lr (flat 0.1) :mask (lambda (path shape) true)))
(defoptimizer :init (lambda (param) (list)) :update (lambda (param grad state ctx) (list)))
(defrun :steps 1 :stop-when (lambda (ctx observations) false))
(defun other (batch ctx) 1)
;             ^^^^^ hint[H-NAME-001]
;                   ^^^ hint[H-NAME-001]
""")


# Marks


def test_what_is_wrong_is_broken_and_nothing_else() -> None:
    found = checked("(def a (list (exp 1 2) missing (nothing 1) (if) if (exp 1)))")
    assert sorted(form.text for form in found.marks.broken) == ["(exp 1 2)", "(if)", "(nothing 1)", "if", "missing", "nothing"]


def test_a_call_that_a_wrong_part_makes_look_wrong_is_broken_too() -> None:
    calls = "(12x 1) ((nothing) 1) (own 1 :) (own 1 12x 2) (own 1 missing 2)"
    found = checked(f"(defun own (a &key b) (list a b))\n(def x (list {calls} (own missing :b 12x) (own :b 1)))")
    broken = {form.text for form in found.marks.broken if isinstance(form, ListForm)}
    assert broken == {"(12x 1)", "((nothing) 1)", "(nothing)", "(own 1 :)", "(own 1 12x 2)", "(own 1 missing 2)", "(own :b 1)"}


def test_every_symbol_refers_to_what_it_names() -> None:
    text = "(defloader train :batch 1)\n(defun f (x) (let ((y (exp x))) (linear :a y 2)))\n(defpass p :loader train :every (f 1))"
    marks = checked(text).marks
    refers = {
        (form.text, form.start): f"{to.kind} {to.name}" if isinstance(to, Definition) else f"local of {to.form.items[0].text}"
        for form, to in marks.references.items()
    }
    assert refers == {
        ("train", 11): "defloader train",
        ("f", 7): "defun f",
        ("x", 10): "local of defun",
        ("y", 20): "local of let",
        ("exp", 23): "operator exp",
        ("x", 27): "local of defun",
        ("linear", 33): "defun linear",
        ("y", 43): "local of let",
        ("p", 9): "defpass p",
        ("train", 19): "defloader train",
        ("f", 33): "defun f",
    }
    assert {definition.name for definition in marks.definitions_used} == {"exp", "linear", "train", "f"}
    assert [(local.name, local.used) for local in marks.locals] == [("x", True), ("y", True)]
    values = {local.name: local.value.text if local.value else None for local in marks.locals if isinstance(local, Local)}
    assert values == {"x": None, "y": "(exp x)"}
    assert all(isinstance(local.form, ListForm) for local in marks.locals)


def test_deep_nesting_is_walked() -> None:
    for opener, closer in (("(list ", ")"), ("(let ((x 1)) ", ")"), ("(lambda (x) ", ")"), ("((lambda (x) x) ", ")"), ("[", "]")):
        deep = 250
        assert checked(f"(def a {opener * deep}missing{closer * deep})").codes == ["E-NAME-001"]
        assert checked(f"(def a (if {opener * deep}missing{closer * deep}))").codes == ["E-FORM-001"]
