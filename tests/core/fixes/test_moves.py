"""Fixes that change several places, as they leave the file: laid out as the formatter has it, and clean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sexpgpu.diagnostics.page import page
from sexpgpu.fixes import finished, offers, proposals
from sexpgpu.fixes.reports import TITLE
from sexpgpu.format import apply_edits
from support.drawn import strip
from support.mending import analysed, mended, titles

HEAD = """\
(defloader train
  :batch 4
  :fields (list :row (spec [8] :f32))
  :source (synthetic 64 (lambda (index) (list :row (full [8] 1.0)))))

(defmodel model (x)
  (linear :out x 8))

"""
TAIL = """
(defoptimizer (sgd :lr 0.1))

(defrun :steps 10)
"""
GENERATE = """\
(defgenerate
  :trips 4
  :init (lambda (batch ctx)
          (list :z (field batch :row)))
  :step (lambda (state trip ctx)
          (let* ((z (model (getf state :z)))
                 (size (mean (abs z))))
            (metric "size 🙂" size)
            (list :z z)))
  :finish (lambda (state ctx)
            (list :z (getf state :z))))

"""
PREPARE = """\
(defun prepare (batch ctx)
  (list :x (field batch :z)))

"""
OBJECTIVE = """\
(defun objective (inputs ctx)
  "The error."
  (metric "loss" (mean (square (- (model (field inputs :x)) 1.0)))))
"""


OTHER_PASS = """
(defloader other
  :batch 2
  :fields (list :row (spec [8] :f32))
  :source (synthetic 64 (lambda (index) (list :row (full [8] 1.0)))))

(defpass eval
  :loader other
  :every 5)
"""
OWN_PREPARE = OTHER_PASS.replace(":every 5", ":every 5 :prepare (lambda (batch ctx) (list :x (field batch :row)))") + TAIL.replace(
    "10", "10 :loader train"
)


def bad(code: str) -> str:
    found = page(code)
    assert found is not None
    return strip(found.bad)[0]


def good(code: str) -> str:
    found = page(code)
    assert found is not None
    return found.good


def codes(text: str) -> list[str]:
    return [each.code for each in analysed(text).diagnostics]


def test_a_metric_moves_into_the_state_and_is_reported_from_objective() -> None:
    text = mended(HEAD + GENERATE + PREPARE + OBJECTIVE + TAIL, TITLE)
    assert (
        text
        == HEAD
        + (
            GENERATE.replace('            (metric "size 🙂" size)\n', "")
            .replace("(list :z z)", "(list :z z :size size)")
            .replace("(list :z (field batch :row))", "(list :z (field batch :row) :size (zeros [] :f32))")
            .replace("(list :z (getf state :z))", "(list :z (getf state :z) :size (getf state :size))")
        )
        + PREPARE.replace("(field batch :z)", "(field batch :z) :size (field batch :size)")
        + OBJECTIVE.replace('"The error."\n', '"The error."\n  (metric "size 🙂" (field inputs :size))\n')
        + TAIL
    )
    assert codes(text) == []


def test_a_metric_in_the_place_of_its_value_leaves_that_there() -> None:
    generate = GENERATE.replace('            (metric "size 🙂" size)\n', "").replace(
        "(list :z z)", '(list :z (+ z (metric "size" size)))'
    )
    text = mended(HEAD + generate + PREPARE + OBJECTIVE + TAIL, TITLE)
    assert "(list :z (+ z size) :size size)" in text
    assert codes(text) == []


def test_a_metric_of_a_state_that_is_handed_on_whole() -> None:
    generate = """\
(defgenerate
  :trips 4
  :init (lambda (batch ctx)
          (metric "level" (mean (field batch :row)))
          (list :z (field batch :row)))
  :step (lambda (state trip ctx) state))

