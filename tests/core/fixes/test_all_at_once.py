"""All safe fixes, to the end: one that uncovers what the next mends is made, one that only brings trouble is not."""

from __future__ import annotations

import pytest

from sexpgpu.fixes import everything, fixed
from sexpgpu.format import apply_edits
from support.mending import analysed


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("(def a (sum (ones [2]) :axs 0 :keepdms true))\n", "(def a (sum (ones [2]) :axes 0 :keepdims true))\n"),
        (
            "(def b (+ (iota [3]) (ones [3]) (iota [3])))\n",
            "(def b (+ (cast (iota [3]) :f32) (ones [3]) (cast (iota [3]) :f32)))\n",
        ),
        (
            "(def b (* (iota [3]) (+ (iota [3]) (ones [3]))))\n",
            "(def b (* (cast (iota [3]) :f32) (+ (cast (iota [3]) :f32) (ones [3]))))\n",
        ),
        (
            "(def a (ones [3 4] :f32y))\n(def b (matmul (ones [2 3] :bf16) a))\n",
            "(def a (ones [3 4] :f32))\n(def b (matmul (cast (ones [2 3] :bf16) :f32) a))\n",
        ),
    ],
)
def test_what_a_fix_uncovers_is_mended_too(text: str, left: str) -> None:
    done = fixed(analysed(text))
    assert done.text == left
    assert apply_edits(text, done.edits) == left
    assert not done.analysis.diagnostics
    assert not fixed(analysed(left)).edits


@pytest.mark.parametrize("extra", ["", "(def c (sum (zeros [2]) :axis 0))\n", "(def d (* (iota [3]) (+ (iota [3]) (ones [3]))))\n"])
def test_what_leads_nowhere_is_left_and_does_not_keep_the_rest_back(extra: str) -> None:
    stuck = "(def a (ones [3 4] :f32y))\n(def b (matmul (ones [2 7]) a))\n"
    done = fixed(analysed(stuck + extra))
    assert done.text.startswith(stuck)
    assert [each.code for each in done.analysis.diagnostics] == [each.code for each in analysed(stuck).diagnostics]
    assert bool(done.edits) == bool(extra)


def test_one_that_leads_nowhere_among_many_alike_is_found() -> None:
    text = "".join(f"(def a{number} (sum (zeros [2]) :axis 0))\n" for number in range(20))
    stuck = "(def z (ones [3 4] :f32y))\n(def y (matmul (ones [2 7]) z))\n"
    done = fixed(analysed(text + stuck + text.replace("(def a", "(def b")))
    assert done.count == 40
    assert stuck in done.text


def test_trials_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    def counted(*arguments: object) -> object:
        nonlocal asked
        asked += 1
        return analyse(*arguments)  # pyright: ignore[reportArgumentType]

    analyse = everything.analyse
    monkeypatch.setattr(everything, "analyse", counted)
    monkeypatch.setattr(everything, "_MOST_TRIALS", 7)
    stuck = "".join(f"(def a{n} (ones [3 4] :f32y{n}))\n(def b{n} (matmul (ones [2 7]) a{n}))\n" for n in range(20))
    fixed(analysed(stuck))
    assert asked <= 7


def test_a_name_that_other_files_may_read_is_not_changed_unasked() -> None:
    analysis = analysed("(def count 3)\n")
    assert [each.code for each in analysis.diagnostics] == ["W-NAME-001"]
    assert not fixed(analysis).edits
