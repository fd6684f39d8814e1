"""Which methods a server says that it answers, from its capabilities. What is not known here is an error: it needs a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PROVIDERS: dict[str, Callable[[Any], list[str]]] = {
    "textDocumentSync": lambda sync: [
        *(["textDocument/didOpen", "textDocument/didClose"] if sync["openClose"] else []),
        *(["textDocument/didChange"] if sync["change"] else []),
        *(["textDocument/didSave"] if sync.get("save") else []),
        *(["textDocument/willSave"] if sync.get("willSave") else []),
        *(["textDocument/willSaveWaitUntil"] if sync.get("willSaveWaitUntil") else []),
    ],
    "completionProvider": lambda given: ["textDocument/completion", *_resolve(given, "completionItem/resolve")],
    "hoverProvider": lambda _: ["textDocument/hover"],
    "signatureHelpProvider": lambda _: ["textDocument/signatureHelp"],
    "definitionProvider": lambda _: ["textDocument/definition"],
    "referencesProvider": lambda _: ["textDocument/references"],
    "documentHighlightProvider": lambda _: ["textDocument/documentHighlight"],
    "documentSymbolProvider": lambda _: ["textDocument/documentSymbol"],
    "codeActionProvider": lambda given: ["textDocument/codeAction", *_resolve(given, "codeAction/resolve")],
    "codeLensProvider": lambda given: ["textDocument/codeLens", *_resolve(given, "codeLens/resolve")],
    "documentLinkProvider": lambda given: ["textDocument/documentLink", *_resolve(given, "documentLink/resolve")],
    "workspaceSymbolProvider": lambda given: ["workspace/symbol", *_resolve(given, "workspaceSymbol/resolve")],
    "documentFormattingProvider": lambda _: ["textDocument/formatting"],
    "documentRangeFormattingProvider": lambda _: ["textDocument/rangeFormatting"],
    "documentOnTypeFormattingProvider": lambda _: ["textDocument/onTypeFormatting"],
    "renameProvider": lambda given: ["textDocument/rename", *_if(given, "prepareProvider", "textDocument/prepareRename")],
    "foldingRangeProvider": lambda _: ["textDocument/foldingRange"],
    "selectionRangeProvider": lambda _: ["textDocument/selectionRange"],
    "executeCommandProvider": lambda given: given["commands"],
    "callHierarchyProvider": lambda _: [
        "textDocument/prepareCallHierarchy",
        "callHierarchy/incomingCalls",
        "callHierarchy/outgoingCalls",
    ],
    "semanticTokensProvider": lambda given: [
        "textDocument/semanticTokens/full",
        *_if(given["full"], "delta", "textDocument/semanticTokens/full/delta"),
        *_if(given, "range", "textDocument/semanticTokens/range"),
    ],
    "inlayHintProvider": lambda given: ["textDocument/inlayHint", *_resolve(given, "inlayHint/resolve")],
    "diagnosticProvider": lambda given: [
        "textDocument/diagnostic",
        *_if(given, "workspaceDiagnostics", "workspace/diagnostic"),
    ],
    "positionEncoding": lambda _: [],
    "workspace": lambda given: [
        *_if(given.get("workspaceFolders"), "changeNotifications", "workspace/didChangeWorkspaceFolders"),
        *(f"workspace/{name}Files" for name in given.get("fileOperations", ())),
    ],
}


def advertised(capabilities: dict[str, Any]) -> set[str]:
    """The methods and commands that a server with these capabilities, as JSON, answers."""
    unknown = capabilities.keys() - PROVIDERS.keys()
    assert not unknown, f"{unknown} need a row here and tests with every client"
    return {method for key, given in capabilities.items() for method in PROVIDERS[key](given)}


def _if(given: Any, key: str, method: str) -> list[str]:
    return [method] if isinstance(given, dict) and given.get(key) else []


def _resolve(given: Any, method: str) -> list[str]:
    return _if(given, "resolveProvider", method)
