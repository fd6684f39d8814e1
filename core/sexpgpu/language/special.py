"""The special forms and the forms of the top level: how each is written, what it says, and an example."""

from __future__ import annotations

from sexpgpu.language import shapes
from sexpgpu.language.nearest import elsewhere, nearest
from sexpgpu.language.parameters import Malformed
from sexpgpu.language.shapes import Shape
from sexpgpu.reader.forms import BadForm, Form, ListForm, SymbolForm

_SPECIAL = (
    Shape(
        "quote",
        "(quote form)",
        1,
        1,
        "The form itself, not evaluated. `'form` is short for it.",
        "(quote (a b))",
    ),
    Shape(
        "if",
        "(if condition then else)",
        2,
        3,
        "One of two branches, by a condition that is known before the run. Without `else`, nil. Tensors branch with `where`.",
        "(if (< layers 4) 64 32)",
    ),
    Shape(
        "when",
        "(when condition body…)",
        2,
        None,
        "The body, if the condition holds; else nil.",
        "(when debug (print x))",
    ),
    Shape(
        "unless",
        "(unless condition body…)",
        2,
        None,
        "The body, if the condition does not hold; else nil.",
        '(unless (null path) (str path ".npz"))',
    ),
    Shape(
        "cond",
        "(cond (condition body…) …)",
        0,
        None,
        "The body of the first clause whose condition holds, or the condition's value if there is no body; nil if none holds.",
        "(cond ((< n 2) :small) ((< n 8) :medium) (true :large))",
        shapes.clauses,
    ),
    Shape(
        "and",
        "(and expression…)",
        0,
        None,
        "The first operand that is nil or false, else the last. true without operands. The last one may be a tensor.",
        "(and (number? x) (< x 4))",
    ),
    Shape(
        "or",
        "(or expression…)",
        0,
        None,
        "The first operand that is neither nil nor false, else the last. nil without operands. The last one may be a tensor.",
        "(or (getf options :width) 64)",
    ),
    Shape(
        "let",
        "(let ((name value)…) body…)",
        2,
        None,
        "The body, with local variables. The values do not see each other's names.",
        "(let ((width 64) (depth 2)) (* width depth))",
        shapes.bindings,
        True,
    ),
    Shape(
        "let*",
        "(let* ((name value)…) body…)",
        2,
        None,
        "The body, with local variables. Each value sees the names in front of it.",
        "(let* ((width 64) (hidden (* 4 width))) hidden)",
        shapes.bindings,
        True,
    ),
    Shape(
        "lambda",
        "(lambda (parameters) body…)",
        2,
        None,
        "A function of its parameters, closed over the variables around it.",
        "(lambda (x &key (axis -1)) (softmax x :axis axis))",
        shapes.parameters,
        True,
    ),
    Shape(
        "progn",
        "(progn body…)",
        0,
        None,
        "The value of its last form; nil without any.",
        "(progn (print x) x)",
    ),
    Shape(
        "dotimes",
        "(dotimes (name n) body…)",
        2,
        None,
        "The list of what the body gives for name = 0, 1, … n-1: a loop before the run, which unrolls into the graph.",
        "(dotimes (i 3) (* i i))",
        shapes.loop,
        True,
    ),
    Shape(
        "dolist",
        "(dolist (name list) body…)",
        2,
        None,
        "The list of what the body gives for each item: a loop before the run, which unrolls into the graph.",
        "(dolist (n (list 1 2 3)) (* n n))",
        shapes.loop,
        True,
    ),
    Shape(
        "scope",
        "(scope name :frozen true :remat true :pretrained file body…)",
        2,
        None,
        "The body, with a name put in front of the paths of the parameters in it. All keys may be left out. `:frozen true` keeps "
        "its parameters as they are, `:remat true` computes it again in the backward pass instead of keeping what it made, "
        "`:pretrained` loads its parameters from a file.",
        "(scope :block (linear :up x 64))",
        shapes.scoped,
    ),
)

