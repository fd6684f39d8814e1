"""Commands whose packages come with an extra of the distribution, and may not be installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from sexpgpu.cli import complain

PACKAGES = {
    "jax": ("jax", "jaxlib", "numpy", "optax", "rich", "safetensors"),
    "lsp": ("lsprotocol", "pygls"),
}


def with_extra(extra: str, what: str, module: str, function: str, *arguments: object) -> int:
    """Call `module.function(*arguments) -> int`; where a package that it needs is missing, say how to install it and give 2."""
    for package in PACKAGES[extra]:
        if find_spec(package) is None:
            complain(f"{what}, and the package {package} is not installed; write: pip install 'sexpgpu[{extra}]'")
            return 2
    return cast("Callable[..., int]", getattr(import_module(module), function))(*arguments)
