"""The rules of the formatter, each with a text before and after."""

from __future__ import annotations

import pytest

from sexpgpu.format import WIDTH
from support.formatting import check_formatting, form

# What is written with a line break where the author wants one, and how it then stands.
INDENTED = [
    "(defun f (x)\n  (relu x))",
    '(defun f (x)\n  "Twice x."\n  (* 2 x))',
    "(defun a-name\n    (x)\n  x)",
    "(defmodel teacher (x)\n  :frozen true\n  (linear :out x 3))",
    "(def width\n  64)",
    "(defun f (x &key (a 1)\n          (b 2))\n  x)",
    "(defun f (x)\n  (let ((a 1)\n        (b 2))\n    (+ a b)))",
    "(defun f (x)\n  (let* ((a 1)\n         (b\n           2))\n    b))",
    "(defun f (x)\n  (when x\n    (print x)\n    x))",
    "(defun f (x)\n  (unless\n      x\n    1))",
    "(defun f (x)\n  (progn\n    x\n    x))",
    "(defun f (x)\n  (dotimes (i 3)\n    (dolist (j x)\n      i)))",
    "(defun f (x)\n  (scope :block\n    :remat true\n    x))",
    "(defun f (x)\n  (scope :block :remat true\n    x))",
    "(def f (lambda (x)\n         x))",
    "(defun f (x)\n  (if (null x)\n      1\n      2))",
    "(defun f (n)\n  (cond ((< n 2) :small)\n        ((< n 8)\n         :medium)\n        (true :large)))",
    "(def x (and 1\n            2))",
    "(def x (list :a 1\n             :b 2))",
    "(def x (list\n         :a 1\n         :b 2))",
    "(def x (f\n         1\n         2))",
    "(def x ((ema model) 1\n                    2))",
    "(def x ((ema model)\n        1))",
    "(def x [1 2\n        3])",
    "(def x '(defun f\n         g))",
    "(def x (quote (if a\n               b)))",
    "(def x '[(let a\n          b)])",
    "(defloader train\n  :batch 4\n  :source (synthetic 8\n            (lambda (i)\n              (list :x i))))",
    "(defgenerate :trips 6\n             :init start\n             :step go)",
    "(defgenerate\n  :trips 6\n  :init start\n  :step go)",
    "(defrun :steps 1)",
    "(defrun\n  :steps 1\n  :seed 2)",
    "(defpass eval :loader held :every 10)",
    "(defoptimizer\n  (adam :lr 0.1))",
    '(load\n  "a.sx")',
    '(def x (f "two\n lines" (g 1\n           2)))',
    "(def 幅 (広い 1\n              2))",
]


@pytest.mark.parametrize("text", INDENTED)
def test_indentation(text: str) -> None:
    assert check_formatting(text + "\n") == text + "\n"
    if '"two' not in text:
        for margin in ("", " ", "\t", " " * 20):
            assert check_formatting(with_margin(text, margin)) == text + "\n"


