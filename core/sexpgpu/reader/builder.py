"""Building forms out of tokens, one top-level form at a time, and going on after a bracket error (language §1).

There is no recursion: the brackets that are open stand on a stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from re import Match

from sexpgpu.diagnostics.finding import Finding
from sexpgpu.reader import messages
from sexpgpu.reader.forms import BadForm, Comment, Form, ListForm, QuoteForm, StringForm, TopForm, VectorForm
from sexpgpu.reader.indentation import first_outside
from sexpgpu.reader.tokens import (
    BLOCK_OPEN,
    CLOSE_LIST,
    CLOSE_VECTOR,
    CLOSERS,
    CONTROL,
    END,
    LINE_COMMENT,
    LINE_ENDS,
    OPEN_LIST,
    OPEN_VECTOR,
    OPENERS,
    PREFIXES,
    QUOTE,
    RUN,
    STRING,
    TOKEN,
    UNENDED,
    WHITE_SPACE,
    Words,
    end_of_block,
    unescape,
)
from sexpgpu.source import Source

Token = Match[str]


class Prefix:
    """A quote or `#;` that waits for its form. Comments and findings from these counts on are inside what `#;` covers."""

    __slots__ = ("comments", "findings", "quote", "start")

    def __init__(self, quote: bool, start: int, top: TopForm) -> None:
        self.quote = quote
        self.start = start
        self.comments = len(top.comments)
        self.findings = len(top.findings)


# A bracket: the kind of its token (0 around everything), its start, the forms in it so far, and the prefixes that wait in it (None
# where there never was one).
Frame = tuple[int, int, list[Form], list[Prefix] | None]


class Builder:
    """Reads one form after the other from `tokens`.

    `spoiled` says that a bracket error was met since the last opener in column 0: until the next one, nothing more is reported.
    `findings` holds the bracket errors; what is wrong with tokens is held by their top-level form. `lost` turns true when text
    is passed over without being built. `unclosed` is the index of a finding that waits for the form which begins next.
    """

    def __init__(self, source: Source, start: int) -> None:
        self.source = source
        self.text = source.text
        self.tokens: Iterator[Token] = TOKEN.finditer(self.text, start)
        self.spoiled = False
        self.lost = False
        self.findings: list[Finding] = []
        self.unclosed: int | None = None
        self._words = Words()
        self._quotes = 0

    def go_to(self, position: int) -> None:
        """Read on from another place."""
        self.tokens = TOKEN.finditer(self.text, position)

    def form(self, first: Token, top: TopForm) -> None:
        """Read the form that begins with `first` into `top`: its text and tree, its comments, what is wrong with its tokens.

        `top.form` stays None where `#;` takes the form. Behind it, `tokens` are those that follow.
        """
        text, base, words = self.text, top.origin, self._words
        # `stack` has the brackets around the innermost one, which the four variables behind it make up.
        stack: list[Frame] = []
        bracket, begin, items = 0, 0, list[Form]()
        waiting: list[Prefix] | None = []
        vectors = self._quotes = 0
        tokens = chain((first,), self.tokens)
        while True:
            for token in tokens:
                kind = token.lastindex or 0
                start, end = token.span(kind)
                if kind == RUN:
                    make, value = words[text[start:end]]
                    form = make(top, start - base, end - base, value)
                    items.append(form)
                    if form.__class__ is BadForm:
                        self._bad_word(form)
                elif kind in OPENERS:
                    if text[start - 1 : start] in LINE_ENDS and (bracket or (waiting and waiting[-1].quote)):
                        stack.append((bracket, begin, items, waiting))
                        self._cut(token, top, stack)
                        return
                    if len(stack) + self._quotes >= messages.DEEPEST:
                        self._too_deep(top, start)
                        self._skip()
                        break
                    stack.append((bracket, begin, items, waiting))
                    bracket, begin, items, waiting = kind, start - base, [], None
                    if kind == OPEN_VECTOR:
                        vectors += 1
                    continue
                elif kind in CLOSERS:
                    if bracket != kind - 1:
                        stack.append((bracket, begin, items, waiting))
                        if not bracket:
                            self._cut(token, top, stack)
                            return
                        self._mismatch(top, start, begin)
                        if vectors if kind == CLOSE_VECTOR else len(stack) - 1 > vectors:
                            while stack[-1][0] != kind - 1:
                                vectors -= stack[-1][0] == OPEN_VECTOR
                                self._close(top, stack, start - base)
                        bracket, begin, items, waiting = stack.pop()
                        if bracket != kind - 1:
                            continue
                    if waiting:
                        self._nothing_behind(top, items, waiting)
                    form = (ListForm if kind == CLOSE_LIST else VectorForm)(top, begin, end - base, tuple(items))
                    if kind == CLOSE_VECTOR:
                        vectors -= 1
                    bracket, begin, items, waiting = stack.pop()
                    items.append(form)
                elif kind == STRING:
                    items.append(self._string(top, start, end))
                elif kind in PREFIXES:
                    if kind == QUOTE and len(stack) + self._quotes >= messages.DEEPEST:
                        self._too_deep(top, start)
                        continue
                    self._quotes += kind == QUOTE
                    waiting = waiting or []
                    waiting.append(Prefix(kind == QUOTE, start - base, top))
                    continue
                elif kind == LINE_COMMENT:
                    top.comments.append(Comment(start - base, end - base))
                    continue
                elif kind == BLOCK_OPEN and (close := end_of_block(text, start)) is not None:
                    top.comments.append(Comment(start - base, close - base))
                    self.go_to(close)
                    break
                else:
                    stack.append((bracket, begin, items, waiting))
                    if kind == END:
                        self._cut(token, top, stack)
                    else:
                        self._unended(start, top, stack)
                    return
                if waiting is not None:
                    self._applied(top, items, waiting)
                    if not bracket and not waiting:
                        top.form = items[0] if items else None
                        top.text = text[base:end]
                        return
            tokens = self.tokens

    def _applied(self, top: TopForm, items: list[Form], waiting: list[Prefix]) -> None:
        """Give the last form to the prefixes that wait for it: a quote makes a form for the next prefix, `#;` takes it away."""
        while waiting:
            prefix = waiting.pop()
            form = items.pop()
            if not prefix.quote:
                del top.comments[prefix.comments :]
                del top.findings[prefix.findings :]
                top.comments.append(Comment(prefix.start, form.end))
                return
            self._quotes -= 1
            items.append(QuoteForm(top, prefix.start, form.end, form))

    def _nothing_behind(self, top: TopForm, items: list[Form], waiting: list[Prefix]) -> None:
        """Prefixes before a closer: a quote of nothing is an unknown value, and the last one is reported."""
        last = waiting[-1]
        end = last.start + (1 if last.quote else 2)
        while waiting:
            prefix = waiting.pop()
            if prefix.quote:
                self._quotes -= 1
                items.append(BadForm(top, prefix.start, end))
                self._applied(top, items, waiting)
        if not self.spoiled:
            at = BadForm(top, last.start, end)
            top.findings.append(messages.nothing_behind(at, last.quote))

    def _string(self, top: TopForm, start: int, end: int) -> Form:
        base = top.origin
        value = self.text[start + 1 : end - 1]
        if "\\" in value or "\r" in value:
            read = unescape(value)
            if not isinstance(read, str):
                if not self.spoiled:
                    at = BadForm(top, start + 1 + read[0] - base, start + 1 + read[1] - base)
                    top.findings.append(messages.bad_escape(at, value[read[0] : read[1]]))
                return BadForm(top, start - base, end - base)
            value = read
        return StringForm(top, start - base, end - base, value)

    def _bad_word(self, form: Form) -> None:
        if self.spoiled:
            return
        top = form.top
        word = self.text[top.origin + form.start : top.origin + form.end]
        control = re.search(CONTROL, word)
        at = BadForm(top, form.start + control.start(), form.start + control.end()) if control else form
        top.findings.append(messages.not_a_token(at, word))

    def _spoil(self, top: TopForm, finding: Finding) -> None:
        """A bracket error: the form is broken, and it is the one thing reported up to the next opener in column 0."""
        top.broken = True
        if not self.spoiled:
            self.spoiled = True
            self.findings.append(finding)

    def _mismatch(self, top: TopForm, start: int, begin: int) -> None:
        at, met = BadForm(top, start - top.origin, start - top.origin + 1), BadForm(top, begin, begin + 1)
        self._spoil(top, messages.mismatch(at, self.text[start], self.text[top.origin + begin], met))

    def _too_deep(self, top: TopForm, start: int) -> None:
        self.lost = True
        self._spoil(top, messages.too_deep(BadForm(top, start - top.origin, start - top.origin + 1)))

    def _skip(self) -> None:
        """Pass over what nests too deep, without building it, up to its closer or to what cuts it short."""
        open_ = 1
        while open_:
            for token in self.tokens:
                kind = token.lastindex or 0
                start = token.start(kind)
                if kind == BLOCK_OPEN and (close := end_of_block(self.text, start)) is not None:
                    self.go_to(close)
                    break
                opener = kind in OPENERS
                if kind >= UNENDED or kind == BLOCK_OPEN or (opener and self.text[start - 1] in LINE_ENDS):
                    self.go_to(start)
                    return
                open_ += opener - (kind in CLOSERS)
                if not open_:
                    return

    def _close(self, top: TopForm, stack: list[Frame], end: int) -> None:
        """Close the innermost bracket at `end`, without a closer."""
        bracket, begin, items, _ = stack.pop()
        form = (ListForm if bracket == OPEN_LIST else VectorForm)(top, begin, end, tuple(items))
        _, _, around, waiting = stack[-1]
        around.append(form)
        if waiting:
            self._applied(top, around, waiting)

    def _cut(self, token: Token, top: TopForm, stack: list[Frame]) -> None:
        """The form ends before `token`: the end of the text, an opener in column 0, or, where only prefixes wait, a closer."""
        base = top.origin
        openers = [(self.text[base + begin], begin) for _, begin, _, _ in stack[1:]]
        end = self._end_before(token.start(), top)
        self._finish(top, stack, end)
        self.go_to(end)
        if openers:
            top.broken = True
            if not self.spoiled:
                self._unclosed(top, openers, None if token.lastindex == END else token.end())

    def _finish(self, top: TopForm, stack: list[Frame], end: int) -> None:
        """Close all brackets at `end`."""
        while len(stack) > 1:
            self._close(top, stack, end - top.origin)
        _, _, items, waiting = stack[0]
        if waiting:
            self._nothing_behind(top, items, waiting)
        top.form = items[0] if items else None
        top.text = self.text[top.origin : end]

    def _unclosed(self, top: TopForm, openers: list[tuple[str, int]], next_form: int | None) -> None:
        """Report the outermost of the openers left open, and nothing else of what stands behind it."""
        opener, begin = openers[0]
        missing = "".join(messages.CLOSER[each] for each, _ in reversed(openers))
        next_line = None if next_form is None else self.source.line_at(next_form) + 1
        finding = messages.unclosed(BadForm(top, begin, begin + 1), opener, missing, next_line)
        outside = first_outside(self.source, top.origin + begin, top.origin + len(top.text))
        if outside:
            at = _form_at(top, outside.start - top.origin)
            finding = messages.outside(finding, at, outside.line + 1, outside.opener, outside.opener_line + 1)
        elif next_form is not None:
            self.unclosed = len(self.findings)
        top.findings.clear()
        self.findings.append(finding)

    def _end_before(self, end: int, top: TopForm) -> int:
        """Where a form that was cut ends: without the comments behind it, which may speak of the next form."""
        comments = top.comments
        while True:
            if comments and top.origin + comments[-1].end == end:
                end = top.origin + comments.pop().start
            elif re.match(WHITE_SPACE, self.text[end - 1]):
                end -= 1
            else:
                return end

    def _unended(self, start: int, top: TopForm, stack: list[Frame]) -> None:
        """A string or comment inside a form never ends; the brackets around it are not reported."""
        end = len(self.text)
        if self.text[start] == '"':
            _, _, items, waiting = stack[-1]
            items.append(BadForm(top, start - top.origin, end - top.origin))
            self._applied(top, items, waiting or [])
        else:
            top.comments.append(Comment(start - top.origin, end - top.origin))
        self.unended(top, start)
        self._finish(top, stack, end)

    def unended(self, top: TopForm, start: int) -> None:
        """Report a string or comment that takes the rest of the text."""
        self.lost = True
        at = BadForm(top, start - top.origin, start - top.origin + 1)
        self._spoil(top, messages.unended(at, comment=self.text[start] == "#"))
        self.go_to(len(self.text))


def _form_at(top: TopForm, start: int) -> Form:
    """The outermost form that begins at `start`."""
    form = top.form
    while form is not None and form.start != start:
        inside = (form.form,) if isinstance(form, QuoteForm) else form.items if isinstance(form, ListForm | VectorForm) else ()
        form = next((each for each in inside if each.start <= start < each.end), None)
    return form or BadForm(top, start, start + 1)
