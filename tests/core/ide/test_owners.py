"""Training and each pass have metrics, batches and inputs of their own, and what is one for some of them is told from the rest."""

from __future__ import annotations

import pytest

from sexpgpu.analysis import Analysis
from sexpgpu.ide.definition import definitions
from sexpgpu.ide.hover import hover
from sexpgpu.ide.markup import Prose
from sexpgpu.ide.rename import Refused
from support.renaming import analysed, found_at, renamed

HEAD = """\
(def own true)
(defloader train :batch 4 :fields (list :x (spec [2] :f32)) :source (synthetic 8 (lambda (i) (list :x (zeros [2])))))
(defmodel model (x) (linear :out x 1))
(defun helper (inputs) (metric "shared" (mean (model (field inputs :x)))))
(defun objective (inputs ctx)
  (diagnostic "norm" (helper inputs))
  (metric "loss" (mean (model (field inputs :x)))))
(defun other (inputs ctx)
  (diagnostic "norm" (helper inputs))
  (if own (metric "loss" (sum (model (field inputs :x)))) (metric "loss" 1.0))
  (metric "accuracy" (mean (model (field inputs :x)))))
"""
TAIL = """\
(defun curriculum (stage ctx observations)
  (if (null (getf observations "eval/accuracy")) stage stage))
(defoptimizer (sgd :lr 0.1))
(defrun :steps 3 :keep-best (list "eval/loss" :max) :diagnostics ["norm"])
"""
NAMED = f"{HEAD}(defpass eval :loader train :every 5 :objective other)\n{TAIL}"
AGAIN = NAMED.replace("(defun curriculum", "(defpass again :loader train :every 5)\n(defun curriculum")
LAMBDA = f"""{HEAD}(defpass eval :loader train :every 5
  :objective (lambda (inputs ctx) (metric "accuracy" 1.0) (metric "loss" (helper inputs))))
{TAIL}"""
PLAIN = f"{HEAD}(defpass eval :loader train :every 5)\n{TAIL}"


def lines(text: str, piece: str, inside: int = 1) -> list[int]:
    """The lines on which what stands at a piece of the text stands."""
    return sorted(text[: place.span.start].count("\n") + 1 for place in found_at(text, piece, inside))


def targets(text: str, piece: str, inside: int = 1) -> list[int]:
    analysis = analysed(text)
    found = definitions(analysis, analysis.unit.main, text.index(piece) + inside)
    return sorted(text[: each.name.start].count("\n") + 1 for each in found)


def told(text: str, piece: str, inside: int = 1) -> str:
    analysis = analysed(text)
    said = hover(analysis, analysis.unit.main, text.index(piece) + inside)
    return "" if said is None else " ".join(part.text for part in said.parts if isinstance(part, Prose))


def reports(analysis: Analysis) -> dict[str, set[str]]:
    """The metrics of training and of each pass."""
    program = analysis.program
    graphs = {"train": program.objective} | {name: each.objective for name, each in program.passes.items()}
    return {name: {each.name for each in graph.metrics} for name, graph in graphs.items() if graph is not None}


def codes(text: str) -> list[str]:
    return [found.code for found in analysed(text).diagnostics]


def changed(text: str, piece: str, inside: int, new: str, within: set[str]) -> None:
    """Rename what stands at a piece of the text, and see that it changes for those alone: elsewhere names are as they were."""
    offset = text.index(piece) + inside
    other = renamed(text, offset, new)
    old = piece.strip('"').rpartition("/")[2]
    before, after = reports(analysed(text)), reports(analysed(other))
    assert after == {owner: {new if name == old and owner in within else name for name in names} for owner, names in before.items()}
    assert codes(other) == codes(text)
    assert renamed(other, other.index(new), old) == text


# Metrics


