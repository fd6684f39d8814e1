"""A hundred hostile files: each ends, and says at most once that it passed a bound. Opening a file never hangs an editor."""

from __future__ import annotations

import pytest

from sexpgpu.analysis import analyse
from sexpgpu.source import Source

ENDLESS_CALLS = {
    "itself": "(defun f (n) (f n)) (def x (f 1))",
    "in an argument": "(defun f (n) (+ 1 (f (+ n 1)))) (def x (f 1))",
    "in a binding": "(defun f (n) (let ((m (f n))) m)) (def x (f 1))",
    "in bindings one by one": "(defun f (n) (let* ((m n) (k (f m))) k)) (def x (f 1))",
    "in a condition": "(defun f (n) (if (f n) 1 2)) (def x (f 1))",
    "in a branch": "(defun f (n) (if true (f n) 2)) (def x (f 1))",
    "in cond": "(defun f (n) (cond ((f n) 1))) (def x (f 1))",
    "in and": "(defun f (n) (and true (f n))) (def x (f 1))",
    "in or": "(defun f (n) (or false (f n))) (def x (f 1))",
    "in when": "(defun f (n) (when true (f n))) (def x (f 1))",
    "in unless": "(defun f (n) (unless false (f n))) (def x (f 1))",
    "in progn": "(defun f (n) (progn 1 (f n))) (def x (f 1))",
    "in a loop": "(defun f (n) (dotimes (i 1) (f n))) (def x (f 1))",
    "in a loop over a list": "(defun f (n) (dolist (i (list n)) (f i))) (def x (f 1))",
    "in a vector": "(defun f (n) [(f n)]) (def x (f 1))",
    "in a default": "(defun f (n &optional (m (f n))) m) (def x (f 1))",
    "in a keyword's default": "(defun f (n &key (m (f n))) m) (def x (f 1))",
    "through mapcar": "(defun f (n) (mapcar f (list n))) (def x (f 1))",
    "through filter": "(defun f (n) (filter f (list n))) (def x (f 1))",
    "through reduce": "(defun f (a n) (reduce f (list n) a)) (def x (f 1 2))",
    "through apply": "(defun f (n) (apply f (list n))) (def x (f 1))",
    "through funcall": "(defun f (n) (funcall f n)) (def x (f 1))",
    "through two": "(defun f (n) (g n)) (defun g (n) (f n)) (def x (f 1))",
    "through a lambda": "(defun f (n) ((lambda (m) (f m)) n)) (def x (f 1))",
    "a function of itself": "(def x ((lambda (f) (f f)) (lambda (f) (f f))))",
    "a fixed point": "(def x ((lambda (f) (f f 1)) (lambda (f n) (f f (+ n 1)))))",
    "in a rest parameter": "(defun f (&rest n) (apply f n)) (def x (f 1 2))",
    "in scope": "(defmodel m (x) (scope :a (m x))) (def model m) (defun objective (i c) (m 1))",
    "a model of itself": "(defmodel model (x) (model x)) (defun objective (inputs ctx) (model 1))",
    "models of each other": "(defmodel model (x) (other x)) (defmodel other (x) (model x)) (defun objective (i c) (model 1))",
}

