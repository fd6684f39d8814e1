"""Diagnostics, pushed and pulled. A file shows what its own analysis found in it, and what those of files found that load it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sexpgpu.analysis import Analysis
from sexpgpu.diagnostics.rules import DATA_CONTENT, DATA_MISSING
from sexpgpu.source import Source, Span
from sexpgpu_lsp.analyses import AnalysisFailed
from sexpgpu_lsp.carrying import Carrying
from sexpgpu_lsp.convert import NAME, Converter, UriOf, identity
from sexpgpu_lsp.documents import Document, World
from sexpgpu_lsp.uris import PRELUDE, file_key, uri_of
from sexpgpu_lsp.worker import QUERY

if TYPE_CHECKING:
    from sexpgpu_lsp.server import Server

_PRELUDE_NAME = "prelude:"
_RUN = "run "  # before the key of a document, what a run of it found
_OPTIONS = types.DiagnosticOptions(identifier=NAME, inter_file_dependencies=True, workspace_diagnostics=True)


class Found(NamedTuple):
    """What one analysis found in one file: `uri` is the file's, `text` the source of its open document, None for the disk's. What a
    run found, in the source that `ran`, is carried into later ones."""

    uri: str
    text: Source | None
    diagnostics: list[types.Diagnostic]
    ran: Source | None = None

    def carried(self, now: Source, converter: Converter) -> Found:
        """What the run found, at its place in the text as it is now; what was edited itself is left out."""
        assert self.ran is not None
        carrying = Carrying(self.ran.text, now.text)
        diagnostics: list[types.Diagnostic] = []
        for each in self.diagnostics:
            span = carrying.span(converter.offset(self.ran, each.range.start), converter.offset(self.ran, each.range.end))
            if span is not None:
                moved = copy(each)
                moved.range = converter.range(Span(now, *span))
                diagnostics.append(moved)
        return Found(self.uri, now, diagnostics)


class Report(NamedTuple):
    """What the analysis of a document found, by the keys of the files in which it found it: the document's own is among them."""

    document: Document
    found: dict[str, Found]


class _Shown(NamedTuple):
    """What the client shows of a file, as far as it was pushed, and when it was last another one."""

    uri: str
    diagnostics: list[types.Diagnostic]
    number: int


