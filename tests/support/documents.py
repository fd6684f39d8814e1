"""Pages that are read and executed: their blocks of code, the file that the blocks of a tour build up, and what they print."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from sexpgpu import cli

_BLOCK = re.compile(r"^```(?P<language>[a-z]+)(?P<more>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_FORM = re.compile(r"^(?:;[^\n]*\n)*\((\S+?)(?=[\s)])[ ]?([^\s()\[\]:]*)", re.MULTILINE)
_ALONE = ("defrun", "defoptimizer", "defgenerate")
_VALUES = ("def", "defun", "defmodel")


class Block(NamedTuple):
    """A block between fences: its language, what else stands on the fence, and its text."""

    language: str
    more: str
    text: str


def blocks(markdown: str) -> list[Block]:
    """The blocks of a page."""
    return [Block(found["language"], found["more"].strip(), found["text"]) for found in _BLOCK.finditer(markdown)]


def rewritten(markdown: str, change: Callable[[Block], str]) -> str:
    """The page with the text of each block as `change` gives it."""

    def fenced(found: re.Match[str]) -> str:
        block = Block(found["language"], found["more"].strip(), found["text"])
        return f"```{found['language']}{found['more']}\n{change(block)}```"

    return _BLOCK.sub(fenced, markdown)


class Growing:
    """A file that grows block by block: forms whose name is there take that form's place, others go above the `defrun`.

    A form is what begins in column 0, with the comments right above it.
    """

    def __init__(self) -> None:
        self._forms: dict[tuple[str, str], str] = {}

    def add(self, text: str) -> None:
        starts = [found.start() for found in _FORM.finditer(text)]
        assert starts, f"a block of the tour holds no form:\n{text}"
        begin = 0
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            form = text[begin if start == starts[0] else start : end].strip("\n")
            self._forms[_name(form)] = form
            begin = end
        run = self._forms.pop(("defrun", ""), None)
        if run is not None:
            self._forms["defrun", ""] = run

    @property
    def text(self) -> str:
        return "\n\n".join(self._forms.values()) + "\n"


def _name(form: str) -> tuple[str, str]:
    found = _FORM.search(form)
    assert found
    head, name = found[1], found[2]
    return (head, "") if head in _ALONE else ("value" if head in _VALUES else head, name)


def console(transcript: str, run: Callable[[list[str]], str]) -> str:
    """The transcript with the output of each `$ sexpgpu …` as it is now."""
    commands = [line for line in transcript.splitlines() if line.startswith("$ ")]
    assert commands, f"a console block without a command:\n{transcript}"
    shown: list[str] = []
    for command in commands:
        program, *arguments = shlex.split(command[2:], comments=True)
        assert program == "sexpgpu"
        shown.append(f"{command}\n{run(arguments)}")
    return "".join(shown)


def command(arguments: list[str]) -> str:
    """What a command of `sexpgpu` prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        cli.main(arguments)
    return printed.getvalue()


def session(transcript: str, names: dict[str, Any]) -> str:
    """The transcript of an interactive Python with the output of each statement as it is now; `names` are kept for the next."""
    shown: list[str] = []
    for part in doctest.DocTestParser().get_examples(transcript):
        lines = part.source.rstrip("\n").split("\n")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(part.source, "<tour>", "single"), names)
        shown.append(">>> " + "\n... ".join(lines) + "\n" + printed.getvalue())
    assert shown, f"a python block without a statement:\n{transcript}"
    return "".join(shown)


def replayed(markdown: str, file: Path) -> tuple[str, str]:
    """The page of a tour with all that it prints as it is now, and the file at its end. To be called in the file's folder."""
    growing = Growing()
    names: dict[str, Any] = {"__name__": "__tour__"}

    def change(block: Block) -> str:
        if block.language == "sx":
            growing.add(block.text)
            file.write_text(growing.text, "utf-8")
            return block.text
        if block.language == "console":
            return console(block.text, command)
        return session(block.text, names) if block.language == "python" else block.text

    return rewritten(markdown, change), growing.text
