"""Settings: what a client may send, in which ways, and what becomes of what it should not send."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from sexpgpu_lsp.settings import SETTINGS, Settings, read_settings
from support.editor import Editor, Wire, codes

UNUSED = "(def list 1)\n"  # W-NAME-001
URI = "untitled:settings"


@pytest.mark.parametrize(
    "given",
    [
        {"check": {"debounce": 5}, "inlayHints": {"shapes": False}},
        {"sexpgpu": {"check": {"debounce": 5}, "inlayHints": {"shapes": False}}, "other": {"check": 1}},
        {"check.debounce": 5, "inlayHints.shapes": False},
        {"sexpgpu.check.debounce": 5, "sexpgpu.inlayHints.shapes": False},
        {"sexpgpu": {"check.debounce": 5, "inlayHints.shapes": False}},
    ],
)
def test_settings_are_read_however_they_are_nested(given: object) -> None:
    said: list[str] = []
    settings = Settings(read_settings(given, said.append))
    assert said == []
    assert settings.debounce == 0.005
    assert not settings.flag("inlayHints.shapes")
    assert settings.changed(Settings()) == {"check.debounce", "inlayHints.shapes"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"check": {"debunce": 5}}, "there is no setting sexpgpu.check.debunce; did you mean sexpgpu.check.debounce?"),
        ({"zzzz": 5}, "there is no setting sexpgpu.zzzz"),
        ({"check": 5}, "there is no setting sexpgpu.check"),
        ({"check.debounce": "5"}, "sexpgpu.check.debounce is a whole number of 0 or more, and this is '5'"),
        ({"check.debounce": -1}, "sexpgpu.check.debounce is a whole number of 0 or more, and this is -1"),
        ({"check.debounce": True}, "sexpgpu.check.debounce is a whole number of 0 or more, and this is True"),
        ({"check.debounce": float("nan")}, "sexpgpu.check.debounce is a whole number of 0 or more, and this is nan"),
        ({"check.ignore": "W-NAME-001"}, "sexpgpu.check.ignore is a list of codes, and this is 'W-NAME-001'"),
        ({"check.ignore": ["W-NAME-01"]}, "sexpgpu.check.ignore: W-NAME-01 is no diagnostic code; did you mean W-NAME-001?"),
        ({"codeLens.enable": 1}, "sexpgpu.codeLens.enable is true or false, and this is 1"),
        ({"run.device": "abacus"}, "sexpgpu.run.device is one of '', 'cpu', 'gpu', 'tpu', and this is 'abacus'"),
        ({"path": ["x" * 99]}, f"sexpgpu.path is a text, and this is ['{'x' * 38}…"),
        ([1], "settings are an object, and this is [1]"),
    ],
)
def test_what_is_no_setting_is_said_and_left_out(given: object, said: str) -> None:
    heard: list[str] = []
    settings = Settings(read_settings(given, heard.append))
    assert [each[: len(said)] for each in heard] == [said]
    assert settings.changed(Settings()) == set()


def test_nothing_is_no_setting() -> None:
    heard: list[str] = []
    assert read_settings(None, heard.append) == {}
    assert read_settings({"sexpgpu": None, "trace": {"server": None}}, heard.append) == {}
    assert [each for each in heard if "trace" in each] == []


def test_defaults_are_of_their_own_type() -> None:
    heard: list[str] = []
    nested = {name: list(row.default) if isinstance(row.default, tuple) else row.default for name, row in SETTINGS.items()}
    assert Settings(read_settings(nested, heard.append)).changed(Settings()) == set()
    assert heard == []


async def configure(editor: Editor, settings: object) -> None:
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=settings))


async def test_codes_that_are_ignored_are_not_shown_any_more(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(UNUSED)
    assert codes(await editor.published(uri)) == ["W-NAME-001"]
    await configure(editor, {"sexpgpu": {"check": {"ignore": ["W-NAME-001"]}}})
    assert await editor.published(uri, lambda params: not codes(params.diagnostics)) is not None
    await configure(editor, {"sexpgpu": {}})
    assert codes(await editor.published(uri, lambda params: bool(params.diagnostics))) == ["W-NAME-001"]


def test_what_a_client_should_not_send_is_one_line_in_the_log_each() -> None:
    with Wire() as wire:
        wire.initialize(initializationOptions={"nonsense": 1, "check": {"ignore": ["W-NAME-001"]}})
        for _ in range(3):
            wire.notify("workspace/didChangeConfiguration", settings={"sexpgpu": {"check.debounce": "soon"}})
        wire.notify("workspace/didChangeConfiguration", settings=7)
        wire.notify("workspace/didChangeConfiguration")
        wire.open(URI, UNUSED)
        assert wire.read()["params"]["diagnostics"] == []
        wire.ask("shutdown")
        wire.notify("exit")
        assert wire.process.wait(30) == 0
        log = wire.errors()
    assert log.count("there is no setting sexpgpu.nonsense") == 1
    assert log.count("sexpgpu.check.debounce is a whole number of 0 or more, and this is 'soon'") == 1
    assert log.count("settings are an object, and this is 7") == 1


def test_a_client_that_can_be_asked_is_asked() -> None:
    capabilities = {"workspace": {"configuration": True, "didChangeConfiguration": {"dynamicRegistration": True}}}
    with Wire() as wire:
        wire.initialize(capabilities)

        def request(method: str) -> dict[str, object]:
            while (message := wire.read()).get("method") != method:
                pass
            return message

        registered = request("client/registerCapability")
        assert "workspace/didChangeConfiguration" in str(registered["params"])
        wire.body(b'{"jsonrpc": "2.0", "id": "%s", "result": null}' % str(registered["id"]).encode())
        asked = request("workspace/configuration")
        assert asked["params"] == {"items": [{"section": "sexpgpu"}]}
        wire.body(b'{"jsonrpc": "2.0", "id": "%s", "result": [{"check": {"ignore": ["W-NAME-001"]}}]}' % str(asked["id"]).encode())
        wire.open(URI, UNUSED)
        while "W-NAME-001" in str(request("textDocument/publishDiagnostics")["params"]):
            pass  # the answer may be taken in after the document was looked at
        wire.notify("workspace/didChangeConfiguration", settings=None)
        again = request("workspace/configuration")
        wire.body(b'{"jsonrpc": "2.0", "id": "%s", "result": [null]}' % str(again["id"]).encode())
        shown = request("textDocument/publishDiagnostics")["params"]
        assert "W-NAME-001" in str(shown)
