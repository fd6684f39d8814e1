"""Signature help: what the call that is being written takes. As completion, it never waits for an analysis of the text as it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from sexpgpu.ide.recall import View
from sexpgpu.ide.signatures import Call, Parameter, signature_help
from sexpgpu.source import units
from sexpgpu_lsp.client import Client
from sexpgpu_lsp.prompt import Ready, at_once

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server


def register(server: Server) -> None:
    """Answer signatureHelp."""

    async def answer(params: types.SignatureHelpParams) -> Ready | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        converter = server.documents.converter

        def question(views: Sequence[View]) -> Ready | None:
            found = signature_help(views, document.source, converter.offset(document.source, params.position))
            if found is None:
                return None
            help = types.SignatureHelp(
                signatures=[_signature(call, converter.client) for call in found.calls],
                active_signature=found.active,
                active_parameter=_active(found.calls[found.active]),
            )
            return Ready(json.dumps(_without_none(server.connection.plain(help), converter.client)))

        return await at_once(server, document, question)

    server.answers(types.TEXT_DOCUMENT_SIGNATURE_HELP, types.SignatureHelpOptions(trigger_characters=["(", " "]))(answer)


def _without_none(content: dict[str, Any], client: Client) -> dict[str, Any]:
    """Where no parameter is active, that is `null` only for a client that knows it; the library always writes it."""
    for each in (content, *content["signatures"]):
        if each.get("activeParameter", 0) is None and not (client.no_active and (each is content or client.active_of_signature)):
            del each["activeParameter"]
    return content


def _active(call: Call) -> int | None:
    return call.active if call.active < len(call.parameters) else None


def _signature(call: Call, client: Client) -> types.SignatureInformation:
    active = _active(call)
    # Who cannot be told that no parameter is active would show the first as active: it sees none.
    shown = call.parameters if active is not None or client.no_active else ()
    return types.SignatureInformation(
        label=call.text,
        documentation=client.about_signature(call.doc) if call.doc else None,
        parameters=[_parameter(call.text, each, client.offsets_of_parameters) for each in shown],
        active_parameter=active if client.active_of_signature else None,
    )


def _parameter(text: str, parameter: Parameter, by_offset: bool) -> types.ParameterInformation:
    """A parameter, by its place in the text, which counts UTF-16 units whatever was agreed for positions; else by its own text."""
    start, end = (units(text[:offset], "utf-16") for offset in (parameter.start, parameter.end))
    label = (start, end) if by_offset else text[parameter.start : parameter.end]
    return types.ParameterInformation(label=label, documentation=parameter.doc or None)
