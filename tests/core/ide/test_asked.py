"""What single places ask for that no table says: axes, fields of a loader, reports, functions; and what the text says by now."""

from __future__ import annotations

import pytest

from sexpgpu.ide.candidates import Item
from sexpgpu.ide.completion import complete
from support.typing import typed

LOADER = "(list :x (zeros [3]) :y (zeros [1])))))\n\n(defgenerate"


def items(old: str, new: str, *, fresh: bool = True, trigger: str = "") -> list[Item]:
    found = complete(*typed(old, new, fresh=fresh), trigger=trigger)
    return list(found.items) if found is not None else []


def labels(old: str, new: str, *, fresh: bool = True, trigger: str = "") -> list[str]:
    return [each.label for each in items(old, new, fresh=fresh, trigger=trigger)]


def axes(old: str, new: str, *, fresh: bool = True) -> list[tuple[str, str]]:
    """The numbers that come first, and what is said of them."""
    found: list[tuple[str, str]] = []
    for each in items(old, new, fresh=fresh):
        if not each.label.lstrip("-").isdigit():
            break
        found.append((each.label, each.detail))
    return found


OUT = [("0", "2 | 4"), ("1", "1"), ("-1", "1")]  # what `out` is: f32[2 1] in training, f32[4 1] in the pass


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize(
    ("new", "offered"),
    [
        ("(mean out :axes ¦)", OUT),
        ("(mean out :keepdims true :axes ¦", OUT),
        ("(softmax out :axis ¦)", OUT),
        ("(dim out ¦)", OUT),
        ("(take out rest :axis ¦)", OUT),
        ("(flip out ¦)", OUT),
        ("(mean out :axes [¦])", OUT),
        ("(mean out :axes [0 ¦])", OUT[1:]),
        ("(expand-dims out ¦)", [("0", ""), ("1", ""), ("2", ""), ("-1", "")]),
        ("(mean rest :axes ¦)", []),
        ("(mean unbound :axes ¦)", []),
        ("(mean out :keepdims ¦)", []),
        ("(twice out :c ¦)", []),
    ],
)
def test_an_axis_is_one_of_the_tensor(new: str, offered: list[tuple[str, str]], fresh: bool) -> None:
    assert axes("(mean out)", new, fresh=fresh) == offered


@pytest.mark.parametrize(
    ("new", "offered"),
    [
        ("(concat (list out out) :axis ¦)", OUT),
        ("(stack (list out out) :axis ¦)", [("0", ""), ("1", ""), ("2", ""), ("-1", "")]),
        ("(concat [out out] :axis ¦)", OUT),
        ("(iota [2 5] :axis ¦)", [("0", "2"), ("1", "5"), ("-1", "5")]),
        ("(sum (ones [2 3 7]) :axes ¦)", [("0", "2"), ("1", "3"), ("2", "7"), ("-1", "7")]),
        ("((lambda (y &key (axis 0)) (sum y :axes axis)) out :axis ¦)", OUT),
    ],
)
def test_an_axis_of_what_was_made_for_the_call(new: str, offered: list[tuple[str, str]]) -> None:
    assert axes("(mean out)", new) == offered


def test_names_come_behind_the_axes() -> None:
    found = labels("(mean out)", "(mean out :axes ¦)")
    assert found[:4] == ["0", "1", "-1", "ctx"]
    assert {"width", "softmax", "nil"} <= set(found)


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize(
    ("record", "offered"),
    [
        ("(lambda (index) (list :¦))", [":x", ":y"]),
        ("(lambda (index) (list :¦", [":x", ":y"]),
        ("(lambda (index) (list :x (zeros [3]) :¦))", [":y"]),
        ("(lambda (index) (list :¦ :x (zeros [3])))", [":y"]),
        ("(lambda (index) (let ((a 1)) (print a) (list :¦)))", [":x", ":y"]),
        ("(lambda (index) (let ((a (list :¦))) a))", []),
        ("(lambda (index) (list :x (list :¦)))", []),
        ("(lambda (index) (list :x :¦))", []),
        ("(list :¦)", []),
    ],
)
def test_a_record_has_the_fields_of_its_loader(record: str, offered: list[str], fresh: bool) -> None:
    assert labels(LOADER, f"(list)))) (defgenerate\n\n(defloader held :source (synthetic 8 {record}", fresh=fresh) == offered


@pytest.mark.parametrize("key", [":source (tokens", ":stages (list (tokens"])
def test_a_token_file_fills_a_field(key: str) -> None:
    fields = ":fields (list :ids (spec [8] :i32) :more (spec [1] :i32))"
    assert labels("", f'\n(defloader new {fields} {key} "f" :field :¦') == [":ids", ":more"]
    assert labels("", '\n(def new (tokens "f" :field :¦') == []


