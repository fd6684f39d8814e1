"""Comments outlive what is done to the forms around them: only what takes a form out takes those with it that are its own."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from sexpgpu.fixes import finished, rewrites_at
from sexpgpu.format import apply_edits
from support.drawn import FIXTURES, fixtures, strip
from support.mending import analysed, mended, trials
from support.slips import EXAMPLES

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|;[^\n]*|#\|.*?\|#|#;|[^\s"]+', re.DOTALL)
# A form is taken out, or another stands in its place: its own comments go with it.
_TAKES_OUT = re.compile(
    r"remove |leave |drop |keep the value |read the parameters themselves|move the |return the value"
    r"|write nil|write \d|write \([a-z ]*ctx|salt with |add the trip "
)


def sprinkled(text: str, chance: random.Random) -> str:
    """A text with numbered comments between its tokens."""
    done = ""
    at = 0
    for number, token in enumerate(_TOKEN.finditer(text)):
        between = text[at : token.start()]
        if between and "\n" not in between and chance.random() < 0.3:
            between = f" ; note {number}.\n "
        done += between + token[0]
        at = token.end()
    return done + text[at:]


def notes(text: str) -> set[str]:
    return set(re.findall(r"; note \d+\.", text))


def texts(seed: int) -> list[tuple[Path, str]]:
    """Programs with comments sprinkled over them."""
    chance = random.Random(seed)
    files = [*fixtures("diagnostics"), *sorted(EXAMPLES.glob("*.sx"))]
    return [(path, sprinkled(strip(path.read_bytes().decode("utf-8-sig"))[0], chance)) for path in chance.sample(files, 60)]


@pytest.mark.parametrize("seed", range(3))
def test_no_fix_loses_a_comment_unless_it_takes_a_form_out(seed: int) -> None:
    for path, text in texts(seed):
        for trial in trials(analysed(text, str(path))):
            if not _TAKES_OUT.match(trial.proposal.title):
                assert notes(trial.text) == notes(text), f"{path.relative_to(FIXTURES.parent.parent)}: {trial.proposal.title}"


@pytest.mark.parametrize("seed", range(3))
def test_no_rewrite_loses_a_comment(seed: int) -> None:
    chance = random.Random(seed)
    made = 0
    for path, text in texts(seed):
        analysis = analysed(text, str(path))
        starts = [each.start() for each in re.finditer(r"\(", text)]
        for start in chance.sample(starts, min(len(starts), 30)):
            end = start
            depth = 0
            while end < len(text) and (depth or end == start):
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
            for begin, stop in ((start, end), (start + 1, start + 1)):
                for proposal in rewrites_at(analysis, analysis.source, begin, stop):
                    if proposal.edits:
                        made += 1
                        assert notes(apply_edits(text, finished(proposal))) == notes(text), f"{path}: {proposal.title}"
    assert made > 100


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(def a 1)\n\n; about it\n(def a 2)\n\n(def b 3)\n", "(def a 1)\n\n(def b 3)\n"),
        ("(def a 1)\n\n; about it\n; and more\n(def a 2)\n(def b 3)\n", "(def a 1)\n\n(def b 3)\n"),
        ("(def a 1)\n\n; about it\n(def a 2)\n", "(def a 1)\n"),
        ("(def a 1)\n; between\n(def a 2)\n(def b 3)\n", "(def a 1)\n; between\n(def b 3)\n"),
        ("(def a 1)\n\n; apart\n\n(def a 2)\n(def b 3)\n", "(def a 1)\n\n; apart\n\n(def b 3)\n"),
        ("(def a 1)\n\n; a part\n\n; about it\n(def a 2)\n\n(def b 3)\n", "(def a 1)\n\n; a part\n\n(def b 3)\n"),
        ("(def a 1)\n(def a 2) ; about it\n(def b 3)\n", "(def a 1)\n(def b 3)\n"),
        ("(def a 1) (def a 2) ; about both\n(def b 3)\n", "(def a 1) ; about both\n(def b 3)\n"),
        ("(def a 1)\n; sexpgpu: ignore[H-NAME-001]\n(def a 2)\n(def b 3)\n", "(def a 1)\n(def b 3)\n"),
        ("(def a 1)\n; x\n; sexpgpu: ignore[H-NAME-001]\n(def a 2)\n(def b 3)\n", "(def a 1)\n; x\n(def b 3)\n"),
        ("(def a 1)\n(def a 2) ; sexpgpu: ignore[H-NAME-001]\n(def b 3)\n", "(def a 1)\n(def b 3)\n"),
        ('(def a "\n\n; text")\n(def a 2)\n(def b 3)\n', '(def a "\n\n; text")\n(def b 3)\n'),
        ("(def a 1)\n#|\n\n; inside |#\n(def a 2)\n(def b 3)\n", "(def a 1)\n#|\n\n; inside |#\n(def b 3)\n"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_belongs_to_a_form_alone_goes_with_it(before: str, after: str, end: str) -> None:
    assert mended(before.replace("\n", end), "remove this definition").replace("\r\n", "\n") == after


def test_the_first_form_of_a_file_takes_what_stands_above_it_along() -> None:
    text = '; The value.\n(print "x")\n\n(def a 1)\n'
    assert mended(text, "remove the print") == "(def a 1)\n"


def test_a_second_definition_with_words_of_its_own_is_not_removed_unasked() -> None:
    for text, safe in (
        ("(def a 1)\n\n; Why.\n(def a 1)\n", False),
        ("(def a 1)\n(def a 1) ; why\n", False),
        ("; Why.\n(def a 1)\n\n; Why.\n(def a 1)\n", True),
        ("(def a 1)\n\n(def a 1)\n", True),
    ):
        (found,) = [each for each in trials(analysed(text)) if each.proposal.title == "remove this definition"]
        assert found.best is safe


@pytest.mark.parametrize(
    ("value", "title"),
    [
        ('(metric "loss" 1.0)', "remove the binding of m, and the metric that it reports"),
        ('(+ 1.0 (diagnostic "size" 1.0))', "remove the binding of m, and the diagnostic that it reports"),
        ('(print "x" 1)', "remove the binding of m, and what it prints"),
        ('(print "x" (metric "loss" 1.0))', "remove the binding of m, and all that it reports"),
        ("(told 1.0)", "remove the binding of m, and the metric that it reports"),
        ("(+ 1.0 2.0)", "remove the binding of m"),
    ],
)
def test_a_binding_that_does_more_than_give_a_value_says_so(value: str, title: str) -> None:
    text = f'(defun told (x) (metric "loss" (+ x 1.0)))\n\n(defun f (x)\n  (let ((m {value})) ; kept\n    (told x)))\n'
    assert "  ; kept\n  (told x))\n" in mended(text, title)
    several = text.replace("(let ((m", "(let ((y x) (m").replace("(told x)))", "(told y)))")
    assert "(let ((y x)) ; kept\n    (told y)))\n" in mended(several, title)


def test_what_stands_below_a_comment_leaves_no_blank_line() -> None:
    text = "(defun f (x)\n  (let ((y x)\n        ; first\n        (m 2)\n        ; second\n        (z 3))\n    (+ y z)))\n"
    done = mended(text, "remove the binding of m")
    assert done == text.replace("        (m 2)\n", "")
