"""Salts for draws that come out alike: in the draw's call, around a function that calls it, or handed on by calls."""

from __future__ import annotations

import pytest

from sexpgpu.diagnostics.finding import Diagnostic
from support.mending import analysed, kinds, trials

HEAD = """\
(defloader train
  :batch 4
  :fields (list :row (spec [8] :f32))
  :source (synthetic 64 (lambda (index) (list :row (full [8] 1.0)))))

"""
MODEL = """\
(defmodel model (x)
  (linear :out x 8))

"""
OBJECTIVE = """\
(defun objective (inputs ctx)
  (metric "loss" (mean (square (- (model (field inputs :row)) 1.0)))))
"""
TAIL = """
(defoptimizer (sgd :lr 0.1))

(defrun :steps 10 :ema 0.9)
"""
DROPPING = MODEL.replace("(linear :out x 8)", "(linear :out (dropout x 0.1) 8)")


def found(text: str) -> Diagnostic:
    """The one draw that comes out alike."""
    (one,) = [each for each in analysed(text).diagnostics if each.code == "W-GEN-001"]
    return one


def salts(text: str) -> dict[str, str]:
    """What the salts that are offered leave, by title: the draw is new in each step, and nothing else is said."""
    before = kinds(analysed(text))
    left: dict[str, str] = {}
    for trial in trials(analysed(text)):
        if trial.diagnostic.code == "W-GEN-001" and not trial.proposal.title.startswith("ignore"):
            after = kinds(analysed(trial.text))
            assert not after - before, trial.text
            assert sum(after.values()) < sum(before.values()), trial.text
            left[trial.proposal.title] = trial.text
    return left


def _against(what: str) -> str:
    """A run that compares its model with something."""
    return HEAD + MODEL + OBJECTIVE.replace("1.0", what) + TAIL


def salted(text: str, name: str) -> str:
    """The text with a salt given to the function of that name where it is called."""
    left = salts(text)
    assert list(left) == [f"give {name} a salt where it is called"]
    return left[f"give {name} a salt where it is called"]


# Where the draw stands


@pytest.mark.parametrize(
    ("draw", "salted"),
    [
        ("(mean (normal [4]))", "(mean (normal [4] :salt (getf ctx :step)))"),
        ("(mean (normal [4] :salt 3 :std 2.0))", "(mean (normal [4] :salt (getf ctx :step) :std 2.0))"),
        ("(let ((draw normal)) (mean (draw [4])))", "(let ((draw normal)) (mean (draw [4] :salt (getf ctx :step))))"),
        (
            "(mean (first (mapcar normal (list [4] [5]))))",
            "(mean (first (mapcar (lambda (shape) (normal shape :salt (getf ctx :step))) (list [4] [5]))))",
        ),
        (
            "(mean (first (mapcar dropout (list (ones [4])) [0.1])))",
            "(mean (first (mapcar (lambda (x rate) (dropout x rate :salt (getf ctx :step))) (list (ones [4])) [0.1])))",
        ),
        (
            "(mean (first (mapcar (lambda (s) (normal s)) (list [4]))))",
            "(mean (first (mapcar (lambda (s) (normal s :salt (getf ctx :step))) (list [4]))))",
        ),
    ],
)
def test_a_salt_stands_in_a_call_that_takes_it(draw: str, salted: str) -> None:
    text = salts(_against(draw))["salt with the step"]
    assert " ".join(salted.split()) in " ".join(text.split())


@pytest.mark.parametrize(
    "draw",
    [
        "(mean (apply normal (list [4])))",
        "(mean (reduce dropout (list 0.1 0.2) (ones [4])))",
        "(mean (first (mapcar normal (list [4]) (list :mean) (list 1.0))))",
    ],
)
def test_no_salt_is_offered_where_the_call_takes_none(draw: str) -> None:
    assert found(_against(draw)).help.startswith("write :salt")
    assert salts(_against(draw)) == {}


# What is said, and what is done, where nothing is seen that a salt could be made from


