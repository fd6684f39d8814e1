"""What expressions evaluated to, in the few words that a reader is shown: `f32[4 8]`, and a plist of the runtime entry by entry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sexpgpu.ide.bindings import described, values_of
from sexpgpu.language.values import Keyword, Plist, Unknown, Value
from sexpgpu.reader.forms import Form

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

_MOST_VALUES = 5_000
_MOST_VARIANTS = 6
_MOST_ENTRIES = 40


def type_of(analysis: Analysis, form: Form) -> str:
    """What a form was, on one line for each plist entry; what differs between call paths stands beside each other. Empty where it
    was not evaluated, or could not be."""
    return shown(values_of(analysis, form))


def shown(values: Iterable[Value]) -> str:
    """Values as one text: the different ones, each once, in the order in which they were met."""
    texts: dict[str, None] = {}
    for count, value in enumerate(values):
        if not isinstance(value, Unknown):
            texts.setdefault(_entries(value) if isinstance(value, Plist) else described(value))
        if len(texts) > _MOST_VARIANTS or count >= _MOST_VALUES:
            return _joined([*list(texts)[:_MOST_VARIANTS], "…"])
    return _joined(list(texts))


def _joined(texts: list[str]) -> str:
    return ("\n| " if any("\n" in text for text in texts) else " | ").join(texts)


def _entries(plist: Plist) -> str:
    """A plist of the runtime, an entry a line: what a reader of its keys may ask for."""
    pairs = list(zip(plist.items[::2], plist.items[1::2], strict=False))
    if not pairs:
        return f"{plist.role}: nothing"
    keys = [f":{key.name}" if isinstance(key, Keyword) else described(key) for key, _ in pairs]
    width = max(map(len, keys[:_MOST_ENTRIES]))
    lines = [f"  {key:<{width}}  {described(value)}" for key, (_, value) in zip(keys[:_MOST_ENTRIES], pairs, strict=False)]
    if len(pairs) > _MOST_ENTRIES:
        lines.append(f"  … {len(pairs) - _MOST_ENTRIES} more")
    return "\n".join([plist.role, *lines])
