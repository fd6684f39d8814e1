"""From a unit to a program: declarations are read, and every graph is traced, in the order of language §5."""

from __future__ import annotations

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Related
from sexpgpu.files import Files
from sexpgpu.language.dtypes import BF16
from sexpgpu.language.evaluator import Evaluator
from sexpgpu.language.nearest import nearest
from sexpgpu.language.values import Keyword, List, Nil, Value
from sexpgpu.plan.memory import GIB, gib, plan_memory
from sexpgpu.program.builder import Builder
from sexpgpu.program.cache import Cache
from sexpgpu.program.checks import check_all, models_in
from sexpgpu.program.data import check_pretrained, epoch_length
from sexpgpu.program.declarations import DECLARATIONS
from sexpgpu.program.generator import build_generator
from sexpgpu.program.globals import Globals
from sexpgpu.program.keys import Read, read_declaration
from sexpgpu.program.loaders import build_loaders
from sexpgpu.program.model import Loader, Pass, Run
from sexpgpu.program.optimizer import build_optimizer
from sexpgpu.program.training import build_passes, build_training
from sexpgpu.program.unit import Definition, Unit
from sexpgpu.reader.forms import Form, ListForm, SymbolForm


def assemble(evaluator: Evaluator, unit: Unit, files: Files, settings: dict[str, Form], cache: Cache) -> Builder:
    """Build the program of a unit. What is wrong is reported to the evaluator."""
    names = Globals(evaluator, unit, settings, cache)
    builder = Builder(evaluator, unit, names, files, cache)
    evaluator.parameters = builder.program.parameters
    _check_duplicates(builder)
    read = _read_run(builder)
    names.evaluate_definitions()
    build_loaders(builder)
    _read_passes(builder)
    _choose_loader(builder, read)
    _bind_models(builder)
    generated = build_generator(builder)
    stage = build_training(builder, generated)
    build_passes(builder, generated, stage)
    build_optimizer(builder)
    if evaluator.exhausted:
        return builder
    _check_run(builder, read)
    _check_parts(builder)
    _check_curriculum(builder)
    _check_passes(builder)
    check_pretrained(builder)
    _check_memory(builder, read)
    check_all(builder, generated, stage)
    return builder


def _check_duplicates(builder: Builder) -> None:
    """A run, generator or optimizer is declared once (E-CONTRACT-008)."""
    for head in ("defrun", "defgenerate", "defoptimizer"):
        first, *others = builder.entries(head) or [None]
        for entry in others:
            if entry is not None and first is not None:
                related = (Related(_head(first.form), "the first one"),)
                message = f"a file has one `{head}`, and this is another"
                builder.evaluator.report(rules.DECLARED_TWICE, _head(entry.form), message, "keep one of them", related)


def _head(form: Form) -> Form:
    return form.items[0] if isinstance(form, ListForm) else form


def _read_run(builder: Builder) -> Read | None:
    """`defrun` is read first: its precision decides what `:float` names."""
    entries = builder.entries("defrun")
    if not entries:
        return None
    builder.runs = True
    form = entries[0].form
    assert isinstance(form, ListForm)
    read = read_declaration(builder.evaluator, DECLARATIONS["defrun"], form, builder.environment(entries[0]))
    name = form.items[1].name if len(form.items) > 1 and isinstance(form.items[1], SymbolForm) else ""
    builder.program.run = Run(name, form, read.values, read.written)
    builder.declared["defrun"] = read
    precision = read.values.get("precision")
    if isinstance(precision, Keyword) and precision.name == "bf16":
        builder.evaluator.precision = BF16
    if "ema" in read.keys or not read.confused:
        builder.evaluator.ema_set = "ema" in read.keys and not isinstance(read.values.get("ema"), Nil)
    return read


def _read_passes(builder: Builder) -> None:
    for entry in builder.entries("defpass"):
        definition = entry.definition
        if definition is None or definition.name in builder.program.passes:
            continue
        assert isinstance(entry.form, ListForm)
        read = read_declaration(builder.evaluator, DECLARATIONS["defpass"], entry.form, builder.environment(entry))
        pass_ = builder.program.passes[definition.name] = Pass(definition.name, definition.name_form or entry.form)
        builder.declared[f"pass {definition.name}"] = read
        pass_.loader = _loader(builder, read)
        every, batches = read.values.get("every"), read.values.get("batches")
        pass_.every = every if isinstance(every, int) else None
        pass_.batches = batches if isinstance(batches, int) else None


