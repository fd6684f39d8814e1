"""Who may import whom, and what a command loads before it needs it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.claims import ROOT

ALLOWED = {
    "core": {"sexpgpu", "lark"},
    "lsp": {"sexpgpu", "sexpgpu_lsp", "pygls", "lsprotocol", "cattrs", "attrs"},
    "backend": {"sexpgpu", "sexpgpu_jax", "jax", "jaxlib", "optax", "numpy", "ml_dtypes", "rich", "safetensors", "pyarrow"},
}
HEAVY = {"jax", "jaxlib", "numpy", "optax", "pygls", "lsprotocol", "rich", "lark"}


def imports(file: Path) -> Iterator[tuple[str, int]]:
    """The top packages that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module.partition(".")[0], node.lineno


@pytest.mark.claim("D1")
@pytest.mark.parametrize("root", ALLOWED)
def test_a_source_root_imports_only_what_it_may(root: str) -> None:
    allowed = ALLOWED[root] | sys.stdlib_module_names
    found = [
        f"{file.relative_to(ROOT)}:{line}: {package}"
        for file in sorted((ROOT / root).rglob("*.py"))
        for package, line in imports(file)
        if package not in allowed
    ]
    assert not found


def test_no_test_imports_a_test_module() -> None:
    found: list[str] = []
    for file in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(("test_", "tests.")):
                found.append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert not found, "what tests share stands in tests/support"


def loaded(program: str) -> set[str]:
    """Which of the heavy packages are loaded when the program has run in a fresh interpreter."""
    shown = f"import sys\n{program}\nprint()\nprint(*({HEAVY!r} & sys.modules.keys()))"
    result = subprocess.run([sys.executable, "-c", shown], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(result.stdout.split("\n")[-2].split())


def test_the_core_loads_nothing_heavy() -> None:
    assert loaded("import sexpgpu, sexpgpu.analysis, sexpgpu.cli, sexpgpu.ops, sexpgpu.diagnostics.rules") == set()


@pytest.mark.claim("D8")
def test_check_loads_nothing_heavy() -> None:
    assert loaded("from sexpgpu.cli import main\nassert main(['check', 'docs/examples']) == 0") == set()
