"""What is found in each module, above it."""

from __future__ import annotations

import pytest
from lsprotocol import types

from tests.cli.runner import NET
from tests.server.asking import lenses
from tests.server.client import Editor

MODULES = """\
import torch
from torch import nn


@torch.no_grad()
def helper(x):
    return x


class Plain:
    def forward(self, x):
        if x.sum() > 0:
            return x


class Good(nn.Module):
    def forward(self, x):
        return x * 2


@staticmethod
class Net(nn.Module):
    class Inner(nn.Module):
        def forward(self, x):
            if x.sum() > 0:
                return x + 1
            return x * 2

    def forward(self, x):
        if x.sum() > 0:
            x = x + 1
        if x.mean() > 0:
            x = x + 2
        return {str(x.max().item()): x}


class Said(nn.Module):
    def forward(self, x):
        print(x)
        return x
"""


@pytest.fixture
def editor(shared: Editor) -> Editor:
    return shared


async def test_each_module_tells_what_is_found_in_it(editor: Editor) -> None:
    uri = editor.open("net.py", MODULES)
    found = await lenses(editor, uri)
    assert {
        editor.piece(uri, lens.range).strip(): lens.command.title for lens in found if lens.command is not None
    } == {
        "class Inner(nn.Module):": "export: 1 error",
        "class Net(nn.Module):": "export: 2 errors, 1 warning",
        "class Said(nn.Module):": "export: 1 info",
    }


async def test_a_lens_lists_what_it_counts(editor: Editor) -> None:
    uri = editor.open("net.py", MODULES)
    lens = next(lens for lens in await lenses(editor, uri) if editor.piece(uri, lens.range).startswith("class Net"))
    assert lens.command is not None
    assert lens.command.arguments is not None
    given, position, locations = lens.command.arguments
    assert locations is not None
    assert given == uri
    assert position == {"line": lens.range.start.line, "character": 0}
    assert [location["uri"] for location in locations] == [uri] * 3
    rows = [location["range"]["start"]["line"] for location in locations]
    assert [MODULES.splitlines()[row].strip() for row in rows] == [
        "if x.sum() > 0:",
        "if x.mean() > 0:",
        "return {str(x.max().item()): x}",
    ]


async def test_there_are_none_where_nothing_is_found(editor: Editor) -> None:
    assert await lenses(editor, editor.open("net.py", NET.replace("sum", "dim"))) == []
    assert await lenses(editor, editor.open("text.txt", NET, "plaintext")) == []
    assert await lenses(editor, editor.open("broken.py", NET + ")")) == []
    assert await lenses(editor, "file:///nowhere.py") == []


async def test_they_are_of_the_version_at_hand(editor: Editor) -> None:
    uri = editor.open("net.py", NET)
    editor.replace(uri, "import torch\n", "import torch\n\n\n")
    (lens,) = await lenses(editor, uri)
    assert editor.piece(uri, lens.range) == "class Net(nn.Module):"
    editor.replace(uri, "x.sum() > 0", "x.dim() > 0")
    assert await lenses(editor, uri) == []


async def test_they_can_be_switched_off(editor: Editor) -> None:
    await editor.configure({"codeLens": {"enable": False}})
    assert await lenses(editor, editor.open("net.py", NET)) == []


async def test_the_client_asks_again_only_when_they_change_by_themselves(editor: Editor) -> None:
    editor.create("base.py", "from torch import nn\n\n\nclass Base(nn.Module):\n    pass\n")
    uri = editor.open("net.py", "from base import Base\n" + NET.replace("nn.Module", "Base"))
    assert len(await lenses(editor, uri)) == 1
    before = editor.client.lens_refreshes
    editor.replace(uri, "return x + 1", "return x + 3")
    assert len(await lenses(editor, uri)) == 1
    await editor.run("exportlint.debugInformation")
    assert editor.client.lens_refreshes == before
    editor.open("base.py", "class Base:\n    pass\n")
    await editor.until(lambda: editor.client.lens_refreshes > before)
    assert await lenses(editor, uri) == []


async def test_above_each_model_there_is_one_that_verifies_it(editor: Editor) -> None:
    uri = editor.open(
        "net.py",
        MODULES + "\n\ndef make():\n    class Local(nn.Module):\n        def forward(self, x):\n            return x\n",
    )
    found = await lenses(editor, uri, "exportlint.verifyModule")
    said = {(lens.command.title, *(lens.command.arguments or ())) for lens in found if lens.command is not None}
    assert said == {("Verify export", uri, name) for name in ("Good", "Net", "Net.Inner", "Said")}
    assert await lenses(editor, editor.open("broken.py", NET + ")"), "exportlint.verifyModule") == []


async def test_all_is_known_of_a_lens(editor: Editor) -> None:
    assert editor.capabilities.code_lens_provider == types.CodeLensOptions(resolve_provider=False)
