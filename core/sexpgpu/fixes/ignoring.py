"""A comment that silences a diagnostic on its line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sexpgpu.diagnostics.finding import TextEdit
from sexpgpu.fixes.proposal import Proposal
from sexpgpu.ide.places import children, comments_in, module_of
from sexpgpu.reader.forms import Form, StringForm
from sexpgpu.source import Source, Span

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.diagnostics.finding import Diagnostic
    from sexpgpu.program.unit import Module

_BRACKET = re.compile(r";\s*sexpgpu:\s*ignore\[([^\]\r\n]*)\]")


def ignore_here(analysis: Analysis, diagnostic: Diagnostic) -> Proposal | None:
    """The comment `; sexpgpu: ignore[CODE]` for the line where a diagnostic begins: at its end, in one that stands there, or alone
    on the line above. None for errors, and where no comment can stand."""
    module = module_of(analysis, diagnostic.span.source)
    if diagnostic.rule.severity == "error" or module is None or module.source.builtin:
        return None
    source, code = diagnostic.span.source, diagnostic.code
    line = source.line_at(diagnostic.span.start)
    edit = _edit(module, source, line, code)
    return None if edit is None else Proposal(f"ignore {code} on this line", (edit,))


def _edit(module: Module, source: Source, line: int, code: str) -> TextEdit | None:
    start = source.line_starts[line]
    end = start + len(source.line(line))
    comments = comments_in(module)
    behind = next((each for each in comments if each[0] >= start and each[1] == end and source.text[each[0]] == ";"), None)
    if behind is not None:
        found = _BRACKET.search(source.text, *behind)
        if found is not None:
            codes = f"{found[1].strip()}, {code}" if found[1].strip() else code
            return TextEdit(Span(source, *found.span(1)), codes)
    elif not _inside(module, comments, end):
        kept = start + len(source.line(line).rstrip(" \t"))
        return TextEdit(Span(source, kept, end), f"  ; sexpgpu: ignore[{code}]")
    if _inside(module, comments, start):
        return None
    text = source.line(line)
    indent = text[: len(text) - len(text.lstrip(" \t"))]
    ending = source.text[end : source.line_starts[line + 1]] if line + 1 < len(source.line_starts) else "\n"
    return TextEdit(Span(source, start, start), f"{indent}; sexpgpu: ignore[{code}]{ending}")


def _inside(module: Module, comments: list[tuple[int, int]], offset: int) -> bool:
    """Whether an offset stands inside a string, or a comment that goes on."""
    if any(start < offset < end for start, end in comments):
        return True
    for top in module.reading.forms:
        if top.origin < offset < top.origin + len(top.text) and top.form is not None:
            return any(each.start < offset - top.origin < each.end for each in _strings(top.form))
    return False


def _strings(form: Form) -> list[StringForm]:
    found: list[StringForm] = []
    waiting = [form]
    while waiting:
        each = waiting.pop()
        if isinstance(each, StringForm):
            found.append(each)
        waiting.extend(children(each))
    return found
