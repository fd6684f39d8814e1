"""Semantic tokens: of a whole document, of a range, and what has changed since the last answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types

from sexpgpu.ide.tokens import COMMENT, MODIFIERS, STRING, TYPE_BITS, TYPE_MASK, TYPES, Layouts, Token, tokens
from sexpgpu.source import LINE_END, Encoding, Source, units
from sexpgpu_lsp.analyses import View
from sexpgpu_lsp.documents import Document
from sexpgpu_lsp.views import running

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

LEGEND = types.SemanticTokensLegend(token_types=list(TYPES), token_modifiers=list(MODIFIERS))

_NUMBERS = 5
"""How many numbers say what one token is: lines and units since the one before, length in units, type, modifiers."""
_MAY_BE_LONG = (COMMENT, STRING)


class _Answer(NamedTuple):
    """What the client was told of a document last."""

    result: str
    data: list[int]


def register(server: Server) -> None:
    """Answer semantic tokens."""
    answers: dict[str, _Answer] = {}
    layouts: dict[str, Layouts] = {}  # the worker's
    count = 0

    async def data_of(document: Document, span: types.Range | None = None) -> list[int]:
        converter = server.documents.converter
        source = document.source
        multiline = _joins_lines(server.client_capabilities)

        def question(views: Iterator[View]) -> list[int]:
            start, end = (0, None) if span is None else (converter.offset(source, span.start), converter.offset(source, span.end))
            analysis, module = running(views)
            known = layouts.pop(document.key, {})
            found = tokens(analysis, module, start, end, known)
            layouts[document.key] = {top: known[top] for top in module.reading.forms if top in known}
            return encoded(source, found, converter.encoding, multiline)

        return await server.refresh.ask("tokens", document, question)

    def keep(document: Document, data: list[int]) -> _Answer:
        nonlocal count
        count += 1
        for key in [key for key in answers if key not in server.documents.world.documents]:
            del answers[key]
        answer = answers[document.key] = _Answer(str(count), data)
        return answer

    async def full(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        answer = keep(document, await data_of(document))
        return types.SemanticTokens(data=answer.data, result_id=answer.result)

    async def delta(params: types.SemanticTokensDeltaParams) -> types.SemanticTokens | types.SemanticTokensDelta | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        data = await data_of(document)
        before = answers.get(document.key)
        answer = keep(document, data)
        if before is None or before.result != params.previous_result_id:
            return types.SemanticTokens(data=data, result_id=answer.result)
        return types.SemanticTokensDelta(edits=edits(before.data, data), result_id=answer.result)

    async def ranged(params: types.SemanticTokensRangeParams) -> types.SemanticTokens | None:
        document = server.document(params.text_document.uri)
        return None if document is None else types.SemanticTokens(data=await data_of(document, params.range))

    server.answers(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)(full)
    server.answers(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, LEGEND)(delta)
    server.answers(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)(ranged)


def encoded(source: Source, found: list[Token], encoding: Encoding, multiline: bool) -> list[int]:
    """Tokens in text order as the protocol's numbers. Unless the client takes tokens of many lines, they are cut at line ends."""
    data: list[int] = []
    starts, text = source.line_starts, source.text
    plain = encoding == "utf-32" or text.isascii()
    line = last_line = last_character = seen = 0
    line_start, behind, at = 0, starts[1] if len(starts) > 1 else len(text) + 1, 0
    for start, end, code in found if multiline else _cut(source, found):
        while behind <= start:
            line += 1
            line_start = at = behind
            seen = 0
            behind = starts[line + 1] if line + 1 < len(starts) else len(text) + 1
        if plain:
            character, length = start - line_start, end - start
        else:
            seen += units(text[at:start], encoding)
            at, character, length = start, seen, units(text[start:end], encoding)
        if line == last_line:
            data += (0, character - last_character, length, code & TYPE_MASK, code >> TYPE_BITS)
        else:
            data += (line - last_line, character, length, code & TYPE_MASK, code >> TYPE_BITS)
            last_line = line
        last_character = character
    return data


def edits(before: list[int], after: list[int]) -> list[types.SemanticTokensEdit]:
    """The change that makes one list of numbers the other: none, or one of whole tokens."""
    if before == after:
        return []
    shorter = min(len(before), len(after))
    same = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    same -= same % _NUMBERS
    most = shorter - same
    tail = next((at for at in range(most) if before[-1 - at] != after[-1 - at]), most)
    tail -= tail % _NUMBERS
    return [types.SemanticTokensEdit(start=same, delete_count=len(before) - tail - same, data=after[same : len(after) - tail])]


def _cut(source: Source, found: list[Token]) -> list[Token]:
    """The tokens, each of many lines as one for each line, without the line ends."""
    text = source.text
    long = [at for at, (start, end, code) in enumerate(found) if code in _MAY_BE_LONG and LINE_END.search(text, start, end)]
    if not long:
        return found
    pieces: list[Token] = []
    behind = 0
    for at in long:
        pieces += found[behind:at]
        start, end, code = found[at]
        for line in range(source.line_at(start), source.line_at(end - 1) + 1):
            begins = source.line_starts[line]
            first, last = max(start, begins), min(end, begins + len(source.line(line)))
            if first < last:
                pieces.append((first, last, code))
        behind = at + 1
    return pieces + found[behind:]


def _joins_lines(client: types.ClientCapabilities) -> bool:
    """Whether the client takes tokens of more than one line."""
    text = client.text_document
    return text is not None and text.semantic_tokens is not None and bool(text.semantic_tokens.multiline_token_support)
