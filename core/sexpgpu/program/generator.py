"""`defgenerate`: its keys, its three graphs, and what it adds to the batch. Traced before `prepare`."""

from __future__ import annotations

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Related
from sexpgpu.graph.nodes import Node, typed
from sexpgpu.language.dtypes import I64
from sexpgpu.language.nearest import nearest
from sexpgpu.language.values import NIL, UNKNOWN, Nil, Value
from sexpgpu.program.builder import Builder, Typed
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.program.keys import Read, read_declaration
from sexpgpu.program.model import Generator, Loader
from sexpgpu.program.results import Entry, Returned, last_expression, output, returned_tensors
from sexpgpu.reader.forms import Form, ListForm


class Generated:
    """What a generator adds to the batch: each entry's type (None: not known) and where its name is made.

    `open` says that there may be more; `exists` is false in a file without a generator.
    """

    def __init__(
        self, entries: dict[str, Typed | None], names: dict[str, Form], *, open: bool = False, exists: bool = True
    ) -> None:
        self.entries = entries
        self.names = names
        self.open = open
        self.exists = exists


def batch_types(loader: Loader | None) -> tuple[dict[str, Typed | None], bool]:
    """The fields of a loader's batch, `(batch, *shape)` each, None where records disagree; and whether there may be others."""
    if loader is None or loader.fields is None:
        return {}, True
    types: dict[str, Typed | None] = dict.fromkeys([*loader.fields, *loader.disputed])
    if loader.batch is not None:
        agreed = {name: field for name, field in loader.fields.items() if name not in loader.disputed}
        types.update({name: ((loader.batch, *field.shape), field.dtype) for name, field in agreed.items()})
    return types, False


def build_generator(builder: Builder) -> Generated:
    """Trace the file's generator for the training loader."""
    entries = builder.entries("defgenerate")
    if not entries:
        lost = builder.unit.may_hold("defgenerate")
        return Generated({}, {}, open=lost, exists=False)
    entry = entries[0]
    assert isinstance(entry.form, ListForm)
    read = read_declaration(
        builder.evaluator, DECLARATIONS["defgenerate"], entry.form, builder.environment(entry), shape_rule=rules.GENERATOR_SHAPE
    )
    builder.declared["defgenerate"] = read
    trips = read.values.get("trips")
    generator = builder.program.generator = Generator(trips if isinstance(trips, int) else None, None, None, None)
    state, made = _init(builder, read, generator)
    agrees, unsettled = _step(builder, read, generator, state, open=made.open)
    # What an entry is that `:step` does not give, or gives otherwise, nobody can tell: nothing more is said of it.
    for name in unsettled:
        state[name] = None
        made.entries[name] = made.entries[name]._replace(value=UNKNOWN)
    if not isinstance(read.values.get("finish", NIL), Nil):
        made = _finish(builder, read, generator, state, made, open=made.open or not agrees)
    elif ("finish" in read.keys and "finish" not in read.values) or read.confused or not agrees:
        made = Returned([], open=True)
    generated = _joined(made)
    _check_names(builder, generated)
    return generated


def _joined(made: Returned) -> Generated:
    types: dict[str, Typed | None] = {}
    names: dict[str, Form] = {}
    for entry in made.entries.values():
        types[entry.name] = _type(entry)
        names[entry.name] = entry.name_at
    return Generated(types, names, open=made.open)


def _function(read: Read, key: str) -> tuple[Value | None, Form]:
    return read.values.get(key), read.written.get(key, read.form)


def _init(builder: Builder, read: Read, generator: Generator) -> tuple[dict[str, Typed | None], Returned]:
    function, at = _function(read, "init")
    trace = builder.trace("generate.init", "generate.init")
    fields, open_batch = batch_types(builder.program.training)
    batch = builder.plist(trace, "batch", "batch", fields, at, open=open_batch)
    value = builder.call(trace, function, [batch, builder.ctx(trace, at)], at, "generate.init")
    made = returned_tensors(builder.evaluator, trace, function or value, value, at, rules.GENERATOR_RESULT, "`:init`")
    generator.init = trace.graph
    state: dict[str, Typed | None] = {}
    for entry in made.entries.values():
        state[entry.name] = _type(entry)
        if isinstance(entry.value, Node):
            output(trace, entry.name, entry.value)
    return state, made


def _step(
    builder: Builder, read: Read, generator: Generator, state: dict[str, Typed | None], *, open: bool
) -> tuple[bool, list[str]]:
    """Trace `:step`, and tell whether it keeps the state as it was, and of which entries it does not give what they were."""
    function, at = _function(read, "step")
    trace = builder.trace("generate.step", "generate.step")
    plist = builder.plist(trace, "state", "state", state, at, open=open)
    trip = builder.input(trace, "trip", "trip", (), I64, at)
    value = builder.call(trace, function, [plist, trip, builder.ctx(trace, at)], at, "generate.step")
    made = returned_tensors(builder.evaluator, trace, function or value, value, at, rules.GENERATOR_RESULT, "`:step`")
    generator.step = trace.graph
    for entry in made.entries.values():
        if isinstance(entry.value, Node):
            output(trace, entry.name, entry.value)
    unsettled = [name for name, before in state.items() if name in made.entries and _type(made.entries[name]) != before]
    if made.open or open:
        return True, unsettled
    return _compare(builder, state, made, last_expression(builder.evaluator, trace, function or value, at)), unsettled


