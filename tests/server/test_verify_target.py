"""A model that cannot be built: every editor can have a target for it written into the configuration."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types

from tests.patience import PATIENCE
from tests.sampling import one_in
from tests.server.asking import actions, lenses
from tests.server.capabilities import EDITORS, capable, minimal, one_of_each_edit, recorded
from tests.server.client import Editor, editing
from tests.server.test_verify import VERIFY, remarks, told

MODEL = """\
from torch import nn


class Scaled(nn.Module):
    def __init__(self, quota):
        super().__init__()
        self.quota = quota

    def forward(self, x):
        return x * self.quota


class Open(nn.Module):
    def forward(self, x):
        raise NotImplementedError
"""
TABLE = """\
model = "models:Scaled"
# Scaled(quota)
# arguments = [2]
# forward(x)
# inputs = ["float32[batch=2, 3]"]
"""
ADD = "exportlint.addVerifyTarget"
BEFORE = '[project]\r\nname = "é𝔸"'
"""Another line end, none at the end, and characters that are counted differently."""
AFTER = BEFORE + "\r\n\r\n" + ("[[tool.exportlint.verify.target]]\n" + TABLE).replace("\n", "\r\n")


async def unbuildable(editor: Editor) -> str:
    """A file with a model that was found to need a target."""
    editor.write("models.py", MODEL)
    uri = editor.open("models.py", MODEL)
    await editor.run(VERIFY, uri)
    await told(editor)
    editor.client.messages.clear()
    return uri


async def offered(editor: Editor, uri: str) -> list[types.CodeAction]:
    found = await actions(editor, uri, "class Scaled")
    return [action for action in found if action.title.startswith("Add a verify target")]


@pytest.mark.parametrize("name", one_of_each_edit([*EDITORS, "minimal"]))
async def test_every_editor_is_offered_an_edit(name: str, tmp_path: Path) -> None:
    async with editing(tmp_path, minimal() if name == "minimal" else recorded(name)) as editor:
        editor.write("pyproject.toml", BEFORE)
        uri = await unbuildable(editor)
        (action,) = await offered(editor, uri)
        assert action.title == "Add a verify target for `Scaled` to pyproject.toml"
        assert action.kind == types.CodeActionKind.QuickFix
        assert action.diagnostics == ((await remarks(editor, uri))["class Scaled(nn.Module):"],)
        assert action.edit is not None
        # It is not open: a version is that of an open document.
        target = editor.uri("pyproject.toml")
        editor.texts[target] = BEFORE
        changed = action.edit.document_changes
        assert changed is None or [part.text_document.version for part in changed] == [None]  # type: ignore[union-attr]
        editor.versions[target] = 0
        editor.apply(action.edit)
        assert editor.texts[target] == AFTER


@pytest_asyncio.fixture
async def editor(tmp_path: Path) -> AsyncIterator[Editor]:
    async with editing(tmp_path, capable()) as opened:
        yield opened


async def test_the_lens_and_the_command_add_it_and_show_it(editor: Editor) -> None:
    editor.write("pyproject.toml", BEFORE)
    target = editor.open("pyproject.toml", BEFORE, "toml")
    editor.replace(target, "é𝔸", "unsaved")
    uri = await unbuildable(editor)
    (lens,) = await lenses(editor, uri, ADD)
    assert editor.piece(uri, lens.range).startswith("class Scaled(")
    assert lens.command is not None
    assert lens.command.title == "Add verify target"
    await editor.run(ADD, *lens.command.arguments or ())
    assert editor.texts[target] == AFTER.replace("é𝔸", "unsaved")
    (shown,) = editor.client.shown_documents
    assert (shown.uri, shown.selection and shown.selection.start.line) == (target, 3)
    assert not editor.client.messages


async def test_once_the_target_is_there_no_other_is_added(editor: Editor) -> None:
    uri = await unbuildable(editor)
    editor.write("pyproject.toml", AFTER)
    assert await offered(editor, uri) == []
    await editor.run(ADD, uri, "Scaled")
    said = await told(editor)
    assert said.startswith("exportlint: no target was added: ")
    assert said.endswith("there is a target for `Scaled` already")


async def test_a_target_that_was_completed_is_verified_and_one_that_was_not_says_so(editor: Editor) -> None:
    uri = await unbuildable(editor)
    for text, said in (
        (TABLE, "models:Scaled: cannot be built, build: TypeError: "),
        (TABLE.replace("# arguments", "arguments"), "models:Scaled: verified"),
    ):
        editor.create("exportlint.toml", f"[[verify.target]]\n{text}")
        await editor.run(VERIFY, uri, "Scaled")
        await editor.until(lambda: bool(editor.client.messages), PATIENCE)
        assert editor.client.messages.pop().message.startswith(f"exportlint: {said}")
        assert await lenses(editor, uri, ADD) == []


async def test_without_any_configuration_a_file_is_created(editor: Editor) -> None:
    uri = await unbuildable(editor)
    (action,) = await offered(editor, uri)
    assert action.title == "Add a verify target for `Scaled` to exportlint.toml"
    assert action.edit is not None
    created, appended = action.edit.document_changes or ()
    assert isinstance(created, types.CreateFile)
    assert isinstance(appended, types.TextDocumentEdit)
    assert created.uri == appended.text_document.uri == editor.uri("exportlint.toml")
    assert [edit.new_text for edit in appended.edits if isinstance(edit, types.TextEdit)] == [
        "[[verify.target]]\n" + TABLE
    ]
    assert action.command is not None
    await editor.run(action.command.command, *action.command.arguments or ())
    assert [shown.uri for shown in editor.client.shown_documents] == [editor.uri("exportlint.toml")]


async def test_nothing_is_offered_where_a_target_does_not_help_or_nothing_was_verified(editor: Editor) -> None:
    editor.write("models.py", MODEL)
    uri = editor.open("models.py", MODEL)
    assert await offered(editor, uri) == []
    await editor.run(VERIFY, uri, "Open")
    assert "is abstract" in await told(editor)
    assert [one.title for one in await actions(editor, uri, "class Open") if "target" in one.title] == []
    assert await lenses(editor, uri, ADD) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    one_in(
        2,
        [
            ((), "`None` is not an open Python file"),
            (("file:///nowhere.py", "Scaled"), "`file:///nowhere.py` is not an open Python file"),
            (("models.py", "Scalde"), "no target was added: "),
            (("untitled:one", "Scaled"), "no target was added: save the file first"),
        ],
    ),
)
async def test_what_cannot_be_added_is_told(editor: Editor, arguments: tuple[str, ...], said: str) -> None:
    editor.write("models.py", MODEL)
    editor.open("models.py", MODEL)
    editor.open("untitled:one", MODEL)
    await editor.run(ADD, *(editor.uri(argument) if argument == "models.py" else argument for argument in arguments))
    assert (await told(editor)).startswith(f"exportlint: {said}")


async def test_an_editor_that_refuses_is_believed(editor: Editor) -> None:
    editor.write("models.py", MODEL)
    uri = editor.open("models.py", MODEL)
    editor.client.refusal = "read-only"
    await editor.run(ADD, uri, "Scaled")
    assert await told(editor) == "exportlint: the target was not added: read-only"
    assert editor.client.shown_documents == []
