"""What a fix is before it is laid out."""

from __future__ import annotations

from typing import NamedTuple

from sexpgpu.diagnostics.finding import TextEdit

BREAK = "\ue0ff"
"""In the text of an edit: a line ends here, and the next begins where the formatter would have it begin."""


class Proposal(NamedTuple):
    """A change, as edits that may touch several files. `safe` is as in `diagnostics.finding.Fix`.

    `kind` is the editor's word for it. One that cannot be made has no edits, and `disabled` says why. `rename` is the name that it
    gives to what stands at its diagnostic: the edits are those of the files that the analysis knows, and others may load these.
    """

    title: str
    edits: tuple[TextEdit, ...]
    safe: bool = False
    kind: str = "quickfix"
    disabled: str = ""
    rename: str = ""
