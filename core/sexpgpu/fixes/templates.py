"""Fixes that the help line of a diagnostic spells out: what to write in place of the marked form.

`write (cast … :i32)` has a hole where the form goes; `write train` is what stands there instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sexpgpu.fixes.edits import replaced
from sexpgpu.fixes.proposal import Proposal
from sexpgpu.fixes.table import Case, proposes
from sexpgpu.reader import read
from sexpgpu.reader.forms import Form, KeywordForm
from sexpgpu.source import Source

_HOLE = "…"
_TEMPLATE = re.compile(r"^(?:write|reduce it:) (\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))")
_WORD = re.compile(r'^write (:?[^\s,;()"]+|"[^"]*")(?=,|;|\Z)')


def one_form(text: str) -> Form | None:
    """The form that a text is, if it is one that reads."""
    reading = read(Source("", text))
    form = reading.forms[0].form if len(reading.forms) == 1 and not reading.findings else None
    return form if form is not None and form.text == text else None


_ENTRIES = ("E-DATA-002", "E-GEN-002")


def _is_entry(case: Case) -> bool:
    """Whether the marked form is the value behind a key."""
    parent, place = case.spot.parent, case.spot.place()
    return parent is not None and parent.head == "list" and place > 1 and isinstance(parent.items[place - 1], KeywordForm)


# In a cast nothing is decided: it is what the contract asks for, or what the entry was before.
@proposes(
    "E-CONTRACT-003",
    "E-CONTRACT-007",
    "E-CONTRACT-009",
    "E-CONTRACT-011",
    "E-CONTRACT-012",
    "E-DATA-002",
    "E-GEN-002",
)
def filled(case: Case) -> Iterable[Proposal]:
    """The marked form, put where the help has its hole."""
    found = _TEMPLATE.match(case.diagnostic.help)
    if found is None or found[1].count(_HOLE) != 1:
        return
    if case.diagnostic.code in _ENTRIES and not _is_entry(case):
        return  # what was said of an entry stands at the whole list
    text = found[1].replace(_HOLE, case.spot.form.text)
    if one_form(text) is not None:
        yield Proposal(f"write {found[1]}", (replaced(case.spot.form, text),), safe=found[1].startswith(f"(cast {_HOLE}"))


@proposes("E-CONTRACT-004", "E-GEN-001")
def tensor_of_a_number(case: Case) -> Iterable[Proposal]:
    """`(full [] 3)` in place of 3."""
    found = _TEMPLATE.match(case.diagnostic.help)
    if found is not None and found[1].startswith("(full []"):
        text = f"(full [] {case.spot.form.text})"
        yield Proposal(f"write {text if len(text) < 40 else '(full [] …)'}", (replaced(case.spot.form, text),), safe=True)


@proposes("E-CONTRACT-009", "E-CONTRACT-011", "E-CONTRACT-013", "E-CONTRACT-015")
def spelt_out(case: Case) -> Iterable[Proposal]:
    """Another word in place of the marked one, as the help has it."""
    found = _WORD.match(case.diagnostic.help)
    parent = case.spot.parent
    if found is None or case.spot.form is (parent.items[0] if parent else None):
        return
    same = found[1].strip(':"') == case.spot.form.text.strip(':"')
    if not any(fix.edits[0].text == found[1] for fix in case.diagnostic.fixes) and not case.spot.form.text.startswith("("):
        yield Proposal(f"write {found[1]}", (replaced(case.spot.form, found[1]),), safe=same)
