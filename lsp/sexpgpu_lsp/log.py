"""What the server has to say of itself: a line for each event on standard error, which editors keep in a log. Stack traces are for
those who ask for them (SEXPGPU_DEBUG)."""

from __future__ import annotations

import logging
import os
import sys

log = logging.getLogger("sexpgpu.lsp")


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = f"sexpgpu lsp: {record.levelname.lower()}: {' '.join(record.getMessage().split())}"
        if record.exc_info and record.exc_info[0] is not None:
            if record.name != log.name:
                line += f": {record.exc_info[0].__name__}: {' '.join(str(record.exc_info[1]).split())}"
            if os.environ.get("SEXPGPU_DEBUG"):
                line += f"\n{self.formatException(record.exc_info)}"
        return line


def set_up() -> None:
    """Send what this package and asyncio log to standard error; the library below repeats what is logged here, at length."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)