_TOP_LEVEL = (
    Shape(
        "def",
        "(def name value)",
        2,
        2,
        "A value by name, evaluated once. One that builds tensors is built anew in each graph that reads it.",
        "(def width 64)",
        shapes.named,
        namespace="value",
    ),
    Shape(
        "defun",
        '(defun name (parameters) "documentation" body…)',
        3,
        None,
        "A function. `prepare`, `objective` and `curriculum` are called by the runtime. The documentation may be left out.",
        '(defun double (x) "Twice x." (* 2 x))',
        shapes.function,
        True,
        "value",
    ),
    Shape(
        "defmodel",
        "(defmodel name (parameters) :frozen true :pretrained file body…)",
        3,
        None,
        "A function that owns parameters. Both keys may be left out. `model` is the one that is trained.",
        "(defmodel model (x) (linear :out x 10))",
        shapes.model,
        True,
        "value",
    ),
    Shape(
        "defloader",
        "(defloader name :key value …)",
        1,
        None,
        "Where records come from, what fields they have, and how many make a batch.",
        '(defloader train :batch 32 :fields (list :x (spec [8] :f32)) :source (npz "train.npz"))',
        shapes.declaration,
        namespace="loader",
    ),
    Shape(
        "defgenerate",
        "(defgenerate :trips n :init function :step function :finish function)",
        0,
        None,
        "Makes records on the device inside each step, before the training graph reads them. `:finish` may be left out.",
        "(defgenerate :trips 4 :init start :step advance)",
        shapes.pairs,
    ),
    Shape(
        "defpass",
        "(defpass name :loader loader :every steps …)",
        1,
        None,
        "An evaluation pass over a loader, every so many steps.",
        "(defpass eval :loader held :every 100)",
        shapes.declaration,
        namespace="pass",
    ),
    Shape(
        "defoptimizer",
        "(defoptimizer (adamw :lr 0.001)), or (defoptimizer :init function :update function)",
        1,
        None,
        "The optimizer: one of those that the language has, or its two functions.",
        "(defoptimizer (adamw :lr 0.001))",
        shapes.optimizer,
    ),
    Shape(
        "defrun",
        "(defrun name :steps n …)",
        0,
        None,
        "The run. The name may be left out. A file without a run is a library.",
        "(defrun :steps 1000 :seed 7)",
        shapes.run,
    ),
    Shape(
        "load",
        '(load "path.sx")',
        1,
        1,
        "The forms of another file, once. The path is relative to this file.",
        '(load "layers.sx")',
        shapes.path,
    ),
)

SPECIAL_FORMS: dict[str, Shape] = {row.name: row for row in _SPECIAL}
TOP_LEVEL: dict[str, Shape] = {row.name: row for row in _TOP_LEVEL}
TOP_LEVEL_CALLS = ("assert", "print")
WORDS: dict[str, Shape] = {**SPECIAL_FORMS, **TOP_LEVEL}


def unknown_top_level(form: Form) -> Malformed:
    """What is wrong with a form of the top level that begins with none of `TOP_LEVEL`: shown at its head, or at the atom."""
    at = form.items[0] if isinstance(form, ListForm) and form.items else form
    if isinstance(at, BadForm):
        return Malformed(at, "not a token")
    heads = " ".join(TOP_LEVEL)
    if isinstance(at, SymbolForm) and at is not form:
        near = nearest(at.name, TOP_LEVEL)
        help = f"write {' or '.join(near)}" if near else f"the top level of a file holds {heads}"
        help = elsewhere(at.name) or help
        return Malformed(at, f"`{at.name}` is no form of the top level", help)
    named = isinstance(at, SymbolForm) and any(character.isalpha() for character in at.name)
    help = f"write (def {at.text} …) to give a value that name" if named else f"the top level of a file holds {heads}"
    return Malformed(at, "this is no form of the top level", help)
