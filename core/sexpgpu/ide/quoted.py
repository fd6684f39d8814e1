"""What can be written in a string: names of reports, text keys of plists, files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from sexpgpu.files import beside
from sexpgpu.ide import asked, candidates
from sexpgpu.ide.candidates import Item
from sexpgpu.ide.cursor import Cursor
from sexpgpu.ide.recall import Recall
from sexpgpu.ide.roles import Place
from sexpgpu.reader.forms import ListForm
from sexpgpu.source import Source

Listing = Callable[[str], Iterable[tuple[str, bool]]]
"""The names in a folder, each with whether it is a folder. Raises OSError."""

_FILES: dict[str, tuple[str, ...]] = {
    "load": (".sx",),
    "npz": (".npz",),
    "jsonl": (".jsonl",),
    "parquet": (".parquet",),
    "pretrained": (".safetensors",),
    "tokens": (),
}
_MOST_FILES = 300


# Names


def reported(recall: Recall, place: Place, cursor: Cursor) -> Iterator[Item]:
    """The reports that a key of the run names at a place, without quotation marks."""
    top = cursor.path[0]
    if isinstance(top, ListForm) and top.head == "defrun" and len(cursor.path) > 1:
        written = {each.text for each in place.around.items[: place.at]} if place.around is not None else set[str]()
        key = top.items[top.items.index(cursor.path[1]) - 1].text
        if key == ":diagnostics":
            yield from (each for each in asked.diagnostics(recall) if f'"{each.label}"' not in written)
        elif key == ":keep-best":
            yield from asked.metrics(recall)


def with_quotes(items: Iterable[Item]) -> Iterator[Item]:
    """The items as strings, where no quotation mark has been written."""
    for each in items:
        yield each._replace(label=f'"{each.label}"', text=f'"{_escaped(each.text)}"')


def closed(cursor: Cursor, items: Iterable[Item]) -> Iterator[Item]:
    """The items with the quotation mark that is not there yet."""
    for each in items:
        text = _escaped(each.text)
        yield each._replace(text=text if cursor.closed else f'{text}"')


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


# Files


def file_kinds(place: Place) -> tuple[str, ...] | None:
    """The endings of the files that a string may name; None where it names none."""
    if place.role == "file":
        return _FILES["load"]
    if place.key == "pretrained":
        return _FILES["pretrained"]
    return _FILES.get(place.head) if place.at == 1 and place.head != "load" else None


def files(source: Source, cursor: Cursor, endings: tuple[str, ...], listing: Listing) -> Iterator[Item]:
    folder = cursor.typed[: cursor.typed.rfind("/") + 1]
    own = os.path.basename(source.name)
    try:
        found = sorted(listing(beside(source.name, folder) or "."))
    except OSError:
        return
    for name, is_folder in found[:_MOST_FILES]:
        if name.startswith("."):
            continue
        if is_folder:
            yield candidates.item(f"{name}/", "folder", "", candidates.OWN)
        elif (not endings or name.endswith(endings)) and (folder or name != own):
            text = name if cursor.closed else f'{name}"'
            yield Item(name, "file", "", f"{candidates.ASKED}{name}", text)