@pytest.mark.parametrize(
    ("text", "piece", "inside", "says"),
    [
        (NAMED, '"accuracy"', 2, "`eval/accuracy`"),
        (NAMED, '"loss" (mean', 2, "`train/loss`"),
        (NAMED, '"loss" (sum', 2, "`eval/loss`"),
        (NAMED, '"loss" 1.0', 2, "`eval/loss`"),  # which is not evaluated now
        (NAMED, '"eval/loss"', 7, "`eval/loss`"),
        (NAMED.replace("eval/loss", "eval/accuracy"), '"eval/accuracy" :max', 7, "`eval/accuracy`"),
        (NAMED, '"shared"', 2, "`train/shared`, `eval/shared`"),
        (AGAIN, '"loss" (mean', 2, "`train/loss`, `again/loss`"),
        (AGAIN, '"loss" (sum', 2, "`eval/loss`"),
        (AGAIN.replace("eval/loss", "again/loss"), '"again/loss"', 8, "`train/loss`, `again/loss`"),
        (AGAIN, '"accuracy"', 2, "`eval/accuracy`"),
        (LAMBDA, '"accuracy" 1.0', 2, "`eval/accuracy`"),
        (LAMBDA, '"loss" (helper', 2, "`eval/loss`"),
        (PLAIN, '"loss" (mean', 2, "`train/loss`, `eval/loss`"),
        (PLAIN, '"eval/loss"', 7, "`train/loss`, `eval/loss`"),
    ],
)
def test_a_metric_is_said_to_be_reported_by_those_who_do(text: str, piece: str, inside: int, says: str) -> None:
    assert f"It is reported as {says}." in told(text, piece, inside)


def test_what_nobody_reports_is_said_to_be_reported_by_nobody() -> None:
    assert "reported as" not in told(PLAIN, '"accuracy"')
    assert "reported as" not in told('(defun objective (i ctx) 1.0)\n(defun never (x) (metric "loss" x))', '"loss"')


def test_a_diagnostic_of_a_pass_alone_is_dropped() -> None:
    text = LAMBDA.replace('"accuracy" 1.0)', '"accuracy" 1.0) (diagnostic "only" 2.0)')
    assert "do not sample" in told(text, '"only"')
    assert "sampled in training" in told(text, '"norm"')


@pytest.mark.parametrize(
    ("text", "piece", "inside", "found", "made"),
    [
        (NAMED, '"eval/loss"', 7, [10, 10, 16], [10, 10]),
        (NAMED, '"loss" (mean', 1, [7], [7]),
        (NAMED, '"eval/accuracy"', 7, [11, 14], [11]),
        (NAMED, '"norm"', 1, [6, 16], [6]),  # that of the pass is dropped
        (AGAIN, '"eval/loss"', 7, [10, 10, 17], [10, 10]),
        (AGAIN.replace("eval/loss", "again/loss"), '"again/loss"', 8, [7, 17], [7]),
        (LAMBDA, '"eval/loss"', 7, [13, 17], [13]),
        (PLAIN, '"eval/loss"', 7, [7, 16], [7]),
        (PLAIN, '"eval/accuracy"', 7, [14], []),  # which that pass does not report
        (PLAIN.replace("eval/loss", "train/loss"), '"train/loss"', 7, [7, 16], [7]),
    ],
)
def test_a_metric_is_told_from_another_of_its_name(text: str, piece: str, inside: int, found: list[int], made: list[int]) -> None:
    assert lines(text, piece, inside) == found
    assert targets(text, piece, inside) == made


@pytest.mark.parametrize(
    ("text", "piece", "inside", "within"),
    [
        (NAMED, '"loss"', 1, {"train"}),
        (NAMED, '"eval/loss"', 7, {"eval"}),
        (NAMED, '"accuracy"', 1, {"eval"}),
        (NAMED, '"shared"', 1, {"train", "eval"}),
        (AGAIN, '"loss"', 1, {"train", "again"}),
        (AGAIN, '"eval/loss"', 7, {"eval"}),
        (LAMBDA, '"loss"', 1, {"train"}),
        (LAMBDA, '"eval/loss"', 7, {"eval"}),
        (PLAIN, '"eval/loss"', 7, {"train", "eval"}),
    ],
)
def test_another_name_is_for_those_who_report_it(text: str, piece: str, inside: int, within: set[str]) -> None:
    changed(text, piece, inside, "zz-new", within)