def _type(entry: Entry) -> Typed | None:
    return (entry.value.shape, entry.value.dtype) if isinstance(entry.value, Node) else None


def _compare(builder: Builder, state: dict[str, Typed | None], made: Returned, last: Form) -> bool:
    """The state keeps its keys, shapes and dtypes from trip to trip (E-GEN-002); what is no tensor has been reported before."""
    strange = [entry for entry in made.entries.values() if entry.name not in state]
    extra = [entry for entry in strange if isinstance(entry.value, Node)]
    missing = [name for name in state if name not in made.entries and not strange]
    changed: list[tuple[Entry, str]] = []
    for entry in made.entries.values():
        before = state.get(entry.name)
        value = entry.value
        if before is not None and isinstance(value, Node) and (value.shape, value.dtype) != before:
            changed.append((entry, f":{entry.name} was {typed(*before)} and becomes {typed(value.shape, value.dtype)}"))
    changed += [(entry, f":{entry.name} is not in the state that `:init` makes") for entry in extra]
    changed += [(Entry(name, NIL, last, last, False), f":{name} is missing") for name in missing]
    apart: dict[Form, list[tuple[Entry, str]]] = {}
    for entry, what in changed:
        apart.setdefault(entry.at, []).append((entry, what))
    for at, parts in apart.items():
        message = "`:step` changes the state: " + "; ".join(what for _, what in parts)
        builder.evaluator.report(rules.GENERATOR_STATE, at, message, _help(parts[0][0], state, made))
    return not changed and not strange


def _help(entry: Entry, state: dict[str, Typed | None], made: Returned) -> str:
    before = state.get(entry.name)
    if before is None:
        near = nearest(entry.name, [name for name in state if name not in made.entries])
        if near:
            return f"write :{near[0]}, as `:init` does"
        return f"give `:init` an entry :{entry.name}, or leave it out here"
    if isinstance(entry.value, Node):
        if entry.value.shape == before[0]:
            return f"write (cast … {before[1]!r})"
        return "a state has static shapes: write into a tensor of fixed size with `where` at the trip's column"
    return f"return :{entry.name} as it was: (getf state :{entry.name})"


def _finish(
    builder: Builder, read: Read, generator: Generator, state: dict[str, Typed | None], first: Returned, *, open: bool
) -> Returned:
    """Trace `:finish`; what it hands on of the state is named where `:init`, which returned `first`, names it."""
    function, at = _function(read, "finish")
    trace = builder.trace("generate.finish", "generate.finish")
    names = {entry.name: entry.name_at for entry in first.entries.values()}
    plist = builder.plist(trace, "state", "state", state, at, open=open, names=names)
    value = builder.call(trace, function, [plist, builder.ctx(trace, at)], at, "generate.finish")
    made = returned_tensors(builder.evaluator, trace, function or value, value, at, rules.GENERATOR_RESULT, "`:finish`", empty=True)
    generator.finish = trace.graph
    for entry in made.entries.values():
        if isinstance(entry.value, Node):
            output(trace, entry.name, entry.value)
    return made


def _check_names(builder: Builder, generated: Generated) -> None:
    """A generated name is no field of the training loader, nor of any pass's (E-GEN-003)."""
    program = builder.program
    loaders = [program.training, *(pass_.loader for pass_ in program.passes.values())]
    for name, at in generated.names.items():
        for loader in loaders:
            field = (loader.fields or {}).get(name) if loader is not None else None
            if field is not None and loader is not None:
                related = (Related(field.form, "the field"),)
                message = f":{name} is a field of the loader `{loader.name}` already"
                builder.evaluator.report(rules.GENERATOR_FIELD, at, message, "give the generated entry another name", related)
                break


def runs_generator(program_loader: Loader | None, loader: Loader | None) -> bool:
    """Whether a pass on `loader` runs the generator: its fields and batch size are the training loader's."""
    if program_loader is None or loader is None:
        return False
    if program_loader is loader:
        return True
    if program_loader.fields is None or loader.fields is None or program_loader.batch != loader.batch:
        return False
    mine = {name: (field.shape, field.dtype) for name, field in program_loader.fields.items()}
    theirs = {name: (field.shape, field.dtype) for name, field in loader.fields.items()}
    return mine == theirs


def unknown_generator(program_loader: Loader | None, loader: Loader | None) -> bool:
    """Whether it cannot be told if a pass on `loader` runs the generator."""
    loaders = (program_loader, loader)
    return any(one is None or one.fields is None or one.batch is None for one in loaders)
