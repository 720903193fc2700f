"""How verifying ends: by the model, the user, a newer run, with the editor; nothing is left behind."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types

from tests.patience import PATIENCE
from tests.server.asking import actions, lenses
from tests.server.capabilities import capable
from tests.server.client import Editor, editing
from tests.server.raw import Message, Process
from tests.server.test_verify import VERIFY, remarks, titles, told
from tests.server.texts import position

MODELS = """\
import os
from pathlib import Path

import torch
from torch import nn


class Leaves(nn.Module):
    def __init__(self):
        super().__init__()
        os._exit(3)

    def forward(self, x):
        return x

    def example_inputs(self):
        return (torch.ones(2, 3),)


class Loops(nn.Module):
    def forward(self, x):
        Path(__file__).with_name("running").write_text(str(os.getpid()))
        while True:
            pass

    def example_inputs(self):
        return (torch.ones(2, 3),)
"""

CANCEL = "exportlint.cancelVerification"


@pytest_asyncio.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    root = tmp_path_factory.mktemp("verify")
    async with editing(root, capable()) as editor:
        editor.write("models.py", MODELS)
        editor.open("models.py", MODELS)
        yield editor


@pytest.fixture
def editor(opened: Editor) -> Editor:
    opened.client.messages.clear()
    opened.client.progress_reports.clear()
    return opened


async def looping(editor: Editor) -> int:
    """The process in which a model runs for ever, once it does."""
    running = editor.root / "running"
    await editor.run(VERIFY, editor.uri("models.py"), "Loops")
    process = await asyncio.wait_for(_read(running), PATIENCE)
    running.unlink()
    assert is_there(process)
    return process


async def _read(file: Path) -> int:
    while not file.exists() or not (text := file.read_text(encoding="utf-8")):
        await asyncio.sleep(0.02)
    return int(text)


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def until_gone(process: int) -> None:
    async def wait() -> None:
        while is_there(process):
            await asyncio.sleep(0.02)

    await asyncio.wait_for(wait(), PATIENCE)


async def ended(editor: Editor) -> str | None:
    """What the progress says at its end."""

    def ends() -> list[types.WorkDoneProgressEnd]:
        reports: list[object] = [one for reports in editor.client.progress_reports.values() for one in reports]
        return [report for report in reports if isinstance(report, types.WorkDoneProgressEnd)]

    await editor.until(lambda: bool(ends()))
    return ends()[0].message


async def test_a_run_can_be_cancelled_where_its_progress_is_shown(editor: Editor) -> None:
    uri = editor.uri("models.py")
    process = await looping(editor)
    assert await titles(editor, uri) == {"Leaves": "Verify export"}
    (token,) = editor.client.progress_reports
    editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    assert await ended(editor) == "cancelled"
    assert not is_there(process)
    assert await titles(editor, uri) == {"Leaves": "Verify export", "Loops": "Verify export"}
    assert not editor.client.messages


async def test_a_run_can_be_cancelled_by_its_lens_and_by_a_code_action(editor: Editor) -> None:
    uri = editor.uri("models.py")
    process = await looping(editor)
    (lens,) = await lenses(editor, uri, CANCEL)
    (action,) = [one for one in await actions(editor, uri, "class Loops", ["source"]) if one.command is not None]
    assert editor.piece(uri, lens.range).startswith("class Loops(")
    assert lens.command is not None
    assert lens.command.title == "Verifying export… (click to cancel)"
    assert action.title == "Cancel verifying Loops"
    assert action.command is not None
    assert (action.command.command, action.command.arguments) == (lens.command.command, lens.command.arguments)
    await editor.run(lens.command.command, *lens.command.arguments or ())
    assert await ended(editor) == "cancelled"
    assert not is_there(process)
    assert await lenses(editor, uri, CANCEL) == []


async def test_progress_has_a_button_to_cancel(editor: Editor) -> None:
    uri = editor.uri("models.py")
    await looping(editor)
    (begin, *_), *_ = editor.client.progress_reports.values()
    assert isinstance(begin, types.WorkDoneProgressBegin)
    assert begin.cancellable
    await editor.run(CANCEL, uri)
    assert await ended(editor) == "cancelled"


async def test_a_python_that_does_not_answer_is_not_waited_for_once_cancelled(editor: Editor) -> None:
    uri, asked = editor.uri("models.py"), editor.root / "asked"
    python = editor.write("silent", f"#!/bin/sh\necho $$ > '{asked}'\nexec sleep 1000\n")
    python.chmod(0o755)
    await editor.run(VERIFY, uri, "Loops", {"python": str(python)})
    process = await asyncio.wait_for(_read(asked), PATIENCE)
    assert is_there(process)
    await editor.run(CANCEL, uri)
    assert await ended(editor) == "cancelled"
    assert not is_there(process)
    assert not editor.client.messages


async def test_a_run_can_be_cancelled_by_a_command(editor: Editor) -> None:
    uri = editor.uri("models.py")
    await editor.run(VERIFY, uri)
    await editor.run(CANCEL, uri)
    assert await ended(editor) == "cancelled"
    assert not editor.client.messages


def test_a_model_is_verified_by_an_action_too(server: Process, root: Path) -> None:
    file, uri = root / "models.py", (root / "models.py").as_uri()
    file.write_text(MODELS, encoding="utf-8")
    server.start(root)
    server.open(uri, MODELS)

    def offered(piece: str, *kinds: str) -> list[Message]:
        place = position(MODELS, MODELS.index(piece), "utf-16")
        at = {"line": place.line, "character": place.character}
        params = {"textDocument": {"uri": uri}, "range": {"start": at, "end": at}}
        answer = server.request("textDocument/codeAction", {**params, "context": {"diagnostics": [], "only": kinds}})
        found: list[Message] = answer["result"]
        return found

    (action,) = offered("class Loops", "source")
    assert (action["title"], action["kind"]) == ("Verify export of Loops", "source.verify.exportlint")
    assert (action["command"]["command"], action["command"]["arguments"]) == (VERIFY, [uri, "Loops"])
    assert offered("while True", "source") == []
    assert offered("class Loops", "source.fixAll", "quickfix") == []


async def test_a_newer_run_supersedes_an_older_one_and_a_model_that_ends_its_process_ends_no_other(
    editor: Editor,
) -> None:
    uri = editor.uri("models.py")
    process = await looping(editor)
    await editor.run(VERIFY, uri, "Leaves")
    assert (await told(editor)).startswith("exportlint: models:Leaves: cannot be built, ")
    assert not is_there(process)
    assert await titles(editor, uri) == {"Leaves": "export: cannot be built", "Loops": "Verify export"}
    assert list(await remarks(editor, uri)) == ["class Leaves(nn.Module):"]


@pytest.mark.thorough
async def test_nothing_outlives_a_server_that_is_shut_down(tmp_path: Path) -> None:
    async with editing(tmp_path, capable()) as editor:
        editor.write("models.py", MODELS)
        editor.open("models.py", MODELS)
        process = await looping(editor)
    assert not is_there(process)


async def test_nothing_outlives_a_server_that_is_killed(tmp_path: Path) -> None:
    server = Process(tmp_path)
    (tmp_path / "models.py").write_text(MODELS, encoding="utf-8")
    uri = (tmp_path / "models.py").as_uri()
    server.start(tmp_path)
    server.open(uri, MODELS)
    server.request("workspace/executeCommand", {"command": VERIFY, "arguments": [uri, "Loops"]})
    process = await asyncio.wait_for(_read(tmp_path / "running"), PATIENCE)
    server.process.kill()
    server.process.wait()
    server.stdin.close()
    await until_gone(process)