def test_a_name_is_taken_by_those_who_report_it() -> None:
    changed(NAMED, '"loss"', 1, "accurate", {"train"})
    other = renamed(NAMED, NAMED.index('"loss"') + 1, "accuracy")  # which only the pass reports
    assert reports(analysed(other)) == {"train": {"shared", "accuracy"}, "eval": {"shared", "loss", "accuracy"}}
    for piece in ('"eval/loss"', '"loss" 1.0'):
        with pytest.raises(Refused, match='a metric "accuracy" already, in line 11'):
            renamed(NAMED, NAMED.index(piece) + piece.index("loss"), "accuracy")
    with pytest.raises(Refused, match='a metric "shared" already, in line 4'):
        renamed(NAMED, NAMED.index('"loss"') + 1, "shared")
    with pytest.raises(Refused, match='a metric "train/n-1" already'):
        renamed(NAMED.replace('"shared"', '(str "n-" 1)'), NAMED.replace('"shared"', '(str "n-" 1)').index('"loss"') + 1, "n-1")


@pytest.mark.parametrize(
    ("text", "piece", "inside", "found"),
    [
        (NAMED.replace("(sum (model", "(sum (modell"), '"eval/loss"', 7, [10, 10, 16]),  # a graph with a gap
        (NAMED.replace("(mean (model (field inputs :x)))))", "(mean (modell (field inputs :x)))))"), '"loss"', 1, [7]),
        (NAMED.replace("(defmodel model (x) (linear :out x 1))\n", "\n"), '"eval/accuracy"', 7, [11, 14]),
        (NAMED.replace(":every 5 :objective", ":evry 5 :objective"), '"eval/accuracy"', 7, [11, 14]),
        (NAMED.replace("eval/loss", "evil/loss"), '"evil/loss"', 7, [16]),  # may be either
        (NAMED.replace("eval/loss", "evil/accuracy"), '"evil/accuracy"', 7, [11, 14, 16]),
        ('(defun f (x) (metric "loss" x))\n(defun g (observations) (getf observations "eval/loss"))', '"eval', 7, [1, 2]),
    ],
)
def test_what_is_not_traced_is_told_by_the_text(text: str, piece: str, inside: int, found: list[int]) -> None:
    assert lines(text, piece, inside) == found


# Batches and inputs


def passes(prepare: str = "", keys: str = "", generate: bool = True) -> str:
    """A file whose pass has a loader of its own; `keys` are others that the pass has."""
    made = "(defgenerate :trips 2 :init (lambda (batch ctx) (list :g (zeros [4 2]))) :step (lambda (state trip ctx) state))\n"
    made = made if generate else ""
    read = ":g" if generate else ":x"
    prepare = prepare or f"(defun prepare (batch ctx)\n  (list {read} (field batch {read})))\n"
    return f"""\
(defloader train :batch 4 :fields (list :x (spec [2] :f32)) :source (synthetic 8 (lambda (i) (list :x (zeros [2])))))
(defloader held :batch 8 :fields (list :y (spec [2] :f32)) :source (synthetic 8 (lambda (i) (list :y (zeros [2])))))
(defmodel model (x) (linear :out x 1))
{made}{prepare}(defun objective (inputs ctx) (metric "loss" (mean (model (field inputs {read})))))
(defpass eval :loader held :every 5 {keys})
(defoptimizer (adamw :lr 0.1))
(defrun :steps 3 :loader train)
"""


