"""To write a value where its name is read is offered only where it is the same value there, and loses no comment."""

from __future__ import annotations

import pytest

from support.mending import analysed, rewrites, rewritten


def offered(text: str) -> bool:
    return any(each.title == "inline a" and not each.disabled for each in rewrites(text, ""))


@pytest.mark.parametrize(
    "body",
    [
        "(let ((|a (+ x 4)) (x 3)) (+ a x))",
        "(let ((x 3) (|a (+ x 4))) (+ a x))",
        "(let ((|a (g x)) (g 3)) (+ a g))",
        "(let ((|a (if x 1 2)) (if 3)) (+ a if))",
        "(let* ((|a (+ x 4)) (x 3)) (+ a x))",
        "(let* ((|a (+ x 4)) (x 3) (z (+ a x))) z)",
        "(let ((|a (+ x 4))) (let ((x 3)) (+ a x)))",
        "(let ((|a (+ x 4))) (let* ((y 1) (x y) (z (+ a x))) z))",
        "(let ((|a (lambda (y) (+ x y)))) (let ((x 3)) (+ x (a 1))))",
        "(let ((|a [x 2])) (let ((x 3)) (list a x)))",
        "(let ((|a (+ x 4))) ((lambda (x) (+ x a)) 1))",
        "(let ((|a (+ x 4))) (dotimes (x 3) (+ x a)))",
        "(let ((|a (+ x 4))) (dolist (x (list 3)) (+ x a)))",
        "(let ((|a (print x))) (unless (> x 1) a))",
        "(let ((|a (print x))) (when (> x 1) a))",
        "(let ((|a (+ x 4))) (list x 'a))",
        "(let ((|a (+ x 4))) (list a 'a))",
        "(let ((|a (+ x 4))) (list x (if a)))",
    ],
)
def test_what_would_read_something_else_or_at_another_time_stays(body: str) -> None:
    assert not offered(f"(defun g (x) (* x 2))\n\n(defun f (x)\n  {body})\n\n(def z (f 5))\n")


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("(let ((|a (+ x 4)) (y 3)) (+ a y))", "(let ((y 3)) (+ (+ x 4) y))"),
        ("(let ((x 3)) (let ((|a (+ x 4))) (+ a x)))", "(let ((x 3)) (+ (+ x 4) x))"),
        ("(let ((|a (let ((x 1)) x))) (let ((y 2)) (+ a y)))", "(let ((y 2)) (+ (let ((x 1)) x) y))"),
        ("(let ((|a ((lambda (y) (+ x y)) 1))) (let ((y 2)) (+ a y)))", "(let ((y 2)) (+ ((lambda (y) (+ x y)) 1) y))"),
        ("(let ((a 2)) (let* ((|a (+ a x)) (b a)) b))", "(let ((a 2)) (let* ((b (+ a x))) b))"),
        ("(let ((|a 'x)) (let ((x 3)) (list a x)))", "(let ((x 3)) (list 'x x))"),
        ("(let ((|a (+ x 4))) a)", "(+ x 4)"),
    ],
)
def test_what_is_the_same_there_is_written_there(body: str, left: str) -> None:
    text = f"(defun f (x)\n  {body})\n\n(def z (f 5))\n"
    done = rewritten(text, "", "inline a")
    assert " ".join(done.split()) == f"(defun f (x) {left}) (def z (f 5))"
    assert {each.code for each in analysed(done).diagnostics} <= {"H-NAME-001"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("(let ((|a (+ x 1))) ; keep\n    (+ a x)))", "; keep\n  (+ (+ x 1) x))"),
        ("(let ((|a (+ x 1))) ; one\n    ; two\n    (+ a x) ; three\n    ))", "; one\n  ; two\n  (+ (+ x 1) x) ; three\n  )"),
        ("(list x (let ((|a (+ x 1))) #;(keep) (+ a x))))", "(list x #;(keep) (+ (+ x 1) x)))"),
        ("(let ((|a (+ x ; keep\n              1)))\n    (+ a x)))", "(+ (+ x ; keep\n        1) x))"),
        (
            "(let* ((|a (* x 2)) ; keep\n         (b 3)) ; too\n    (+ a b)))",
            "(let* ( ; keep\n         (b 3)) ; too\n    (+ (* x 2) b)))",
        ),
    ],
)
def test_comments_around_a_value_stay(text: str, left: str) -> None:
    assert rewritten(f"(defun f (x)\n  {text}\n", "", "inline a") == f"(defun f (x)\n  {left}\n"


@pytest.mark.parametrize(
    "text",
    [
        "(let ((|a ; why\n         (* x 2))\n        (b 3))\n    (+ a b)))",
        "(let ((|a (normal [2]))) ; sexpgpu: ignore[W-GEN-001]\n    (+ a x)))",
        "(let ((|a (normal [2])) ; sexpgpu: ignore[W-GEN-001]\n        (b 3))\n    (+ a b)))",
    ],
)
def test_where_a_comment_could_not_stay_nothing_is_offered(text: str) -> None:
    assert not offered(f"(defun f (x)\n  {text}\n")
