"""URIs and paths. A URI is echoed as the client wrote it; two that name one file have one key."""

from __future__ import annotations

import os
import re
from urllib.parse import quote, unquote

from sexpgpu import prelude

_FILE = re.compile(r"file:(?://([^/]*))?(/.*)?", re.IGNORECASE | re.DOTALL)
_DRIVE = re.compile(r"/?([A-Za-z]):(?=[/\\]|$)")
_WINDOWS = os.name == "nt"
_FILE_KEY = "file:"

PRELUDE = os.path.dirname(os.path.abspath(prelude.__file__))
"""The folder of the functions that the language gives in its own words."""


def path_of(uri: str) -> str | None:
    """The path of a `file:` URI, absolute and without dots; None of any other."""
    match = _FILE.fullmatch(uri)
    if match is None:
        return None
    path = unquote(match[2] or "/", errors="surrogateescape")
    host = unquote(match[1] or "")
    drive = _DRIVE.match(path)
    if drive is not None and _WINDOWS:
        path = f"{drive[1].lower()}:{path[drive.end() :] or '/'}"
    elif host and host.lower() != "localhost":
        path = f"//{host}{path}"
    return os.path.abspath(path)


def key_of(uri: str) -> str:
    """What tells one document from another: the same for every way to write a URI."""
    path = path_of(uri)
    if path is not None:
        return file_key(path)
    scheme, separator, rest = uri.partition(":")
    return f"{scheme.lower()}{separator}{unquote(rest)}"


def file_key(path: str) -> str:
    """The key of a file by its path."""
    return f"{_FILE_KEY}{os.path.normcase(os.path.abspath(path))}"


def key_path(key: str) -> str:
    """The path of a file by its key."""
    return key.removeprefix(_FILE_KEY)


def uri_of(path: str) -> str:
    """A URI for a path."""
    path = os.path.abspath(path)
    if _WINDOWS:
        path = path.replace("\\", "/")
    host = ""
    if path.startswith("//"):
        host, _, path = path[2:].partition("/")
        path = f"/{path}"
    elif not path.startswith("/"):
        path = f"/{path}"
    return f"file://{quote(host)}{quote(os.fsencode(path), safe='/:~!$&()*+,;=@')}"


def source_name(uri: str, folder: str | None) -> str:
    """The name of a document's source: its path. What has none gets a name in the workspace's folder, or in that of the path that
    it will be saved to, where its loads begin."""
    path = path_of(uri)
    if path is not None:
        return path
    scheme, _, rest = uri.partition(":")
    rest = unquote(rest)
    if scheme.lower() == "untitled" and os.path.isabs(rest):
        return rest
    return uri if folder is None else os.path.join(folder, uri.replace("/", "_"))
