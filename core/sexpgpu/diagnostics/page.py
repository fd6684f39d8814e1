"""The page of a code: what it means, why, a bad and a good example. `pages/CODE.md` in this form:

    # E-GEN-004: a metric inside a generator

    One paragraph: what is reported.

    ## Why

    ## Bad          one ```sx block that draws exactly this code, in the drawn-fixture form
    ## Good         one ```sx block that is clean
    ## Instead      optional: what else one may do

    Related: G20                    the claims behind it, when there are some
    Files: fixtures/pages/CODE/     the folder below tests/ that the examples read files from, when they do

What only a run can find (E-RUN-…) has no example that a check would draw: `## Message` with one ```text block, as the run shows it,
stands in place of Bad, and Good may be absent.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

FOLDER = os.path.join(os.path.dirname(__file__), "pages")

_STATIC = ("Why", "Bad", "Good", "Instead")
_RUNNING = ("Why", "Message", "Good", "Instead")
_OPTIONAL = ("Instead",)
_OPTIONAL_RUNNING = ("Good", "Instead")
_BLOCKS = {"Bad": "sx", "Good": "sx", "Message": "text"}
_TITLE = re.compile(r"# (\S+): (\S.*)")
_LABEL = re.compile(r"(Related|Files): (\S.*)")


class Page(NamedTuple):
    """A page, taken apart. `bad`, `good` and `message` are the blocks' text (empty where there is none), the rest is
    Markdown.

    `related` names claims, `files` the folder below `tests/` for examples that read files; `text` is the page as it stands, without
    those two lines.
    """

    code: str
    title: str
    what: str
    why: str
    bad: str
    good: str
    message: str
    instead: str
    related: tuple[str, ...]
    files: str
    text: str


class PageError(ValueError):
    """A page that is not in the form that this module describes; the message names page and place."""


def page(code: str) -> Page | None:
    """The page of a code, None where it has none yet. Raises PageError."""
    try:
        with open(os.path.join(FOLDER, f"{code}.md"), encoding="utf-8") as file:
            return parse(code, file.read())
    except FileNotFoundError:
        return None


def parse(code: str, text: str) -> Page:
    """Take a page apart. Raises PageError."""
    running = code.startswith("E-RUN-")
    sections, labels, shown = _sections(code, text)
    title = _TITLE.fullmatch(sections.pop("")[0])
    if title is None or title[1] != code:
        raise PageError(f"{code}: the page must begin with `# {code}: title`")
    known = _RUNNING if running else _STATIC
    optional = _OPTIONAL_RUNNING if running else _OPTIONAL
    for name in sections:
        if name not in (*known, "what"):
            raise PageError(f"{code}: unknown section `## {name}`; there are {', '.join(known)}")
    bodies = {name: "\n".join(lines).strip() for name, lines in sections.items()}
    for name in ("what", *known):
        if not bodies.get(name) and name not in optional:
            raise PageError(f"{code}: {'a paragraph below the title' if name == 'what' else f'`## {name}`'} is missing")
    if [name for name in known if name in bodies] != [name for name in bodies if name != "what"]:
        raise PageError(f"{code}: sections must stand in the order {', '.join(known)}")
    blocks = {name: _block(code, name, bodies[name]) for name in _BLOCKS if name in bodies}
    return Page(
        code,
        title[2].strip(),
        bodies["what"],
        bodies["Why"],
        blocks.get("Bad", ""),
        blocks.get("Good", ""),
        blocks.get("Message", ""),
        bodies.get("Instead", ""),
        tuple(labels.get("Related", "").replace(",", " ").split()),
        labels.get("Files", ""),
        "\n".join(shown).strip() + "\n",
    )


def _sections(code: str, text: str) -> tuple[dict[str, list[str]], dict[str, str], list[str]]:
    """Lines by section (the title under `""`, what follows it under `what`), the labelled lines, and all lines without those."""
    lines = text.split("\n")
    sections: dict[str, list[str]] = {"": [lines[0].rstrip()], "what": []}
    labels: dict[str, str] = {}
    shown = [lines[0]]
    name, fenced = "what", False
    for line in lines[1:]:
        label = None if fenced else _LABEL.fullmatch(line.rstrip())
        if label:
            labels[label[1]] = label[2]
            continue
        shown.append(line)
        if line.startswith("```"):
            fenced = not fenced
        if line.startswith("## ") and not fenced:
            name = line[3:].strip()
            if name in sections:
                raise PageError(f"{code}: `## {name}` stands twice")
            sections[name] = []
        else:
            sections[name].append(line)
    if fenced:
        raise PageError(f"{code}: a block is not closed with ```")
    return sections, labels, shown


def _block(code: str, name: str, body: str) -> str:
    """The text of the one fenced block of a section."""
    kind = _BLOCKS[name]
    found = re.findall(r"^```(\w*)\n(.*?)^```$", body, re.MULTILINE | re.DOTALL)
    if len(found) != 1 or found[0][0] != kind:
        raise PageError(f"{code}: `## {name}` must hold one block that begins with ```{kind}")
    return found[0][1]
