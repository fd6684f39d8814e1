"""The table of operators is closed: every operator is explained, shown by an example that works, lowered and tested."""

from __future__ import annotations

import pytest

from sexpgpu.language.host import HOST
from sexpgpu.ops import OPS
from sexpgpu_jax.lowering import LOWERINGS
from support.claims import ROOT

ROWS = {**OPS, **HOST}


@pytest.mark.parametrize("name", ROWS)
def test_it_is_explained(name: str) -> None:
    row = ROWS[name]
    assert row.doc.strip()
    assert f"({name}" in row.example or f" {name}" in row.example


def test_no_name_is_both_operator_and_host_function() -> None:
    assert not OPS.keys() & HOST.keys()


def test_every_operation_is_lowered() -> None:
    assert not {row.node for row in OPS.values() if row.node} - LOWERINGS.keys()


def test_no_lowering_is_without_an_operation() -> None:
    written = "\n".join(file.read_text("utf-8") for file in sorted(ROOT.glob("core/sexpgpu/**/*.py")))
    unknown = LOWERINGS.keys() - {row.node for row in OPS.values()}
    assert not [name for name in unknown if f'"{name}"' not in written]


def test_every_operator_is_tested() -> None:
    tests = "\n".join(
        file.read_text("utf-8") for folder in ("core", "backend") for file in sorted((ROOT / "tests" / folder).rglob("test_*.py"))
    )
    assert not [name for name in OPS if f'"{name}"' not in tests and f"({name} " not in tests]