"""
    text = mended(HEAD + generate + OBJECTIVE.replace(":x", ":z") + TAIL, TITLE)
    assert "(list :z (field batch :row) :level (mean (field batch :row)))" in text
    assert "(lambda (state trip ctx) state)" in text
    assert codes(text) == []


STATE = '(metric "size 🙂" size)'


@pytest.mark.parametrize(
    ("metric", "others", "reported"),
    [
        ('(metric "loss" size)', "", '(metric "generated loss" (field inputs :loss))'),
        ('(metric "loss" size)', '(metric "generated loss" 1.0)', '(metric "generated loss 2" (field inputs :loss))'),
        ('(metric "\\"a\\" 1" size)', '(metric "\\"a\\" 1" 1.0)', '(metric "generated \\"a\\" 1" (field inputs :a-1))'),
        ('(metric "size" size :reduce :max)', "", '(metric "size" (field inputs :size) :reduce :max)'),
        (
            '(metric "size" size :weight (sum z))',
            "",
            '(metric "size" (field inputs :size) :weight (field inputs :size-weight))',
        ),
        (
            '(metric "size" (* 2.0 size) :weight 3 :reduce :mean)',
            "",
            '(metric "size" (field inputs :size) :reduce :mean :weight (field inputs :size-weight))',
        ),
        ('(metric "size" (/ 5 2))', "", '(metric "size" (field inputs :size))'),
    ],
)  # fmt: skip
def test_a_metric_goes_along_with_its_keywords_under_a_name_that_is_free(metric: str, others: str, reported: str) -> None:
    objective = OBJECTIVE.replace('"The error."\n', f'"The error."\n  {others}\n' if others else '"The error."\n')
    generate = GENERATE.replace(STATE, metric).replace("(list :z z)", "(list :z (* size z))")
    text = mended(HEAD + generate + PREPARE + objective + TAIL, TITLE)
    assert f'"The error."\n  {reported}\n' in text
    assert codes(text) == []


@pytest.mark.parametrize("end", ["(list :z z)", "(let ((q z)) (list :z q))", "(let* ((q z)) (list :z q))"])
@pytest.mark.parametrize(
    ("body", "entry"),
    [
        ('(let ((m (metric "level" (mean (abs z))))) END)', "m"),
        ('(let* ((m (metric "level" (mean (abs z)))) (z (+ z m))) END)', "m"),
        ('(let* ((z (+ z (metric "level" (mean (abs z)))))) END)', "level"),
        ('(let ((z (+ z (metric "level" (mean (abs z)))))) END)', "level"),
        ('(let ((mean-value 1.0) (y (+ z (metric "mean" (mean (abs z)))))) (let ((z (* mean-value y))) END))', "mean-value-2"),
        ('(let ((m (metric "level" (mean (abs z))))) (let ((z (* m z)) (m 1.0)) (let ((z (* m z))) END)))', "level"),
    ],
)  # fmt: skip
def test_the_value_of_a_metric_is_computed_once(body: str, entry: str, end: str) -> None:
    generate = (
        "(defgenerate\n  :trips 4\n  :init (lambda (batch ctx) (list :z (field batch :row)))\n"
        f"  :step (lambda (state trip ctx) (let ((z (getf state :z))) {body.replace('END', end)})))\n\n"
    )
    text = mended(HEAD + generate + PREPARE + OBJECTIVE + TAIL, TITLE)
    assert text.count("(abs z)") == 1
    assert re.search(rf":(level|mean) {entry}\)", text), text
    assert codes(text) == []


def test_the_value_of_a_metric_in_the_list_that_is_returned_is_computed_once() -> None:
    generate = GENERATE.replace(STATE, "").replace("(list :z z)", '(list :z (* z size (metric "level" (mean z))))')
    text = mended(HEAD + generate + PREPARE + OBJECTIVE + TAIL, TITLE)
    assert "(let ((level (mean z)))\n              (list :z (* z size level) :level level))" in text
    assert codes(text) == []
    level = '(let ((m (metric "loss" (mean (field batch :row)) :reduce :sum)))\n    (list :x (+ m (field batch :row))))'
    prepare = f"(defun prepare (batch ctx)\n  {level})\n\n"
    text = mended(HEAD + prepare + OBJECTIVE + TAIL, "return the value and report it from objective")
    assert "(list :x (+ m (field batch :row)) :loss m)" in text
    assert '(metric "prepared loss" (field inputs :loss) :reduce :sum)' in text
    assert codes(text) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ((OBJECTIVE, ""), "there is no `objective`"),
        (('(metric "size 🙂" size)', "(metric (str 1) size)"), "its name is computed"),
        (('(metric "size 🙂" size)', '(metric "size" z)'), "no scalar"),
        (('(metric "size 🙂" size)', '(metric "size" size :weight z)'), "no scalar"),
        (('(metric "size 🙂" size)', '(metric "size" size :reduce (first (list :max)))'), "keywords are computed"),
        (("(list :z z)))", "(plist-set state :z z)))"), "does not end with the (list …)"),
        (("(list :x (field batch :z))", "(plist-set batch :x (field batch :z))"), "`prepare` does not end"),
        ((TAIL, OWN_PREPARE), "the pass `eval`"),
    ],
)  # fmt: skip
def test_a_metric_that_cannot_move_says_why(change: tuple[str, str], reason: str) -> None:
    text = (HEAD + GENERATE + PREPARE + OBJECTIVE + TAIL).replace(*change)
    analysis = analysed(text)
    (found,) = [each for each in analysis.diagnostics if each.code == "E-GEN-004"]
    (moved,) = [each for each in proposals(analysis, found) if each.title == TITLE]
    assert reason in moved.disabled
    assert moved.edits == ()


@pytest.mark.parametrize(
    ("code", "title"),
    [
        ("E-CALL-001", "write :axes"),
        ("E-CALL-002", "write (* 4 width)"),
        ("E-CONTRACT-002", "write (inputs ctx)"),
        ("E-CONTRACT-003", "write (mean …)"),
        ("E-CONTRACT-006", "write :pixels"),
        ("E-CONTRACT-018", "bind teacher in model"),
        ("E-CONTRACT-021", "add :ema 0.999 to defrun"),
        ("E-FORM-001", "put the bindings in brackets"),
        ("E-GEN-005", "write floor-div"),
        ("E-NAME-001", "write half"),
        ("E-STAGE-001", "write where"),
        ("W-CTX-001", "write :progress"),
        ("W-GEN-001", "salt with the step"),
        ("W-GEN-002", "write :step"),
    ],
)
def test_a_fix_leads_from_the_bad_example_of_its_page_to_the_good_one(code: str, title: str) -> None:
    text = mended(bad(code), title)
    if code in ("E-CALL-001", "E-CALL-002"):  # whose examples hold two mistakes
        assert len(codes(text)) < len(codes(bad(code)))
    else:
        assert text.split() == good(code).split() or codes(text) == []


def test_a_pass_is_named_after_the_observations_that_are_asked_for() -> None:
    text = bad("E-CONTRACT-014").replace("(> (getf ctx :stage-steps) 300)", '(< (getf observations "held/error") 0.1)')
    text = mended(text, "add a pass")
    assert "(defpass held\n  :loader train\n  :every 100)\n\n(defun curriculum" in text
    assert codes(text) == []


def test_a_pass_without_the_generator_gets_a_prepare() -> None:
    text = mended(bad("E-CONTRACT-005"), "add a :prepare to eval")
    assert ":prepare (lambda (batch ctx)\n" in text
    assert codes(text) == []


def test_a_finish_keeps_the_state_and_renames_what_joins_the_batch() -> None:
    text = mended(bad("E-GEN-003"), "add a :finish that returns :generated-x")
    assert text.count(":finish (lambda (state ctx)\n            (list :generated-x (getf state :x)))") == 1
    assert codes(text) == []


def test_a_generated_name_is_handed_on_in_prepare() -> None:
    text = mended(bad("W-CONTRACT-002"), "hand :length on in prepare")
    assert "(list :x (field batch :nudged) :y (field batch :y) :length (field batch :length))" in text
    assert codes(text) == []


def test_a_generated_name_is_not_handed_on_where_a_pass_has_none() -> None:
    generate = GENERATE.replace('            (metric "size 🙂" size)\n', "").replace("(list :z z)", "(list :z (* z size))")
    text = HEAD + generate + PREPARE.replace(":z", ":row") + OBJECTIVE + TAIL
    assert "hand :z on in prepare" in titles(text)
    text = text.replace(TAIL, OTHER_PASS + TAIL.replace("10", "10 :loader train"))
    assert "ignore W-CONTRACT-002 on this line" in titles(text)
    assert "hand :z on in prepare" not in titles(text)


def test_conditions_one_after_the_other_become_where_in_where() -> None:
    text = "(defun f (x)\n  (cond ((< x 1.0) x)\n        ((< x 2.0) (* 2 x))\n        (true 0.0)))\n\n(def y (f (ones [4])))\n"
    assert "(where (< x 1.0) x (where (< x 2.0) (* 2 x) 0.0))" in mended(text, "write where")


def test_a_branch_that_is_no_tensor_is_not_made_one() -> None:
    text = "(def x (ones [4]))\n\n(def y (if (< x 1.0) (list 1) (list 2)))\n"
    assert titles(text) == []


# In files that are loaded


def test_a_fix_reaches_into_a_file_that_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "prepare.sx").write_text(PREPARE)
    text = '(load "prepare.sx")\n\n' + HEAD + GENERATE + OBJECTIVE + TAIL
    analysis = analysed(text, str(tmp_path / "run.sx"))
    (found,) = [each for each in analysis.diagnostics if each.code == "E-GEN-004"]
    (moved,) = [each for each in proposals(analysis, found) if each.title == TITLE]
    edits = finished(moved)
    theirs = [edit for edit in edits if edit.span.source is not analysis.source]
    assert {edit.span.source.name for edit in theirs} == {str(tmp_path / "prepare.sx")}
    assert apply_edits(PREPARE, theirs) == PREPARE.replace("(field batch :z)", "(field batch :z) :size (field batch :size)")
    (tmp_path / "prepare.sx").write_text(apply_edits(PREPARE, theirs))
    after = apply_edits(text, [edit for edit in edits if edit.span.source is analysis.source])
    assert [each.code for each in analysed(after, str(tmp_path / "run.sx")).diagnostics] == []


# To ignore


DRAW = HEAD + "(defun objective (inputs ctx)\n  (mean (dropout (model (field inputs :row)) 0.1)))\n" + TAIL


@pytest.mark.parametrize(
    ("line", "ignored"),
    [
        ("  (mean (dropout x 0.1)))", "  (mean (dropout x 0.1)))  ; sexpgpu: ignore[W-GEN-001]"),
        ("  (mean (dropout x 0.1)))  ", "  (mean (dropout x 0.1)))  ; sexpgpu: ignore[W-GEN-001]"),
        (
            "  (mean (dropout x 0.1))) ; sexpgpu: ignore[H-NAME-001] why",
            "  (mean (dropout x 0.1))) ; sexpgpu: ignore[H-NAME-001, W-GEN-001] why",
        ),
        ("  (mean (dropout x 0.1))) ; it is", "  ; sexpgpu: ignore[W-GEN-001]\n  (mean (dropout x 0.1))) ; it is"),
        ('  (mean (dropout x 0.1)) "\n")', '  ; sexpgpu: ignore[W-GEN-001]\n  (mean (dropout x 0.1)) "\n")'),
    ],
)
def test_a_warning_is_ignored_on_its_line(line: str, ignored: str) -> None:
    text = HEAD + "(defun objective (inputs ctx)\n" + line.replace("dropout x", "dropout (model (field inputs :row))") + "\n" + TAIL
    after = mended(text, "ignore W-GEN-001 on this line")
    assert ignored.replace("dropout x", "dropout (model (field inputs :row))") in after
    assert "W-GEN-001" not in codes(after)


def test_an_error_cannot_be_ignored() -> None:
    assert not [title for title in titles("(def a (sqrt b))\n") if title.startswith("ignore")]


def test_two_of_a_code_on_a_line_are_ignored_once() -> None:
    text = "(defun f (_x)\n  (let ((a 1) (b 2))\n    _x))\n"
    analysis = analysed(text)
    line = text.index("(let")
    found = offers(analysis, analysis.diagnostics, analysis.source, line, line + 20)
    assert [each.proposal.title for each in found].count("ignore H-NAME-001 on this line") == 1


# Reports that stand in the wrong function


def test_a_metric_in_prepare_is_returned_and_reported() -> None:
    prepare = '(defun prepare (batch ctx)\n  (metric "level" (mean (field batch :row)))\n  (list :x (field batch :row)))\n\n'
    text = mended(HEAD + prepare + OBJECTIVE + TAIL, "return the value and report it from objective")
    assert "  (list :x (field batch :row) :level (mean (field batch :row))))\n" in text
    assert '  (metric "level" (field inputs :level))\n' in text
    assert codes(text) == []


def test_a_counter_moves_into_prepare_where_its_value_is_known_there() -> None:
    counter = "  (counter :rows 4)\n"
    prepare = PREPARE.replace(":z", ":row")
    objective = OBJECTIVE.replace('"The error."\n', '"The error."\n' + counter)
    text = mended(HEAD + prepare + objective + TAIL, "move the counter into prepare")
    assert text == HEAD + prepare.replace("ctx)\n", "ctx)\n" + counter) + OBJECTIVE + TAIL
    assert codes(text) == []
    local = HEAD + prepare + objective.replace("(counter :rows 4)", "(counter :rows (size (field inputs :x)))") + TAIL
    assert titles(local) == ["remove the counter"]
