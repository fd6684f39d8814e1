"""What a selection grows to: what is inside a string, the token, the form around it, and so on up to the form of the top level."""

from __future__ import annotations

from sexpgpu.ide.places import comment_at, forms_at
from sexpgpu.program.unit import Module
from sexpgpu.reader.forms import StringForm
from sexpgpu.source import Span


def selections(module: Module, offset: int) -> list[Span]:
    """The spans around an offset, each inside the one behind it. Empty between forms."""
    path = forms_at(module, offset) or forms_at(module, max(0, offset - 1))
    spans = [span for form in reversed(path) if (span := form.span).end >= offset]
    form = path[-1] if path else None
    if isinstance(form, StringForm):
        source, start, end = form.span
        if start < offset < end and end - start > 2:
            spans.insert(0, Span(source, start + 1, end - 1))
    comment = comment_at(module, offset)
    if comment is not None:
        spans = [comment, *(span for span in spans if span.start <= comment.start and comment.end <= span.end)]
    return spans
