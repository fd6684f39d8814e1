"""Parts of the server by themselves: URIs, framing."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexpgpu_lsp.transport import frames
from sexpgpu_lsp.uris import key_of, path_of, source_name, uri_of


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///tmp/a%20b.sx", "/tmp/a b.sx"),
        ("FILE:///tmp/x/../y.sx", "/tmp/y.sx"),
        ("file://localhost/tmp/x.sx", "/tmp/x.sx"),
        ("file:/tmp/x.sx", "/tmp/x.sx"),
        ("file:///tmp/a#b?c.sx", "/tmp/a#b?c.sx"),
        ("file://host/share/x.sx", "//host/share/x.sx"),
        ("file:///tmp/%F0%9F%98%80.sx", "/tmp/😀.sx"),
        ("untitled:Untitled-1", None),
        ("https://a/b.sx", None),
    ],
)
def test_the_path_of_a_uri(uri: str, path: str | None) -> None:
    assert path_of(uri) == path


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("file:///c%3A/x.sx", "file:///c:/x.sx"),
        ("file:///a%2Db.sx", "file:///a-b.sx"),
        ("file:///a/./b.sx", "file:///a/b.sx"),
        ("untitled:Untitled%2D1", "untitled:Untitled-1"),
        ("Untitled:x", "untitled:x"),
    ],
)
def test_one_document_has_one_key(one: str, other: str) -> None:
    assert key_of(one) == key_of(other)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_a_path_comes_back_from_its_uri(name: str) -> None:
    path = os.path.abspath(f"/folder/{name}")
    uri = uri_of(path)
    assert uri.isascii()
    assert path_of(uri) == path


def test_bytes_that_are_no_text_come_back_too() -> None:
    path = os.fsdecode(b"/folder/\xff.sx")
    assert path_of(uri_of(path)) == path


def test_a_document_without_a_path_loads_from_the_folder_that_is_open() -> None:
    assert os.path.dirname(source_name("untitled:Untitled-1", "/folder")) == "/folder"
    assert source_name("untitled:/elsewhere/new.sx", "/folder") == "/elsewhere/new.sx"
    assert source_name("file:///x/y.sx", "/folder") == "/x/y.sx"


def reading(*pieces: bytes) -> Iterator[bytes]:
    waiting = iter(pieces)
    return frames(lambda: next(waiting, b""))


@given(st.lists(st.binary(max_size=40), max_size=5), st.data())
def test_messages_arrive_whole_however_they_are_cut(bodies: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies)
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(stream) - 1)))))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert list(reading(*filter(None, pieces))) == bodies


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: 2",
        b"Content-Length:2",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2",
        b"CONTENT-LENGTH: 2 \r\nX: y",
    ],
)
def test_headers_are_read_as_headers(header: bytes) -> None:
    assert list(reading(header + b"\r\n\r\n{}")) == [b"{}"]


def test_a_header_without_a_length_is_skipped() -> None:
    assert list(reading(b"Nonsense\r\n\r\nContent-Length: 2\r\n\r\n{}")) == [b"{}"]


def test_the_end_of_the_stream_inside_a_message_ends_it() -> None:
    assert list(reading(b"Content-Length: 10\r\n\r\n{")) == []
    assert list(reading(b"Content-Length: 999999999999\r\n\r\n{")) == []
    assert list(reading(b"x" * 100_000, b"Content-Length: 2\r\n\r\n{}")) == []
