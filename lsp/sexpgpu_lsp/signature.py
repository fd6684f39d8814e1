"""Signature help: what the call that is being written takes. As completion, it never waits for an analysis of the text as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from sexpgpu.ide.recall import View
from sexpgpu.ide.signatures import Call, Parameter, signature_help
from sexpgpu.source import units
from sexpgpu_lsp.convert import markup
from sexpgpu_lsp.prompt import at_once

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server


def register(server: Server) -> None:
    """Answer signatureHelp."""

    async def answer(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter
        client = server.client_capabilities.text_document
        can = client.signature_help.signature_information if client is not None and client.signature_help is not None else None
        formats = can.documentation_format if can is not None else None
        as_markdown = not formats or types.MarkupKind.Markdown in formats
        parameters = can.parameter_information if can is not None else None
        by_offset = parameters is not None and bool(parameters.label_offset_support)

        def question(views: Sequence[View]) -> types.SignatureHelp | None:
            found = signature_help(views, document.source, converter.offset(document.source, params.position))
            if found is None:
                return None
            return types.SignatureHelp(
                signatures=[_signature(call, as_markdown, by_offset) for call in found.calls],
                active_signature=found.active,
                active_parameter=found.calls[found.active].active,
            )

        return await at_once(server, document, question)

    server.answers(types.TEXT_DOCUMENT_SIGNATURE_HELP, types.SignatureHelpOptions(trigger_characters=["(", " "]))(answer)


def _signature(call: Call, as_markdown: bool, by_offset: bool) -> types.SignatureInformation:
    return types.SignatureInformation(
        label=call.text,
        documentation=markup(call.doc, as_markdown) if call.doc else None,
        parameters=[_parameter(call.text, each, by_offset) for each in call.parameters],
        active_parameter=call.active,
    )


def _parameter(text: str, parameter: Parameter, by_offset: bool) -> types.ParameterInformation:
    """A parameter, by its place in the text, which counts UTF-16 units whatever was agreed for positions; else by its own text."""
    start, end = (units(text[:offset], "utf-16") for offset in (parameter.start, parameter.end))
    label = (start, end) if by_offset else text[parameter.start : parameter.end]
    return types.ParameterInformation(label=label, documentation=parameter.doc or None)
