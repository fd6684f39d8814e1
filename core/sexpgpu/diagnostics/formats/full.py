"""For people: the message, the source, underlined, with related places labelled, help and fixes; a summary at the end."""

from __future__ import annotations

from sexpgpu.diagnostics.colour import paint
from sexpgpu.diagnostics.columns import visible
from sexpgpu.diagnostics.excerpt import Mark, excerpt
from sexpgpu.diagnostics.finding import Diagnostic
from sexpgpu.diagnostics.formats import SEVERITIES, Report, place
from sexpgpu.source import Source


def render(report: Report) -> str:
    """Every finding, a blank line between them, and the summary."""
    parts = [show(each, report.colour, report.width) for each in report.diagnostics]
    return "\n".join([*parts, _summary(report)])


def show(diagnostic: Diagnostic, colour: bool = False, width: int = 140) -> str:
    """One finding, in lines of at most `width` cells where its words allow it."""
    severity = diagnostic.rule.severity
    head, *more = visible(diagnostic.message).split("\n")
    lines = [paint(f"{severity}[{diagnostic.code}]", severity, colour) + paint(f": {head}", "strong", colour)]
    lines += [f"  {line}".rstrip() for line in more]

    sources = _marks(diagnostic)
    digits = len(str(max(_last_line(source, marks) for source, marks in sources) + 1))
    frame = paint(f"{'':{digits}} |", "frame", colour)
    arrow = "-->"
    for source, marks in sources:
        if source is not diagnostic.span.source:
            arrow = ":::"
            lines.append(frame)
        where = source.position(marks[0].start, "utf-32")
        lines.append(f"{'':{digits}}{paint(arrow, 'frame', colour)} {place(source.name, *where)}")
        lines.append(frame)
        lines += [row.text(digits, colour) for row in excerpt(source, marks, width - digits - 3)]
    notes = [("help", diagnostic.help)] if diagnostic.help else []
    for fix in diagnostic.fixes:
        # Of several that are guesses the help line tells; to choose one is an editor's business.
        if fix.title not in diagnostic.help and (fix.safe or len(diagnostic.fixes) == 1):
            notes.append(("fix", fix.title if fix.safe else f"{fix.title} (unsafe: may change what the program does)"))
    if notes:
        lines.append(frame)
    for title, text in notes:
        first, *rest = visible(text).split("\n")
        lines.append(f"{'':{digits}} {paint('=', 'frame', colour)} {paint(f'{title}:', 'strong', colour)} {first}")
        lines += [f"{'':{digits + len(title) + 5}}{line}".rstrip() for line in rest]
    return "\n".join(lines) + "\n"


def _marks(diagnostic: Diagnostic) -> list[tuple[Source, list[Mark]]]:
    """The marks by source, the diagnostic's own first."""
    span = diagnostic.span
    sources = [(span.source, [Mark(span.start, span.end, "", diagnostic.rule.severity, True)])]
    for note in diagnostic.related:
        mark = Mark(note.span.start, note.span.end, note.message, "related", False)
        for source, marks in sources:
            if source is note.span.source:
                marks.append(mark)
                break
        else:
            sources.append((note.span.source, [mark]))
    return sources


def _last_line(source: Source, marks: list[Mark]) -> int:
    return max(source.position(max(mark.start, mark.end - 1)).line for mark in marks)


def _summary(report: Report) -> str:
    """`2 errors, 1 warning in 3 files`."""
    counts: list[str] = []
    for severity in SEVERITIES:
        count = sum(each.rule.severity == severity for each in report.diagnostics)
        if count:
            plural = severity if count == 1 or severity == "information" else f"{severity}s"
            counts.append(paint(f"{count} {plural}", severity, report.colour))
    files = "1 file" if report.files == 1 else f"{report.files} files"
    return f"{', '.join(counts) or 'no findings'} in {files}\n"
