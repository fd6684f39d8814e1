"""One server for all tests that do not ask for another, and one event loop for it and them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_asyncio import is_async_test

from support.editor import PATIENCE, SHOWS, Client, Editor, configuration


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_lsp.fixture(config=configuration(), scope="session")
async def client(lsp_client: Client) -> AsyncIterator[None]:
    await lsp_client.initialize_session(types.InitializeParams(SHOWS))
    yield
    await asyncio.wait_for(lsp_client.shutdown_session(), PATIENCE)


@pytest.fixture
def editor(client: Client) -> Editor:
    """An editor whose client shows what it is sent, and else has said nothing of what it can do."""
    return Editor(client)
