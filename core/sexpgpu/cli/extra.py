"""Commands whose packages come with an extra of the distribution, and may not be installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from sexpgpu.cli import complain

_OURS = ("sexpgpu", "sexpgpu_jax", "sexpgpu_lsp")


def with_extra(extra: str, what: str, module: str, function: str, *arguments: object) -> int:
    """Call `module.function(*arguments) -> int`; where a package that it needs is missing, say how to install it and give 2."""
    try:
        return cast("Callable[..., int]", getattr(import_module(module), function))(*arguments)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing.partition(".")[0] in _OURS and missing != module.partition(".")[0]:
            raise  # a module of our own that is missing is a fault of ours
        complain(f"{what}, which needs the package {missing}; install it with: pip install 'sexpgpu[{extra}]'")
        return 2
