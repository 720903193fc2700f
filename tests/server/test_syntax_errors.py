"""While a text cannot be parsed, what was found before stays where its code is."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from tests.cli.runner import NET
from tests.server.asking import actions, lenses
from tests.server.capabilities import capable
from tests.server.client import Editor, editing
from tests.server.test_calls import OPS, SEGNET, at_calls, lens_titles
from tests.server.test_notebooks import AT, Cells

TEST = "x.sum() > 0"

BREAKS = {
    "below": ("return x * 2\n", "return (x * 2\n", TEST),
    "above, with more lines": ("import torch\n", "import torch\n\n\ndef half(\n\n", TEST),
    "in the line itself, before": ("if x.sum() > 0:", "if ) x.sum() > 0:", TEST),
    "in the line itself, behind": ("if x.sum() > 0:", "if x.sum() > 0", TEST),
    "in the code itself": ("x.sum() > 0", "x.sum(( > 0", "x.sum(( > 0"),
}


@pytest.fixture
def editor(shared: Editor) -> Editor:
    return shared


async def found(editor: Editor, uri: str) -> list[tuple[str, str]]:
    """The codes and the code of what is shown."""
    return sorted((str(shown.code), editor.piece(uri, shown.range)) for shown in await editor.diagnostics(uri))


@pytest.mark.parametrize(("old", "new", "piece"), BREAKS.values(), ids=list(BREAKS))
async def test_findings_and_lenses_stay(editor: Editor, old: str, new: str, piece: str) -> None:
    uri = editor.open("net.py", NET)
    assert await found(editor, uri) == [("EXP101", TEST)]
    editor.replace(uri, old, new)
    shown = await editor.diagnostics(uri)
    assert [code for code, _ in await found(editor, uri)] == ["EXP001", "EXP101"]
    (kept,) = [one for one in shown if one.code == "EXP101"]
    assert editor.piece(uri, kept.range) == piece
    assert kept.tags is None
    (lens,) = await lenses(editor, uri)
    assert editor.piece(uri, lens.range) == "class Net(nn.Module):"
    assert lens.command is not None
    assert lens.command.title == "export: 1 error"
    # What is offered would be about another text.
    assert await actions(editor, uri, piece, ["quickfix"]) == []
    editor.replace(uri, new, old)
    assert await found(editor, uri) == [("EXP101", TEST)]
    assert await actions(editor, uri, TEST, ["quickfix"])


async def test_code_that_is_deleted_takes_its_findings_along(editor: Editor) -> None:
    uri = editor.open("net.py", NET + "\n\ndef half(\n")
    editor.set_text(uri, NET)
    assert await found(editor, uri) == [("EXP101", TEST)]
    editor.set_text(uri, NET.partition("        if")[0] + "        (\n")
    assert [code for code, _ in await found(editor, uri)] == ["EXP001"]


async def test_a_file_that_never_could_be_parsed_has_its_syntax_error(editor: Editor) -> None:
    assert [code for code, _ in await found(editor, editor.open("never.py", NET + "("))] == ["EXP001"]


async def test_it_goes_on_where_the_text_is_parsed_again(editor: Editor) -> None:
    uri = editor.open("net.py", NET)
    await found(editor, uri)
    editor.replace(uri, TEST, "x.sum( > 0")
    await found(editor, uri)
    editor.replace(uri, "x.sum( > 0", "x.dim() > 0")
    assert await found(editor, uri) == []
    editor.replace(uri, "x.dim() > 0", "x.dim( > 0")
    assert [code for code, _ in await found(editor, uri)] == ["EXP001"]


async def test_files_that_import_it_keep_theirs(editor: Editor) -> None:
    editor.create("ops.py", OPS)
    ops = editor.open("ops.py", OPS)
    uri = editor.open("net.py", SEGNET.format("ops.normalize(x)"))
    before = await at_calls(editor, uri)
    assert len(before) == 1
    await editor.until(lambda: ops in editor.client.published and bool(editor.client.published[ops].diagnostics))
    editor.replace(ops, "def scale(x):\n", "# a comment\ndef scale(x:\n")
    assert await found(editor, ops) == [("EXP001", "("), ("EXP101", "x.abs().max() > 1")]
    editor.replace(uri, "return", "return -")
    assert await at_calls(editor, uri) == before
    assert await lens_titles(editor, uri) == {"SegNet": "export: 1 error"}
    editor.replace(ops, "def scale(x:\n", "def scale(x):\n")
    assert await found(editor, ops) == [("EXP101", "x.abs().max() > 1")]
    assert await at_calls(editor, uri) == before


@pytest.mark.parametrize("saved", ["ÄÖÜ = 'ÄÖÜÄÖÜ'; y = 1\n", "", "x\n"])
async def test_its_column_is_that_of_the_text_and_not_of_the_file(editor: Editor, saved: str) -> None:
    editor.write("odd.py", saved)
    uri = editor.open("odd.py", "x = 'ü'; y = 2 2\n")
    (shown,) = await editor.diagnostics(uri)
    assert shown.range.start == types.Position(0, "x = 'ü'; y = 2 2".rindex("2"))


async def test_a_cell_that_is_broken_keeps_what_was_found_in_it(tmp_path: Path) -> None:
    head = "import torch\nfrom torch import nn\n"
    one, other = NET.removeprefix(head), NET.replace("Net", "Other").removeprefix(head)
    async with editing(tmp_path, capable()) as editor:
        cells = Cells(editor, head, one, other)
        assert await cells.found() == {"1": [f"EXP101 {TEST}"], "2": [f"EXP101 {TEST}"]}
        cells.write(2, other.replace("    def", "\n    def").replace("return x + 1", "return (x + 1"))
        found = await cells.found()
        assert sorted(found["2"]) == ["EXP001 (", f"EXP101 {TEST}"]
        assert found["1"] == [f"EXP101 {TEST}"]
        assert len(await lenses(editor, f"{AT}2")) == 1
        cells.write(1, one.replace(TEST, "x.dim() > 0"))
        assert "1" not in await cells.found()
        cells.write(2, other)
        assert (await cells.found())["2"] == [f"EXP101 {TEST}"]
