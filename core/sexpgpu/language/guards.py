"""What the prelude alone may call: it refuses an argument of its own as an operator would, by the row that fits.

`(-fits row argument condition message)` is true where the condition holds; else the argument is of the wrong dtype (`:dtype`) or
shape (`:shape`).
"""

from __future__ import annotations

from sexpgpu.diagnostics import rules
from sexpgpu.language.signature import parse
from sexpgpu.language.values import Builtin, Keyword, Value, truthy
from sexpgpu.ops.call import Call

_ROWS = {"dtype": rules.DTYPE_OPERATOR, "shape": rules.SHAPE_OPERATOR}


def _fits(call: Call) -> Value:
    if truthy(call.value("condition")):
        return True
    row = call.value("row")
    assert isinstance(row, Keyword)
    raise call.fault(_ROWS[row.name], "argument", call.string("message"))


GUARDS = {"-fits": Builtin("-fits", parse("row argument condition message"), _fits)}
