"""The promises of the language and which tests keep them.

A test says so with `@pytest.mark.claim("G4")`, a drawn fixture with a comment `; claim G4` of its own line. Both are read from the
text of the tests, so that a run of some tests gives the same page as a run of all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

CLAIMS = {
    # Generation inside the step
    "G1": "`defgenerate` makes records on the device in every training step, before the training graph reads them",
    "G2": "generation is a loop of flat graphs: no op holds a subgraph, and no gradient goes through it",
    "G3": "`:trips` is an integer of 1 or more",
    "G4": "`:init` makes the state, a plist of tensors, from the batch that `prepare` gets and ctx",
    "G5": "`:step` makes the next state from state, trip (an `i64` scalar) and ctx, and keeps keys, shapes and dtypes",
    "G6": "`:finish` may be absent; it runs once on the last state and may return any plist of tensors",
    "G7": "a microbatch runs `:init` once, `:step` `:trips` times and `:finish` once",
    "G8": "what the generator returns joins the batch, and `prepare` reads it with `field`",
    "G9": "a generated name is no field of the training loader or of a pass's loader",
    "G10": "a pass with the training loader's fields and batch size runs the generator",
    "G11": "another pass does not, and its `prepare` may not read generated names",
    "G12": "the state's shapes are static: a position a trip is written with `where`",
    "G13": "`tiny-generate.sx` writes rows greedily, labels them by their rule, and training on it lowers the loss",
    "G14": "a generator reads the batch in `:init`, the state in `:step` and `:finish`, and every parameter",
    "G15": "every reachable model runs in a generator, at the parameters that the step began with",
    "G16": "ctx in a generator has the builtin keys alone: a counter is nil there",
    "G17": "a generator that reads `:microbatch`, `:records` or `:stage-records` keeps the run unstacked",
    "G18": "a draw depends on seed, place and salt alone; without a salt it never changes",
    "G19": "a draw salted with step and microbatch is new each microbatch, one salted with the step each step",
    "G20": "a `metric` in a generator is an error",
    "G21": "a `diagnostic` in a generator is dropped",
    "G22": "a `counter` in a generator is an error",
    "G23": "a state that changes from trip to trip is an error",
    "G24": "a generator function that returns anything but a plist of tensors is an error",
    "G25": "a state entry keeps its dtype under `:bf16`",
    "G26": "stacked microbatches stack the generator with them",
    "G27": "a stacked run has the bits of the same run one microbatch at a time",
    "G28": "the cost of a step counts generation and training together",
    "G29": "each generator graph is a phase of the memory plan",
    "G30": "what the generator made lives until the training call that reads it",
    "G31": "the report's memory line names the largest generator phase",
    "G32": "a signal is looked for before every trip, and a resume takes the step again",
    "G33": "`explain` lists the generator's graphs and trips under the training step",
    "G34": "the lowering report has a `generate` row and a `generation` line",
    "G35": "the generator adds nothing of its own to a checkpoint's identity",
    # Curriculum and ctx
    "C1": "a curriculum moves the training loader between stages by what a pass observed",
    "C2": "it gets the stage (an `i64` scalar), ctx and the observations by metric name",
    "C3": "it returns any stage of the loader, or the one it has",
    "C4": "stages are the loader's `:stages`",
    "C5": "it is a graph: `if` on a tensor is an error that names `where`",
    "C6": "it runs after every pass, at step 0 too, and not after the last step",
    "C7": "two passes due together run it twice, each time on what that pass observed",
    "C8": "diagnostics are no observations, and a `metric` in it is not read",
    "C9": "a curriculum without a pass is an error",
    "C10": "a change is annotated `stage <old> -> <new>`",
    "C11": "every metric carries its stage",
    "C12": "`curriculum/stage` goes out with every evaluation",
    "C13": "ctx has eight builtin scalars, each with its dtype",
    "C14": "a counter adds its two `i64` keys to ctx",
    "C15": "the `stage-` entries begin at zero with every stage",
    "C16": "arithmetic on ctx makes graph nodes, and dtypes do not mix",
    "C17": "schedules, optimizers and the curriculum read ctx",
    # The design
    "D1": "one core parses and checks for the server, the command line and the backend",
    "D2": "contract and generation diagnostics are live in the editor",
    "D3": "hover explains ctx keys",
    "D4": "hover shows memory estimates",
    "D5": "the server launches runs on a JAX backend",
    "D6": "VS Code shows diagnostics and runs files",
    "D7": "Neovim shows diagnostics and runs files",
    "D8": "`sexpgpu check` runs headless in CI",
    "D9": "the top level is `pyproject.toml`, `lsp/`, `core/`, `backend/`, `editors/`, `tests/`, `docs/`",
    "D10": "built on pygls, lsprotocol, jax, jaxlib and lark; tested with pytest and pytest-lsp",
}

UNOWNED = {"G17", *(f"G{number}" for number in range(26, 36)), "D4", "D6", "D7"}
"""Claims about parts that do not exist yet. A claim leaves this set with the part that keeps it."""

OWNED = [claim for claim in CLAIMS if claim not in UNOWNED]

_IN_FIXTURE = re.compile(r"^\s*; claim ((?:[GCD]\d+ ?)+)\s*$", re.MULTILINE)


def proofs(root: Path = ROOT) -> dict[str, list[str]]:
    """The tests (`tests/core/test_x.py::test_y`) and fixtures that prove each claim."""
    found: dict[str, list[str]] = {}
    for file in sorted((root / "tests").rglob("test_*.py")):
        if "fixtures" not in file.relative_to(root).parts:
            name = file.relative_to(root).as_posix()
            for claim, test in _in_module(ast.parse(file.read_text("utf-8"))):
                found.setdefault(claim, []).append(f"{name}::{test}" if test else name)
    for file in sorted((root / "tests" / "fixtures").rglob("*.sx")):
        for claim in claims_of(file.read_bytes().decode("utf-8", "replace")):
            found.setdefault(claim, []).append(file.relative_to(root).as_posix())
    return found


def claims_of(fixture: str) -> list[str]:
    """The claims that a fixture's comments name."""
    return [claim for match in _IN_FIXTURE.finditer(fixture) for claim in match[1].split()]


def _in_module(module: ast.Module) -> Iterator[tuple[str, str]]:
    for statement in module.body:
        if isinstance(statement, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "pytestmark" for t in statement.targets):
            yield from ((claim, "") for claim in _named(statement.value))
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _on(statement, statement.name)
        elif isinstance(statement, ast.ClassDef):
            yield from _on(statement, statement.name)
            for inner in statement.body:
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield from _on(inner, f"{statement.name}::{inner.name}")


def _on(statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, name: str) -> Iterator[tuple[str, str]]:
    """Claims of a test's decorators, also of those inside a `parametrize`, each once."""
    yield from dict.fromkeys((claim, name) for decorator in statement.decorator_list for claim in _named(decorator))


def _named(expression: ast.expr) -> Iterator[str]:
    for node in ast.walk(expression):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "claim":
            yield from (
                argument.value for argument in node.args if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            )
