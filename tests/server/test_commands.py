"""`workspace/executeCommand`."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from exportlint import __version__
from tests.cli.runner import NET
from tests.server.asking import lenses
from tests.server.capabilities import capable, minimal
from tests.server.client import Editor, editing
from tests.server.test_code_actions import FIXED
from tests.server.test_notebooks import IMPORTS, MODEL, Cells

AUTOFIX = "exportlint.applyAutofix"


@pytest.fixture
def editor(shared: Editor) -> Editor:
    return shared


async def test_all_commands_are_announced(editor: Editor) -> None:
    assert editor.capabilities.execute_command_provider is not None
    assert set(editor.capabilities.execute_command_provider.commands) == {
        "exportlint.addVerifyTarget",
        "exportlint.applyAutofix",
        "exportlint.cancelVerification",
        "exportlint.debugInformation",
        "exportlint.explain",
        "exportlint.showFindings",
        "exportlint.showRule",
        "exportlint.verifyModule",
    }


async def test_one_document_is_fixed(editor: Editor) -> None:
    one, other = editor.open("one.py", NET), editor.open("other.py", NET)
    await editor.run(AUTOFIX, one)
    assert (editor.texts[one], editor.texts[other]) == (FIXED, NET)
    assert [edit.label for edit in editor.client.edits] == ["Fix all with exportlint"]
    await editor.run(AUTOFIX, {"uri": other, "version": editor.versions[other]})
    assert editor.texts[other] == FIXED
    assert not editor.client.messages


async def test_all_open_documents_are_fixed_in_one_edit(editor: Editor) -> None:
    uris = [editor.open("one.py", NET), editor.open("two.py", NET), editor.open("untitled:three", NET)]
    text = editor.open("text.txt", NET, "plaintext")
    await editor.run(AUTOFIX)
    assert [editor.texts[uri] for uri in uris] == [FIXED] * 3
    assert editor.texts[text] == NET
    assert len(editor.client.edits) == 1


@pytest.mark.parametrize("which", ["notebook", "cell"])
async def test_a_notebook_is_fixed_by_its_own_uri_or_that_of_a_cell(tmp_path: Path, which: str) -> None:
    async with editing(tmp_path, capable()) as editor:
        cells = Cells(editor, IMPORTS, MODEL)
        await editor.run(AUTOFIX, cells.uri if which == "notebook" else cells.order[0])
        assert "isinstance(x, torch.Tensor)" in editor.texts[cells.order[1]]
        assert not editor.client.messages


async def test_nothing_to_fix_is_no_edit(editor: Editor) -> None:
    await editor.run(AUTOFIX, editor.open("one.py", FIXED))
    await editor.run(AUTOFIX)
    assert not editor.client.edits
    assert not editor.client.messages


@pytest.mark.parametrize("argument", ["file:///nowhere.py", 3, {}])
async def test_a_document_that_is_not_open_is_told(editor: Editor, argument: object) -> None:
    editor.open("one.py", NET)
    await editor.run(AUTOFIX, argument)
    assert not editor.client.edits
    assert [message.type for message in editor.client.messages] == [types.MessageType.Error]


async def test_a_client_that_applies_nothing_is_told(tmp_path: Path) -> None:
    async with editing(tmp_path, minimal()) as editor:
        await editor.run(AUTOFIX, editor.open("one.py", NET))
        assert not editor.client.edits
        (message,) = editor.client.messages
        assert message.message == "exportlint: this editor applies edits only from code actions"


async def test_a_refusal_is_told(editor: Editor) -> None:
    uri = editor.open("one.py", NET)
    editor.client.refusal = "read-only"
    try:
        await editor.run(AUTOFIX, uri)
    finally:
        editor.client.refusal = None
    assert editor.texts[uri] == NET
    assert [message.message for message in editor.client.messages] == [
        "exportlint: the fixes were not applied: read-only"
    ]


@pytest.mark.parametrize("name", ["EXP101", "tensor-branch"])
async def test_a_page_reads_well(editor: Editor, name: str) -> None:
    page = await editor.run("exportlint.showRule", name)
    assert page.startswith("# tensor-branch (EXP101)\n")
    assert "```python\n" in page
    assert "<!--" not in page
    assert "```py bad" not in page


async def test_links_between_pages_lead_to_the_web(editor: Editor) -> None:
    page = await editor.run("exportlint.showRule", "EXP105")
    pages = [await editor.run("exportlint.showRule", f"EXP{number}") for number in (102, 106, 202, 206, 301, 308)]
    assert not any("](EXP" in page for page in [page, *pages])


async def test_an_unknown_rule_is_told(editor: Editor) -> None:
    assert await editor.run("exportlint.showRule", "tensor-brunh") is None
    (message,) = editor.client.messages
    assert message.type is types.MessageType.Error
    assert "there is no rule `tensor-brunh`, did you mean `tensor-branch`" in message.message


async def test_debug_information_says_what_holds(editor: Editor) -> None:
    file = editor.write("project/exportlint.toml", 'mode = "strict"\n')
    bad = editor.write("bad/exportlint.toml", "mode = 3\n")
    uri = editor.open("project/net.py", NET)
    other = editor.open("bad/net.py", NET)
    assert len(await editor.diagnostics(uri)) == 1
    text = await editor.run("exportlint.debugInformation", uri)
    assert text.startswith(f"exportlint {__version__}\nPython ")
    for line in ("position encoding: utf-16", f"  {editor.root}", 'mode = "strict"', f"from {file}", str(bad)):
        assert f"{line}\n" in text or f"{line}: " in text
    assert f"{uri} version {editor.versions[uri]}, python: 1 findings\n" in text
    assert other in text
    assert await editor.run("exportlint.debugInformation")


async def test_findings_of_a_lens_are_shown(editor: Editor) -> None:
    uri = editor.open("net.py", NET)
    (lens,) = await lenses(editor, uri)
    assert lens.command is not None
    await editor.run(lens.command.command, *(lens.command.arguments or ()))
    (shown,) = editor.client.shown_documents
    assert (shown.uri, shown.selection) == (uri, editor.range_of(uri, "x.sum() > 0"))
    await editor.run("exportlint.showFindings")
    await editor.run("exportlint.showFindings", uri, None, [{"uri": 1}])
    assert len(editor.client.shown_documents) == 1


async def test_a_client_that_opens_nothing_is_told_where_to_look(tmp_path: Path) -> None:
    async with editing(tmp_path, minimal()) as editor:
        (lens,) = await lenses(editor, editor.open("net.py", NET))
        assert lens.command is not None
        await editor.run(lens.command.command, *(lens.command.arguments or ()))
        assert [message.message for message in editor.client.messages] == ["exportlint: see line 7"]


async def test_an_error_is_explained(editor: Editor) -> None:
    file = editor.write("explained.py", NET)
    text = (
        "Traceback (most recent call last):\n"
        f'  File "{file}", line 999, in forward\n    if x.sum() > 0:\n'
        "torch._dynamo.exc.Unsupported: Data-dependent branching\n"
    )
    answer = await editor.run("exportlint.explain", text)
    assert answer.startswith("## [EXP101 tensor-branch](https://")
    assert "torch.where" in answer


@pytest.mark.parametrize("text", ["all good", "", 3])
async def test_a_text_without_an_error_is_told(editor: Editor, text: object) -> None:
    assert await editor.run("exportlint.explain", text) is None
    (message,) = editor.client.messages
    assert message.type is types.MessageType.Error
