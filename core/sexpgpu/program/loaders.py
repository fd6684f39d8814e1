"""Loaders: their fields and sources, and the record function of each `synthetic` source, traced."""

from __future__ import annotations

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Related
from sexpgpu.graph.nodes import Node, typed
from sexpgpu.language.dtypes import I64, DType
from sexpgpu.language.values import Function, Keyword, List, Made, Unknown, Value, is_number, kind_of
from sexpgpu.ops.operands import item_forms
from sexpgpu.program.builder import Builder
from sexpgpu.program.data import check_source
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.program.keys import Read, read_declaration
from sexpgpu.program.model import Field, Loader
from sexpgpu.program.results import last_expression, output, returned_tensors
from sexpgpu.program.unit import Entry
from sexpgpu.reader.forms import Form, ListForm


def build_loaders(builder: Builder) -> None:
    """Read every `defloader`, and trace its record functions."""
    for entry in builder.entries("defloader"):
        definition = entry.definition
        if definition is None or builder.program.loaders.get(definition.name) is not None:
            continue
        loader = _loader(builder, entry)
        builder.program.loaders[loader.name] = loader
        sources = [source for source in loader.sources or () if source is not None]
        flat = [(source, path) for stage, source in enumerate(sources) for source, path in _flat(builder, source, str(stage))]
        synthetic = [source for source, _ in flat if source.name == "synthetic"]
        for source, _ in flat:
            if source.name == "synthetic":
                _record(builder, loader, source, synthetic.index(source), len(synthetic))
            else:
                check_source(builder, loader, source)


def _loader(builder: Builder, entry: Entry) -> Loader:
    assert entry.definition is not None
    assert isinstance(entry.form, ListForm)
    loader = Loader(entry.definition.name, entry.definition.name_form or entry.form)
    read = read_declaration(builder.evaluator, DECLARATIONS["defloader"], entry.form, builder.environment(entry))
    builder.declared[f"loader {loader.name}"] = read
    batch = read.values.get("batch")
    loader.batch = batch if isinstance(batch, int) else None
    loader.fields = _fields(read.values.get("fields"), read)
    loader.sources = _sources(builder, read)
    loader.shuffle = read.values.get("shuffle") is not False
    loader.repeat = read.values.get("repeat") is not False
    return loader


def _fields(value: Value | None, read: Read) -> dict[str, Field] | None:
    if not isinstance(value, List) or any(isinstance(item, Unknown) for item in value.items):
        return None
    fields: dict[str, Field] = {}
    forms = item_forms(value, read.written["fields"])
    for index in range(0, len(value.items), 2):
        key, spec = value.items[index], value.items[index + 1]
        assert isinstance(key, Keyword)
        assert isinstance(spec, Made)
        shape, dtype = spec.arguments["shape"], spec.arguments["dtype"]
        assert isinstance(shape, List)
        assert isinstance(dtype, DType)
        fields[key.name] = Field(tuple(n for n in shape.items if isinstance(n, int)), dtype, forms[index])
    return fields


def _sources(builder: Builder, read: Read) -> list[Made | None] | None:
    """One source a stage; exactly one of `:source` and `:stages` says which."""
    given = [key for key in ("source", "stages") if key in read.keys]
    if len(given) == 2:
        builder.evaluator.report(
            rules.DECLARATION_KEY,
            read.keys["stages"] if read.keys["stages"].start > read.keys["source"].start else read.keys["source"],
            "a loader has either :source or :stages",
            "write :stages alone; its first source is stage 0",
        )
        return None
    if not given:
        if not read.confused:
            message = "`defloader` needs :source, where its records come from"
            builder.evaluator.report(
                rules.DECLARATION_KEY, read.head, message, "write :source and a source, or :stages and a list of them"
            )
        return None
    value = read.values.get(given[0])
    if isinstance(value, Made):
        return [value]
    if isinstance(value, List):
        return [item if isinstance(item, Made) else None for item in value.items]
    return None


