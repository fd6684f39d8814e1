"""Completion: what each kind of place offers, in which order, whole or broken, analysed or not."""

from __future__ import annotations

import random

import pytest

from bench.programs import transformer
from sexpgpu.analysis import Options, analyse
from sexpgpu.ide.candidates import Item
from sexpgpu.ide.completion import complete, documentation
from sexpgpu.ide.recall import View
from sexpgpu.language.ctx import CTX
from sexpgpu.language.dtypes import DTYPES
from sexpgpu.language.special import SPECIAL_FORMS, TOP_LEVEL
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.program.unit import provided_names
from sexpgpu.source import Source
from support.typing import PLACE, RUN, typed

COUNTED = sorted([*(f":{key}" for key in CTX), ":stage-words", ":words"])


def items(old: str, new: str, *, fresh: bool = True, trigger: str = "") -> list[Item]:
    views, source, offset = typed(old, new, fresh=fresh)
    found = complete(views, source, offset, trigger=trigger)
    return list(found.items) if found is not None else []


def labels(old: str, new: str, *, fresh: bool = True, trigger: str = "") -> list[str]:
    return [each.label for each in items(old, new, fresh=fresh, trigger=trigger)]


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize(
    ("old", "new", "offered"),
    [
        ("(field batch :x) :late", "(field batch :¦", [":made", ":x", ":y"]),
        ("(field inputs :x)", "(field inputs :¦)", [":late", ":made", ":x"]),
        ("(field state :seen) :count", "(field state :¦", [":count", ":seen"]),
        ("(list :seen (field state :seen) :count", "(list :¦ :count", [":seen"]),
        ("(getf ctx :progress)", "(getf ctx :¦)", COUNTED),
        ("(getf ctx :stage-words)", "(getf ctx :st¦", COUNTED),
        ("(getf ctx :step)", "(getf ctx :¦", sorted(f":{key}" for key in CTX)),
        ('"eval/loss"', '"ev¦', ["eval/loss"]),
        ('["norm"]', '["norm" "¦"]', ["size"]),
        ('["norm"]', '[] :keep-best "¦"', ["eval/loss"]),
        ('["norm"]', '[] :keep-best (list "eval/loss" :¦)', [":max", ":min"]),
        ('["norm"]', "[] :mesh (list :data -1 :¦)", [":fsdp", ":exact"]),
        (":loader held :every 4", ":loader ¦", ["held", "train"]),
        (":steps 10", ":precision :¦", [":f32", ":bf16"]),
        (":loader held :every 4", ":loader held :¦", [":every", ":batches", ":prepare", ":objective"]),
        ("(mean out)", "(mean out :keepdims true :¦)", [":axes"]),
        ("(mean out)", "(mean out :¦ :axes 0)", [":keepdims"]),
        ("(mean out)", "(cast out :¦)", [*(f":{name}" for name in DTYPES), ":float"]),
        ("(mean out)", "(twice out 1 :¦)", [":c"]),
        ("(mean out)", '(metric "a" out :reduce :¦)', [":mean", ":sum", ":max", ":min"]),
        ("(mean out)", "(linear :o out 3 :¦", [":bias", ":init"]),
        ("(adamw :lr 0.1)", "(sgd :¦", [":lr", ":momentum", ":nesterov", ":weight-decay"]),
        ("(linear :out x 1)", "(scope :a :frozen true :¦", [":pretrained", ":remat"]),
        ("(mean out)", "(let ((¦", []),
        ("(mean out)", "(lambda (x ¦", ["&key", "&optional", "&rest"]),
        ("(mean out)", "'(su¦", []),
        ('"loss"', '"lo¦', []),
        ("(mean out)", "12¦", []),
        ("(mean out)", "; see (¦", []),
    ],
)
def test_what_a_place_offers(old: str, new: str, offered: list[str], fresh: bool) -> None:
    assert labels(old, new, fresh=fresh) == offered


@pytest.mark.parametrize(
    ("cut", "new", "offered"),
    [
        ("(defun prepare", "(defun prepare (batch ctx) (list :x (field batch :¦", [":made", ":x", ":y"]),
        ("(defun prepare", "(defun prepare (rows at) (getf at :¦", sorted(f":{key}" for key in CTX)),
        ("(defun objective", "(defun objective (inputs ctx) (let ((x (field inputs :¦", [":late", ":made", ":x"]),
        ("(defun objective", "(defun objective (inputs ctx) (let ((x (getf ctx :¦", COUNTED),
        ("(defpass", "(defgenerate :init (lambda (batch ctx) (f (field batch :¦", [":x", ":y"]),
        ("(defpass", "(defgenerate :init (lambda (batch ctx) (f (getf ctx :¦", sorted(f":{key}" for key in CTX)),
    ],
)
def test_a_file_that_was_never_whole(cut: str, new: str, offered: list[str]) -> None:
    text = RUN[: RUN.index("(defloader held")] + RUN[RUN.index("(defgenerate") : RUN.index(cut)] + new
    source = Source("run.sx", text.replace(PLACE, ""))
    view = analyse(source, options=Options(record=True))
    found = complete([View(view, view.unit.main)], source, text.index(PLACE))
    assert found is not None
    assert [each.label for each in found.items] == offered


