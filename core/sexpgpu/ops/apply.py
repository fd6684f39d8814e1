"""Applying an operator: on the host where all its operands are host values, by its rule otherwise.

The evaluator calls `apply_op` and nothing else of this package.
"""

from __future__ import annotations

from collections.abc import Sequence

from sexpgpu.diagnostics import rules
from sexpgpu.language.fault import Fault, HostFault
from sexpgpu.language.signature import Bound
from sexpgpu.language.values import Value
from sexpgpu.ops.call import Call, Tracer, known
from sexpgpu.ops.table import Op
from sexpgpu.reader.forms import Form


def apply_op(row: Op, bound: Bound[Value], forms: Sequence[Form], form: Form, tracer: Tracer) -> Value:
    """The value of a call whose arguments `bind` has bound; `forms` are the forms of the arguments, `form` the call.

    Raises Fault for what is wrong, UnknownArgument where an argument that is needed is unknown, LimitPassed.
    """
    if row.host is not None:
        operands = [*bound.values.values(), *bound.rest]
        if row.stays(operands):
            named = {name.replace("-", "_"): bound.values[name] for name in row.signature.keys if name in bound.values}
            positional = [value for name, value in bound.values.items() if name not in row.signature.keys]
            try:
                return row.host(*positional, *bound.rest, **named)
            except HostFault as fault:
                raise Fault(rules.TYPE_KIND, forms[fault.argument], fault.message, fault.help) from None
    for value in bound.rest:
        known(value)
    return row.rule(Call(row.name, bound, forms, form, tracer))
