"""How a rule refuses: a fault is a finding on its way to whoever evaluates the call."""

from __future__ import annotations

from sexpgpu.diagnostics.finding import Fix, Related, Rule
from sexpgpu.reader.forms import Form


class Fault(Exception):
    """A call that is wrong. The evaluator reports it, and the call's value is unknown."""

    def __init__(
        self, rule: Rule, at: Form, message: str, help: str = "", related: tuple[Related, ...] = (), fixes: tuple[Fix, ...] = ()
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.at = at
        self.message = message
        self.help = help
        self.related = related
        self.fixes = fixes


class UnknownArgument(Exception):
    """An argument that is needed is unknown: so is the result, without a word."""


class HostFault(Exception):
    """A host computation that has no result: which argument shows it (its index), and why."""

    def __init__(self, argument: int, message: str, help: str = "") -> None:
        super().__init__(message)
        self.argument = argument
        self.message = message
        self.help = help


class LimitPassed(Exception):
    """Evaluation passed a bound (language §3): the graph is abandoned. It is reported once, at the innermost call."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.reported = False