def with_margin(text: str, margin: str) -> str:
    """The text with another margin before all lines but the first. An opener always has one: in column 0 it would begin a form."""
    first, *others = (each.lstrip() for each in text.split("\n"))
    return "\n".join([first, *((margin or " " * each.startswith(("(", "["))) + each for each in others)])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # spaces
        ("(def  x\t( f  1 )   )", "(def x (f 1))"),
        ('(def x(f 1)"s"[ 1 2])', '(def x (f 1) "s" [1 2])'),
        ("(def x ' ( a  b ))", "(def x '(a b))"),
        ("(def x\u3000\x0c1)", "(def x 1)"),
        ("  (def x 1)  ", "(def x 1)"),
        ("(def x '\n  a)", "(def x 'a)"),
        ("(def x ())", "(def x ())"),
        ("(def x (  \n ))", "(def x ())"),
        # closers and heads
        ("(def x (f 1\n  )\n)", "(def x (f 1))"),
        ("(\n  def x 1)", "(def x 1)"),
        ("(def x [\n 1\n 2\n ])", "(def x [1\n        2])"),
        # forms begin lines
        ("(def x 1) (def y 2)", "(def x 1)\n(def y 2)"),
        ("(def x 1) #| y |# (def y 2)", "(def x 1)\n#| y |# (def y 2)"),
        ("(def x 1) #| x |#", "(def x 1) #| x |#"),
        # keys
        ("(def x (f 1 :axis\n  2))", "(def x (f 1 :axis 2))"),
        ("(def x (list :a\n  (g 1)\n :b\n 2))", "(def x (list :a (g 1)\n             :b 2))"),
        ("(def x (f 1 :dtype\n  :f16))", "(def x (f 1 :dtype :f16))"),
        ("(def x (list :f32\n  :f16))", "(def x (list :f32\n             :f16))"),
        ("(def x (layer :name\n  x))", "(def x (layer :name\n              x))"),
        ("(def x (f 1 :by\n (lambda (x)\n x)))", "(def x (f 1 :by\n              (lambda (x)\n                x)))"),
        ("(defloader t :batch 4 :fields f\n :source s)", "(defloader t\n  :batch 4\n  :fields f\n  :source s)"),
        ("(defrun :steps 4 :seed\n 1 :stack 2)", "(defrun :steps 4 :seed 1 :stack 2)"),
        ("(defrun :steps 4 :seed 1\n :stack 2)", "(defrun :steps 4\n        :seed 1\n        :stack 2)"),
        ("(defpass e :loader l :every (f 1\n 2))", "(defpass e\n  :loader l\n  :every (f 1\n            2))"),
        # blank lines
        ("\n\n(def x 1)\n\n\n\n\n(def y 2)\n\n\n", "(def x 1)\n\n\n(def y 2)"),
        ("(defun f (x)\n\n\n\n  1\n\n  2\n\n)", "(defun f (x)\n\n  1\n\n  2)"),
        ("(def x (\n\n f 1))", "(def x (f 1))"),
        ("(def x 1)\n \t \n(def y 2)", "(def x 1)\n\n(def y 2)"),
    ],
)
def test_spaces_and_lines(before: str, after: str) -> None:
    assert check_formatting(before) == after + "\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(f ; a\n1)", "(f ; a\n  1)"),
        ("(f 1;a\n)", "(f 1) ;a"),
        ("(f (g 1    ; a\n   )\n ) ; b", "(f (g 1)    ; a\n   ) ; b"),
        ("(f 1 ; a\n ) ; b\n", "(f 1 ; a\n   ) ; b"),
        ("(f 1\n) ; b\n", "(f 1) ; b"),
        ("(f 1 ; a\n) (g 2)", "(f 1) ; a\n(g 2)"),
        ("(f 1\n; a\n)", "(f 1\n   ; a\n   )"),
        ("(defun f (x)\n; a\n; b\n  x)", "(defun f (x)\n  ; a\n  ; b\n  x)"),
        ("(let ((a 1)\n;; of b\n (b 2))\n a)", "(let ((a 1)\n      ;; of b\n      (b 2))\n  a)"),
        ("(f 1 ;  a\n   2)", "(f 1 ;  a\n   2)"),
        ("(f 1\t;a\n 2)", "(f 1 ;a\n   2)"),
        ("   ; a\n(f 1)", "; a\n(f 1)"),
        ("(f #| a |#1 #|b|#)", "(f #| a |# 1 #|b|#)"),
        ("(f 1\n #| two\nlines |#\n 2)", "(f 1\n   #| two\nlines |#\n   2)"),
        ("(f #;( g  1 ) 2\n3)", "(f #;( g  1 ) 2\n   3)"),
        ("#;\n(f   1)\n(g  2)", "#;\n(f   1)\n(g 2)"),
        ("(def x ' ; a\n (b))", "(def x ' ; a\n        (b))"),
        ("' ; a\n (b)", "' ; a\n (b)"),
    ],
)
def test_comments(before: str, after: str) -> None:
    assert check_formatting(before) == after + "\n"


def line(count: int) -> str:
    return " ".join(f"(g number-{index})" for index in range(count))


def test_what_fits_stays_on_its_line() -> None:
    fits = f"(def x (f {'a' * 50} {'b' * (WIDTH - 63)}))"
    assert len(fits) == WIDTH
    assert check_formatting(fits) == fits + "\n"
    assert check_formatting(fits.replace("b", "bb", 1)) == fits.replace("x ", "x\n  ").replace("b", "bb", 1) + "\n"


def test_a_list_that_is_too_long_is_broken_at_its_parts() -> None:
    assert check_formatting(f"(def x (f {'a' * 50} (g {'b' * 36})))") == f"(def x\n  (f {'a' * 50} (g {'b' * 36})))\n"
    parts = ["(g 1)", f"(h {'a' * 60})", f"(i {'b' * 40})"]
    assert check_formatting(f"(defun f (x) (f {' '.join(parts)}))") == (
        f"(defun f (x)\n  (f {parts[0]}\n     {parts[1]}\n     {parts[2]}))\n"
    )


