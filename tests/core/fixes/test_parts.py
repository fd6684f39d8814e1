"""What is missing, added: passes, parts of a run, keys of declarations; parameters that are shared or idle."""

from __future__ import annotations

import pytest

from support.mending import analysed, mended, titles

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
  (let ((x (field inputs :row)))
    (metric "loss" (mean (square (- (model x) 1.0))))))
"""
TAIL = """
(defoptimizer (sgd :lr 0.1))

(defrun :steps 10)
"""
EVAL = "(defpass eval\n  :loader train\n  :every 100)\n\n"


def codes(text: str) -> list[str]:
    return [each.code for each in analysed(text).diagnostics]


@pytest.mark.parametrize("best", ['"eval/loss"', '(list "eval/loss" :max)'])
def test_a_pass_is_added_for_what_is_to_be_kept(best: str) -> None:
    tail = TAIL.replace(":steps 10", f":steps 10 :keep-best {best}")
    text = mended(HEAD + MODEL + OBJECTIVE + tail, "add a pass")
    assert EVAL + "(defrun" in text
    assert codes(text) == []


def test_a_pass_is_added_beside_others_under_the_name_that_is_asked_for() -> None:
    tail = TAIL.replace(":steps 10", ':steps 10 :keep-best "held out/loss"').replace("(defrun", EVAL + "(defrun")
    assert "add a pass" not in titles(HEAD + MODEL + OBJECTIVE + tail)
    tail = tail.replace("held out", "held")
    text = mended(HEAD + MODEL + OBJECTIVE + tail, "add a pass")
    assert EVAL.replace("eval", "held") in text
    assert codes(text) == []


def test_a_loss_that_is_not_reported_is_reported_with_the_pass() -> None:
    tail = TAIL.replace(":steps 10", ':steps 10 :keep-best "eval/loss"')
    plain = OBJECTIVE.replace('(metric "loss" (mean (square (- (model x) 1.0))))', "(mean (square (- (model x) 1.0)))")
    assert mended(HEAD + MODEL + plain + tail, "add a pass, and report the loss") == HEAD + MODEL + OBJECTIVE + tail.replace(
        "(defrun", EVAL + "(defrun"
    )
    asking = '(defun curriculum (stage ctx observations)\n  (where (< (getf observations "eval/loss") 0.1) 0 stage))\n'
    text = mended(HEAD + MODEL + plain + asking + TAIL, "add a pass, and report the loss")
    assert codes(text) == ["W-CONTRACT-003"]


@pytest.mark.parametrize("best", ['"eval/accuracy"', '"loss"'])
def test_no_pass_is_added_that_would_not_report_it(best: str) -> None:
    assert not [
        title for title in titles(HEAD + MODEL + OBJECTIVE + TAIL.replace("10", f"10 :keep-best {best}")) if "add a pass" in title
    ]


@pytest.mark.parametrize(
    "text",
    [
        "(defrun :steps 10)\n",
        "(defrun first :steps 10)\n",
        HEAD + "(defrun :steps 10)\n",
        HEAD.replace(":row (spec", ":id (spec [] :i32) :row (spec").replace(
            "(list :row (full", "(list :id (full [] 1 :i32) :row (full"
        )
        + TAIL,
        "(defoptimizer (sgd :lr 0.1))\n\n(defrun :steps 10)\n",
    ],
)
def test_all_parts_that_a_run_lacks_are_added_at_once(text: str) -> None:
    after = mended(text, "add all that is missing")
    assert codes(after) == []
    assert after.endswith(text.splitlines()[-1] + "\n")


@pytest.mark.parametrize(
    "text", [HEAD + MODEL, HEAD + OBJECTIVE, MODEL.replace("model model", "model net"), HEAD.replace(":f32", ":i32")]
)
def test_parts_are_not_added_to_others_that_they_may_not_fit(text: str) -> None:
    assert "add all that is missing" not in titles(text + "(defrun :steps 10)\n")


@pytest.mark.parametrize(
    ("form", "title", "left"),
    [
        ("(defgenerate :trips 4)", "add :init and :step", ["W-CONTRACT-002"]),
        ("(defgenerate)", "add :trips, :init and :step", ["W-CONTRACT-002"]),
        ("(defpass eval)", "add :loader and :every", []),
        ("(defloader other)", "add :batch, :fields and :source", []),
        ("(defloader other :batch 4)", "add :fields and :source", []),
        ("(defloader other\n  :fields (list :x (spec [8] :f32)))", "add :batch and :source", []),
    ],
)
def test_all_keys_that_a_declaration_lacks_are_added_at_once(form: str, title: str, left: list[str]) -> None:
    run = HEAD + MODEL + form + "\n\n" + OBJECTIVE + TAIL.replace("10", "10 :loader train")
    assert codes(mended(run, title)) == left
    if "defpass" not in form:
        assert codes(mended(form + "\n", title)) == []


# Parameters


@pytest.mark.parametrize(
    ("loop", "wrapped"),
    [
        ("(reduce (lambda (h i) (+ i (linear :a h 8))) (range 3) x)", "(+ i (scope i (linear :a h 8)))"),
        ("(reduce (lambda (h _i) (linear :a h 8)) (range 3) x)", "(lambda (h i) (scope i (linear :a h 8)))"),
        ("(reduce + (mapcar (lambda (i) (* i (linear :a x 8))) (range 1 3)) 0.0)", "(* i (scope i (linear :a x 8)))"),
        ("(reduce + (mapcar (lambda (y k) (* k (linear :a y 8))) (list x x) [5 7]) 0.0)", "(* k (scope k (linear :a y 8)))"),
    ],
)
def test_layers_of_a_loop_get_scopes_of_their_own(loop: str, wrapped: str) -> None:
    text = HEAD + MODEL.replace("(linear :out x 8)", loop) + OBJECTIVE + TAIL
    assert "W-MODEL-001" in codes(text)
    (title,) = [each for each in titles(text) if each.startswith("write (scope")]
    after = mended(text, title)
    assert wrapped in " ".join(after.split())
    assert set(codes(after)) <= set(codes(text)) - {"W-MODEL-001"}


def test_layers_of_a_function_that_a_loop_calls_get_scopes_of_their_own() -> None:
    block = "(defun block (x _index)\n  (+ x (linear :mix x 8)))\n\n"
    text = HEAD + block + MODEL.replace("(linear :out x 8)", "(reduce block (range 3) x)") + OBJECTIVE + TAIL
    after = mended(text, "write (scope index …)")
    assert "(defun block (x index)\n  (+ x (scope index (linear :mix x 8))))" in after
    assert codes(after) == []
    kept = text.replace("(+ x (", "(+ x _index (")
    assert "(scope _index (linear :mix x 8))" in mended(kept, "write (scope _index …)")
    each = MODEL.replace("(linear :out x 8)", "(let ((y x))\n    (dotimes (i 3) (twice y))\n    (linear :out y 8))")
    text = HEAD + "(defun twice (x)\n  (linear :a x 8))\n\n" + each + OBJECTIVE + TAIL
    assert "W-MODEL-001" in codes(text)


@pytest.mark.parametrize(
    "body",
    [
        "(linear :a (linear :a x 8) 8)",
        "(reduce (lambda (h y) (linear :a (+ y h) 8)) (list x x) x)",
        "(linear :a (model-2 (model-2 x)) 8)",
    ],
)
def test_layers_without_a_number_are_left(body: str) -> None:
    other = "(defun model-2 (x)\n  (linear :b x 8))\n\n"
    text = HEAD + other + MODEL.replace("(linear :out x 8)", body) + OBJECTIVE + TAIL
    assert "W-MODEL-001" in codes(text)
    assert not [each for each in titles(text) if each.startswith("write (scope")]


@pytest.mark.parametrize(
    ("body", "title", "frozen"),
    [
        ("(linear :gate x 8)", "freeze the layer", "(scope :fixed :frozen true (linear :gate x 8))"),
        ("(param :p [8] :init (init-ones))", "freeze the parameter", "(param :p [8] :init (init-ones) :frozen true)"),
    ],
)
def test_what_learns_nothing_is_frozen(body: str, title: str, frozen: str) -> None:
    model = MODEL.replace("(linear :out x 8)", f"(linear :out (+ x (stop-gradient {body})) 8)")
    text = mended(HEAD + model + OBJECTIVE + TAIL, title)
    assert frozen in " ".join(text.split())
    assert codes(text) == []


@pytest.mark.parametrize("keys", ["", " :frozen false"])
def test_a_model_that_learns_nothing_is_frozen(keys: str) -> None:
    other = f"(defmodel teacher (x){keys}\n  (linear :out x 8))\n\n(def model (list :a student :b teacher))\n\n"
    text = (
        HEAD
        + MODEL.replace("model model", "model student")
        + other
        + OBJECTIVE.replace("(model x) 1.0", "((getf model :a) x) (stop-gradient ((getf model :b) x))")
        + TAIL
    )
    after = mended(text, "freeze the model")
    assert "(defmodel teacher (x) :frozen true (linear" in " ".join(after.split())
    assert codes(after) == []


def test_a_layer_that_learns_in_part_is_not_frozen() -> None:
    norm = MODEL.replace("(linear :out x 8)", "(let ((y (relu (linear :a x 8))))\n    (+ y (stop-gradient (linear :a x 8))))")
    mixed = norm.replace("(stop-gradient (linear :a x 8))", "(* 0 (cast (> (linear :b x 8) 0.0) :f32))")
    assert "freeze the layer" in titles(HEAD + mixed + OBJECTIVE + TAIL)
    assert "freeze the layer" not in titles(HEAD + norm + OBJECTIVE + TAIL)
