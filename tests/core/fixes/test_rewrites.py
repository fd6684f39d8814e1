"""Rewrites that mend nothing: what they leave is formatted, means the same, and is offered only where that is so."""

from __future__ import annotations

import pytest

from support.mending import analysed, rewrites, rewritten

RUN = """\
(defloader train
  :batch 4
  :fields (list :row (spec [8] :f32))
  :source (synthetic 64 (lambda (index) (list :row (full [8] 1.0)))))

(defmodel model (x)
  (linear :out x 8))

(defgenerate
  :trips 4
  :init (lambda (batch ctx) (list :z (field batch :row)))
  :step (lambda (state trip ctx) (list :z (model (getf state :z)))))

(defun prepare (batch ctx)
  (list :x (field batch :row)))

(defun objective (inputs ctx)
  (let ((x (field inputs :x)))
    (metric "loss" (mean (square (- (model x) x))))))

(defoptimizer (sgd :lr 0.1))

(defrun :steps 10)
"""


def codes(text: str) -> list[str]:
    return [each.code for each in analysed(text).diagnostics]


def offered(text: str, selected: str = "") -> set[str]:
    return {each.title for each in rewrites(text, selected) if not each.disabled}


def test_an_expression_gets_a_name() -> None:
    text = rewritten(RUN, "(- (model x) x)", "extract into a let binding")
    assert '    (let ((value (- (model x) x)))\n      (metric "loss" (mean (square value))))))\n' in text
    assert codes(text) == codes(RUN)


def test_the_name_is_that_of_the_key_which_is_read_and_not_taken() -> None:
    text = rewritten(RUN, "(getf state :z)", "extract into a let binding")
    assert "(let ((z (getf state :z)))" in text
    text = rewritten(
        RUN.replace("(getf state :z)", "(tanh (getf state :z))"), "(tanh (getf state :z))", "extract into a let binding"
    )
    assert "(let ((tanh-value (tanh (getf state :z))))" in text
    assert codes(text) == codes(RUN)


@pytest.mark.parametrize("selected", [":loss", "(x (field", "defun", "let", ":row"])
def test_what_is_no_expression_is_not_extracted(selected: str) -> None:
    assert "extract into a let binding" not in offered(RUN, selected if selected in RUN else "defun")


def test_why_it_is_not_is_said() -> None:
    (found,) = [each for each in rewrites(RUN, ":row") if each.title == "extract into a let binding"]
    assert found.disabled == "what is selected is no expression"
    assert not found.edits


def test_a_branch_is_where_its_parts_are_bound() -> None:
    text = "(defun f (n)\n  (if (> n 0) (/ 1 n) 0))\n\n(def a (f 2))\n"
    assert "(if (> n 0)\n" in rewritten(text, "(/ 1 n)", "extract into a let binding").replace(
        "(if (> n 0) (let", "(if (> n 0)\n(let"
    )
    assert "extract into a let binding" not in offered("(def n 1)\n\n(def a (and (> n 0) (/ 1 n)))\n", "(/ 1 n)")


def test_what_sees_the_bindings_before_it_stays_among_them() -> None:
    text = "(defun f (x)\n  (let* ((y (* x 2))\n         (z (+ 1 (* y 3))))\n    (+ y z)))\n\n(def a (f 2))\n"
    assert "         (value (* y 3))\n         (z (+ 1 value)))\n" in rewritten(text, "(* y 3)", "extract into a let binding")
    text = "(defun f (x &optional (y (* x 2)))\n  (+ x y))\n\n(def a (f 2))\n"
    assert "extract into a let binding" not in offered(text, "(* x 2)")


def test_a_binding_that_is_read_once_is_inlined() -> None:
    text = "(defun f (x)\n  (let ((|y (* x 2)))\n    (+ y 1)))\n\n(def a (f 2))\n"
    assert rewritten(text, "", "inline y") == "(defun f (x)\n  (+ (* x 2) 1))\n\n(def a (f 2))\n"
    text = "(defun f (x)\n  (let* ((|y (* x 2))\n         (z (+ y 1)))\n    z))\n\n(def a (f 2))\n"
    assert "(let* ((z (+ (* x 2) 1)))" in rewritten(text, "", "inline y")


