"""How JAX is set up: once, in one place, before any array exists.

64-bit types are on (`:i64` would quietly be 32 bits wide, and a seed lose its high half), dtypes never mix by promotion, draws are
the same however arrays are laid out, and compiled programs are kept between runs in the user's cache folder.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

_GPU_FLAGS = ("--xla_gpu_deterministic_ops=true",)
"""Without it, kernels that add in the order in which threads arrive give other bits in every run."""


class NoDevice(Exception):
    """The device that was asked for is not there; the message says which are."""


def configure(device: str | None = None, cache: Path | None = None) -> None:
    """Set JAX up for `device` (`cpu`, `gpu` or `tpu`; None: the best there is) and keep compiled programs in `cache`.

    Raises NoDevice where there is no such device. A cache folder that cannot be made is done without.
    """
    _set_flags()
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    jax.config.update("jax_threefry_partitionable", True)
    if device == "cpu":
        jax.config.update("jax_platforms", "cpu")
    if cache is not None:
        _keep_compiled(cache)
    if device is not None:
        try:
            jax.config.update("jax_default_device", jax.devices(device)[0])
        except RuntimeError:
            raise NoDevice(f"there is no {device} device here; JAX sees {', '.join(map(str, jax.devices()))}") from None


def _set_flags() -> None:
    """XLA reads its flags once, when the first backend starts; what the user set stands."""
    flags = os.environ.get("XLA_FLAGS", "")
    missing = [flag for flag in _GPU_FLAGS if flag.partition("=")[0] not in flags]
    if missing:
        os.environ["XLA_FLAGS"] = " ".join([*flags.split(), *missing])


def _keep_compiled(folder: Path) -> None:
    import jax

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    if os.environ.get("JAX_COMPILATION_CACHE_DIR") is None:
        jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def the_device() -> Any:
    """The device that the run uses."""
    import jax

    return getattr(jax.config, "jax_default_device", None) or jax.devices()[0]


def cache_folder() -> Path:
    """Where this user's programs keep what they can make again."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "sexpgpu" / "compiled"