ENDLESS_WORK = {
    "a loop of loops": "(def x (dotimes (i 1000) (dotimes (j 1000) (+ i j))))",
    "an empty loop of loops": "(def x (dotimes (i 90000) (dotimes (j 90000) nil)))",
    "a tree of calls": "(defun f (n) (if (= n 0) 1 (+ (f (- n 1)) (f (- n 1))))) (def x (f 60))",
    "mapcar in mapcar": "(def x (mapcar (lambda (i) (mapcar (lambda (j) (* i j)) (range 1000))) (range 1000)))",
    "reduce in reduce": "(def x (reduce (lambda (a i) (reduce (lambda (b j) (+ b j)) (range 9000) a)) (range 9000) 0))",
    "ackermann": (
        "(defun a (m n) (cond ((= m 0) (+ n 1)) ((= n 0) (a (- m 1) 1)) (true (a (- m 1) (a m (- n 1)))))) (def x (a 3 9))"
    ),
    "equal of shared lists": (
        "(defun d (s n) (if (= n 0) s (d (list s s) (- n 1)))) (def x (equal (d (list 1) 60) (d (list 1) 60)))"
    ),
    "sorting by hand": "(def x (dotimes (i 2000) (filter (lambda (j) (< j i)) (range 2000))))",
    "appending one by one": "(def x (reduce (lambda (a i) (append a (list i))) (range 50000) nil))",
    "reversing again and again": "(def x (dotimes (i 90000) (reverse (range 90000))))",
    "lengths": "(def x (dotimes (i 90000) (length (append (range 40000) (range 40000)))))",
    "a record function": (
        "(defloader l :batch 1 :fields (list :x (spec [] :i64))"
        " :source (synthetic 9 (lambda (i) (list :x (reduce + (dotimes (j 90000) (reduce + (range 900) 0)) i)))))"
    ),
    "a mask": (
        "(defmodel model (x) (linear :a x 2)) (defun objective (i c) (mean (model (ones [1 2]))))"
        " (defoptimizer (adamw :lr 1.0 :mask (lambda (p s) (dotimes (i 90000) (dotimes (j 90000) i)))))"
    ),
    "in prepare": "(defun prepare (batch ctx) (dotimes (i 90000) (dotimes (j 90000) i)))",
    "in curriculum": (
        "(defloader l :batch 1 :fields (list :x (spec [] :i64)) :source (synthetic 9 (lambda (i) (list :x i))))"
        ' (defun objective (i c) (metric "a" 1)) (defpass p :loader l :every 1)'
        " (defun curriculum (s c o) (dotimes (i 90000) (dotimes (j 90000) s)))"
    ),
}

GROWTH = {
    "a power": "(def x (pow 2 100000000))",
    "a tower": "(def x (reduce pow (list 9 9 9 9 9) 9))",
    "a factorial": "(def x (reduce * (range 1 90000) 1))",
    "squares": "(defun f (n k) (if (= k 0) n (f (* n n) (- k 1)))) (def x (f 3 100))",
    "a shift": "(def x (shift-left 1 1000000000))",
    "shifts": "(def x (reduce shift-left (range 1 5000) 1))",
    "digits": f"(def x {'9' * 100_000})",
    "hexadecimal digits": f"(def x 0x{'f' * 100_000})",
    "sums of digits": f"(def x (+ {'9' * 1200} {'9' * 1300}))",
    "a range": "(def x (range 10000000000))",
    "a range down": "(def x (range 0 -10000000000 -1))",
    "a doubled list": "(defun d (s n) (if (= n 0) s (d (append s s) (- n 1)))) (def x (d (list 1) 60))",
    "a list in a list": "(defun d (s n) (if (= n 0) s (d (list s s) (- n 1)))) (def x (str (d (list 1) 60)))",
    "a printed list in a list": "(defun d (s n) (if (= n 0) s (d (list s s) (- n 1)))) (print (d (list 1) 60))",
    "a doubled string": '(defun d (s n) (if (= n 0) s (d (str s s) (- n 1)))) (def x (d "ab" 60))',
    "a formatted string": '(defun d (s n) (if (= n 0) s (d (format "{}{}" s s) (- n 1)))) (def x (d "ab" 60))',
    "a long string": f'(def x "{"a" * 200_000}")',
    "a long keyword": f"(def x (str :{'a' * 200_000} :b))",
    "a loop's list": "(def x (dotimes (i 100000000) i))",
    "arguments": "(defun f (&rest xs) (apply f (append xs xs))) (def x (f 1 2))",
    "a tensor of many axes": "(def x (zeros (dotimes (i 40) 1)))",
    "axes one by one": "(def x (reduce (lambda (a i) (expand-dims a 0)) (range 100) (zeros [1])))",
    "a nested literal": "(defun d (s n) (if (= n 0) s (d (list s s) (- n 1)))) (def x (tensor (d (list 1) 60)))",
    "concatenation": "(def x (concat (dotimes (i 99999) (zeros [1]))))",
    "a doubled tensor": "(defun d (t n) (if (= n 0) t (d (concat (list t t)) (- n 1)))) (def x (d (ones [2]) 1000))",
    "a split": "(def x (split (zeros [1000000]) 1000000))",
    "one-hot": "(def x (one-hot (iota [1000000]) 1000000000000))",
    "a huge shape": f"(def x (zeros [{'9' * 1000} {'9' * 1000}]))",
    "a repeated tensor": "(def x (repeat (repeat (ones [1000000]) 1000000 :axis 0) 1000000 :axis 0))",
    "padding": "(def x (pad (ones [2]) [[1000000000000000 1000000000000000]]))",
}