def test_the_help_says_how_the_salt_gets_there() -> None:
    assert found(HEAD + DROPPING + OBJECTIVE + TAIL).help == (
        "take it as an argument: add &key (salt 0) to `model`, write :salt salt here, "
        "and give :salt (getf ctx :step) where it is called"
    )
    noise = "(defun noise () (normal [8]))\n"
    assert "`noise`" in found(HEAD + MODEL + noise + OBJECTIVE.replace("1.0", "(noise)") + TAIL).help
    seen = noise.replace("()", "(ctx)").replace("(normal [8])", "(+ (getf ctx :progress) (normal [8]))")
    assert found(HEAD + MODEL + seen + OBJECTIVE.replace("1.0", "(noise ctx)") + TAIL).help.startswith(
        "write :salt (getf ctx :step)"
    )
    seeded = noise.replace("()", "(&key (seed 0))").replace("[8]", "[8] :salt seed")
    text = HEAD + MODEL + seeded + OBJECTIVE.replace("1.0", "(noise)") + TAIL
    assert found(text).help == "give :seed (getf ctx :step) where `noise` is called"
    record = HEAD.replace("(list :row (full [8] 1.0))", "(list :row (noise))")
    assert found(noise + record + MODEL + OBJECTIVE + TAIL).help.endswith("and give :salt index where it is called")


def test_a_model_is_given_a_salt() -> None:
    text = salted(HEAD + DROPPING + OBJECTIVE + TAIL, "model")
    assert (
        text
        == HEAD
        + DROPPING.replace("(x)", "(x &key (salt 0))").replace("0.1)", "0.1 :salt salt)")
        + OBJECTIVE.replace("(model (field inputs :row))", "(model (field inputs :row) :salt (getf ctx :step))")
        + TAIL
    )


@pytest.mark.parametrize(
    ("parameters", "call", "wanted"),
    [
        ("()", "(noise)", "(&key (salt 0))"),
        ("(s)", "(noise 1.0)", "(s &key (salt 0))"),
        ("(&optional (s 1.0))", "(noise 1.0)", "(&optional (s 1.0) &key (salt 0))"),
        ("(&key (s 1.0) loc)", "(noise :s 2.0)", "(&key (s 1.0) loc (salt 0))"),
        ("(&key (s 1.0) &rest more)", "(noise :s 2.0)", "(&key (s 1.0) (salt 0) &rest more)"),
        ("(&key (salt 0))", "(noise :salt 3)", "(&key (salt 0))"),
        ("(&key (salt 0))", "(let ((n 2)) (+ n (noise :salt (+ n 1))))", "(&key (salt 0))"),
        ("(salt)", "(noise 1.0)", "(salt &key (salt-2 0))"),
    ],
)
def test_parameters_that_are_there_stay(parameters: str, call: str, wanted: str) -> None:
    noise = f"(defun noise {parameters}\n  (normal [8]))\n\n"
    text = salted(HEAD + MODEL + noise + OBJECTIVE.replace("1.0", call) + TAIL, "noise")
    assert f"(defun noise {wanted}\n" in text


@pytest.mark.parametrize("salt", ["seed", "(+ 1 seed)"])
def test_a_salt_that_is_an_argument_already_is_given(salt: str) -> None:
    noise = f"(defun noise (&key (seed 0))\n  (normal [8] :salt {salt}))\n\n"
    text = salted(HEAD + MODEL + noise + OBJECTIVE.replace("1.0", "(noise)") + TAIL, "noise")
    assert noise in text
    assert "(noise :seed (getf ctx :step))" in text


def test_a_salt_goes_through_functions_up_to_where_ctx_is_seen() -> None:
    noise = (
        "(defun noise (n)\n  (if (> n 1) (noise (- n 1)) (normal [8])))\n\n"
        "(defun twice (x)\n  (+ x (noise 2) (noise 1)))\n\n(defun idle (x)\n  (twice x))\n\n"
    )
    text = salted(HEAD + MODEL + noise + OBJECTIVE.replace("1.0", "(twice 1.0)") + TAIL, "noise")
    assert "(defun noise (n &key (salt 0))\n  (if (> n 1) (noise (- n 1) :salt salt) (normal [8] :salt salt)))" in text
    assert "(defun twice (x &key (salt 0))\n  (+ x (noise 2 :salt salt) (noise 1 :salt salt)))" in text
    assert "(defun idle (x)\n  (twice x))" in text
    assert "(twice 1.0 :salt (getf ctx :step))" in text


def test_a_salt_reaches_calls_at_other_parameters_and_in_passes() -> None:
    eval = (
        "(defpass eval\n  :loader train\n  :every 5\n"
        '  :objective (lambda (inputs c)\n               (metric "loss" (mean ((ema model) (field inputs :row))))))\n\n'
    )
    objective = OBJECTIVE.replace("1.0", "((initial model) (field inputs :row))")
    text = salted(HEAD + DROPPING + eval + objective + TAIL, "model")
    assert "((ema model) (field inputs :row) :salt (getf c :step))" in text
    assert "((initial model) (field inputs :row) :salt (getf ctx :step))" in " ".join(text.split())