def test_atoms_stay_beside_the_head_that_is_broken() -> None:
    long = f"(g {'a' * 90})"
    assert check_formatting(f"(def x\n  (f a b {long}))") == f"(def x\n  (f a b\n     {long}))\n"


def test_keys_keep_their_values_when_a_list_is_broken() -> None:
    long = f"(g {'a' * 60})"
    assert check_formatting(f"(f x :alpha {long} :beta {long})") == f"(f x\n   :alpha {long}\n   :beta {long})\n"
    assert (
        check_formatting(f"(defpass eval :loader {long} :every {long})") == f"(defpass eval\n  :loader {long}\n  :every {long})\n"
    )
    assert check_formatting(f"(defrun :loader {long} :every {long})") == f"(defrun\n  :loader {long}\n  :every {long})\n"


def test_bindings_and_bodies_that_are_too_long() -> None:
    first, second = f"(a (g {'a' * 40}))", f"(b (g {'b' * 50}))"
    assert check_formatting(f"(let ({first} {second}) c)") == f"(let ({first}\n      {second})\n  c)\n"


def test_long_vectors_are_filled() -> None:
    numbers = " ".join(str(number) for number in range(1000, 1040))
    result = check_formatting(f"(def x\n  [{numbers}])")
    lines = result.split("\n")
    assert [len(each) for each in lines[1:3]] == [97, 97]
    assert all(each.startswith("   1") for each in lines[2:-1])


def test_a_broken_list_gets_one_more_break_where_a_part_does_not_fit() -> None:
    long = f"(g {'a' * 60})"
    assert check_formatting(f"(f {long} {long}\n b)") == f"(f {long}\n   {long}\n   b)\n"


def test_wide_characters_take_two_columns() -> None:
    narrow, wide = f'(f "{"a" * 60}" (g 1))', f'(f "{"幅" * 48}" (g 1))'
    assert check_formatting(narrow) == narrow + "\n"
    assert check_formatting(wide) == f'(f "{"幅" * 48}"\n   (g 1))\n'


def test_comments_may_be_long() -> None:
    text = f"(def x (f 1)) ; {'a' * WIDTH}\n"
    assert check_formatting(text) == text


def test_a_line_that_silences_something_keeps_what_stands_on_it() -> None:
    long = f"(g {'a' * 60})"
    for text in (
        f"(f x {long} {long}) ; sexpgpu: ignore[W-NAME-001]\n",
        f"; sexpgpu: ignore[W-NAME-001]\n(f x {long} {long})\n",
        "(def sum 1) (def mean 2) ; sexpgpu: ignore[W-NAME-001]\n",
        "(f x :axis ; sexpgpu: ignore[W-NAME-001]\n       1)\n",
        "(f x :axis\n       1) ; sexpgpu: ignore[W-NAME-001]\n",
    ):
        assert check_formatting(text) == text


@pytest.mark.parametrize("text", ["", "\n\n", " \t\r\n", "\ufeff", "\ufeff\n \n"])
def test_a_text_of_white_space_becomes_empty(text: str) -> None:
    assert check_formatting(text) == ("\ufeff" if text.startswith("\ufeff") else "")


@pytest.mark.parametrize("text", ["(def  x 1", "(def  x 1))", "(def  x  12x)", '(def  x "a', "#| ", "(f  ')", "(a  ]"])
def test_what_does_not_read_stays(text: str) -> None:
    assert form(text) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(f 1\r\n2)\r\n\n(g\r3)", "(f 1\r\n   2)\r\n\n(g\r  3)\r"),
        ("(f 1)  \r\n\r\n\r\n\r\n(g)", "(f 1)\r\n\r\n\r\n(g)\r\n"),
        ("(f 1) (g 2)\r\n", "(f 1)\r\n(g 2)\r\n"),
        ("(f 1)\r \n(g)\r", "(f 1)\r\r(g)\r"),
        ("\ufeff  (f  1)", "\ufeff(f 1)\n"),
        ('(f "a\r\nb"  1)\n', '(f "a\r\nb" 1)\n'),
    ],
)
def test_line_ends_and_byte_order_marks_stay_as_they_are(before: str, after: str) -> None:
    assert check_formatting(before) == after
