"""Servers that are driven byte by byte: texts that take long, servers in which something was changed, what is answered."""

from __future__ import annotations

import sys
from typing import Any

URI = "untitled:x"
BUSY = "(def a (dotimes (i 60000) (* i i)))\n"  # some tenths of a second of analysis
SLOW = "".join(f"(def {name} (dotimes (i 90000) (* i i)))\n" for name in "abc")  # some seconds


def patched(program: str) -> list[str]:
    """A server in which something was changed first."""
    return [sys.executable, "-W", "error", "-c", f"import sys\n{program}\nfrom sexpgpu_lsp.server import serve\nsys.exit(serve())"]


def code(answer: Any) -> int:
    """The code of an error."""
    return answer["error"]["code"]