def test_the_keys_of_every_declaration_that_are_not_written() -> None:
    for head, declaration in DECLARATIONS.items():
        start = f"\n({head}" + (" name" if declaration.named else "") + (" (x)" if head == "defmodel" else "")
        assert set(labels("", f"{start} :¦")) == {f":{key}" for key in declaration.keys}, head
        for key in declaration.keys:
            assert f":{key}" not in labels("", f"{start} :{key} 1 :¦"), (head, key)
            assert f":{key}" not in labels("", f"{start} :¦ :{key} 1)"), (head, key)


def test_a_type_is_the_detail() -> None:
    details = {each.label: each.detail for each in items("(mean out)", "(mean ¦)")}
    assert details["out"] == "f32[2 1] | f32[4 1]"
    assert details["rest"] == "f32[]"
    assert details["width"] == "64"
    assert details["twice"] == "(a &optional (b 1) &key (c 2))"
    assert details["softmax"] == "(x &key (axis -1))"
    assert {each.label: each.detail for each in items("(field batch :x)", "(field batch :¦)")}[":x"] == "f32[2 3] | f32[4 3]"


def test_a_head_is_a_local_function_then_one_of_the_file_then_one_of_the_language() -> None:
    found = labels("(mean out)", "(¦")
    assert found[:4] == ["scaled", "model", "twice", "*"]
    assert found.index("out") > found.index("softmax") > found.index("twice")
    assert set(SPECIAL_FORMS) <= set(found)
    assert set(provided_names()) <= set(found)
    assert not set(TOP_LEVEL) & set(found)


@pytest.mark.parametrize(
    ("old", "new", "first"),
    [
        ("(adamw :lr 0.1)", "(¦", "adafactor"),
        ("(linear :out x 1)", "(linear :out x 1 :init (¦", "init-constant"),
        ("(synthetic 8", "(¦", "jsonl"),
        ("(spec [3] :f32) :y (spec [1] :f32))\n  :stages", "(¦", "spec"),
    ],
)
def test_constructors_come_first_where_one_is_asked_for(old: str, new: str, first: str) -> None:
    assert labels(old, new)[0] == first


def test_locals_are_those_in_scope() -> None:
    found = labels("(mean out)", "(let ((one 1) (two (¦")
    assert "one" not in found
    found = labels("(mean out)", "(let* ((one 1) (two (f ¦")
    assert "one" in found
    assert "two" not in found
    found = labels("(mean out)", "(dotimes (turn 3) (lambda (p &key (q 1)) (f ¦")
    assert {"turn", "p", "q", "out", "inputs", "ctx"} <= set(found)
    assert "batch" not in found
    assert "&key" not in found


def test_the_top_level_has_its_own_heads() -> None:
    for text in ("\n¦", "\nde¦", "\n(¦", "\n(def¦"):
        assert set(labels("", text)) == {*TOP_LEVEL, "assert", "print"}, text
    snippet = next(each.snippet for each in items("", "\n(¦") if each.label == "defpass")
    assert snippet == "defpass ${1:name}\n  :loader ${2:loader}\n  :every ${3:100}"
    assert next(each.snippet for each in items("", "\n¦") if each.label == "defpass") == f"({snippet})"


def test_a_trigger_asks_only_where_its_list_is_meant() -> None:
    assert labels("(mean out)", "[¦", trigger="[") == []
    assert labels("(mean out)", "(/¦", trigger="/") == []
    assert labels("(mean out)", "(¦", trigger="(") != []
    assert labels("", "\n; sexpgpu: ignore[¦", trigger="[") != []
    assert labels("(mean out)", '(str "a"¦', trigger='"') == []


def test_codes_that_the_file_has_come_first() -> None:
    found = labels("", "\n(def a (print 1)) ; sexpgpu: ignore[W-CTX-001, ¦")
    assert found[0] == "I-PRINT-001"
    assert "H-NAME-001" in found
    assert "W-CTX-001" not in found
    assert not any(label.startswith("E-") for label in found)


def test_every_item_has_what_it_promises() -> None:
    views, source, offset = typed("(mean out)", "(¦")
    found = complete(views, source, offset)
    assert found is not None
    for each in found.items:
        if each.about[0]:
            assert documentation(views[0], each.about), each
    assert found == complete(views, source, offset)


def test_any_text_at_any_place() -> None:
    source = random.Random(5)
    whole = analyse(Source("run.sx", RUN), options=Options(record=True))
    views = [View(whole, whole.unit.main)]
    for _ in range(400):
        at = source.randrange(len(RUN))
        cut = at + source.choice((0, 0, 1, 3, 40))
        text = RUN[:at] + source.choice(("(", ")", "[", '"', ":", "'", "#;", "#|", ";", "\n(", " (let ((", "😀")) + RUN[cut:]
        offset = min(len(text), at + source.randrange(4))
        found = complete(views, Source("run.sx", text), offset)
        if found is not None:
            assert found.span.start <= offset <= found.span.end
            assert "\n" not in text[found.span.start : found.span.end]


def test_the_large_program_is_known_at_every_place() -> None:
    text = transformer()
    whole = analyse(Source("run.sx", text), options=Options(record=True))
    start = text.index("(field inputs :tokens)") + len("(field inputs :")
    found = complete([View(whole, whole.unit.main)], Source("run.sx", text), start)
    assert found is not None
    assert ":tokens" in [each.label for each in found.items]
    assert PLACE not in text
