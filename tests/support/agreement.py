"""Whether an operator accepts and types what NumPy accepts and types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sexpgpu.language.fault import Fault
from sexpgpu.language.values import Value
from support.ops import tensors


def agree(call: Callable[[], Value], reference: Callable[[], Any]) -> None:
    """The call gives tensors of the shapes of the arrays that NumPy gives; where NumPy raises, the call is a fault."""
    try:
        expected = reference()
    except (ValueError, IndexError):
        with pytest.raises(Fault) as caught:
            call()
        assert caught.value.message
        return
    arrays = expected if isinstance(expected, (list, tuple)) else [expected]
    assert [node.shape for node in tensors(call())] == [np.shape(array) for array in arrays]
