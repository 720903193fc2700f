from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types

from tests.server.capabilities import capable
from tests.server.client import Editor, editing


@pytest.fixture
def capabilities() -> types.ClientCapabilities:
    """What the client of `editor` announces, for modules to override or parametrise."""
    return capable()


@pytest_asyncio.fixture
async def editor(tmp_path: Path, capabilities: types.ClientCapabilities) -> AsyncIterator[Editor]:
    """An editor of an empty folder, with a server of its own."""
    root = tmp_path / "workspace"
    root.mkdir()
    async with editing(root, capabilities) as opened:
        yield opened
