"""The functions that the language gives in its own words: layers that own parameters, and learning-rate schedules.

`layers.sx` and `schedules.sx` are files of the language like any other; `PRELUDE` says which of them defines a name, so that a
file is read only once one of its names is used. Prelude code sees operators, host functions and the prelude's own names,
nothing of the user's.
"""

from __future__ import annotations

import os

from sexpgpu.source import Source

PRELUDE: dict[str, str] = {
    "linear": "layers",
    "embedding": "layers",
    "layer-norm": "layers",
    "rms-norm": "layers",
    "group-norm": "layers",
    "mlp": "layers",
    "self-attention": "layers",
    "conv": "layers",
    "warmup-cosine": "schedules",
    "warmup-linear": "schedules",
    "constant": "schedules",
}
"""Which file defines each name. Names that begin with `-` are a file's own and stand in no table."""

_sources: dict[str, Source] = {}


def source(file: str) -> Source:
    """The text of a file of the prelude, read once; its name is `prelude:FILE`."""
    known = _sources.get(file)
    if known is None:
        with open(os.path.join(os.path.dirname(__file__), f"{file}.sx"), encoding="utf-8") as text:
            known = _sources[file] = Source(f"prelude:{file}", text.read(), builtin=True)
    return known