class Publisher:
    """Puts together what analyses found and hands it to the client: pushed, except to a client that pulls, and can be told to do so
    again. It would show everything twice."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._found: dict[str, dict[str, Found]] = {}
        """By the file that it is about, then by the document whose analysis found it."""
        self._shown: dict[str, _Shown] = {}
        self._results: dict[str, _Shown] = {}
        self._moved: dict[tuple[str, str], tuple[Found, Found]] = {}
        """By the file and what a run found is kept under, that and what it is in the text as it was last."""
        self._everywhere: tuple[str, ...] = ()
        """The beginnings of the keys of the files that the client pulls, open or not."""
        self._may_pull = False
        self._pulls = False
        self._refreshing = False
        self._number = 0

    def began(self, client: types.ClientCapabilities, server: types.ServerCapabilities) -> None:
        """A client that pulls but cannot be told to pull again would miss what another file has changed: it is pushed to."""
        pulls = client.text_document is not None and client.text_document.diagnostic is not None
        workspace = client.workspace.diagnostics if client.workspace is not None else None
        refreshes = workspace is not None and bool(workspace.refresh_support)
        self._may_pull = pulls and refreshes
        if not self._may_pull:
            server.diagnostic_provider = None

    # In the worker

    def examine(self, key: str) -> tuple[Report | None, list[str]]:
        """What there is to report of a document as it is now, and which documents have become stale with it."""
        server = self._server
        world = server.documents.world
        document = world.documents.get(key)
        report = None
        if document is not None:
            with suppress(AnalysisFailed):
                report = self.report(world, document)
            server.analyses.told(key)
        return report, [other for other in server.analyses.stale(world) if other != key]

    def report(self, world: World, document: Document, analysis: Analysis | None = None) -> Report:
        """What the analysis of a document finds; the one that is kept, if none is given. Raises AnalysisFailed."""
        analysis = analysis or self._server.analyses.of(world, document)
        converter: Converter = self._server.documents.converter
        uri = self.uri_for(world, document)
        found = {document.key: Found(document.uri, world.source(document.key), [])}
        for module in analysis.unit.modules:
            if module.source is not document.source:
                key = file_key(module.path)
                found[key] = Found(uri(module.source), world.source(key), [])
        for diagnostic in analysis.diagnostics:
            source = diagnostic.span.source
            key = document.key if source is document.source else file_key(source.name)
            found[key].diagnostics.append(converter.diagnostic(diagnostic, uri))
        return Report(document, found)

    @staticmethod
    def uri_for(world: World, document: Document) -> UriOf:
        """The URI of a source, as the client writes it where it has told."""

        def uri(source: Source) -> str:
            if source is document.source:
                return document.uri
            if source.name.startswith(_PRELUDE_NAME):
                return uri_of(os.path.join(PRELUDE, f"{source.name.removeprefix(_PRELUDE_NAME)}.sx"))
            known = world.documents.get(file_key(source.name))
            return uri_of(source.name) if known is None else known.uri

        return uri

    # In the loop

    def take(self, report: Report, *, edited: bool, pulled: bool = False) -> None:
        """Take in what an analysis found, and show what has changed by it. Nothing is shown of a text that is no longer the
        document's. After an edit the document's own list is shown in any case, and a client that pulls asks for it by itself."""
        document = report.document
        if self._server.documents.world.source(document.key) is not document.source:
            return
        about = self._replace(report)
        changed = self._show(document.key, always=edited) and not edited and not pulled
        for key in about:
            if key != document.key and self._show(key):
                changed = True
        if self._pulls and changed:
            self._refresh()

    def take_closed(self, report: Report) -> None:
        """Take in what the analysis of a file found that no editor has open, for a client that pulls it."""
        if report.document.key not in self._server.documents.world.documents:
            for key in self._replace(report):
                self._show(key)

    def forget(self, key: str) -> None:
        """There is no such file any more."""
        for other in [other for other, roots in self._found.items() if key in roots]:
            self._remove(other, key)
            self._show(other)

    def _replace(self, report: Report) -> list[str]:
        """Put what an analysis found in the place of what the last one found; the keys of the files that either speaks of."""
        root = report.document.key
        about = [key for key, roots in self._found.items() if root in roots and key not in report.found]
        for key in about:
            self._remove(key, root)
        for key, found in report.found.items():
            self._found.setdefault(key, {})[root] = found
        return [*about, *report.found]

    def put(self, document: Document, found: Mapping[str, Found]) -> None:
        """Show what a run of a document found, by the key of the file, until it is edited itself or the document is run again."""
        self.drop(document.key)
        for key, each in found.items():
            self._found.setdefault(key, {})[_RUN + document.key] = each
            if self._show(key) and self._pulls:
                self._refresh()

    def drop(self, document: str) -> None:
        """Forget what a run of a document found."""
        root = _RUN + document
        for key in [key for key, roots in self._found.items() if root in roots]:
            self._remove(key, root)
            if self._show(key) and self._pulls:
                self._refresh()

    def closed(self, document: Document) -> None:
        """A document was closed: nothing of it is shown any more, nor what its analysis found in others."""
        self.drop(document.key)
        for key in [key for key, roots in self._found.items() if document.key in roots]:
            self._remove(key, document.key)
            if key != document.key:
                self._show(key)
        self._results.pop(document.key, None)
        self._push(document.key, document.uri, None, [])

    def merged(self, key: str) -> list[types.Diagnostic]:
        """What all analyses found in a file as it is now, each finding once, in order."""
        current = self._server.documents.world.source(key)
        found: dict[tuple[object, ...], types.Diagnostic] = {}
        for root, each in sorted(self._found.get(key, {}).items(), key=lambda item: item[0] != key):  # its own first
            if each.ran is not None and current is not None and each.ran is not current:
                each = self._carried(key, root, each, current)
            if each.text is current:
                for diagnostic in each.diagnostics:
                    found.setdefault(identity(diagnostic), diagnostic)
        for place, each in list(found.items()):  # what may be missing is not told beside that a run has missed it
            if each.code == DATA_CONTENT.code:
                found.pop((*place[:4], DATA_MISSING.code, ""), None)
        return sorted(found.values(), key=lambda each: (each.range.start.line, each.range.start.character))

    def _carried(self, key: str, root: str, found: Found, now: Source) -> Found:
        known = self._moved.get((key, root))
        if known is None or known[0] is not found or known[1].text is not now:
            known = self._moved[key, root] = found, found.carried(now, self._server.documents.converter)
        return known[1]

    async def pulled(self, document: Document, previous: str | None) -> types.DocumentDiagnosticReport:
        """The diagnostics of a document, for a client that asks; that nothing has changed, to one that knows them."""
        if self._may_pull and not self._pulls:
            self._pulls = True
            for key, each in self._server.documents.world.documents.items():
                if self._shown.get(key):
                    self._push(key, each.uri, each.version, [])
        report = await self._server.worker.run(QUERY, lambda: self._report_now(document))
        self.take(report, edited=False, pulled=True)
        return self.result(document.key, document.uri, previous)

    def everywhere(self, folders: Sequence[str]) -> None:
        """The client pulls what is below these folders, open or not: nothing of it is pushed any more."""
        begins = tuple(os.path.join(file_key(folder), "") for folder in folders)
        if begins != self._everywhere:
            self._everywhere = begins
            for key in list(self._shown):
                self._show(key)

    def found_in(self, keys: Iterable[str]) -> list[str]:
        """These files, and all others that the client pulls without having them open, in which something was found."""
        return list(dict.fromkeys([*keys, *(key for key in self._found if key.startswith(self._everywhere))]))

    def result(self, key: str, uri: str, previous: str | None) -> types.DocumentDiagnosticReport:
        """What is known of a file, or that it is what the client has."""
        merged = self.merged(key)
        known = self._results.get(key)
        if known is None or known.diagnostics != merged:
            self._number += 1
            known = self._results[key] = _Shown(uri, merged, self._number)
        result = f"{NAME}-{known.number}"
        if result == previous:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result)
        return types.RelatedFullDocumentDiagnosticReport(items=merged, result_id=result)

    def _report_now(self, document: Document) -> Report:
        """The report of a document as it is when its turn comes, not as it was asked for: that is what the client wants to know."""
        world = self._server.documents.world
        now = world.documents.get(document.key)
        if now is None:
            raise _cancelled("the document was closed")
        return self.report(world, now)

    def _remove(self, key: str, root: str) -> None:
        roots = self._found[key]
        del roots[root]
        self._moved.pop((key, root), None)
        if not roots:
            del self._found[key]

    def _show(self, key: str, *, always: bool = False) -> bool:
        """Push what is known of a file, if that is another than before or it is asked for; whether it is another."""
        document = self._server.documents.world.documents.get(key)
        merged = self.merged(key)
        shown = self._shown.get(key)
        if key.startswith(self._everywhere) if document is None else self._pulls:
            if shown is not None:
                self._push(key, shown.uri, None, [])
            known = self._results.get(key)
            return known is not None and known.diagnostics != merged
        if document is not None:
            uri, version = document.uri, document.version
        else:
            uris = [each.uri for each in self._found.get(key, {}).values()]
            uri, version = (uris[0] if uris else shown.uri if shown is not None else ""), None
        if shown is not None and shown.uri != uri:
            self._push(key, shown.uri, None, [])
            shown = None
        another = merged != (shown.diagnostics if shown is not None else [])
        if another or always:
            self._push(key, uri, version, merged)
        return another

    def _push(self, key: str, uri: str, version: int | None, found: list[types.Diagnostic]) -> None:
        self._shown.pop(key, None)
        if found:
            self._shown[key] = _Shown(uri, found, 0)
        self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=found))

    def _refresh(self) -> None:
        """Ask the client to pull again, once at a time."""
        if self._refreshing:
            return
        self._refreshing = True

        def done(_: object) -> None:
            self._refreshing = False

        self._server.workspace_diagnostic_refresh(None).add_done_callback(done)


def register(server: Server) -> None:
    """Answer requests for diagnostics."""

    async def pull(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        document = server.document(params.text_document.uri)
        if document is None:
            return types.RelatedFullDocumentDiagnosticReport(items=[])
        return await server.publisher.pulled(document, params.previous_result_id)

    server.answers(types.TEXT_DOCUMENT_DIAGNOSTIC, _OPTIONS, lambda: _cancelled("the document could not be analysed"))(pull)


def _cancelled(why: str) -> JsonRpcException:
    return JsonRpcException(why, code=types.LSPErrorCodes.ServerCancelled.value, data={"retriggerRequest": False})
