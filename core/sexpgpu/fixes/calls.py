"""Calls: of what is no function, and with arguments that do not fit."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sexpgpu.fixes.edits import put_behind, removed, replaced
from sexpgpu.fixes.proposal import Proposal
from sexpgpu.fixes.spots import definition_of
from sexpgpu.fixes.table import Case, proposes
from sexpgpu.ops import OPS
from sexpgpu.reader.forms import ConstantForm, KeywordForm, ListForm, NumberForm, StringForm, SymbolForm

_INFIX = frozenset(("+", "-", "*", "/", "<", ">", "<=", ">=", "=", "/=", "mod", "pow"))
_NEEDED = re.compile(r"needs the keyword :(\S+)")
_SURPLUS = re.compile(r"takes (\d+) arguments?(?:, and \d+ are given| before its keywords)")


@proposes("E-CALL-002")
def in_its_place(case: Case) -> Iterable[Proposal]:
    """The operator in front, a vector for a list of values."""
    call = case.spot.parent
    if call is None or call.items[0] is not case.spot.form:
        return
    items = call.items
    if len(items) == 3 and isinstance(items[1], SymbolForm) and items[1].name in _INFIX:
        text = f"({items[1].text} {items[0].text} {items[2].text})"
        yield Proposal(f"write {text}" if len(text) < 40 else f"write ({items[1].text} … …)", (replaced(call, text),), safe=True)
    elif all(isinstance(item, (NumberForm, StringForm, ConstantForm, SymbolForm, KeywordForm)) for item in items):
        yield Proposal("write a vector", (replaced(call, f"[{call.text[1:-1]}]"),))
    if len(items) == 1:
        yield Proposal("leave the brackets out", (replaced(call, items[0].text),))


@proposes("E-CALL-001")
def a_keyword(case: Case) -> Iterable[Proposal]:
    """Keywords that are given twice, without a value, or not known at all, left out."""
    parent, form, message = case.spot.parent, case.spot.form, case.diagnostic.message
    if parent is None or not isinstance(form, KeywordForm):
        return
    index = parent.items.index(form)
    if message.endswith("has no value"):
        yield Proposal(f"leave :{form.name} out", (removed(parent, form),))
    elif message.endswith("is given twice") or "has no keyword" in message:
        last = parent.items[min(index + 1, len(parent.items) - 1)]
        yield Proposal(f"leave :{form.name} out", (removed(parent, form, last),))


@proposes("E-CALL-001")
def arguments(case: Case) -> Iterable[Proposal]:
    """An argument too many, as the axis that it most likely is, or left out; a keyword that must be there."""
    call = case.spot.parent
    if call is None or call.items[0] is not case.spot.form:
        return
    definition = definition_of(case.analysis, case.spot.form)
    message = case.diagnostic.message
    surplus = _SURPLUS.search(message)
    needed = _NEEDED.search(message)
    if needed is not None and needed[1] in ("axis", "axes"):
        yield Proposal(f"write :{needed[1]} -1", (put_behind(call.items[-1], f" :{needed[1]} -1"),))
    if surplus is None or not message.startswith("`"):
        return  # of a function without a name the arguments stand elsewhere
    most = int(surplus[1])
    given = call.items[1:]
    extra = given[most:]
    keyed = next((index for index, each in enumerate(extra) if isinstance(each, KeywordForm)), len(extra))
    extra = extra[:keyed]
    signature = definition.signature if definition is not None else None
    if signature is not None and len(extra) == 1 and definition is not None and definition.name in OPS:
        for key in ("axis", "axes"):
            if key in signature.keys and not any(isinstance(each, KeywordForm) and each.name == key for each in given):
                yield Proposal(f"write :{key} {_short(extra[0].text)}", (replaced(extra[0], f":{key} {extra[0].text}"),))
    if extra:
        yield Proposal("leave out what is too much", (removed(call, extra[0], extra[-1]),))


@proposes("E-TYPE-001")
def values(case: Case) -> Iterable[Proposal]:
    """A value of the kind that is wanted, where the wrong one says which."""
    form, message = case.spot.form, case.diagnostic.message
    parent = case.spot.parent
    if "list of tensors" in message and parent is not None and parent.head in ("concat", "stack"):
        yield Proposal("write (list …)", (replaced(form, f"(list {form.text})"),))
    elif isinstance(form, StringForm) and re.search(r"needs (?:an? |the )?(?:tensor or a )?(?:number|integer)", message):
        if re.fullmatch(r"[+-]?\d+(?:\.\d+)?", form.value):
            yield Proposal(f"write {form.value}", (replaced(form, form.value),), safe=True)
    elif "needs a string" in message or "needs text" in message:
        name = form.text.lstrip(":'")
        if isinstance(form, KeywordForm) or form.text.startswith("'"):
            yield Proposal(f'write "{name}"', (replaced(form, f'"{name}"'),), safe=True)
    elif "needs true or false" in message and form.text in ("0", "1"):
        word = "true" if form.text == "1" else "false"
        yield Proposal(f"write {word}", (replaced(form, word),), safe=True)


@proposes("E-TYPE-001", "E-CONTRACT-006")
def one_that_is_there(case: Case) -> Iterable[Proposal]:
    """The keys that there are, where they are few; the marked form is the key, or reads it."""
    if case.diagnostic.fixes:
        return
    found = re.search(r'there is ((?::\S+|"[^"]*")(?: (?::\S+|"[^"]*"))*)$', case.diagnostic.help)
    if found is None:
        return
    form = case.spot.form
    if isinstance(form, ListForm) and form.head in ("getf", "field") and len(form.items) > 2:
        form = form.items[2]
    if isinstance(form, (KeywordForm, StringForm)):
        keys = re.findall(r':\S+|"[^"]*"', found[1])
        if len(keys) <= 4:
            for key in keys:
                yield Proposal(f"write {key}", (replaced(form, key),))


def _short(text: str) -> str:
    return text if len(text) < 20 else "…"
