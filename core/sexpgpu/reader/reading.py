"""Reading a text: cutting it into top-level forms, keeping those that have not changed, and saying what does not read."""

from __future__ import annotations

import re
from re import Match

from sexpgpu.diagnostics.finding import Finding
from sexpgpu.reader import messages
from sexpgpu.reader.builder import Builder
from sexpgpu.reader.documentation import documentation
from sexpgpu.reader.earlier import Earlier
from sexpgpu.reader.forms import BadForm, Comment, Form, ListForm, QuoteForm, TopForm, VectorForm
from sexpgpu.reader.tokens import BLOCK_OPEN, CLOSERS, END, LINE_COMMENT, LINE_ENDS, OPENERS, WORD, end_of_block
from sexpgpu.source import BYTE_ORDER_MARK, Source


class Reading:
    """What stands in a source: its top-level `forms` in file order, unreadable ones too, the `comments` between them (by offset),
    and the `findings`, by position.

    `lost` says that unreadable text may hold top-level forms which `forms` does not list. To know what may stand there, ask
    `may_define`: nothing may be reported as missing that it could hold.
    """

    __slots__ = ("_hidden", "comments", "findings", "forms", "lost", "source")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.forms: list[TopForm] = []
        self.comments: list[Comment] = []
        self.findings: list[Finding] = []
        self.lost = False
        self._hidden: frozenset[str] | None = None

    def may_define(self, word: str) -> bool:
        """Whether unreadable text has that word: it may define a name, or hold a form that begins with it."""
        if self._hidden is None:
            self._hidden = frozenset(each for top in self.forms if top.broken for each in re.findall(WORD, top.text))
        return word in self._hidden


def read(source: Source, previous: Reading | None = None) -> Reading:
    """Read a source. Total: what does not read is a finding, never an exception; the time is linear in the text's length.

    With the reading of an earlier text, a form whose text has not changed stays the same object; only its origin, its source and
    its documentation move on. That reading must not be used any more.
    """
    return _Reader(source, previous).run()


class _Reader:
    def __init__(self, source: Source, previous: Reading | None) -> None:
        self.source = source
        self.text = source.text
        self.start = len(BYTE_ORDER_MARK) if self.text.startswith(BYTE_ORDER_MARK) else 0
        self.builder = Builder(source, self.start)
        self.reading = Reading(source)
        self.region = 0  # the index of the first form since the last opener in column 0
        self.earlier = Earlier(previous.forms if previous else [])

    def run(self) -> Reading:
        builder, comments = self.builder, self.reading.comments
        more = True
        while more:
            for token in builder.tokens:
                kind = token.lastindex or 0
                start, end = token.span(kind)
                if kind == LINE_COMMENT:
                    comments.append(Comment(start, end))
                elif kind in CLOSERS:
                    self._stray(start)
                elif kind == END:
                    more = False
                else:
                    if kind == BLOCK_OPEN:
                        self._block_comment(start)
                    else:
                        self._form(token, start)
                    break
        return self._finish()

    def _form(self, token: Match[str], start: int) -> None:
        builder = self.builder
        unclosed, builder.unclosed = builder.unclosed, None
        top = self._read(token, start)
        if unclosed is not None:
            at = top.form or BadForm(top, 0, 1)
            builder.findings[unclosed] = builder.findings[unclosed]._replace(related=(messages.next_form(at),))
        if top.form is None and not top.broken:
            # All of it is commented out.
            self.reading.comments += [Comment(start + each.start, start + each.end) for each in top.comments]
            builder.findings += top.findings
            return
        self._add(top, start)

    def _read(self, token: Match[str], start: int) -> TopForm:
        builder, text = self.builder, self.text
        if token.lastindex in OPENERS:
            if start == self.start or text[start - 1] in LINE_ENDS:
                builder.spoiled = False
                self.region = len(self.reading.forms)
            unchanged = None if builder.spoiled else self.earlier.at(text, start)
            if unchanged:
                builder.go_to(start + len(unchanged.text))
                return unchanged
        top = TopForm(self.source, start, "")
        builder.form(token, top)
        if builder.spoiled and top.form:
            top.broken = True
        return top if top.broken or top.form is None else self.earlier.like(top)

    def _add(self, top: TopForm, start: int) -> None:
        forms = self.reading.forms
        behind = forms[-1].origin + len(forms[-1].text) if forms else self.start
        top.source = self.source
        top.origin = start
        top.documentation = documentation(self.text, self.reading.comments, behind, start)
        forms.append(top)

    def _stray(self, start: int) -> None:
        """A closer outside of all forms spoils the form before it. One that ended too early left its rest behind it, as forms of
        their own: they are spoiled, too, back to what can be a top-level form."""
        builder = self.builder
        if builder.spoiled:
            return
        builder.spoiled = True
        at = BadForm(TopForm(self.source, start, self.text[start]), 0, 1)
        builder.findings.append(messages.stray(at, self.text[start]))
        for top in reversed(self.reading.forms[self.region :]):
            top.broken = True
            if _declares(top.head):
                break

    def _block_comment(self, start: int) -> None:
        builder = self.builder
        end = end_of_block(self.text, start)
        if end is None:
            end = len(self.text)
            top = TopForm(self.source, start, self.text[start:])
            builder.unended(top, start)
            self._add(top, start)
        self.reading.comments.append(Comment(start, end))
        builder.go_to(end)

    def _finish(self) -> Reading:
        reading, bad_byte = self.reading, self.source.bad_byte
        broken = [top for top in reading.forms if top.broken]
        reading.lost = self.builder.lost or any(_holds_declarations(top) for top in broken)
        reading.findings = self.builder.findings + [finding for top in reading.forms for finding in top.findings]
        reading.findings.sort(key=lambda finding: finding.at.top.origin + finding.at.start)
        if bad_byte is not None:
            for top in reading.forms:
                top.broken = True
            reading.lost = True
            at = BadForm(TopForm(self.source, bad_byte, self.text[bad_byte]), 0, 1)
            reading.findings = [messages.not_utf8(at)]
        return reading


def _declares(head: str | None) -> bool:
    """Whether a form with that head stands at the top level only."""
    return head is not None and (head.startswith("def") or head == "load")


def _holds_declarations(top: TopForm) -> bool:
    """Whether some list inside the form looks like a top-level form of its own."""
    inside: list[Form] = [top.form] if top.form else []
    while inside:
        form = inside.pop()
        if isinstance(form, QuoteForm):
            inside.append(form.form)
        elif isinstance(form, ListForm | VectorForm):
            if form is not top.form and isinstance(form, ListForm) and _declares(form.head):
                return True
            inside.extend(form.items)
    return False
