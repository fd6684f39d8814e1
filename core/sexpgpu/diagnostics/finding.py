"""What is said about a program: rules (kinds of finding), findings at forms, and diagnostics at spans.

The analysis speaks of forms, which survive edits elsewhere; what leaves the core speaks of spans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    # The reader reports what does not read: it needs this module before its own forms.
    from sexpgpu.reader.forms import Form
    from sexpgpu.source import Span

Severity = Literal["error", "warning", "information", "hint"]
Place = Literal["call", "head", "argument"]


class Rule(NamedTuple):
    """A kind of finding. Its page `pages/CODE.md` says what, why, and shows a bad and a good example.

    `place` tells where a finding inside the prelude is shown in the file that led there: at the call, its head or its argument.
    """

    code: str
    title: str
    severity: Severity
    place: Place = "call"
    unnecessary: bool = False


class Edit(NamedTuple):
    """Replace the text of a form."""

    at: Form
    text: str


class Fix(NamedTuple):
    """A change that mends a finding. `safe` means that it cannot change the meaning of a correct program."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool = True


class Related(NamedTuple):
    at: Form
    message: str


class Finding(NamedTuple):
    """One thing that is wrong, or worth knowing, at a form."""

    rule: Rule
    at: Form
    message: str
    help: str = ""
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()


class TextEdit(NamedTuple):
    span: Span
    text: str


class TextFix(NamedTuple):
    title: str
    edits: tuple[TextEdit, ...]
    safe: bool


class Note(NamedTuple):
    """A place that a diagnostic points to beside its own."""

    span: Span
    message: str


class Diagnostic(NamedTuple):
    """A finding with its forms resolved to spans: what `check`, the server and the backend show, to the character."""

    rule: Rule
    span: Span
    message: str
    help: str
    related: tuple[Note, ...]
    fixes: tuple[TextFix, ...]

    @property
    def code(self) -> str:
        return self.rule.code


def resolve(finding: Finding) -> Diagnostic:
    """The finding at the spans where its forms stand now."""
    return Diagnostic(
        finding.rule,
        finding.at.span,
        finding.message,
        finding.help,
        tuple(Note(related.at.span, related.message) for related in finding.related),
        tuple(
            TextFix(fix.title, tuple(TextEdit(edit.at.span, edit.text) for edit in fix.edits), fix.safe) for fix in finding.fixes
        ),
    )