def test_a_loader_that_is_being_written_says_its_fields_itself() -> None:
    text = (
        "\n(defloader new :batch 2 :fields (list :a (spec [3] :f32) :b (spec [1] :f32)) :source (synthetic 4 (lambda (i) (list :¦"
    )
    assert labels("", text, fresh=False) == [":a", ":b"]


def test_a_loader_has_one_of_its_two_keys() -> None:
    for written, other in (("source", "stages"), ("stages", "source")):
        for new in (f"\n(defloader new :{written} 1 :¦)", f"\n(defloader new :¦ :{written} 1)"):
            found = labels("", new)
            assert {f":{written}", f":{other}"}.isdisjoint(found)
            assert ":batch" in found
    assert {":source", ":stages"} <= set(labels("", "\n(defloader new :¦"))


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize(
    ("new", "first"),
    [
        ("[¦]", ['"norm"', '"size"']),
        ("[¦", ['"norm"', '"size"']),
        ('["norm" ¦]', ['"size"']),
        ("(vector ¦)", ['"norm"', '"size"']),
        ("[] :keep-best ¦", ['"eval/loss"']),
        ("[] :keep-best (list ¦)", ['"eval/loss"']),
    ],
)
def test_reports_are_offered_with_their_quotation_marks(new: str, first: list[str], fresh: bool) -> None:
    found = items('["norm"]', new, fresh=fresh)
    assert [each.label for each in found if each.label.startswith('"')] == first
    assert [each.text for each in found][: len(first)] == first


def test_a_bracket_asks_for_diagnostics_alone() -> None:
    assert labels('["norm"]', "[¦]", trigger="[") == ['"norm"', '"size"']
    assert labels("(mean out)", "[¦", trigger="[") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(lambda (batch ctx) (list :seen", "¦ (list (list :seen"),
        ("(adamw :lr 0.1)", ":init ¦"),
        ("(adamw :lr 0.1)", ":init zeros :update ¦"),
        (":loader held :every 4", ":loader held :every 4 :prepare ¦"),
        (":steps 10", ":stop-when ¦ :steps 10"),
    ],
)
def test_a_function_is_wanted(old: str, new: str) -> None:
    found = items(old, new)
    names = [each.label for each in found]
    assert names[0] == "lambda"
    assert found[0].snippet.startswith("(lambda (")
    assert names[1:3] == ["model", "twice"]
    assert names.index("width") > names.index("softmax")
    assert names.index("init-zeros") > names.index("softmax")


def test_initializers_are_for_parameters() -> None:
    for new in (":init (¦", ":init (init¦", ":update (¦"):
        assert not labels("(adamw :lr 0.1)", new)[0].startswith("init-")
    assert labels("(linear :out x 1)", "(param :w [3] :init ¦")[0].startswith("init-")


# The text has moved on


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(mean out)", "(mean o¦)"),
        ("(mean out)", "(mean ¦)"),
        ("(mean out)", "(mea¦ out)"),
        ("(mean out)", "(mean out (¦"),
        ("(mean out)", "(mean out)\n  (so¦)"),
        ("(mean out)", "(mean (¦out))"),
        ("(field batch :x)", "(field batch :¦)"),
        ('"eval/loss"', '"ev¦"'),
        ('"eval/loss"', '"ev¦'),
        ("", "\n\n(de¦"),
        ("(def width 64)", "(def wi¦ 64)"),
    ],
)
def test_a_word_alone_does_not_make_a_list_incomplete(old: str, new: str) -> None:
    found = complete(*typed(old, new, fresh=False))
    assert found is None or found.settled
    assert found is not None or ":" not in new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(mean out)", "(mean out 1 (so¦"),
        ("(mean out)", "(let ((q (top-k out 1))) (¦"),
        ("(def width 64)", "(def width 64)\n(def wider (* 2 ¦))"),
        ("(def width 64)", "; (def width 64)\n(def wide (¦"),
        ("(getf ctx :progress)", "(getf (list :a 1) ¦)"),
    ],
)
def test_more_than_a_word_does(old: str, new: str) -> None:
    for fresh in (False, True):
        found = complete(*typed(old, new, fresh=fresh))
        assert found is not None
        assert found.settled is fresh


def test_a_name_that_was_just_defined_is_offered() -> None:
    new = "(def brand-new 7)\n(defun brand-newer (x) x)\n(defmodel newest (x) x)\n(defloader fresh :batch 1)\n(def width (+ b¦"
    found = {each.label: each for each in items("(def width 64)", new, fresh=False)}
    assert found["brand-new"].kind == "constant"
    assert found["brand-newer"].kind == "function"
    assert found["newest"].kind == "model"
    assert "fresh" not in found
    assert found["width"].detail == "64"
    loaders = labels("(def width 64)", "(defloader fresh :batch 1)\n(defpass other :loader ¦)\n", fresh=False)
    assert loaders == ["fresh", "held", "train"]
