"""What a file may ask for and this backend does not do yet: said before anything is built, at the place that asks for it."""

from __future__ import annotations

from typing import NamedTuple, cast

from sexpgpu.language.values import List, Made, Nil, Value
from sexpgpu.program.model import Program
from sexpgpu.reader.forms import Form
from sexpgpu_jax.whole import whole


class Refusal(NamedTuple):
    """One thing that is not done yet, the form that asks for it, and what to write meanwhile."""

    message: str
    at: Form
    help: str


def refusals(program: Program) -> list[Refusal]:
    """Everything in the program that cannot be run yet; empty where it can."""
    return [*_settings(program), *_parameters(program), *_sources(program)]


def _settings(program: Program) -> list[Refusal]:
    run = whole(program.run)
    asked: list[tuple[str, bool, str, str]] = [
        (
            "stack",
            _integer(run.settings.get("stack"), 1) > 1,
            "stacking microbatches is",
            "write :stack 1: the results are the same to the bit",
        ),
        ("precision", run.keyword("precision") != "f32", "the precision :bf16 is", "write :precision :f32, or leave the key out"),
        ("mesh", _several_axes(run.settings.get("mesh")), "a mesh of several devices is", "leave :mesh out: a run has one device"),
        ("ema", _given(run.settings.get("ema")), "an average of the parameters is", "leave :ema out"),
        (
            "checkpoint-every",
            _integer(run.settings.get("checkpoint-every"), 0) > 0,
            "writing checkpoints is",
            "leave :checkpoint-every out: the last parameters are saved",
        ),
        ("keep-best", _given(run.settings.get("keep-best")), "keeping the best checkpoint is", "leave :keep-best out"),
    ]
    return [Refusal(f"{what} not built yet", run.keys.get(key, run.form), help) for key, is_, what, help in asked if is_]


def _parameters(program: Program) -> list[Refusal]:
    found: dict[Form, Refusal] = {}
    for parameter in program.parameters.values():
        if parameter.pretrained is not None:
            at = parameter.pretrained.form if isinstance(parameter.pretrained, Made) else parameter.form
            found[at] = Refusal("loading pretrained parameters is not built yet", at, "leave :pretrained out")
    for graph in program.graphs.values():
        for node in graph.nodes:
            if node.remat:
                found.setdefault(
                    node.form, Refusal("recomputing in the backward pass is not built yet", node.form, "leave :remat out")
                )
                break
    return list(found.values())


def _sources(program: Program) -> list[Refusal]:
    found: list[Refusal] = []
    for loader in program.loaders.values():
        waiting = list(loader.sources or ())
        while waiting:
            source = waiting.pop()
            if source is None:
                continue
            if source.name == "mix":
                waiting += [cast("Made", cast("List", pair).items[0]) for pair in cast("List", source.arguments["sources"]).items]
            elif source.name == "parquet":
                found.append(Refusal("reading Parquet files is not built yet", source.form, "write the records as npz or jsonl"))
    return found


def _integer(value: Value | None, otherwise: int) -> int:
    return value if type(value) is int else otherwise


def _given(value: Value | None) -> bool:
    return value is not None and not isinstance(value, Nil)


def _several_axes(value: Value | None) -> bool:
    """Whether a mesh asks for anything but all there is along `:data`, which one device gives."""
    if not isinstance(value, List):
        return False
    entries = dict(zip((getattr(key, "name", "") for key in value.items[::2]), value.items[1::2], strict=False))
    return any(extent not in (1, -1) or key == "exact" for key, extent in entries.items())
