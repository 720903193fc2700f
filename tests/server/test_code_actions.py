"""Quick fixes, and comments instead of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.cli.runner import NET
from tests.server.asking import actions, choose, resolved
from tests.server.capabilities import EDITORS, minimal, one_of_each_edit, recorded
from tests.server.client import Editor, editing

TEST = "x.sum() > 0"
FIX = "Choose with `torch.where` (EXP101)"
IGNORE = ["Ignore EXP101 on this line", "Ignore EXP101 in this file"]
FIX_ALL = "Fix all with exportlint"

FIXED = NET.replace(
    """\
        if x.sum() > 0:
            return x + 1
        return x * 2
""",
    """\
        return torch.where(x.sum() > 0, x + 1, x * 2)
""",
)

UNSAFE = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x if x.mean() > 0 else -x
"""

PROPOSED = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        print(x)
        return x if x.mean() > 0 else -x
"""


@pytest.fixture
def editor(shared: Editor) -> Editor:
    return shared


def titles(found: list[types.CodeAction]) -> list[str]:
    return [action.title for action in found]


async def test_a_finding_can_be_fixed_or_ignored(editor: Editor) -> None:
    uri = editor.open("net.py", NET)
    (shown,) = await editor.diagnostics(uri)
    found = await actions(editor, uri, TEST)
    assert titles(found) == [FIX, FIX_ALL, *IGNORE]
    assert [action.kind for action in found] == ["quickfix", "source.fixAll.exportlint", "quickfix", "quickfix"]
    assert [action.is_preferred for action in found] == [True, None, None, None]
    assert found[0].diagnostics == found[2].diagnostics == (shown,)
    await choose(editor, FIX, found)
    assert editor.texts[uri] == FIXED
    assert await editor.codes(uri) == []


async def test_a_fix_changes_what_it_says_and_nothing_else(editor: Editor) -> None:
    uri = editor.open("net.py", UNSAFE.replace("import torch\n", ""))
    (action, *_) = await actions(editor, uri, "x.mean() > 0")
    assert action.edit is not None
    (part,) = action.edit.document_changes or ()
    assert isinstance(part, types.TextDocumentEdit)
    assert part.text_document == types.OptionalVersionedTextDocumentIdentifier(uri, editor.versions[uri])
    inserted, replaced = part.edits
    assert isinstance(inserted, types.TextEdit)
    assert isinstance(replaced, types.TextEdit)
    assert (inserted.new_text, inserted.range.start) == ("import torch\n", types.Position(0, 0))
    assert editor.piece(uri, inserted.range) == ""
    assert editor.piece(uri, replaced.range) == "x if x.mean() > 0 else -x"


@pytest.mark.parametrize(
    ("text", "place", "title", "after"),
    [
        (
            UNSAFE,
            "x.mean() > 0",
            "Choose with `torch.where` (unsafe) (EXP101)",
            "return torch.where(x.mean() > 0, x, -x)\n",
        ),
        (
            PROPOSED,
            "print(x)",
            "Skip it during export (proposal) (EXP605)",
            "if not torch.compiler.is_exporting():\n            print(x)\n",
        ),
    ],
    ids=["unsafe", "proposal"],
)
async def test_what_is_not_safe_is_said_to_be_so(editor: Editor, text: str, place: str, title: str, after: str) -> None:
    uri = editor.open("net.py", text)
    found = await actions(editor, uri, place)
    assert titles(found)[0] == title
    assert found[0].is_preferred is None
    assert FIX_ALL not in titles(found)
    await choose(editor, title, found)
    assert after in editor.texts[uri]


@pytest.mark.parametrize("place", ["f x.sum() >", "x.sum", ">", ""])
async def test_findings_are_those_that_the_range_touches(editor: Editor, place: str) -> None:
    uri = editor.open("net.py", NET)
    if place:
        assert FIX in titles(await actions(editor, uri, place))
    end = editor.range_of(uri, TEST).end
    assert FIX in titles(await actions(editor, uri, types.Range(end, end)))
    assert await actions(editor, uri, "class", only=["quickfix"]) == []


async def test_findings_are_those_that_the_client_names(editor: Editor) -> None:
    uri = editor.open("net.py", NET)
    (shown,) = await editor.diagnostics(uri)
    assert FIX in titles(await actions(editor, uri, "class", diagnostics=[shown]))
    shown.code = "EXP102"
    assert await actions(editor, uri, "class", ["quickfix"], [shown]) == []


@pytest.mark.parametrize(
    ("only", "kinds"),
    [
        (None, {"quickfix", "source.fixAll.exportlint"}),
        ([], {"quickfix", "source.fixAll.exportlint"}),
        ([""], {"quickfix", "source.fixAll.exportlint"}),
        (["quickfix"], {"quickfix"}),
        (["source"], {"source.fixAll.exportlint"}),
        (["source.fixAll"], {"source.fixAll.exportlint"}),
        (["source.fixAll.exportlint"], {"source.fixAll.exportlint"}),
        (["refactor", "source.fixAll"], {"source.fixAll.exportlint"}),
        (["source.fixAll.exportlint.more"], set()),
        (["source.fix"], set()),
        (["source.fixAll.ruff"], set()),
        (["source.organizeImports"], set()),
        (["refactor"], set()),
    ],
)
async def test_kinds_are_filtered_by_prefix(editor: Editor, only: list[str] | None, kinds: set[str]) -> None:
    uri = editor.open("net.py", NET)
    assert {action.kind for action in await actions(editor, uri, TEST, only)} == kinds


async def test_what_is_found_in_an_older_version_is_not_offered(editor: Editor) -> None:
    uri = editor.open("net.py", NET)
    (shown,) = await editor.diagnostics(uri)
    editor.replace(uri, TEST, "x.dim() > 0")
    assert await actions(editor, uri, "x.dim() > 0", diagnostics=[shown]) == []
    editor.replace(uri, "x.dim() > 0", "x.dim() > 0 and x.mean() > 0")
    editor.replace(uri, "import torch\n", "import torch\n\n\n")
    found = await actions(editor, uri, "x.mean() > 0", diagnostics=[shown])
    assert all(
        part.text_document.version == editor.versions[uri]
        for action in found
        if action.edit is not None
        for part in action.edit.document_changes or ()
        if isinstance(part, types.TextDocumentEdit)
    )
    await choose(editor, IGNORE[0], found)
    assert "x.mean() > 0:  # exportlint: ignore[EXP101]\n" in editor.texts[uri]


@pytest.mark.parametrize("uri", ["file:///nowhere.py", "untitled:Untitled-1", "%%%"])
async def test_a_document_that_is_not_open_has_none(editor: Editor, uri: str) -> None:
    place = types.Range(types.Position(0, 0), types.Position(9, 9))
    assert await actions(editor, uri, place) == []


@pytest.mark.parametrize("name", ["untitled:Untitled-1", "vscode-notebook-cell:/a.ipynb#X1", "git:/net.py?HEAD"])
async def test_a_document_of_any_uri_has_some(editor: Editor, name: str) -> None:
    uri = editor.open(name, NET)
    await choose(editor, FIX, await actions(editor, uri, TEST))
    assert editor.texts[uri] == FIXED


async def test_places_outside_of_the_text_are_clamped(editor: Editor) -> None:
    uri = editor.open("net.py", NET)
    place = types.Range(types.Position(0, 0), types.Position(2**31 - 1, 2**31 - 1))
    assert FIX in titles(await actions(editor, uri, place))
    place = types.Range(types.Position(10**6, 5), types.Position(10**6, 9))
    assert await actions(editor, uri, place, ["quickfix"]) == []


@pytest.mark.parametrize(
    ("settings", "gone"),
    [
        ({"codeAction": {"fixViolation": {"enable": False}}}, {FIX}),
        ({"codeAction.disableRuleComment.enable": False}, set(IGNORE)),
        ({"fixAll": False}, {FIX_ALL}),
        ({"lint": {"ignore": ["EXP101"]}}, {FIX, FIX_ALL, *IGNORE}),
        ({"configuration": {"unfixable": ["ALL"]}}, {FIX, FIX_ALL}),
        ({"enable": False}, {FIX, FIX_ALL, *IGNORE}),
    ],
)
async def test_settings_say_what_is_offered(editor: Editor, settings: dict[str, Any], gone: set[str]) -> None:
    uri = editor.open("net.py", NET)
    assert set(titles(await actions(editor, uri, TEST))) == {FIX, FIX_ALL, *IGNORE}
    await editor.configure(settings)
    assert set(titles(await actions(editor, uri, TEST))) == {FIX, FIX_ALL, *IGNORE} - gone


@pytest.mark.parametrize("name", one_of_each_edit(["minimal", *EDITORS]))
async def test_every_client_can_fix(tmp_path: Path, name: str) -> None:
    capabilities = minimal() if name == "minimal" else recorded(name)
    async with editing(tmp_path, capabilities) as editor:
        for title in (FIX, FIX_ALL):
            uri = editor.open(f"{len(title)}.py", NET)
            found = await actions(editor, uri, TEST)
            action = next(action for action in found if action.title == title)
            edit = (await resolved(editor, action)).edit
            assert edit is not None
            by_version = capabilities.workspace and capabilities.workspace.workspace_edit
            assert (edit.changes is None) == bool(by_version and by_version.document_changes)
            editor.apply(edit)
            assert editor.texts[uri] == FIXED


async def test_nothing_is_offered_for_a_syntax_error(editor: Editor) -> None:
    uri = editor.open("net.py", NET + "\n)")
    assert await editor.codes(uri) == ["EXP001"]
    place = types.Range(types.Position(0, 0), types.Position(99, 0))
    assert await actions(editor, uri, place) == []
