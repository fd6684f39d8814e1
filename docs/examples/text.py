"""`python text.py [FOLDER]`: text that comes with Python as reference.u8, for char-gpt.sx. Without a folder, beside this file.

The text is the language reference that `help()` shows. A character is one byte: 0 ends a line, 1 to 95 are the characters from the
space to `~`, and what is none of these becomes `?`. The same bytes are written every time by the same version of Python.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from pydoc_data.topics import topics

LEAST, MOST = 32, 126


def encode(text: str) -> bytes:
    """A byte for each character, in [0, 96)."""
    known = (c if c == "\n" or LEAST <= ord(c) <= MOST else "?" for c in text)
    return bytes(0 if c == "\n" else ord(c) - LEAST + 1 for c in known)


def decode(tokens: bytes) -> str:
    """The text of such bytes."""
    return "".join("\n" if token == 0 else chr(token - 1 + LEAST) for token in tokens)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write Python's language reference as reference.u8, a byte for each character.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent, help="where to write it (beside this file)")
    path = parser.parse_args().folder / "reference.u8"
    path.parent.mkdir(parents=True, exist_ok=True)
    tokens = encode("\n\n".join(topics[name] for name in sorted(topics)))
    path.write_bytes(tokens)
    print(f"{path}: {len(tokens)} characters")


if __name__ == "__main__":
    main()
