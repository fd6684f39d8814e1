"""Properties of the drawing: whatever the text and the marks, what is drawn is aligned, bounded and safe for a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sexpgpu.diagnostics.columns import CUT, Columns, Window
from sexpgpu.diagnostics.formats.full import show
from sexpgpu.source import Source, Span
from support.diagnosed import diagnostic

TEXT = st.text(st.sampled_from("ab ()\t\n\r漢é\u0301👩\u200d\x00\x1b\u202e\u2028\ud800"), max_size=80)
WIDE = {"漢": 2, "👩": 2, "\u0301": 0, "\u200d": 0}


def cells(text: str) -> int:
    return sum(WIDE.get(character, 1) for character in text)


@given(
    TEXT,
    st.lists(
        st.tuples(st.integers(-3, 90), st.integers(-3, 90), st.sampled_from(["", "label", "two\nlines"])), min_size=1, max_size=5
    ),
)
def test_any_marks_on_any_text_can_be_drawn(text: str, marks: list[tuple[int, int, str]]) -> None:
    source = Source("x.sx", text)
    (start, end, _), *related = marks
    notes = tuple((Span(source, low, high), label) for low, high, label in related)
    shown = show(diagnostic("E-NAME-001", Span(source, start, end), text, text, notes), width=60)
    assert "^" in shown
    assert not set("\x00\x1b\u202e\u2028\ud800\r\t") & set(shown)
    for label in {label for low, high, label in related if label}:
        assert label.replace("\n", " ") in shown


@given(st.text(st.sampled_from("ab(\t漢👩é\u0301"), max_size=60), st.data())
def test_an_underline_stands_under_its_text(line: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    source = Source("x.sx", line)
    _, _, frame, text, below, *_ = show(diagnostic("E-NAME-001", Span(source, start, end)), width=1000).split("\n")
    assert frame == "  |"
    before = below.index("^") - len("  | ")
    columns = Columns(line)
    assert cells(text[len("1 | ") :]) <= columns.width
    assert before == cells("".join(columns.pieces[:start]))
    assert below.count("^") == max(1, cells("".join(columns.pieces[start:end])))


@given(st.text(st.sampled_from("ab漢👩\t"), max_size=200), st.integers(0, 200), st.integers(0, 30), st.integers(12, 90))
def test_a_window_fits_and_shows_the_place(line: str, start: int, length: int, room: int) -> None:
    columns = Columns(line)
    start = min(start, len(line))
    low, high = columns.column(start), columns.column(start + length)
    window = Window(columns, room, low, high)
    assert cells(window.text) <= room
    if columns.width <= room:
        assert window.text == "".join(columns.pieces)
    elif start < len(line) and high - low <= room - 2 * len(CUT) - 8:
        shown = "".join(columns.pieces[start : start + length])
        at = window.column(low)
        assert cells(window.text[: window.text.index(shown)]) <= at if shown.strip() else True
        assert window.column(high) - at == cells(shown)


def test_tabs_end_at_multiples_of_four() -> None:
    assert "".join(Columns("a\tbc\t\td").pieces) == "a   bc      d"
    assert "".join(Columns("漢\tb").pieces) == "漢  b"
