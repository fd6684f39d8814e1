"""What can only be said once every graph is traced: reads of ctx, unread names, idle parameters, unreachable models."""

from __future__ import annotations

from sexpgpu.diagnostics import rules
from sexpgpu.diagnostics.finding import Related
from sexpgpu.graph.nodes import Node
from sexpgpu.language.ctx import CTX, counter_keys
from sexpgpu.language.frames import GENERATOR_ROLES
from sexpgpu.language.values import Keyword, List, Model, Nil, Unknown, Value
from sexpgpu.ops.operands import instead
from sexpgpu.program.builder import Builder
from sexpgpu.program.draws import check_draws, step_traces
from sexpgpu.program.generator import Generated
from sexpgpu.program.model import Parameter
from sexpgpu.program.training import Stage
from sexpgpu.reader.forms import Form


def check_all(builder: Builder, generated: Generated, stage: Stage) -> None:
    """Every check that looks at all traces together."""
    check_ctx(builder)
    check_unread(builder, generated, stage)
    check_reachable(builder)
    check_idle(builder)
    check_draws(builder)
    check_stacking(builder)


# ctx


def check_ctx(builder: Builder) -> None:
    """A read of a key that is not there is nil: W-CTX-001, or in a generator W-GEN-003 for a counter's."""
    counters = {name for counter in builder.counters for name in counter_keys(counter)}
    used = {absent.key for trace in builder.traces for absent in trace.ctx_missing if absent.used}
    for trace in builder.traces:
        generates = trace.role in GENERATOR_ROLES
        for absent in trace.ctx_missing:
            if absent.key in used:
                continue
            name, key = absent.name, absent.key
            if generates and name in counters:
                help = "count in the state instead, or read the counter in `prepare` or `objective`"
                message = f"{key.text} is a counter, and counters are nil in a generator: `prepare` runs after it"
                counter = name if name in builder.counters else name.removeprefix("stage-")
                related = (Related(builder.counters[counter], "declared here"),)
                builder.evaluator.report(rules.GENERATOR_COUNTER, key, message, help, related)
            elif not builder.counters_open:
                keys = {known: f":{known}" for known in (*CTX, *(() if generates else sorted(counters)))}
                help, fixes = instead(name, key, keys)
                help = help or "ctx has " + " ".join(keys.values())
                builder.evaluator.report(rules.CTX_KEY_UNKNOWN, key, f"ctx has no {key.text}: it is nil here", help, (), fixes)


# Generated names


def check_unread(builder: Builder, generated: Generated, stage: Stage) -> None:
    """A generated name that no `prepare` reads (W-CONTRACT-002)."""
    if not stage.reads or any(not trace.graph.whole for trace in stage.traces):
        return
    if any(plist.whole for plist in stage.reads):
        return
    read = {name for plist in stage.reads for name in plist.read}
    said = {finding.at for finding in builder.evaluator.findings}
    for name, at in generated.names.items():
        if name not in read and generated.entries.get(name) is not None and at not in said:
            message = f"the generated entry :{name} is never read"
            builder.evaluator.report(
                rules.GENERATED_UNREAD, at, message, f"read it in `prepare`: (field batch :{name}), or leave it out"
            )


# Models


def models_in(value: Value | None) -> list[Model] | None:
    """The models that `model` binds; None where that is not known."""
    if isinstance(value, Model):
        return [value]
    if isinstance(value, List):
        if any(isinstance(item, Unknown) for item in value.items):
            return None
        return [item for item in value.items if isinstance(item, Model)]
    return None if value is None or isinstance(value, (Unknown, Nil)) else []


def reachable(builder: Builder) -> set[Form] | None:
    """The forms of the models that are reachable from `model`; None in a file without one, or where calls are not all known."""
    bound = models_in(builder.names.named("model"))
    if bound is None:
        return None
    calls: dict[Form, set[Form]] = {}
    for trace in builder.traces:
        for model, caller, _ in trace.model_calls:
            if caller is not None:
                calls.setdefault(caller.form, set()).add(model.form)
    found: set[Form] = set()
    waiting: list[Form] = [model.form for model in bound]
    while waiting:
        form = waiting.pop()
        if form not in found:
            found.add(form)
            waiting.extend(calls.get(form, ()))
    return found


