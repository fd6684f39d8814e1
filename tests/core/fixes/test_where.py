"""A decision of the host for a decision of the graph: to be taken unasked only where that will hold."""

from __future__ import annotations

import pytest

from sexpgpu.fixes import fixed
from support.mending import analysed, mended, trials

HEAD = "(def l (ones [4 8]))\n(def s (ones [3]))\n(def i (iota [8]))\n"


def preferred(decision: str) -> bool:
    """Whether `where` is the one to take for an `if` of local variables."""
    bound = "(l (ones [4 8])) (s (ones [3])) (i (iota [8])) (c (> (ones [8]) 0.5)) (w (> (ones [5]) 0.5)) (e (list 1))"
    text = f"(defun f ()\n  (let ({bound})\n    {decision}))\n\n(def a (f))\n"
    (found,) = [each for each in trials(analysed(text)) if each.diagnostic.code == "E-STAGE-001"]
    assert found.proposal.title == "write where"
    return found.best


@pytest.mark.parametrize(
    ("decision", "safe"),
    [
        ("(if c l (* 2.0 l))", True),
        ("(if c l l)", True),
        ("(if c l 2.0)", True),
        ("(if c i 2)", True),
        ("(cond (c l) (true 1.0))", True),
        ("(if l l (* 2.0 l))", False),
        ("(if i l l)", False),
        ("(if c l s)", False),
        ("(if c l i)", False),
        ("(if c i 2.5)", False),
        ("(if c e l)", False),
        ("(if w l l)", False),
        ("(cond (i l) (true 1.0))", False),
        ("(cond (c l) (true s))", False),
    ],
)
def test_what_is_known_of_condition_and_branches_decides(decision: str, safe: bool) -> None:
    assert preferred(decision) is safe


def test_what_is_not_known_is_found_out_by_doing_it() -> None:
    text = "(defun f (x)\n  (mean (if (< (mean x) 0.5) (* x 2.0) (ones [3]))))\n\n(def a (f (ones [4 8])))\n"
    assert not fixed(analysed(text)).edits
    text = text.replace("[3]", "[8]")
    assert fixed(analysed(text)).text == text.replace("(if", "(where")


def test_comments_between_conditions_stay_or_nothing_is_offered() -> None:
    text = "(defun f (x)\n  (and (< x 1.0) ; low\n       (> x 0.0) ; high\n       (< x 0.5)))\n\n(def y (f (ones [4])))\n"
    done = mended(text, "write logical-and")
    assert "; low" in done
    assert "; high" in done
    assert not analysed(done).diagnostics
    text = "(defun f (x)\n  (cond ((< x 1.0) x) ; low\n        (true 0.0)))\n\n(def y (f (ones [4])))\n"
    assert not list(trials(analysed(text)))
