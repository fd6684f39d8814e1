"""What a message says and what its help tells to write: where they depend on the value, the key or the layer that was met."""

from __future__ import annotations

from pathlib import Path

import pytest

from sexpgpu.analysis import analyse
from sexpgpu.diagnostics.finding import Diagnostic
from sexpgpu.source import Source

TRAIN = """\
(defloader train
  :batch 4
  :fields (list :x (spec [8] :f32) :y (spec [] :i32))
  :stages (list (synthetic 64 (lambda (index) (list :x (full [8] 0.5) :y (cast index :i32))))
                (synthetic 64 (lambda (index) (list :x (full [8] 0.7) :y (cast index :i32))))))
"""
LOSS = "\n(defun objective (inputs ctx) (mean (model (field inputs :x))))\n"


def the_one(text: str) -> Diagnostic:
    found = [each for each in analyse(Source("file.sx", text)).diagnostics if each.rule.severity != "hint"]
    assert len(found) == 1, [each.message for each in found]
    return found[0]


CASES = [
    ("(def a (sum (ones [3]) 0))", "`sum` takes 1 argument before its keywords", "write (sum x :axes … :keepdims …)"),
    (
        "(def a (mapcar (lambda (x y) (+ x y)) (list 1)))",
        "this function needs 2 arguments, and 1 is given: y missing",
        "its parameters are (x y)",
    ),
    ("(def a (setq b 3))", "`setq` is not defined", "there is no assignment: bind the new value under a new name, with let"),
    ("(define a 3)", "`define` is no form of the top level", "write def for a value, defun for a function"),
    ("(defun objective (inputs ctx) (metric :loss 1.0))", "and this is the keyword :loss", 'write "loss"'),
    (TRAIN + "(defun objective (batch ctx) (mean batch))", "this is a plist, the inputs", "(getf batch :x) (getf batch :y)"),
    ("(def a (+ (ones [3]) mean (ones [3])))", "this is a function", "call it: (mean …)"),
    ("(def a (cast (ones [3]) f32))", "`f32` is not defined", "write :f32"),
    ("(def a (len (list 1)))", "`len` is not defined", "write length of a list, (dim x 0) of a tensor"),
    ("(def a (ones [2] :float32))", "there is no dtype :float32", "write :f32"),
    ("(def a (ones [2] :uint8))", "there is no dtype :uint8", "write :u8"),
    ("(def a (/ (iota [3]) 2))", "`/` takes floats, and this is a tensor i32[3]", "floor-div for whole numbers"),
    ("(def a (/ (iota [3]) (ones [3] :bf16)))", "`/` takes floats", "write (cast (iota [3]) :bf16)"),
    ("(def a (field (list :x 1) :xx))", "there is no :xx in the plist", "there is :x"),
    ('(def a (field (list :x 1) "x"))', 'there is no "x" in the plist', "write :x; there is :x"),
    ('(def a (+ 1 (getf (list "x" 1) :x)))', "this is nil: :x is not in the plist", 'write "x"'),
    (
        TRAIN + "(defun prepare (batch ctx) (list (field batch :x)))",
        "`prepare` returns a plist of tensors, and this has a tensor f32[4 8] where a keyword should stand",
        "return (list :name tensor …)",
    ),
    (
        TRAIN + "(defun prepare (batch ctx) (list :x (field batch :x) :y))",
        "this ends with a keyword that has no value",
        "return (list :name tensor …)",
    ),
    (TRAIN + "(defun prepare (batch ctx) (list :x 4))", "its entry :x is the number 4", "write (full [] 4) to make a tensor of it"),
    (
        TRAIN + "(defun prepare (batch) batch)",
        "the runtime calls `prepare` with 2 arguments, and it takes 1 argument",
        "write (defun prepare (batch ctx) …)",
    ),
    (
        TRAIN + "(defun prepare (batch ctx) (counter :n (field batch :y)) batch)",
        "a counter counts with an integer scalar, and this is a tensor i32[4]",
        "write (cast (sum …) :i64)",
    ),
    (
        TRAIN + "(defgenerate :trips (/ 4 2) :init (lambda (batch ctx) (list :z (field batch :x))) :step (lambda (s t c) s))",
        ":trips wants an integer of 1 or more, and this is 2.0",
        "`/` gives a float; write floor-div for whole numbers",
    ),
    (
        TRAIN
        + "(defgenerate :trips 2 :init (lambda (batch ctx) (list :row (field batch :x)))"
        + " :step (lambda (state trip ctx) (list :rwo (getf state :row))))",
        "`:step` changes the state: :rwo is not in the state that `:init` makes",
        "write :row, as `:init` does",
    ),
    (
        TRAIN
        + '(defun objective (inputs ctx) (metric "loss" (mean (field inputs :x))))\n'
        + "(defpass eval :loader train :every 5)\n"
        + "(defun curriculum (stage ctx observations) (where (< (getf observations :eval/loss) 1.0) 1 stage))",
        "the pass `eval` does not report :eval/loss",
        'write "eval/loss"',
    ),
    (
        TRAIN
        + '(defun objective (inputs ctx) (metric "loss" (mean (field inputs :x))))\n'
        + "(defpass eval :loader train :every 5)\n"
        + '(defun curriculum (stage ctx observations) (< (getf observations "eval/loss") 1.0))',
        "`curriculum` returns an i64 scalar, and this is a tensor bool[]",
        "write (where … 1 stage), which names the stages",
    ),
    (
        TRAIN + "(defmodel model (x) (linear :out (cast x :f64) 3))" + LOSS,
        "in `linear`, `matmul` meets a tensor f64[4 8] and a tensor f32[8 3]",
        "write (cast … :f64)",
    ),
    (
        TRAIN + "(defmodel model (x) (linear :out x 3 :bias (> (mean x) 0.0)))" + LOSS,
        "in `linear`, `if` decides on the host",
        "give a value that is known before the run",
    ),
]