def _loader(builder: Builder, read: Read) -> Loader | None:
    """The loader that a declaration names; E-CONTRACT-015 where there is none of that name."""
    name = read.values.get("loader")
    if not isinstance(name, str):
        return None
    loader = builder.program.loaders.get(name)
    if loader is None and builder.runs and not _defined(builder, name) and not builder.unit.may_hold("defloader"):
        near = nearest(name, builder.program.loaders)
        help = f"write {near[0]}" if near else "there is " + (", ".join(builder.program.loaders) or "no loader")
        builder.evaluator.report(rules.LOADER_UNDECLARED, read.written["loader"], f"there is no loader `{name}`", help)
    return loader


def _defined(builder: Builder, name: str) -> bool:
    """Whether a loader of that name is declared, if only by a form that could not be read."""
    return any(definition.kind == "defloader" and definition.name == name for definition in builder.unit.definitions)


def _choose_loader(builder: Builder, read: Read | None) -> None:
    """The training loader: the one that the run names, or the only one."""
    loaders = builder.program.loaders
    if read is not None and "loader" in read.keys:
        builder.program.training = _loader(builder, read)
        return
    if len(loaders) == 1 and not builder.unit.may_hold("defloader") and len(builder.unit.of_kind("defloader")) == 1:
        builder.program.training = next(iter(loaders.values()))
    elif len(loaders) > 1 and read is not None and not read.confused:
        names = ", ".join(loaders)
        builder.evaluator.report(
            rules.DECLARATION_KEY,
            read.head,
            f"there are several loaders ({names}), and the run names none",
            f"write :loader {next(iter(loaders))}",
        )


def _bind_models(builder: Builder) -> None:
    for definition in builder.unit.of_kind("defmodel"):
        if not definition.unknown:
            for model in models_in(builder.names.value(definition, None)) or []:
                builder.program.models[model.name] = model


# The run


def _check_run(builder: Builder, read: Read | None) -> None:
    if read is None:
        return
    values = read.values
    microbatches, stack = values.get("microbatches"), values.get("stack")
    if read.confused and "microbatches" not in read.keys:
        microbatches = None
    if isinstance(microbatches, int) and isinstance(stack, int) and microbatches % stack and "stack" in read.written:
        message = f":stack divides :microbatches, and {stack} does not divide {microbatches}"
        builder.evaluator.report(rules.DECLARATION_KEY, read.written["stack"], message, "write a divisor, or :auto")
    _check_diagnostics(builder, read)
    _check_best(builder, read)


def _names(builder: Builder, kind: str, graph_owner: str | None) -> tuple[set[str], bool]:
    """The names that an objective reports, and whether there may be others."""
    for trace in builder.traces:
        if trace.role == "objective" and trace.owner == graph_owner:
            return {name for of, name in trace.names if of == kind}, trace.incomplete
    return set(), True


def _check_diagnostics(builder: Builder, read: Read) -> None:
    selected = read.values.get("diagnostics")
    if "diagnostics" not in read.written or not isinstance(selected, List):
        return
    known, open_names = _names(builder, "diagnostic", None)
    at = read.written["diagnostics"]
    for name in selected.items:
        if isinstance(name, str) and name not in known and not open_names:
            near = nearest(name, known)
            help = f'write "{near[0]}"' if near else "there is " + (" ".join(f'"{n}"' for n in sorted(known)) or "no diagnostic")
            builder.evaluator.report(rules.DECLARATION_KEY, at, f'nothing reports a diagnostic "{name}"', help)


def _check_best(builder: Builder, read: Read) -> None:
    best: Value | None = read.values.get("keep-best")
    name = best.items[0] if isinstance(best, List) and best.items else best
    if not isinstance(name, str) or builder.unit.may_hold("defpass"):
        return
    known: set[str] = set()
    for pass_ in builder.program.passes.values():
        names, open_names = _names(builder, "metric", pass_.name)
        if open_names:
            return
        known |= {f"{pass_.name}/{metric}" for metric in names}
    if name not in known:
        at = read.written["keep-best"]
        near = nearest(name, known)
        help = f'write "{near[0]}"' if near else "there is " + (" ".join(f'"{n}"' for n in sorted(known)) or "no pass that reports")
        builder.evaluator.report(rules.DECLARATION_KEY, at, f'no pass reports "{name}"', help)


