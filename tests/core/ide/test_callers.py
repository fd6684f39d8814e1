"""Who calls what."""

from __future__ import annotations

from sexpgpu.ide.callers import Calls, Item, around, incoming, item, outgoing
from support.renaming import analysed, seen_at

TEXT = """\
(defun base (x) (* 2.0 x))
(defun twice (x) (base (base x)))
(def again (lambda (x) (twice x)))
(def number (base 1.0))
(defmodel model (x) (linear :out (twice x) 2))
(defgenerate :trips 1 :init (lambda (batch ctx) (list :x (twice (field batch :x))))
  :step (lambda (state trip ctx) (list :x (getf (dolist (f (list base)) (f (getf state :x))) :x))))
(defpass eval :loader none :every 1 :prepare twice)
(assert (= 2.0 (base 1.0)) "no")
"""
ANALYSIS = analysed(TEXT)


def at(piece: str, inside: int = 0) -> Item | None:
    return item(ANALYSIS, ANALYSIS.unit.main, TEXT.index(piece) + inside)


def named(found: list[Calls]) -> list[tuple[str, int]]:
    return [(calls.item.name, len(calls.places)) for calls in found]


def callers(piece: str) -> list[tuple[str, int]]:
    seen = seen_at(ANALYSIS, TEXT.index(piece))
    assert seen is not None
    return named(incoming(seen))


def test_what_has_calls() -> None:
    found = at("base (x)")
    assert found is not None
    assert (found.name, found.kind, found.detail) == ("base", "function", "(x)")
    assert at("(base x)", 1) == found
    for piece, inside, name in [
        ("again", 0, "again"),
        ("model (x)", 0, "model"),
        (":step", 1, "defgenerate :step"),
        (":prepare", 0, "defpass eval :prepare"),
        ("linear", 0, "linear"),
    ]:
        each = at(piece, inside)
        assert each is not None
        assert each.name == name
    for piece, inside in [("number", 0), (":trips", 0), ("eval", 0), ("x)", 0), ("lambda", 0), ("defun", 0), ("* 2.0", 0)]:
        assert at(piece, inside) is None


def test_incoming_calls_by_caller() -> None:
    assert callers("base (x)") == [("twice", 2), ("number", 1), ("defgenerate :step", 1), ("assert", 1)]
    assert callers("twice (x)") == [("again", 1), ("model", 1), ("defgenerate :init", 1), ("defpass eval :prepare", 1)]
    assert callers("again") == []


def test_outgoing_calls_by_what_is_called() -> None:
    for piece, inside, calls in [
        ("twice (x)", 0, [("base", 2)]),
        ("model (x)", 0, [("twice", 1), ("linear", 1)]),
        (":step", 0, [("base", 1)]),
        ("base (x)", 0, []),
    ]:
        found = at(piece, inside)
        assert found is not None
        assert named(outgoing(ANALYSIS, found)) == calls
        assert around(ANALYSIS.unit.main, found.at.start) == found


def test_a_name_is_inside_what_it_names() -> None:
    for offset in range(len(TEXT)):
        for found in (item(ANALYSIS, ANALYSIS.unit.main, offset), around(ANALYSIS.unit.main, offset)):
            if found is not None:
                assert found.whole.start <= found.at.start < found.at.end <= found.whole.end
