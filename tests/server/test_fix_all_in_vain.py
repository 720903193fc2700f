"""Fixing a document gives way to whoever does not want it any more."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcRequestCancelled

from tests.server.asking import actions
from tests.server.client import Editor
from tests.server.test_fix_all import EVERYWHERE, HEAD, SAFE, module


@pytest.fixture
def editor(shared: Editor) -> Editor:
    return shared


async def test_it_can_be_cancelled(editor: Editor) -> None:
    begin = time.perf_counter()
    uris = [editor.open(f"net{at}.py", module(*[SAFE] * 40)) for at in range(30)]
    for uri in uris:
        await editor.diagnostics(uri)
    once = time.perf_counter() - begin
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
    assert await becomes_idle(editor, once / 2)


async def becomes_idle(editor: Editor, seconds: float) -> bool:
    """Whether the server does nothing any more before that time has passed."""
    process = Path(f"/proc/{editor.client.process.pid}/stat")
    if not process.exists():
        pytest.skip("this system does not tell how busy a process is")
    end, before = time.perf_counter() + seconds, -1
    while before != (before := _ticks(process)):
        if time.perf_counter() > end:
            return False
        await asyncio.sleep(0.3)
    return True


def _ticks(process: Path) -> int:
    fields = process.read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


async def test_it_gives_way_to_typing(editor: Editor) -> None:
    uri = editor.open("net.py", module(*[SAFE] * 150))
    (action,) = await actions(editor, uri, EVERYWHERE, ["source.fixAll"])
    waiting = asyncio.ensure_future(editor.client.code_action_resolve_async(action))
    await asyncio.sleep(0.2)
    editor.replace(uri, HEAD, "import torch, math\nfrom torch import nn\n")
    assert (await editor.answer(waiting)).edit is None