def _check_parts(builder: Builder) -> None:
    """A run has a model, a loader, an objective and an optimizer (E-CONTRACT-001)."""
    run = builder.program.run
    if run is None:
        return
    unit, scope = builder.unit, builder.unit.main.scope
    lacking = [f"`{name}`" for name, head in _NAMED if name not in scope and not unit.may_hold("def") and not unit.may_hold(head)]
    if not unit.of_kind("defloader") and not unit.may_hold("defloader"):
        lacking.append("a loader")
    if not unit.of_kind("defoptimizer") and not unit.may_hold("defoptimizer"):
        lacking.append("an optimizer")
    if lacking:
        listed = lacking[0] if len(lacking) == 1 else ", ".join(lacking[:-1]) + " and " + lacking[-1]
        message = f"this run lacks {listed}"
        help = "; ".join(f"write {_PARTS[part]}" for part in lacking)
        builder.evaluator.report(rules.RUN_INCOMPLETE, _head(run.form), message, help)


def _check_memory(builder: Builder, read: Read | None) -> None:
    """The plan stays within `:memory` (E-MEM-001)."""
    budget = read.values.get("memory") if read is not None else None
    plan = plan_memory(builder.program) if isinstance(budget, (int, float)) else None
    if read is None or plan is None or not isinstance(budget, (int, float)):
        return
    largest = plan.largest
    if largest.bytes > budget * GIB:
        message = f"the phase `{largest.name}` takes {gib(largest.bytes)} at once, and the budget is {budget} GiB"
        help = "make :batch smaller, or recompute with (scope … :remat true …)"
        builder.evaluator.report(rules.MEMORY_BUDGET, read.written["memory"], message, help)


_NAMED = (("model", "defmodel"), ("objective", "defun"))
_PARTS = {
    "`model`": "(defmodel model (…) …)",
    "`objective`": "(defun objective (inputs ctx) …)",
    "a loader": "(defloader train :batch … :fields … :source …)",
    "an optimizer": "(defoptimizer (adamw :lr 0.001))",
}


def _check_curriculum(builder: Builder) -> None:
    definition: Definition | None = builder.unit.main.scope.get("curriculum")
    if definition is None or definition.name_form is None:
        return
    at = definition.name_form
    if builder.runs and not builder.unit.of_kind("defpass") and not builder.unit.may_hold("defpass"):
        help = "write (defpass eval :loader … :every …), whose observations it reads"
        builder.evaluator.report(rules.CURRICULUM_NO_PASS, at, "`curriculum` runs after passes, and there is none", help)
    loader = builder.program.training
    if loader is not None and loader.sources is not None and len(loader.sources) == 1:
        related = (Related(loader.form, "the training loader"),)
        message = f"`curriculum` moves between stages, and the loader `{loader.name}` has only one"
        builder.evaluator.report(rules.CURRICULUM_ONE_STAGE, at, message, "declare :stages (list … …) in place of :source", related)


def _check_passes(builder: Builder) -> None:
    """A pass takes at most one epoch, and at least one batch."""
    for pass_ in builder.program.passes.values():
        read = builder.declared[f"pass {pass_.name}"]
        loader = pass_.loader
        records = epoch_length(builder, loader) if loader is not None else None
        if loader is None or records is None or loader.batch is None:
            continue
        most = records // loader.batch
        if most == 0:
            message = f"one epoch of the loader `{loader.name}` is {records} records, which fill no batch of {loader.batch}"
            builder.evaluator.report(rules.DECLARATION_KEY, read.written["loader"], message, "make :batch smaller")
        elif pass_.batches is not None and pass_.batches > most:
            message = (
                f"one epoch of the loader `{loader.name}` is {most} batch{'es' * (most != 1)}, and this asks for {pass_.batches}"
            )
            builder.evaluator.report(
                rules.DECLARATION_KEY, read.written["batches"], message, f"write {most}, or leave :batches out"
            )