SHAPES = {
    "open brackets": "(" * 100_000,
    "closed brackets": ")" * 100_000,
    "open vectors": "[" * 100_000,
    "alternating brackets": "([" * 50_000,
    "mismatched brackets": "(]" * 50_000,
    "deep brackets": "(" * 50_000 + ")" * 50_000,
    "deep quotes": "'" * 100_000 + "x",
    "deep comments": "#|" * 50_000 + "|#" * 50_000,
    "open comments": "#|" * 100_000,
    "datum comments": "#;" * 100_000,
    "an open string": '(def x "' + "a" * 100_000,
    "escapes": '(def x "' + "\\q" * 50_000 + '")',
    "column 0": "(\n" * 50_000,
    "colons": ": " * 50_000,
    "signs": "+- " * 50_000,
    "undefined names": "\n".join(f"(def a{i} b{i})" for i in range(3_000)),
    "one undefined name": "(def x (list " + "y " * 20_000 + "))",
    "the same name": "(def x 1)\n" * 3_000,
    "names that shadow": "(defun relu (x) x)\n" * 3_000,
    "long lines": "(def x (+ " + "1 " * 50_000 + "))",
    "control characters": "\x00\x01\x02 " * 30_000,
    "a chain of definitions": "(def x0 1)" + "".join(f"(def x{i} (+ x{i - 1} 1))" for i in range(1, 1_500)),
    "definitions in a ring": "".join(f"(def x{i} x{(i + 1) % 500})" for i in range(500)),
    "one that reads itself": "(def x (+ x 1))",
    "two that read each other": "(def x (+ y 1)) (def y (+ x 1))",
    "many errors at one place": '(def x (dotimes (i 20000) (+ i "a")))',
    "many prints": "(dotimes (i 20000) (print i)) (def x (dotimes (i 20000) (print i)))",
    "many parameters": "(defun f (" + " ".join(f"p{i}" for i in range(10_000)) + ") p0) (def x (f 1))",
    "many keywords": "(def x (softmax 1 " + ":axis 0 " * 10_000 + "))",
    "many loads": '(load "a.sx")\n' * 5_000,
    "itself, loaded": '(load "hostile.sx")',
}

FILES = {
    f"{family}: {name}": text
    for family, texts in (("calls", ENDLESS_CALLS), ("work", ENDLESS_WORK), ("growth", GROWTH), ("shapes", SHAPES))
    for name, text in texts.items()
}


def limits(text: str) -> list[str]:
    analysis = analyse(Source("hostile.sx", text))
    assert all(0 <= found.span.start <= found.span.end <= len(text) for found in analysis.diagnostics)
    return [found.message for found in analysis.diagnostics if found.code == "E-LIMIT-001"]


def test_there_are_a_hundred() -> None:
    assert len(FILES) >= 100


@pytest.mark.parametrize("name", ENDLESS_CALLS)
def test_endless_calls_end_at_the_bound_on_calls(name: str) -> None:
    assert limits(ENDLESS_CALLS[name]) == ["calls nest more than 2,000 deep"]


@pytest.mark.parametrize("name", ENDLESS_WORK)
def test_endless_work_ends_at_the_bound_on_steps(name: str) -> None:
    assert limits(ENDLESS_WORK[name]) == ["evaluating this file takes more than 500,000 steps"]


@pytest.mark.parametrize("name", GROWTH)
def test_growth_ends(name: str) -> None:
    assert len(limits(GROWTH[name])) <= 1


@pytest.mark.parametrize("name", SHAPES)
def test_hostile_shapes_end(name: str) -> None:
    limits(SHAPES[name])
