"""Edits upon edits are edits of the first text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sexpgpu.fixes.compose import Draft, apart
from sexpgpu.format import apply_edits
from sexpgpu.source import Source

_TEXT = st.text("ab(\n🙂", max_size=30)


@given(_TEXT, st.lists(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 4), _TEXT), max_size=4), max_size=4))
def test_rounds_of_edits_give_what_they_give_one_by_one(text: str, rounds: list[list[tuple[int, int, str]]]) -> None:
    source = Source("x", text)
    draft = Draft(source)
    now = text
    for edits in rounds:
        position = 0
        changes: list[tuple[int, int, str]] = []
        for start, length, new in sorted(edits):
            begin = max(position, min(start, len(now)))
            position = min(begin + length, len(now))
            changes.append((begin, position, new))
        draft.apply(changes)
        for begin, end, new in reversed(changes):
            now = now[:begin] + new + now[end:]
    assert draft.text == now
    found = draft.edits()
    assert apart(found)
    assert apply_edits(text, found) == now
