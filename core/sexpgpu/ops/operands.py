"""What is asked of operands wherever they meet: which dtypes pass, how shapes broadcast, what an absent entry is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Edit, Fix, Related
from sexpgpu.graph.nodes import Shape
from sexpgpu.language.dtypes import BOOL, DType
from sexpgpu.language.fault import Fault, UnknownArgument
from sexpgpu.language.nearest import nearest
from sexpgpu.language.values import Absent, Function, Keyword, List, Plist, Unknown, Value
from sexpgpu.reader.forms import Form, ListForm, SymbolForm, VectorForm

# Dtypes

Accepts = Callable[[DType], bool]


def any_dtype(_: DType) -> bool:
    """Operators that only make or move elements."""
    return True


def numeric(dtype: DType) -> bool:
    """Arithmetic, order, reduction."""
    return dtype is not BOOL


def floating(dtype: DType) -> bool:
    return dtype.is_float


def integral(dtype: DType) -> bool:
    return dtype.is_integer


def boolean(dtype: DType) -> bool:
    return dtype is BOOL


MENDS: dict[Accepts, tuple[str, str]] = {
    numeric: ("cast", ":i32"),
    floating: ("cast", ":float"),
    integral: ("cast", ":i32"),
    boolean: ("/=", "0"),
}
WANTED: dict[Accepts, str] = {
    numeric: "numbers",
    floating: "a float dtype",
    integral: "an integer dtype",
    boolean: ":bool",
    any_dtype: "any dtype",
}


# Values


def known(value: Value) -> Value:
    """The value itself; raises UnknownArgument where it is unknown."""
    if isinstance(value, Unknown):
        raise UnknownArgument
    return value


def item_forms(value: List, at: Form) -> list[Form]:
    """Where the items of a list were written, where one `list` call or vector wrote them all; else `at` for each."""
    made_by = value.made_by
    if isinstance(made_by, (ListForm, VectorForm)):
        forms = list(made_by.items if isinstance(made_by, VectorForm) else made_by.items[1:])
        if len(forms) == len(value.items):
            return forms
    return [at] * len(value.items)


def broadcast_shapes(a: Shape, b: Shape) -> Shape | None:
    """NumPy's rule for two shapes, or None."""
    if a == b:
        return a
    length = max(len(a), len(b))
    x = (1,) * (length - len(a)) + a
    y = (1,) * (length - len(b)) + b
    if all(m == n or m == 1 or n == 1 for m, n in zip(x, y, strict=True)):
        return tuple(n if m == 1 else m for m, n in zip(x, y, strict=True))
    return None


def absent_fault(value: Absent, at: Form, needs: str) -> Fault:
    """The fault for an absent entry that reaches an operator (`diagnostics.md`, rules): its key is named, once."""
    if not value.use():
        raise UnknownArgument
    key = value.key
    plist = value.plist
    keys = entry_keys(plist)
    help, fixes = instead(value.name, key, keys)
    help = help or "there is " + (" ".join(keys.values()) or "no entry")
    if isinstance(plist, Plist) and plist.role == "observations":
        message = plist.elsewhere.get(value.name, f"the pass `{plist.owner}` does not report {key.text}")
        help = help if keys else 'report it in the objective of the pass: (metric "name" value)'
        return Fault(rules.OBSERVATION_MISSING, key, message, help, (), fixes)
    message = f"{needs}, and this is nil: {key.text} is not in {described(plist)}"
    return Fault(rules.TYPE_KIND, at, message, help, (Related(key, "this key finds nothing"),), fixes)


def described(plist: List) -> str:
    """`the batch`, `the state`, `ctx`, … : how messages call a plist."""
    if not isinstance(plist, Plist):
        return "the plist"
    return plist.role if plist.role in ("ctx", "observations") else f"the {plist.role}"


def entry_or_call(value: Value, at: Form) -> str:
    """The help that makes a tensor of what stands for more: an entry of a runtime's plist, a call of a function; else empty."""
    if isinstance(value, Plist) and entry_keys(value):
        whole = "…" if at.top.source.builtin else short(at)
        return f"read an entry of it: {' '.join(f'(getf {whole} {key})' for key in list(entry_keys(value).values())[:3])}"
    if isinstance(value, Function) and isinstance(at, SymbolForm):
        return f"call it: ({at.name} …)"
    return ""


def entry_keys(plist: List) -> dict[str, str]:
    """The keys of a plist as they are written, by name (keywords without their colon)."""
    names = [key for key in plist.items[::2] if isinstance(key, (Keyword, str))]
    return {key if isinstance(key, str) else key.name: f'"{key}"' if isinstance(key, str) else f":{key.name}" for key in names}


def instead(name: str, at: Form, keys: Mapping[str, str]) -> tuple[str, tuple[Fix, ...]]:
    """The help and the fix that write the key which was most likely meant: that of the name, or the nearest; else nothing."""
    near = [name] if name in keys else nearest(name, keys)
    if not near or at.top.source.builtin:
        return "", ()
    meant = keys[near[0]]
    return f"write {meant}", (Fix(f"write {meant}", (Edit(at, meant),)),)


def bracketed(shape: Sequence[int]) -> str:
    """A shape, or a vector of integers, as it is written: `[4 8]`."""
    return f"[{' '.join(map(str, shape))}]"


def short(form: Form) -> str:
    """The text of a form, for a message."""
    text = " ".join(form.text.split())
    return text if len(text) <= 40 else "…"