@pytest.mark.parametrize(("text", "message", "help"), CASES, ids=range(len(CASES)))
def test_a_message_and_its_help(text: str, message: str, help: str) -> None:
    found = the_one(text)
    assert message in found.message
    assert help in found.help


def test_a_word_of_another_language_is_not_taken_for_a_near_name() -> None:
    assert not the_one("(def a (len (list 1)))").fixes


def test_a_shared_parameter_shows_the_call_that_differs() -> None:
    text = TRAIN + "(defun block (x) (linear :mix x 8))\n" + "(defmodel model (x) (let ((h (block x))) (block (relu h))))\n" + LOSS
    (note,) = the_one(text).related
    assert text[note.span.start : note.span.end] == "(block (relu h))"


def test_a_conflicting_parameter_shows_the_first_layer() -> None:
    text = TRAIN + "(defmodel model (x) (linear :out (linear :out x 16) 3))\n" + LOSS
    found = the_one(text)
    (note,) = found.related
    assert note.span.start == text.index("linear :out x")
    assert found.span.start == text.index("linear :out (")


def test_an_error_shows_the_call_whose_values_it_depends_on() -> None:
    text = "(defun scaled (x by) (* x by))\n(def a (scaled (ones [3]) 2))\n(def b (scaled (iota [3]) 0.5))"
    (note,) = the_one(text).related
    assert text[note.span.start : note.span.end] == "(scaled (iota [3]) 0.5)"
    assert note.message == "in this call of `scaled`"


def test_an_error_of_a_pass_alone_shows_the_pass() -> None:
    text = (
        TRAIN
        + "(defloader held :batch 6 :fields (list :x (spec [8] :f32)) :source (synthetic 64 (lambda (i) (list :x (ones [8])))))\n"
        + "(defmodel model (x) (reshape x [4 4 2]))\n"
        + '(defun objective (inputs ctx) (metric "loss" (mean (model (field inputs :x)))))\n'
        + "(defpass eval :loader held :every 5)\n"
        + "(defoptimizer (sgd :lr 0.1))\n(defrun :steps 10 :loader train)"
    )
    notes = {text[note.span.start : note.span.end]: note.message for note in the_one(text).related}
    assert notes == {"(model (field inputs :x))": "in this call of `model`", "eval": "in the graphs of this pass"}


def test_what_is_written_where_it_is_called_shows_no_call() -> None:
    assert not the_one("(def a (mapcar (lambda (x) (+ x nil)) (list 1)))").related


@pytest.mark.parametrize("name", ["part.npz", "no/such.npz", "part.safetensors"])
def test_a_message_says_a_path_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A file says the same in an editor, which knows it by its whole path, as on a command line."""
    (tmp_path / "part.npz").write_bytes(b"PK")
    (tmp_path / "part.safetensors").write_bytes(b"{")
    (tmp_path / "folder").mkdir()
    text = (
        f'(load "gone.sx")\n(load "folder")\n(load "run.sx")\n(def files (pretrained "{name}"))\n'
        f'(defloader train :batch 4 :fields (list :x (spec [8] :f32)) :source (npz "{name}"))\n'
        "(defmodel model (x) :pretrained files (linear :out x 8))\n"
        "(defun objective (inputs ctx) (mean (model (field inputs :x))))\n(defrun :steps 1)\n"
    )
    (tmp_path / "run.sx").write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    near, far = (
        [each.message for each in analyse(Source(str(path), text)).diagnostics] for path in ("run.sx", tmp_path / "run.sx")
    )
    assert near == far
    assert "there is no file gone.sx" in near
    assert any(name in message for message in near)
