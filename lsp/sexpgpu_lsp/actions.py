"""Code actions: the changes that mend what a diagnostic says, one by one or all that are safe, and other ways to write a form.

A client that can fetches the edit of an action when it is chosen; `data` then says which action of which text it was. One that is
another name for something is made in all files, as a rename is, and refused where that would be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified, JsonRpcException

from sexpgpu.analysis import Options
from sexpgpu.diagnostics.finding import Diagnostic, TextEdit
from sexpgpu.fixes import Proposal, finished, fixed, offers, rewrites_at
from sexpgpu.fixes.everything import Fixed, safe_edits
from sexpgpu.project import ProjectError, Projects
from sexpgpu_lsp.analyses import View
from sexpgpu_lsp.applying import as_known
from sexpgpu_lsp.changes import versions, workspace_edit
from sexpgpu_lsp.documents import Document, OpenFiles
from sexpgpu_lsp.references import renamed

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

QUICK_FIX = types.CodeActionKind.QuickFix.value
REFACTORS = ("refactor.rewrite", "refactor.extract", "refactor.inline")
FIX_ALL = "source.fixAll.sexpgpu"
FIX_ALL_TITLE = "apply all safe fixes"

_OPTIONS = types.CodeActionOptions(code_action_kinds=[QUICK_FIX, *REFACTORS, FIX_ALL], resolve_provider=True)


class Abilities:
    """What a client can do with actions."""

    def __init__(self, client: types.ClientCapabilities) -> None:
        action = client.text_document.code_action if client.text_document is not None else None
        resolved = action.resolve_support if action is not None else None
        self.fetches = bool(action is not None and action.data_support and resolved is not None and "edit" in resolved.properties)
        """It asks for the edit of an action that is chosen."""
        self.disabled = bool(action is not None and action.disabled_support)
        """It shows why an action cannot be done."""
        self.versions = versions(client)


class Choice(NamedTuple):
    """One action before it is one of the protocol: what to do, and for which diagnostic."""

    proposal: Proposal
    diagnostic: Diagnostic | None = None
    preferred: bool = False


def register(server: Server) -> None:
    """Answer codeAction, and codeAction/resolve."""

    async def answer(params: types.CodeActionParams) -> Sequence[types.CodeAction] | Sequence[types.Command] | None:
        document = server.document(params.text_document.uri)
        if document is None or document.read_only:
            return None
        wanted = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
        able = Abilities(server.client_capabilities)
        reasons = able.disabled and (bool(wanted) or params.context.trigger_kind == types.CodeActionTriggerKind.Invoked)
        converter = server.documents.converter
        start = converter.offset(document.source, params.range.start)
        end = max(start, converter.offset(document.source, params.range.end))

        def question(views: Iterator[View]) -> list[tuple[types.CodeAction, Choice | None]]:
            found = list(views)
            make = _Maker(server, document, able)
            made: list[tuple[types.CodeAction, Choice | None]] = [
                (make.action(choice, start, end), choice)
                for choice in _choices(found, start, end)
                if _asked_for(choice.proposal.kind, wanted, unasked=True) and (reasons or not choice.proposal.disabled)
            ]
            if _asked_for(FIX_ALL, wanted, unasked=False) and safe_edits(found[0].analysis):
                made += [(action, None) for action in make.everything(found[0])]
            return made

        actions: list[types.CodeAction] = []
        for action, choice in await server.ask(document, question):
            if action.data is None and choice is not None and choice.proposal.rename:
                with suppress(JsonRpcException):  # a rename that is refused is not offered
                    action.edit = await _rename(server, document, choice)
                if action.edit is None:
                    continue
            actions.append(action)
        return as_known(server, document, actions)

    async def resolve(action: types.CodeAction) -> types.CodeAction:
        document, kind, start, end, mends = _meant(server, action)
        able = Abilities(server.client_capabilities)

        def question(views: Iterator[View]) -> Choice | None:
            found = list(views)
            make = _Maker(server, document, able)
            if kind == FIX_ALL:
                action.edit = make.edit(_everything(server, document, found[0]).edits)
                return None
            for choice in _choices(found, start, end):
                if choice.proposal.title == action.title and choice.proposal.kind == kind and _mends(choice) == mends:
                    action.edit = make.edit(finished(choice.proposal))
                    return choice
            raise _changed()

        choice = await server.ask(document, question)
        if choice is not None and choice.proposal.rename:
            action.edit = await _rename(server, document, choice)
        return action

    server.answers(types.TEXT_DOCUMENT_CODE_ACTION, _OPTIONS)(answer)
    server.answers(types.CODE_ACTION_RESOLVE, None, lambda: JsonRpcException("this action cannot be done", _FAILED))(resolve)


_FAILED = types.LSPErrorCodes.RequestFailed.value


def _changed() -> JsonRpcContentModified:
    return JsonRpcContentModified("the document has changed; ask for its actions again")


async def _rename(server: Server, document: Document, choice: Choice) -> types.WorkspaceEdit:
    """What stands at the diagnostic of a choice under its new name, in every file. Raises JsonRpcException where it cannot be."""
    assert choice.diagnostic is not None
    return await renamed(server, document, choice.diagnostic.span.start, choice.proposal.rename)


def _choices(views: list[View], start: int, end: int) -> list[Choice]:
    """What is offered at a place, as any of the analyses sees it that know the document; each thing once."""
    found: dict[tuple[object, ...], Choice] = {}
    for view in views:
        source = view.module.source
        for proposal, diagnostic, best in offers(view.analysis, view.analysis.diagnostics, source, start, end):
            key = (diagnostic.code, diagnostic.span.start, diagnostic.span.end, proposal.title)
            found.setdefault(key, Choice(proposal, diagnostic, best))
    for view in views:
        for proposal in rewrites_at(view.analysis, view.module.source, start, end):
            known = found.get((proposal.title,))
            if known is None or known.proposal.disabled:
                found[(proposal.title,)] = Choice(proposal)
    return list(found.values())


def _mends(choice: Choice) -> list[object]:
    """What an action is for: code and place of its diagnostic; nothing, for a rewrite."""
    found = choice.diagnostic
    return [] if found is None else [found.code, found.span.start, found.span.end]


class _Maker:
    """Makes actions of a document for a client."""

    def __init__(self, server: Server, document: Document, able: Abilities) -> None:
        self._server = server
        self._document = document
        self._able = able
        self._world = server.documents.world
        self._uri_of = server.publisher.uri_for(self._world, document)

    def edit(self, edits: Iterable[TextEdit]) -> types.WorkspaceEdit:
        spans = ((each.span, each.text) for each in edits)
        return workspace_edit(self._server, self._world, self._document, self._uri_of, spans, self._able.versions)

    def action(self, choice: Choice, start: int, end: int) -> types.CodeAction:
        proposal, diagnostic = choice.proposal, choice.diagnostic
        converter = self._server.documents.converter
        action = types.CodeAction(
            title=proposal.title,
            kind=proposal.kind,
            diagnostics=[converter.diagnostic(diagnostic, self._uri_of)] if diagnostic is not None else None,
            is_preferred=choice.preferred or None,
        )
        if proposal.disabled:
            action.disabled = types.CodeActionDisabled(proposal.disabled)
        elif self._able.fetches:
            action.data = self._data(proposal.kind, start, end, _mends(choice))
        elif not proposal.rename:  # which needs more than this analysis
            action.edit = self.edit(finished(proposal))
        return action

    def everything(self, view: View) -> list[types.CodeAction]:
        """The action of all safe fixes; none where none of them makes anything better."""
        action = types.CodeAction(title=FIX_ALL_TITLE, kind=FIX_ALL)
        if self._able.fetches:
            action.data = self._data(FIX_ALL, 0, 0, [])
            return [action]
        done = _everything(self._server, self._document, view)
        action.edit = self.edit(done.edits)
        return [action] if done.edits else []

    def _data(self, kind: str, start: int, end: int, mends: list[object]) -> dict[str, object]:
        document = self._document
        return {"uri": document.uri, "text": _sum(document), "kind": kind, "start": start, "end": end, "mends": mends}


def _sum(document: Document) -> int:
    """What tells a text from others, for clients that do not count versions."""
    return crc32(document.source.text.encode("utf-8", "replace"))


def _meant(server: Server, action: types.CodeAction) -> tuple[Document, str, int, int, object]:
    """The document, the kind and the place of an action. Raises JsonRpcException where it is of another text, or none of ours."""
    data: Any = action.data
    try:
        uri, text, kind, start, end, mends = (data[key] for key in ("uri", "text", "kind", "start", "end", "mends"))
        document = server.document(str(uri))
        start, end = int(start), int(end)
    except (TypeError, KeyError, ValueError):
        raise JsonRpcException("this is no action of this server", types.ErrorCodes.InvalidParams.value) from None
    if document is None or _sum(document) != text:
        raise _changed()
    return document, str(kind), start, end, mends


def _everything(server: Server, document: Document, view: View) -> Fixed:
    """The document with all that is safe done to it."""
    files = OpenFiles(server.documents.world)
    ignored = server.analyses.ignore
    with suppress(ProjectError):  # of which its analysis has told
        ignored |= Projects(files).above(document.source.name).ignore
    return fixed(view.analysis, files, Options(ignore=ignored))


def _asked_for(kind: str, wanted: list[str], *, unasked: bool) -> bool:
    """Whether a kind is one of those wanted, or inside one; `unasked` where none is named."""
    return unasked if not wanted else any(kind == each or kind.startswith(f"{each}.") or not each for each in wanted)
