"""Signature help: which call a place is in, and which parameter it stands at."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sexpgpu.ide.markup import Prose
from sexpgpu.ide.signatures import Call, parts_of, signature_help, written
from sexpgpu.ide.words import signature
from sexpgpu.language.special import WORDS
from sexpgpu.program.unit import provided, provided_names
from support.typing import typed

SOFTMAX = "(softmax x &key (axis -1))"
TWICE = "(twice a &optional (b 1) &key (c 2))"
SCOPE = WORDS["scope"].shape
COSINE = "(warmup-cosine ctx &key peak warmup (floor 0.0))"


def at(call: Call) -> str:
    """The parameter that the place stands at."""
    if call.active >= len(call.parameters):
        return ""
    parameter = call.parameters[call.active]
    return call.text[parameter.start : parameter.end]


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize(
    ("new", "text", "active"),
    [
        ("(softmax ¦", SOFTMAX, "x"),
        ("(softmax x¦)", SOFTMAX, "x"),
        ("(softmax x ¦", SOFTMAX, "(axis -1)"),
        ("(softmax x :¦", SOFTMAX, "(axis -1)"),
        ("(softmax x :axis ¦)", SOFTMAX, "(axis -1)"),
        ("(softmax x :axis -1 ¦", SOFTMAX, ""),
        ("(zeros [2 ¦", "(zeros shape &optional (dtype :float))", "shape"),
        ("(zeros [2] ¦", "(zeros shape &optional (dtype :float))", "(dtype :float)"),
        ("(+ 1 2 3 ¦", "(+ x y &rest more)", "more"),
        ("(where 1 2 3 4¦)", "(where condition x y)", ""),
        ("(sum 1 :axes 0 :zz ¦)", "(sum x &key (axes nil) (keepdims false))", ""),
        ("(let ((f (lambda (p &rest r &key q) p))) (f 1 2 :zz ¦", "(f p &rest r &key (q nil))", "r"),
        ("(let ((f (lambda (p &rest r &key q) p))) (f 1 :q ¦", "(f p &rest r &key (q nil))", "(q nil)"),
        ("(sum (mean 1) ¦ :axes 0)", "(sum x &key (axes nil) (keepdims false))", "(keepdims false)"),
        ('(str "a ¦', "(str &rest values)", "values"),
        ("(uniform [2] :dtype :f32 :l¦", "(uniform shape &key (lo 0.0) (hi 1.0) (salt 0) (dtype :float))", "(lo 0.0)"),
        ("(linear :o out 3 :bias ¦", "(linear name x out &key (bias true) (init (init-lecun)))", "(bias true)"),
        ("(warmup-cosine ctx :warmup 3 ¦", COSINE, "peak"),
        ("(twice 1 ¦", TWICE, "(b 1)"),
        ("(twice 1 2 :c ¦", TWICE, "(c 2)"),
        ("(model (¦", "(model x)", "x"),
        ("((ema model) ¦", "(model x)", "x"),
        ("((lambda (p q) p) 1 ¦", "(lambda p q)", "q"),
        ("(let* ((f (lambda (p &key q) p)) (g (f 1 ¦", "(f p &key (q nil))", "(q nil)"),
        ("(let ((f (lambda (p q) p))) (f ¦", "(f p q)", "p"),
        ("(scaled out ¦", "(scaled z factor)", "factor"),
        ("(let ((x ¦", "(let ((name value)…) body…)", "((name value)…)"),
        ("(let ((x 1)) 1 2 ¦", "(let ((name value)…) body…)", "body…"),
        ("(if a ¦", "(if condition then else)", "then"),
        ("(if a b c ¦", "(if condition then else)", ""),
        ("(cond (a 1) (b ¦", "(cond (condition body…) …)", "(condition body…)"),
        ("(and a ¦", "(and expression…)", "expression…"),
        ("(dotimes (i ¦", "(dotimes (name n) body…)", "(name n)"),
        ("(lambda (x &key ¦", "(lambda (parameters) body…)", "(parameters)"),
        ("(scope ¦", SCOPE, "name"),
        ("(scope :a :rem¦", SCOPE, ":remat true"),
        ("(scope :a :frozen ¦", SCOPE, ":frozen true"),
        ("(scope :a :frozen true ¦", SCOPE, "body…"),
    ],
)
def test_in_a_body(new: str, text: str, active: str, fresh: bool) -> None:
    found = signature_help(*typed("(mean out)", new, fresh=fresh))
    assert found is not None
    call = found.calls[found.active]
    assert (call.text, at(call)) == (text, active)


@pytest.mark.parametrize(
    ("new", "head", "active"),
    [
        ("\n(def ¦", "(def ", "name"),
        ("\n(def x ¦", "(def ", "value"),
        ("\n(defun f ¦", "(defun ", "(parameters)"),
        ('\n(defun f (x) "says" ¦', "(defun ", "body…"),
        ("\n(defun f (x) ¦", "(defun ", '"documentation"'),
        ('\n(defun f (x) ¦"says" x)', "(defun ", '"documentation"'),
        ('\n(defun f (x) "sa¦ys" x)', "(defun ", '"documentation"'),
        ("\n(defun f (x)\n  ¦\n  (sum x))", "(defun ", '"documentation"'),
        ("\n(defun f (x) ¦x)", "(defun ", "body…"),
        ("\n(defun f (x) x¦)", "(defun ", "body…"),
        ("\n(defun f (x) ¦(sum x))", "(defun ", "body…"),
        ("\n(defun f (x) ¦[1 2])", "(defun ", "body…"),
        ("\n(defun f (x) [1 ¦])", "(defun ", "body…"),
        ('\n(defun f (x) "says" ¦x)', "(defun ", "body…"),
        ("\n(defmodel m (x) :frozen ¦", "(defmodel ", ":frozen true"),
        ("\n(defpass ¦", "(defpass ", "name"),
        ("\n(defpass e :loader ¦", "(defpass ", ":loader"),
        ("\n(defpass e :loader held ¦", "(defpass ", ":every"),
        ("\n(defloader l :source 1 :s¦", "(defloader ", "[:shuffle]"),
        ("\n(defloader l :ba¦", "(defloader ", ":batch"),
        ("\n(defrun :steps 3 :see¦", "(defrun ", "[:seed]"),
        ("\n(defgenerate :trips 3 :step ¦", "(defgenerate ", ":step"),
        ("\n(defoptimizer ¦", "(defoptimizer optimizer)", "optimizer"),
        ("\n(defoptimizer :up¦", "(defoptimizer :init ", ":update"),
        ("\n(defoptimizer (adam ¦", "(adam ", "lr"),
        ('\n(load "¦', "(load ", '"path.sx"'),
    ],
)
def test_at_the_top(new: str, head: str, active: str) -> None:
    found = signature_help(*typed("", new))
    assert found is not None
    call = found.calls[found.active]
    assert call.text.startswith(head)
    assert at(call) == active


@pytest.mark.parametrize(
    "new", ["\n¦", "\n; (softmax ¦", "\n#| (softmax ¦ |#", "\n(nothing-known ¦", '\n"(softmax ¦', "\n(¦", "\n[1 ¦"]
)
def test_where_there_is_no_call(new: str) -> None:
    assert signature_help(*typed("", new)) is None


def test_a_function_of_the_file_has_its_documentation() -> None:
    found = signature_help(*typed("(mean out)", "(twice ¦)"))
    assert found is not None
    assert found.calls[0].doc == (Prose("Twice as much."),)


@pytest.mark.parametrize("name", provided_names())
def test_a_signature_is_written_as_elsewhere(name: str) -> None:
    definition = provided(name)
    assert definition is not None
    assert definition.signature is not None
    text, parameters = written(name, definition.signature)
    assert text == signature(name, definition.signature)
    assert all(each.name in text[each.start : each.end] for each in parameters)


@pytest.mark.parametrize("name", WORDS)
def test_the_parts_of_a_form_are_pieces_of_its_text(name: str) -> None:
    text, parts = parts_of(WORDS[name])
    assert parts
    assert all(text[each.start : each.end] == each.name for each in parts)
    assert all(one.end < other.start for one, other in pairwise(parts))
