"""The table of styles knows every form of the language."""

from __future__ import annotations

import pytest

from sexpgpu.format.styles import BINDING, BINDINGS, CALL, KEYED_CALL, PARAMETERS, STYLES
from sexpgpu.language import builtins as _builtins  # noqa: F401  fills the tables
from sexpgpu.language.host import HOST
from sexpgpu.language.special import TOP_LEVEL, WORDS
from sexpgpu.ops.table import OPS


@pytest.mark.parametrize("name", WORDS)
def test_every_form_has_a_style(name: str) -> None:
    """Those of the language that are laid out as a call is are few, and known."""
    assert STYLES.get(name, CALL) is not CALL or name in ("if", "and", "or", "load")


@pytest.mark.parametrize("name", [name for name, row in WORDS.items() if row.binds])
def test_what_binds_names_has_a_style_for_the_list_of_them(name: str) -> None:
    place = 2 if name in TOP_LEVEL else 1
    assert STYLES[name].parts[place] in (BINDING, BINDINGS, PARAMETERS)


def test_calls_that_take_keys_alone_have_a_row() -> None:
    signatures = [(row.name, row.signature) for table in (HOST, OPS) for row in table.values()]
    keyed = {name for name, takes in signatures if takes.keys and not takes.positional and takes.rest is None}
    assert keyed | {"list"} == {name for name, style in STYLES.items() if style is KEYED_CALL}


def test_a_call_with_a_row_of_its_own_exists() -> None:
    assert not [name for name in STYLES if name not in WORDS and name not in HOST and name not in OPS]
