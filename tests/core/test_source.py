"""Text, lines and positions."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexpgpu.source import Encoding, Position, Source, Span, units

ENCODINGS: list[Encoding] = ["utf-8", "utf-16", "utf-32"]
texts = st.text(alphabet="ab\n\r\f\x85\u2028é漢😀\ud800", max_size=30) | st.text(max_size=20)
encodings = st.sampled_from(ENCODINGS)


def encoded(text: str, encoding: Encoding) -> int:
    """Units of a text by way of its bytes."""
    size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    codec = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[encoding]
    return sum(len(character.encode(codec, "surrogatepass")) for character in text) // size


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", [0]),
        ("a", [0]),
        ("a\n", [0, 2]),
        ("a\nb\r\nc\rd", [0, 2, 5, 7]),
        ("\r\r\n\n", [0, 1, 3, 4]),
        ("\n\r", [0, 1, 2]),
        ("a\fb\vc\x85d\u2028e\u2029f\x1cg", [0]),
    ],
)
def test_lines_end_at_three_things_and_nowhere_else(text: str, starts: list[int]) -> None:
    assert Source("a.sx", text).line_starts == starts


def test_a_line_comes_without_its_end() -> None:
    source = Source("a.sx", "a\nb\r\n\r\rc")
    assert [source.line(number) for number in range(len(source.line_starts))] == ["a", "b", "", "", "c"]


@pytest.mark.parametrize(
    ("encoding", "character"),
    [("utf-8", 1 + 2 + 3 + 4), ("utf-16", 1 + 1 + 1 + 2), ("utf-32", 4)],
)
def test_positions_count_units_of_the_encoding(encoding: Encoding, character: int) -> None:
    source = Source("a.sx", "(\naé漢😀)\n")
    assert source.position(6, encoding) == Position(1, character)
    assert source.offset(Position(1, character), encoding) == 6


@given(texts, st.integers(0, 40), encodings)
def test_a_position_counts_the_text_before_it_on_its_line(text: str, offset: int, encoding: Encoding) -> None:
    source = Source("a.sx", text)
    line, character = source.position(offset, encoding)
    offset = min(offset, len(text))
    inside = text[offset - 1 : offset + 1] == "\r\n" and offset > 0
    assert line == source.line_at(offset)
    assert character == encoded(text[source.line_starts[line] : offset - inside], encoding)


@given(texts, st.integers(0, 40), encodings)
def test_positions_and_offsets_are_inverse(text: str, offset: int, encoding: Encoding) -> None:
    source = Source("a.sx", text)
    offset = min(offset, len(text))
    if offset and text[offset - 1 : offset + 1] == "\r\n":
        offset -= 1  # no position stands inside a line end
    assert source.offset(source.position(offset, encoding), encoding) == offset


@given(texts, st.integers(-2, 6), st.integers(-2, 40), encodings)
def test_any_position_is_clamped_to_the_text(text: str, line: int, character: int, encoding: Encoding) -> None:
    source = Source("a.sx", text)
    offset = source.offset(Position(line, character), encoding)
    assert 0 <= offset <= len(text)
    if 0 <= line < len(source.line_starts):
        start = source.line_starts[line]
        assert start <= offset <= start + len(source.line(line))


def test_beyond_a_line_is_its_end_and_beyond_the_text_the_texts() -> None:
    source = Source("a.sx", "ab\r\ncd\n")
    assert source.offset(Position(0, 99)) == 2
    assert source.offset(Position(9, 0)) == 7
    assert source.offset(Position(-1, 5)) == 0
    assert source.position(99) == Position(2, 0)
    assert source.position(-1) == Position(0, 0)


def test_inside_a_character_is_its_start() -> None:
    source = Source("a.sx", "😀b")
    assert source.offset(Position(0, 1), "utf-16") == 0
    assert source.offset(Position(0, 3), "utf-8") == 0


def test_inside_a_line_end_is_before_it() -> None:
    assert Source("a.sx", "a\r\nb").position(2) == Position(0, 1)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("length", [1023, 1024, 1025, 5000])
def test_long_lines_count_like_short_ones(encoding: Encoding, length: int) -> None:
    line = "aé漢😀" * (length // 4) + "é" * (length % 4)
    source = Source("a.sx", f"; x\n{line}\r\nb")
    for offset in [*range(4, 4 + length, 101), 1027, 1028, 1029, 4 + length]:
        offset = min(offset, 4 + length)
        position = source.position(offset, encoding)
        assert position == (1, encoded(line[: offset - 4], encoding))
        assert source.offset(position, encoding) == offset
    assert source.offset(Position(1, 10**9), encoding) == 4 + length


def test_many_positions_in_a_long_line_take_no_longer_than_the_line() -> None:
    source = Source("a.sx", "é" * 200_000)
    before = time.process_time()
    for offset in range(0, 200_000, 20):
        source.position(offset)
    assert time.process_time() - before < 5


@given(st.text(max_size=20), encodings)
def test_units(text: str, encoding: Encoding) -> None:
    assert units(text, encoding) == encoded(text, encoding)


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_decoding_utf8(text: str) -> None:
    source = Source.decode("a.sx", text.encode())
    assert (source.text, source.bad_byte) == (text.removeprefix("\ufeff"), None)


@given(st.binary(max_size=30))
def test_decoding_anything_says_where_the_first_bad_byte_is(data: bytes) -> None:
    source = Source.decode("a.sx", data)
    if source.bad_byte is None:
        assert source.text == data.decode("utf-8").removeprefix("\ufeff")
    else:
        good = source.text[: source.bad_byte]
        start = data.index(good.encode()) + len(good.encode())
        assert source.text[source.bad_byte] == "\ufffd"
        with pytest.raises(UnicodeDecodeError) as error:
            data.decode("utf-8")
        assert error.value.start == start


def test_the_first_bad_byte_is_counted_in_characters_behind_the_byte_order_mark() -> None:
    source = Source.decode("a.sx", "\ufeffé漢".encode() + b"\xe9 b")
    assert source.bad_byte == 2
    assert source.text == "é漢\ufffd b"


def test_two_sources_of_one_text_are_two() -> None:
    first, second = Source("a.sx", "x"), Source("a.sx", "x")
    assert Span(first, 0, 1) != Span(second, 0, 1)
    assert Span(first, 0, 1) == Span(first, 0, 1)
