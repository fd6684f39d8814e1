"""How a run fails: a fault has a code of the table, a message in words, and the form that it speaks of where one is known."""

from __future__ import annotations

from sexpgpu.diagnostics.finding import Rule
from sexpgpu.reader.forms import Form


class RunFault(Exception):
    """Something that ends the run: shown to the user and written as an `error` event."""

    def __init__(self, rule: Rule, message: str, at: Form | None = None, help: str = "") -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.at = at
        self.help = help
