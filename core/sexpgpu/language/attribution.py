"""Where a finding is shown: one inside the prelude moves to the call in the file that led there (`diagnostics.md`, rules)."""

from __future__ import annotations

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Rule
from sexpgpu.language.frames import Frame
from sexpgpu.reader.forms import Form, ListForm, QuoteForm, SymbolForm, VectorForm

BY_VALUE = frozenset(
    {
        rules.CALL_ARGUMENTS,
        rules.CALL_NO_FUNCTION,
        rules.TYPE_KIND,
        rules.DTYPE_MIXED,
        rules.DTYPE_NUMBER,
        rules.DTYPE_OPERATOR,
        rules.SHAPE_BROADCAST,
        rules.SHAPE_OPERATOR,
        rules.STAGE_TENSOR,
        rules.ASSERT_FAILED,
    }
)
"""What is wrong for the values of one call, and may be right for those of another."""

WHOLE = (rules.ASSERT_FAILED, rules.PARAMETER_CONFLICT, rules.PARAMETER_SHARED)
"""What says by itself which of the prelude's functions it speaks of."""


def locate(frame: Frame, rule: Rule, at: Form) -> Form:
    """The form of the user's own that shows a finding at `at`, which is `at` itself unless the prelude wrote it.

    A rule that names a head moves to the head of the user's call, one that names an argument to the argument that came in through
    the parameters, any other to the call.
    """
    return located(frame, rule, at)[0]


def located(frame: Frame, rule: Rule, at: Form) -> tuple[Form, Frame | None]:
    """The form that shows a finding at `at`, and the frame whose call it is part of; None where that is `at` itself."""
    inner: Frame | None = frame
    by: Frame | None = None
    while at.top.source.builtin and inner is not None and inner.form is not None:
        if rule.place == "argument":
            at = _argument(at, inner) or _argument(_around(at), inner) or head_of(inner.form)
        else:
            at = head_of(inner.form) if rule.place == "head" else inner.form
        by, inner = inner, inner.parent
    return at, by


def called(frame: Frame, at: Form) -> str:
    """The name of the prelude's function that the file called, on the way to a form that the prelude wrote."""
    name = ""
    inner: Frame | None = frame
    while at.top.source.builtin and inner is not None and inner.form is not None:
        name, at, inner = inner.name, inner.form, inner.parent
    return name


def call_around(frame: Frame, at: Form) -> Frame | None:
    """The frame of the file's function in which a finding at `at` stands, if a call elsewhere in the file led there."""
    inner: Frame | None = frame
    while at.top.source.builtin and inner is not None and inner.form is not None:
        at, inner = inner.form, inner.parent
    while inner is not None and inner.form is not None and inner.form.top.source.builtin:
        inner = inner.parent
    if inner is None or inner.form is None or inner.calls is None or inner.calls.form is not inner.form:
        return None
    call = inner.form
    return None if call.top is at.top and call.start <= at.start and at.end <= call.end else inner


def head_of(form: Form) -> Form:
    """The first item of a call; of anything else, the form itself."""
    return form.items[0] if isinstance(form, ListForm) and form.items else form


def _argument(at: Form, frame: Frame) -> Form | None:
    """The argument of the frame's call that the form `at` speaks of: its own parameter, else the first one in it."""
    waiting = [at]
    while waiting:
        form = waiting.pop()
        if isinstance(form, SymbolForm) and form.name in frame.arguments:
            return frame.arguments[form.name]
        if isinstance(form, (ListForm, VectorForm)):
            waiting.extend(reversed(form.items))
        elif isinstance(form, QuoteForm):
            waiting.append(form.form)
    return None


def _around(at: Form) -> Form:
    """The innermost list that holds a form, in the top-level form that holds both."""
    around = inner = at.top.form or at
    while isinstance(inner, (ListForm, VectorForm)):
        holding = next((item for item in inner.items if item.start <= at.start and at.end <= item.end), at)
        if holding is at:
            return inner
        around = inner = holding
    return around


def entry_call(frame: Frame) -> Form | None:
    """The call in the contract function's own body that led to this frame; None when this is that body."""
    form: Form | None = None
    while frame.parent is not None and frame.parent.parent is not None:
        form = frame.form
        frame = frame.parent
    return form