@pytest.mark.parametrize(
    "text",
    [
        "(defun f (x) (let ((|y (* x 2))) (+ y y)))",
        "(defun f (x) (let ((|y (* x 2))) (let ((x 1)) (+ x y))))",
        "(defun f (x) (let ((|y (* x 2))) (mapcar (lambda (i) (+ i y)) (range 3))))",
    ],
)
def test_a_binding_that_would_mean_something_else_is_not_inlined(text: str) -> None:
    assert "inline y" not in offered(text)


def test_let_and_let_star() -> None:
    text = "(def a (|let ((b 1)\n             (c 2))\n         (+ b c)))\n"
    assert rewritten(text, "", "turn into let*").startswith("(def a (let* ((b 1)\n              (c 2))\n")
    assert "turn into let" not in offered("(def a (|let* ((b 1) (c b)) (+ b c)))")


def test_a_tensor_is_cast() -> None:
    assert "(- (cast (model x) :i32) x)" in rewritten(RUN, "(model x)", "wrap in (cast … :i32)")
    assert "wrap in (cast … :f32)" not in offered(RUN, "(model x)")
    assert not offered(RUN, ' "loss"') & {"wrap in (cast … :f32)", "wrap in (cast … :i32)"}


def test_what_a_run_may_have() -> None:
    text = rewritten(RUN.replace("(defrun", "(|defrun"), "", "add a pass")
    assert "(defpass eval\n  :loader train\n  :every 100)\n\n(defrun" in text
    assert codes(text) == codes(RUN)
    assert "add a pass" not in offered(text.replace("(defrun", "(|defrun"))
    assert "add a pass" not in offered(RUN.replace("(synthetic 64", "(synthetic 3").replace("(defrun", "(|defrun"))
    text = rewritten(RUN.replace("(defgenerate", "(|defgenerate"), "", "add a :finish")
    assert "  :finish (lambda (state ctx)\n            (list :z (getf state :z))))" in text
    assert codes(text) == codes(RUN)
    text = rewritten(RUN.replace("(defun prepare", "(defun |prepare"), "", "hand :z on")
    assert "(list :x (field batch :row) :z (field batch :z))" in text
    assert codes(text) == []


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("(defun f (x)\n  (if (> x 1) (* x 2) 3))\n", "(* x 2)"),
        ("(defun f (x)\n  (mapcar (lambda (y) (+ x y)) (range 3)))\n", "(+ x y)"),
        ("(defun f (x)\n  (let ((y (+ x 1))) (* y x)))\n", "(+ x 1)"),
        ("(defun f (x)\n  (cond ((> x 1) 2) (true 3)))\n(defun g (x)\n  [1 (* x 2)])\n", "(* x 2)"),
        ("(defmodel m (x)\n  (linear :out (tanh x) 8))\n", "(tanh x)"),
        ("(defun f (x)\n  (later (* x 2)))\n", "(* x 2)"),
    ],
)
def test_a_function_that_nothing_calls_has_expressions_too(text: str, selected: str) -> None:
    found = [each for each in rewrites(text, selected) if each.title == "extract into a let binding"]
    assert [each.disabled for each in found] == [""]
    assert codes(rewritten(text, selected, "extract into a let binding")) == codes(text)


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("(defun f (x)\n  (list x '(a (b c))))\n", "(b c)"),
        ("(defun f (x)\n  (let ((y 2)) (+ y x)))\n", "((y 2))"),
        ("(defun f (x &key (y 2)) (+ y x))\n", "(y 2)"),
        ('(defun f (x)\n  "What it does."\n  (+ x 1))\n', '"What it does."'),
        ("(defun f (x)\n  (cond ((> x 1) 2) (true 3)))\n", "((> x 1) 2)"),
        ("(defun f (x)\n  (+ x 1))\n", "defun"),
    ],
)
def test_what_is_never_evaluated_is_no_expression(text: str, selected: str) -> None:
    (found,) = [each for each in rewrites(text, selected) if each.title == "extract into a let binding"]
    assert found.disabled == "what is selected is no expression"


def test_a_form_with_an_error_is_the_reason_where_it_is() -> None:
    (found,) = [
        each for each in rewrites("(defun f (x)\n  (let (y) (+ y (* x 2))))\n", "(* x 2)") if each.title.startswith("extract")
    ]
    assert found.disabled == "a form around it has an error"
