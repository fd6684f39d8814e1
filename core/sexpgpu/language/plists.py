"""Host functions on plists: reads of what the runtime hands over are noted here for the checks of contracts."""

from __future__ import annotations

from collections.abc import Sequence

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Related
from sexpgpu.language.effects import EntryRead, Missed, UsedWhole
from sexpgpu.language.fault import UnknownArgument
from sexpgpu.language.host import evaluator_of, host
from sexpgpu.language.lists import made_list
from sexpgpu.language.values import (
    UNKNOWN,
    Absent,
    Keyword,
    List,
    Nil,
    Plist,
    Unknown,
    Value,
    key_text,
    written_names,
)
from sexpgpu.ops.call import Call
from sexpgpu.ops.operands import absent_fault, described, entry_keys, instead


def key_of(call: Call) -> str | Keyword:
    """The key argument: a keyword or a string."""
    key = call.value("key")
    if isinstance(key, (Keyword, str)):
        return key
    raise call.wrong_kind(key, call.at("key"), "a keyword or a string as the key", staged=False)


def name_of(key: str | Keyword) -> str:
    """The name of a key: a keyword's, without its colon, or the string."""
    return key if isinstance(key, str) else key.name


def entry(items: Sequence[Value], key: str | Keyword) -> Value | None:
    """The value behind a key of a plist, or None. A keyword is not its string."""
    for index in range(0, len(items) - 1, 2):
        candidate = items[index]
        if candidate is key or (isinstance(key, str) and isinstance(candidate, str) and candidate == key):
            return items[index + 1]
    return None


def _plist(call: Call) -> List:
    """The plist argument; nil is an empty one."""
    plist = call.value("plist")
    if isinstance(plist, Absent):
        raise absent_fault(plist, call.at("plist"), f"`{call.name}` needs a plist")
    if isinstance(plist, Nil):
        return List(())
    if not isinstance(plist, List):
        raise call.wrong_kind(plist, call.at("plist"), "a plist", staged=False)
    if any(isinstance(key, Unknown) for key in plist.items[::2]):
        raise UnknownArgument
    if len(plist.items) % 2 or not all(isinstance(key, (Keyword, str)) for key in plist.items[::2]):
        message = f"`{call.name}` needs a plist here: keywords or strings, each with its value behind it"
        raise call.fault(rules.TYPE_KIND, "plist", message, "write (list :name value …)")
    call.tracer.tick(len(plist.items) // 2)
    return plist


def _found(call: Call, plist: List, key: str | Keyword) -> Value | None:
    """The entry, with what the checks of contracts need to know of the read."""
    value = entry(plist.items, key)
    if not isinstance(plist, Plist):
        return value
    name, at = name_of(key), call.at("key")
    evaluator_of(call).do(EntryRead(plist, name, at))
    if value is None and plist.withheld is not None and name in plist.withheld[0]:
        evaluator_of(call).report(
            rules.PASS_GENERATED,
            at,
            f":{name} is made by the generator, which does not run in the pass `{plist.owner}`",
            "give the pass's loader the training loader's fields and batch size, or the pass a `:prepare` of its own",
            (Related(plist.withheld[1], "this pass's loader differs from the training loader"),),
        )
        return UNKNOWN
    if plist.role == "ctx" and value is not None:
        evaluator_of(call).read_ctx(name, at)
    if value is None and plist.open:
        return evaluator_of(call).unknown()
    return value


@host(
    "getf",
    "plist key &optional default",
    "plists",
    "The value behind a key of a plist; without one the default, or nil.",
    "(getf ctx :step)",
    strict=False,
)
def _getf(call: Call) -> Value:
    plist, key = _plist(call), key_of(call)
    value = _found(call, plist, key)
    if value is not None:
        return value
    absent = Absent(plist, name_of(key), call.at("key"), evaluator_of(call).uses)
    evaluator_of(call).do(Missed(absent, ctx=isinstance(plist, Plist) and plist.role == "ctx"))
    return call.raw("default") if call.supplied("default") else absent


@host("field", "plist key", "plists", "The value behind a key that must be there.", "(field batch :row)", strict=False)
def _field(call: Call) -> Value:
    plist, key = _plist(call), key_of(call)
    value = _found(call, plist, key)
    if value is not None:
        return value
    at = call.at("key")
    keys = entry_keys(plist)
    help, fixes = instead(name_of(key), at, keys)
    have = "there is " + (" ".join(keys.values()) or "nothing")
    help = f"{help}; {have}" if help else have
    raise call.fault(rules.FIELD_UNKNOWN, "key", f"there is no {at.text} in {described(plist)}", help, fixes)


@host(
    "plist-set",
    "plist key value",
    "plists",
    "A new plist with the value behind the key.",
    "(plist-set state :row row)",
    strict=False,
)
def _plist_set(call: Call) -> Value:
    plist, key = _plist(call), key_of(call)
    if isinstance(plist, Plist):
        evaluator_of(call).do(UsedWhole(plist))
    items = list(plist.items)
    for index in range(0, len(items), 2):
        if items[index] is key or (isinstance(key, str) and items[index] == key):
            items[index + 1] = call.raw("value")
            break
    else:
        items += [key, call.raw("value")]
    made = Plist(plist.role, items, open=True) if isinstance(plist, Plist) and plist.open else made_list(items)
    if isinstance(made, List):
        made.names = {key_text(key): call.at("key"), **written_names(plist)}
    return made


@host("keys", "plist", "plists", "The keys of a plist, as a list.", "(keys batch)", strict=False)
def _keys(call: Call) -> Value:
    plist = _plist(call)
    if isinstance(plist, Plist) and plist.open:
        raise UnknownArgument
    return made_list(plist.items[::2])