OWN = ':objective (lambda (inputs ctx) (metric "m" (mean (model (field inputs :y)))))'
HANDED = passes(keys=f":prepare (lambda (batch ctx) batch)\n  {OWN}")
LISTED = passes(keys=f":prepare (lambda (batch ctx) (list :y (field batch :y)))\n  {OWN}")
SET = passes(keys=f":prepare (lambda (batch ctx) (plist-set batch :z (field batch :y)))\n  {OWN}")
BOTH = passes(keys=":prepare (lambda (batch ctx) (list :g (field batch :y)))")
NAME = passes(keys=":prepare (lambda (batch ctx) (list :g (field batch :y)))\n  :objective objective")
BARE = passes(generate=False, prepare="(def unused 1)\n", keys=OWN)
OBJECTIVE = "`objective` is handed it as one of its inputs."
EVAL = "The `:objective` of the pass `eval` is handed it as one of its inputs."
STATE = "an entry of the generator's state"


@pytest.mark.parametrize("text", [HANDED, LISTED, SET, BOTH, NAME, BARE])
def test_the_files_are_right(text: str) -> None:
    assert [code for code in codes(text) if code.startswith("E-")] == []


@pytest.mark.parametrize("text", [HANDED, LISTED, SET])
def test_what_is_generated_is_no_input_of_a_pass(text: str) -> None:
    assert targets(text, "batch :g", 7) == [4]
    assert lines(text, "batch :g", 7) == [4, 6]
    assert lines(text, "inputs :g", 8) == [6, 7]
    made = told(text, ":g (field")
    assert OBJECTIVE in made
    assert STATE not in made
    assert "held" not in made
    assert STATE in told(text, ":g (zeros")
    assert "handed it as" not in told(text, ":g (zeros")


@pytest.mark.parametrize("text", [HANDED, LISTED, SET])
def test_with_a_form_that_does_not_read_nothing_false_is_said(text: str) -> None:
    broken = text.replace("trip ctx) state))", "trip ctx) state)")
    made = told(broken, ":g (field")
    assert OBJECTIVE in made
    assert "loader" not in made
    field = told(broken, ":y (spec")
    assert "It is a field of the loader `held`." in field
    assert OBJECTIVE not in field


def test_a_field_that_a_pass_hands_on_is_its_own_objectives() -> None:
    for text in (HANDED, SET, BARE):
        field = told(text, ":y (spec")
        assert "It is a field of the loader `held`." in field
        assert EVAL in field
        assert OBJECTIVE not in field
        assert "`train`" not in field
    assert EVAL in told(LISTED, ":y (field")
    assert "field of" not in told(LISTED, ":y (field")
    assert OBJECTIVE in told(BARE, ":x (spec")
    assert EVAL not in told(BARE, ":x (spec")


@pytest.mark.parametrize("text", [BOTH, NAME])
def test_one_objective_reads_what_either_function_prepares(text: str) -> None:
    assert lines(text, "inputs :g", 8) == [6, 7, 8]
    assert targets(text, "inputs :g", 8) == [6, 8]
    assert OBJECTIVE in told(text, ":g (field batch :y)")
    assert lines(text, "batch :y", 7) == [2, 2, 8]


def test_the_files_prepare_is_handed_either_batch() -> None:
    text = passes(generate=False).replace(":y", ":x")
    assert lines(text, "batch :x", 7) == [1, 1, 2, 2, 5]
    assert lines(text, "inputs :x", 8) == [5, 6]
    field = told(text, ":x (spec")
    assert "of the loader `held`" in field
    assert "of the loader `train`" in field


def test_without_any_prepare_a_batch_is_its_own_loaders() -> None:
    assert lines(BARE, "inputs :x", 8) == [1, 1, 5]
    assert lines(BARE, "inputs :y", 8) == [2, 2, 6]


@pytest.mark.parametrize("text", [HANDED, LISTED, SET, BOTH, NAME, BARE])
def test_every_key_can_have_another_name(text: str) -> None:
    """The other text has the same diagnostics, and the way back leads to where it began."""
    for start in (match for match in range(len(text)) if text[match : match + 3] in (":g ", ":y ", ":x ", ":g)", ":y)", ":x)")):
        other = renamed(text, start + 1, "zz-new")
        assert codes(other) == codes(text)
        assert renamed(other, other.index("zz-new"), text[start + 1]) == text
