"""Fixing a document gives way to whoever does not want it any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcRequestCancelled

from tests.server.asking import actions
from tests.server.capabilities import capable
from tests.server.client import COMMAND, Editor, editing
from tests.server.test_fix_all import EVERYWHERE, HEAD, SAFE, module


@pytest_asyncio.fixture(scope="module")
async def shared_editor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """With a server whose processor time can be seen."""
    async with editing(tmp_path_factory.mktemp("workspace"), capable(), command=COMMAND) as opened:
        yield opened


@pytest.fixture
def editor(shared: Editor) -> Editor:
    return shared


@pytest.mark.thorough
async def test_it_can_be_cancelled(editor: Editor) -> None:
    begin = ticks(editor)
    uris = [editor.open(f"net{at}.py", module(*[SAFE] * 40)) for at in range(30)]
    for uri in uris:
        await editor.diagnostics(uri)
    once = ticks(editor) - begin
    (action,) = await actions(editor, uris[0], EVERYWHERE, ["source.fixAll"])
    request = editor.client.protocol.send_request_async(types.CODE_ACTION_RESOLVE, action, msg_id="fix")  # type: ignore[no-untyped-call]
    waiting = asyncio.ensure_future(request)
    await asyncio.sleep(0.2)
    assert not waiting.done()
    editor.client.cancel_request(types.CancelParams("fix"))
    with pytest.raises(JsonRpcException) as raised:
        await editor.answer(waiting)
    assert raised.value.code == JsonRpcRequestCancelled.CODE
    # To fix one document is to look at all that are open first, and it stops before the next.
    assert await work_until_idle(editor) <= once / 2


async def work_until_idle(editor: Editor) -> int:
    """The ticks of processor time that the server takes until it does nothing any more."""
    start = now = ticks(editor)
    before = -1
    while before != now:
        await asyncio.sleep(0.3)
        before, now = now, ticks(editor)
    return now - start


def ticks(editor: Editor) -> int:
    """The ticks of processor time that the server has taken."""
    process = Path(f"/proc/{editor.client.process.pid}/stat")
    if not process.exists():
        pytest.skip("this system does not tell how busy a process is")
    fields = process.read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.thorough
async def test_it_gives_way_to_typing(editor: Editor) -> None:
    uri = editor.open("net.py", module(*[SAFE] * 150))
    (action,) = await actions(editor, uri, EVERYWHERE, ["source.fixAll"])
    waiting = asyncio.ensure_future(editor.client.code_action_resolve_async(action))
    await asyncio.sleep(0.2)
    editor.replace(uri, HEAD, "import torch, math\nfrom torch import nn\n")
    assert (await editor.answer(waiting)).edit is None