def _flat(builder: Builder, source: Made, path: str) -> list[tuple[Made, str]]:
    """The sources that records come from, those of a `mix` one by one."""
    if source.name != "mix":
        return [(source, path)]
    found: list[tuple[Made, str]] = []
    for part in mixed(builder, source):
        found += _flat(builder, part, path)
    return found


def mixed(builder: Builder, source: Made) -> list[Made]:
    """The sources of a `mix`; what is no `(list source weight)` is reported at the argument."""
    form = source.form
    arguments = form.items[1:] if isinstance(form, ListForm) else ()
    parts = source.arguments.get("sources")
    sources: list[Made] = []
    items = parts.items if isinstance(parts, List) else ()
    for index, part in enumerate(items):
        at = arguments[index] if len(arguments) == len(items) else form
        if isinstance(part, Unknown):
            continue
        if isinstance(part, List) and len(part.items) == 2:
            inner, weight = part.items
            if isinstance(inner, Unknown) or isinstance(weight, Unknown):
                continue
            if (
                isinstance(inner, Made)
                and inner.group == "source"
                and is_number(weight)
                and isinstance(weight, (int, float))
                and weight > 0
            ):
                sources.append(inner)
                continue
        builder.evaluator.report(
            rules.TYPE_KIND, at, f"`mix` takes (list source weight) here, with a weight above 0, and this is {kind_of(part)}"
        )
    return sources


# Record functions


def _record(builder: Builder, loader: Loader, source: Made, number: int, count: int) -> None:
    function, at = source.arguments.get("function"), source.forms.get("function", source.form)
    _records_count(builder, source)
    if function is None or isinstance(function, Unknown):
        return
    if not isinstance(function, Function):
        builder.evaluator.report(rules.TYPE_KIND, at, f"`synthetic` needs a function of the index, and this is {kind_of(function)}")
        return
    name = f"{loader.name}.record" + (f"@{number}" if count > 1 else "")
    trace = builder.trace(name, "record", None)
    index = builder.input(trace, "index", "index", (), I64, at)
    value = builder.call(trace, function, [index], at, "synthetic")
    returned = returned_tensors(builder.evaluator, trace, function, value, at, rules.RECORD_RESULT, "a record function", empty=True)
    if loader.fields is not None and not returned.open and trace.graph.whole:
        loader.records[source] = trace.graph
    if loader.fields is None or returned.open:
        return
    for entry in returned.entries.values():
        field = loader.fields.get(entry.name)
        if field is None:
            loader.disputed.add(entry.name)
            builder.evaluator.report(
                rules.RECORD_RESULT,
                entry.at,
                f"the loader `{loader.name}` declares no field :{entry.name}",
                "add it to :fields, or leave it out",
            )
        elif isinstance(entry.value, Node):
            if entry.value.shape != field.shape or entry.value.dtype is not field.dtype:
                loader.disputed.add(entry.name)
                wanted, got = typed(field.shape, field.dtype), typed(entry.value.shape, entry.value.dtype)
                help = f"write (cast … {field.dtype!r})" if entry.value.shape == field.shape else ""
                related = (Related(field.form, f"declared {wanted} here"),)
                builder.evaluator.report(
                    rules.RECORD_RESULT, entry.at, f"the field :{entry.name} is {wanted}, and this is {got}", help, related
                )
            output(trace, entry.name, entry.value)
    missing = [name for name in loader.fields if name not in returned.entries]
    if missing and set(returned.entries) <= set(loader.fields):
        last = last_expression(builder.evaluator, trace, function, at)
        listed = " ".join(f":{name}" for name in missing)
        builder.evaluator.report(rules.RECORD_RESULT, last, f"the record lacks {listed}, which the loader `{loader.name}` declares")


def _records_count(builder: Builder, source: Made) -> None:
    count = source.arguments.get("count")
    at: Form = source.forms.get("count", source.form)
    if not isinstance(count, Unknown) and (type(count) is not int or count < 1):
        what = count if type(count) is int else kind_of(count) if count is not None else "missing"
        builder.evaluator.report(rules.TYPE_KIND, at, f"`synthetic` needs the number of its records, 1 or more, and this is {what}")