def test_a_salt_reaches_calls_of_a_model_that_a_def_binds() -> None:
    pair = (
        DROPPING.replace("model model", "model student")
        + MODEL.replace("model model", "model teacher")
        + "(def model (list :a student :b teacher))\n\n"
    )
    objective = OBJECTIVE.replace("(model (", "((getf model :a) (").replace("1.0", "((getf model :b) (field inputs :row))")
    text = salted(HEAD + pair + objective + TAIL, "student")
    assert "((getf model :a) (field inputs :row) :salt (getf ctx :step))" in text
    assert "((getf model :b) (field inputs :row))" in " ".join(text.split())
    text = salted(HEAD + DROPPING.replace("model model", "model net") + "(def model net)\n\n" + OBJECTIVE + TAIL, "net")
    assert "(model (field inputs :row) :salt (getf ctx :step))" in text


def test_in_a_generator_the_salt_holds_the_trip() -> None:
    generate = (
        "(defgenerate\n  :trips 2\n  :init (lambda (batch ctx) (list :z (model (field batch :row))))\n"
        "  :step (lambda (state trip ctx) (list :z (model (getf state :z)))))\n\n"
    )
    text = " ".join(salted(HEAD + DROPPING + generate + OBJECTIVE.replace(":row", ":z") + TAIL, "model").split())
    assert "(model (field batch :row) :salt (getf ctx :step))" in text
    assert "(model (getf state :z) :salt (+ (* (getf ctx :step) 65536) trip))" in text
    through = "(defun again (x ctx)\n  (* (getf ctx :progress) (model x)))\n\n"
    generate = generate.replace("(list :z (model (getf state :z)))", "(list :z (again (getf state :z) ctx))")
    text = " ".join(salted(HEAD + DROPPING + through + generate + OBJECTIVE.replace(":row", ":z") + TAIL, "model").split())
    assert "(model x :salt salt)" in text
    assert "(again (getf state :z) ctx :salt (+ (* (getf ctx :step) 65536) trip))" in text


def test_a_record_hands_its_index_on() -> None:
    record = HEAD.replace("(index) (list :row (full [8] 1.0))", "(i) (list :row (noise))")
    text = salted("(def noise (lambda () (normal [8])))\n\n" + record + MODEL + OBJECTIVE + TAIL, "noise")
    assert "(def noise (lambda (&key (salt 0)) (normal [8] :salt salt)))" in text
    assert "(noise :salt i)" in text


@pytest.mark.parametrize(
    ("noise", "use"),
    [
        ("(defun noise (s)\n  (normal s))\n\n", "(first (mapcar noise (list [8])))"),
        ("(defun noise (&rest s)\n  (normal s))\n\n", "(noise 8)"),
        ("(defun noise (&optional (s 8))\n  (normal [s]))\n\n", "(noise)"),
        ("(defun noise (salt)\n  (normal [8] :salt salt))\n\n", "(noise 1)"),
        ("(defun noise ()\n  (normal [8]))\n\n(defun other (f)\n  (f))\n\n", "(+ (noise) (other noise))"),
        ("(defun noise ()\n  (normal [8]))\n\n(defun other (&key (n (noise)))\n  n)\n\n", "(other)"),
        ("(defun noise ()\n  (normal [8]))\n\n(def noises (list noise))\n\n", "(first (mapcar (lambda (f) (f)) noises))"),
    ],
)  # fmt: skip
def test_a_salt_that_cannot_reach_every_call_is_not_offered(noise: str, use: str) -> None:
    text = HEAD + MODEL + noise + OBJECTIVE.replace("1.0", use) + TAIL
    assert found(text).code == "W-GEN-001"
    assert salts(text) == {}


def test_two_draws_are_salted_one_after_the_other() -> None:
    text = HEAD + DROPPING.replace("(dropout x 0.1)", "(dropout (dropout x 0.1) 0.2)") + OBJECTIVE + TAIL
    once = next(each.text for each in trials(analysed(text)) if each.proposal.title.startswith("give"))
    twice = salted(once, "model")
    assert "(dropout (dropout x 0.1 :salt salt) 0.2 :salt salt)" in twice
    assert analysed(twice).diagnostics == []
