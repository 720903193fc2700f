from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types

from tests.server.capabilities import capable
from tests.server.client import Editor, editing, forked
from tests.server.raw import Process, process


@pytest.fixture
def capabilities() -> types.ClientCapabilities:
    """What the client of `editor` announces, for modules to override or parametrise."""
    return capable()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Process]:
    """A server, which has to end well."""
    with process(tmp_path, forked()) as started:
        yield started
        assert started.stop() == 0
        assert " ERROR " not in started.logged, started.logged


@pytest_asyncio.fixture
async def editor(tmp_path: Path, capabilities: types.ClientCapabilities) -> AsyncIterator[Editor]:
    """An editor of an empty folder, with a server of its own."""
    root = tmp_path / "workspace"
    root.mkdir()
    async with editing(root, capabilities) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module")
async def shared_editor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """An editor that can do everything, of an empty folder: one for all tests of a module."""
    async with editing(tmp_path_factory.mktemp("workspace"), capable()) as opened:
        yield opened


@pytest_asyncio.fixture
async def shared(shared_editor: Editor) -> AsyncIterator[Editor]:
    """The editor of the module, in which nothing is open and nothing was said."""
    yield shared_editor
    if shared_editor.client.get_configuration(section="exportlint"):
        await shared_editor.configure({})
    for uri in list(shared_editor.texts):
        shared_editor.close(uri)
    for log in (shared_editor.client.messages, shared_editor.client.edits, shared_editor.client.shown_documents):
        log.clear()
