"""The generated pages of `docs/`, each made from the table that the program itself reads. `make update` writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from sexpgpu import analysis  # noqa: F401 (fills the table of host functions)
from sexpgpu.diagnostics.page import page
from sexpgpu.diagnostics.rules import RULES
from sexpgpu.language.host import HOST
from sexpgpu.language.signature import Signature
from sexpgpu.ops import OPS
from sexpgpu.prelude import PRELUDE, source
from sexpgpu.program.build import build_unit
from sexpgpu_lsp.settings import SETTINGS
from support.claims import CLAIMS, ROOT, proofs

MADE = "<!-- made by `make update` from {}: edit that instead -->\n"

ERRORS = """\
# Diagnostic codes

A code never changes its meaning and is never given away again. `sexpgpu rule CODE` shows the same pages in a terminal. The
examples are tests: each bad one draws exactly its code, each good one is clean.

Warnings, information and hints are silenced on a line by `; sexpgpu: ignore[CODE]`, and in a project by `[tool.sexpgpu]
ignore = ["CODE"]` in `pyproject.toml`, or the same table in `sexpgpu.toml`. Errors are not silenced.

Editors offer changes that mend what was found, for nearly every code. `sexpgpu check --fix` makes those that are safe, and leaves
to people what is for them to say; `--format json` lists them all, edit by edit.
"""

OPERATORS = """\
# Operators and functions

Signatures are written as parameter lists: `&optional` and `&key` parameters with their defaults, `&rest` for any number
more. `:float` is `:f32`, and `:bf16` inside a model of a run with `:precision :bf16`. Shape rules are NumPy's where NumPy
has a function of the name, otherwise those of `jax.nn` and `jax.lax`. A host number takes the dtype of the tensor that it
meets; two dtypes never mix.

## Operators

They make tensors: nodes of the graph that is being traced. Elementwise operators on host numbers alone stay on the host.
"""

LAYERS = """\
## Layers and schedules

They are written in the language itself: go to definition shows how they are made.
"""

HOST_FUNCTIONS = """\
## Host functions

They work on host values while the file is evaluated; nothing of them is left in a graph.
"""

CONFORMANCE = """\
# What is promised, and which test keeps it

A test that proves a promise is marked with it, and a drawn fixture names it in a comment. A promise without a test fails
the build.
"""

CHAPTERS = {
    "Reading": ("READ",),
    "Names, calls, values": ("NAME", "CALL", "FORM", "TYPE", "DTYPE", "SHAPE", "STAGE", "ASSERT", "LIMIT", "LOAD"),
    "The contract between a file and the runtime": ("CONTRACT", "DATA", "MEM", "MODEL", "CTX"),
    "Generation": ("GEN",),
    "Running": ("RUN",),
    "Printing": ("PRINT",),
}


def errors() -> str:
    """Every code: an index by chapter, then its page."""
    parts = [
        MADE.format("`core/sexpgpu/diagnostics/rules.py` and the pages beside it"),
        ERRORS,
    ]
    for chapter, families in CHAPTERS.items():
        codes = [code for code in RULES if code.split("-")[1] in families]
        rows = ((f"[{code}](#{code.lower()})", RULES[code].title, RULES[code].severity) for code in codes)
        parts += [f"## {chapter}\n", table(("code", "what", "severity"), rows)]
    for code in RULES:
        found = page(code)
        assert found is not None, f"there is no page for {code}"
        parts += [f'<a id="{code.lower()}"></a>\n', demoted(found.text)]
        if found.related:
            parts.append(f"Promises: {', '.join(f'[{claim}](conformance.md)' for claim in found.related)}.\n")
    return "\n".join(parts)


def demoted(markdown: str) -> str:
    """The text with each heading one level deeper, those inside blocks of code left alone."""
    pieces = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(piece if index % 2 else re.sub(r"^#", "##", piece, flags=re.MULTILINE) for index, piece in enumerate(pieces))


def operators() -> str:
    """Operators by family, layers and schedules of the prelude, and host functions by family."""
    parts = [
        MADE.format("the tables in `core/sexpgpu/ops/`, `core/sexpgpu/language/` and `core/sexpgpu/prelude/`"),
        OPERATORS,
    ]
    for family in dict.fromkeys(row.family for row in OPS.values()):
        rows = [(row.name, row.signature, row.doc, row.example) for row in OPS.values() if row.family == family]
        parts += [f"### {family.capitalize()}\n", calls(rows)]
    parts.append(LAYERS)
    for file in dict.fromkeys(PRELUDE.values()):
        unit, _ = build_unit(source(file))
        known = {definition.name: definition for definition in unit.definitions}
        parts.append(f"### {file.capitalize()}\n")
        for name in (name for name, place in PRELUDE.items() if place == file):
            definition = known[name]
            assert definition.signature is not None
            parts += [f"#### `{call(name, definition.signature)}`\n", f"{definition.documentation}\n"]
    parts.append(HOST_FUNCTIONS)
    for family in dict.fromkeys(row.family for row in HOST.values()):
        rows = [(row.name, row.signature, row.doc, row.example) for row in HOST.values() if row.family == family]
        parts += [f"### {family.capitalize()}\n", calls(rows)]
    return "\n".join(parts)


def call(name: str, signature: Signature) -> str:
    return f"({' '.join(filter(None, (name, str(signature))))})"


def calls(rows: Iterable[tuple[str, Signature, str, str]]) -> str:
    return table(("call", "what it gives", "example"), ((f"`{call(n, s)}`", doc, f"`{example}`") for n, s, doc, example in rows))


def conformance() -> str:
    """Each promise with the tests that fail without it."""
    parts = [
        MADE.format("`tests/support/claims.py` and the tests"),
        CONFORMANCE,
    ]
    known = proofs()
    chapters = {"Generation inside the step": "G", "Curriculum and ctx": "C", "The design": "D"}
    for chapter, letter in chapters.items():
        kept = [(claim, promise) for claim, promise in CLAIMS.items() if claim[0] == letter and claim in known]
        rows = ((claim, promise, "<br>".join(link(test) for test in known[claim])) for claim, promise in kept)
        parts += [f"## {chapter}\n", table(("", "promise", "kept by"), rows)]
    return "\n".join(parts)


def link(test: str) -> str:
    file, _, name = test.partition("::")
    shown = name.replace("::", ".") or "/".join(file.split("/")[-2:])
    return f"[{shown}](../{file})"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in line) + " |\n" for line in lines)


def editors() -> str:
    """The page on editors with the table of settings in its place; the rest of it is written by hand."""
    text = (ROOT / "docs" / "editors.md").read_text("utf-8")
    rows = ((f"`{row.name}`", f"`{_setting(row.default)}`", row.doc) for row in SETTINGS.values())
    made = table(("setting", "default", "what"), rows)
    return re.sub(r"(?<=-->\n)[^<]*(?=<!-- end of settings -->)", lambda _: made, text)


def _setting(value: object) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value)


PAGES = {"errors.md": errors, "operators.md": operators, "conformance.md": conformance, "editors.md": editors}