def check_reachable(builder: Builder) -> None:
    """Only models that are reachable from `model` run (E-CONTRACT-018)."""
    found = reachable(builder)
    if found is None or any(trace.incomplete and trace.model_calls for trace in builder.traces):
        return
    for trace in builder.traces:
        for model, _, head in trace.model_calls:
            if model.form not in found:
                help = f"bind it too: (def model (list :{model.name} {model.name} …)), or call it from a model that is bound"
                builder.evaluator.report(rules.MODEL_UNREACHABLE, head, f"`{model.name}` is not reachable from `model`", help)


def check_idle(builder: Builder) -> None:
    """A parameter on which the loss does not depend through floats gets no update (W-CONTRACT-004)."""
    objective = builder.program.objective
    if objective is None or not objective.whole or "" not in objective.outputs:
        return
    if any(trace.incomplete for trace in builder.traces):
        return
    fed = fed_into(objective.outputs[""])
    found = reachable(builder)
    idle: dict[str, list[Parameter]] = {}
    used: set[str] = set()
    for parameter in builder.program.parameters.values():
        if parameter.path in fed or parameter.frozen:
            used |= {parameter.model} if parameter.path in fed else set()
        else:
            idle.setdefault(parameter.model, []).append(parameter)
    for name, parameters in idle.items():
        model = builder.program.models.get(name)
        if model is not None and found is not None and model.form not in found:
            continue
        if model is not None and isinstance(model.settings.get("frozen"), Unknown):
            continue
        if name not in used and model is not None:
            message = f"the loss does not depend on any parameter of `{name}`: it gets no update"
            help = f"mark it frozen: (defmodel {name} (…) :frozen true …), or use it in `objective`"
            builder.evaluator.report(rules.PARAMETER_IDLE, model.form.items[1], message, help)
            continue
        for parameter in parameters:
            message = f"the loss does not depend on the parameter `{parameter.path}`: it gets no update"
            help = "write (scope … :frozen true …) around it if it is to stay as it is, or let the loss depend on it"
            builder.evaluator.report(rules.PARAMETER_IDLE, parameter.shown, message, help)


def fed_into(loss: Node) -> set[str]:
    """The paths of the parameters that a loss depends on through float nodes."""
    found: set[str] = set()
    seen = {loss}
    waiting = [loss] if loss.dtype.is_float else []
    while waiting:
        node = waiting.pop()
        if node.op == "parameter":
            if node.attrs["variant"] == "current":
                found.add(str(node.attrs["path"]))
        elif node.op != "stop-gradient":
            for read in node.inputs:
                if read not in seen and read.dtype.is_float:
                    seen.add(read)
                    waiting.append(read)
    return found


# Stacking


def unstacking(builder: Builder) -> list[tuple[str, Form]]:
    """The reads that keep a run unstacked (language §8): a ctx key that moves between microbatches, or a counter's."""
    counters = {name for counter in builder.counters for name in counter_keys(counter)}
    reads: list[tuple[str, Form]] = []
    for trace in step_traces(builder):
        for name, at in trace.ctx_reads:
            if name in counters or (name in CTX and CTX[name].moves):
                reads.append((name, at))
    return reads


def check_stacking(builder: Builder) -> None:
    """With `:stack` above 1 or `:auto`, the reads that keep the run unstacked (W-GEN-002)."""
    builder.program.unstacked = tuple(dict.fromkeys(name for name, _ in unstacking(builder)))
    run = builder.program.run
    stack = run.settings.get("stack") if run is not None else None
    if isinstance(stack, Keyword) or (isinstance(stack, int) and stack > 1):
        for name, at in unstacking(builder):
            message = f":{name} moves between the microbatches that one stacked call holds: the run stays unstacked"
            builder.evaluator.report(rules.READ_UNSTACKS, at, message, "salt and decide by :step alone, or drop :stack")
