"""The tables of the language in a reader's words: operators, host functions, special and top-level forms, keys, codes."""

from __future__ import annotations

from sexpgpu.diagnostics.page import page
from sexpgpu.diagnostics.rules import RULES
from sexpgpu.ide.bindings import described
from sexpgpu.ide.markup import Code, Part, Prose, inline, rule_link
from sexpgpu.language.host import HOST
from sexpgpu.language.shapes import Shape
from sexpgpu.language.signature import Signature
from sexpgpu.ops import OPS
from sexpgpu.program.declarations import DECLARATIONS, Key

_MARKER_DOCS = {
    "&optional": "The parameters behind it may be left out: `name`, which is then nil, or `(name default)`.",
    "&key": "The parameters behind it are given by keyword: `name`, which is nil without one, or `(name default)`.",
    "&rest": "The parameter behind it is the list of all arguments that are left.",
}


def signature(name: str, parameters: Signature) -> str:
    """How a call is written: `(softmax x &key (axis -1))`."""
    return f"({' '.join(filter(None, (name, str(parameters))))})"


def provided(name: str) -> list[Part]:
    """An operator or a host function: signature, rule, example."""
    row = OPS.get(name) or HOST[name]
    return [Code(signature(name, row.signature)), Prose(row.doc), Code(row.example)]


def word(row: Shape) -> list[Part]:
    """A special form or a form of the top level: how it is written, what it says, its keys, an example."""
    parts: list[Part] = [Code(row.shape), Prose(row.doc)]
    declaration = DECLARATIONS.get(row.name)
    if declaration is not None:
        parts.append(Prose("\n".join(f"- {_key_line(key)}" for key in declaration.keys.values())))
    return [*parts, Code(row.example)]


def declared_key(head: str, name: str) -> list[Part] | None:
    """A key of a declaration: what it means, and what it is where it is not written."""
    declaration = DECLARATIONS.get(head)
    key = declaration.keys.get(name) if declaration is not None else None
    return None if key is None else [Code(f"({head} … :{name} …)"), Prose(_key_line(key))]


def argument_key(name: str, callee: str, parameters: Signature) -> list[Part] | None:
    """A keyword argument of a call: whose it is, and its default."""
    if name not in parameters.keys:
        return None
    default = "required" if name in parameters.required_keys else f"default {inline(parameters.keys[name])}"
    parts: list[Part] = [Code(signature(callee, parameters)), Prose(f"{inline(f':{name}')}: {default}")]
    row = OPS.get(callee) or HOST.get(callee)
    return parts if row is None or row.signature is not parameters else [*parts, Prose(row.doc)]


def marker(name: str) -> list[Part] | None:
    """A mark in a parameter list."""
    doc = _MARKER_DOCS.get(name)
    return None if doc is None else [Prose(f"{inline(name)}: {doc}")]


def code(name: str, *, whole: bool = False) -> list[Part] | None:
    """A diagnostic code: its title and what it reports; with `whole` also why, and the examples of its page."""
    rule = RULES.get(name)
    if rule is None:
        return None
    parts: list[Part] = [Prose(f"**[{name}]({rule_link(name)})** {rule.title}")]
    found = page(name)
    if found is None:
        return parts
    parts.append(Prose(found.what))
    if whole:
        sections: list[tuple[str, Code | Prose]] = [
            ("Why", Prose(found.why)),
            ("Bad", Code(found.bad.rstrip("\n"))),
            ("Good", Code(found.good.rstrip("\n"))),
            ("Instead", Prose(found.instead)),
        ]
        for title, section in sections:
            if section.text:
                parts += [Prose(f"**{title}**"), section]
    return parts


def _key_line(key: Key) -> str:
    if key.required:
        without = " (required)"
    elif key.default is None:
        without = ""
    else:
        without = f" (default {inline(described(key.default))})"
    return f"{inline(f':{key.name}')}: {key.doc}{without}"
