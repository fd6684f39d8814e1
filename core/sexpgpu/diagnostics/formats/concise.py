"""One line a finding: `path:line:col: error[CODE] message`."""

from __future__ import annotations

from sexpgpu.diagnostics.colour import paint
from sexpgpu.diagnostics.columns import visible
from sexpgpu.diagnostics.formats import Report, location


def render(report: Report) -> str:
    """The findings, one a line; nothing where there are none."""
    lines: list[str] = []
    for each in report.diagnostics:
        head = paint(f"{each.rule.severity}[{each.code}]", each.rule.severity, report.colour)
        message = "; ".join(line.strip() for line in visible(each.message).split("\n"))
        lines.append(f"{location(each)}: {head} {message}\n")
    return "".join(lines)
