"""All fixes of a document at once, and of all documents."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from tests.server.asking import actions, choose, resolved
from tests.server.capabilities import capable, minimal
from tests.server.client import Editor, editing

FIX_ALL = "Fix all with exportlint"
FIX_RULE = "Fix all tensor-branch (EXP101) in this file"
EVERYWHERE = types.Range(types.Position(0, 0), types.Position(10**6, 0))

HEAD = "import torch\nfrom torch import nn\n"
SAFE = """

class {name}(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x + 1
        return x * 2
"""
FIXED = """

class {name}(nn.Module):
    def forward(self, x):
        return torch.where(x.sum() > 0, x + 1, x * 2)
"""
UNSAFE = """

class {name}(nn.Module):
    def forward(self, x):
        return x if x.mean() > 0 else -x
"""
UNSAFE_FIXED = """

class {name}(nn.Module):
    def forward(self, x):
        return torch.where(x.mean() > 0, x, -x)
"""
OTHER = """

class Other(nn.Module):
    def forward(self, x):
        return x + torch.tensor(x.sum().item())
"""


def module(*parts: str) -> str:
    return HEAD + "".join(part.format(name=f"Net{at}") for at, part in enumerate(parts))


@pytest.fixture
def editor(shared: Editor) -> Editor:
    return shared


async def fix_all(editor: Editor, uri: str, title: str = FIX_ALL) -> str:
    place = editor.range_of(uri, "class Net0")
    if title == FIX_RULE:
        place = types.Range(types.Position(0, 0), types.Position(len(editor.texts[uri]), 0))
    await choose(editor, title, await actions(editor, uri, place))
    return editor.texts[uri]


async def test_all_that_is_safe_is_fixed(editor: Editor) -> None:
    uri = editor.open("net.py", module(SAFE, UNSAFE, SAFE))
    assert await fix_all(editor, uri) == module(FIXED, UNSAFE, FIXED)


async def test_unsafe_fixes_are_taken_where_that_is_wanted(editor: Editor) -> None:
    await editor.configure({"unsafeFixes": True})
    uri = editor.open("net.py", module(SAFE, UNSAFE))
    assert await fix_all(editor, uri) == module(FIXED, UNSAFE_FIXED)


async def test_unsafe_fixes_are_taken_where_the_project_wants_it(editor: Editor) -> None:
    editor.write("project/exportlint.toml", "unsafe-fixes = true\n")
    uri = editor.open("project/net.py", module(SAFE, UNSAFE))
    assert await fix_all(editor, uri) == module(FIXED, UNSAFE_FIXED)


async def test_one_rule_can_be_fixed_in_the_whole_file(editor: Editor) -> None:
    text = module(SAFE, UNSAFE, SAFE) + OTHER
    uri = editor.open("net.py", text)
    found = await actions(editor, uri, EVERYWHERE)
    fixable = {action.title for action in found}
    assert FIX_RULE in fixable
    await choose(editor, FIX_RULE, found)
    assert editor.texts[uri] == module(FIXED, UNSAFE, FIXED) + OTHER


async def test_one_finding_alone_needs_no_fix_of_its_rule(editor: Editor) -> None:
    uri = editor.open("net.py", module(SAFE, UNSAFE))
    found = await actions(editor, uri, "x.sum() > 0")
    assert FIX_RULE not in [action.title for action in found]


async def test_only_lines_that_differ_are_edited(editor: Editor) -> None:
    uri = editor.open("net.py", module(SAFE, *[UNSAFE] * 20, SAFE))
    (action,) = await actions(editor, uri, EVERYWHERE, ["source.fixAll"])
    edit = (await resolved(editor, action)).edit
    assert edit is not None
    (part,) = edit.document_changes or ()
    assert isinstance(part, types.TextDocumentEdit)
    assert [editor.piece(uri, one.range) for one in part.edits if isinstance(one, types.TextEdit)] == [
        "        if x.sum() > 0:\n            return x + 1\n        return x * 2\n"
    ] * 2


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("end", [True, False])
async def test_line_ends_stay_as_they_are(editor: Editor, newline: str, end: bool) -> None:
    def text(*parts: str) -> str:
        made = "\x0c" + module(*parts).replace("x + 1", 'x + len("😀\x0c\x85\u2028")')
        return (made if end else made.rstrip("\n")).replace("\n", newline)

    await editor.configure({"unsafeFixes": True})
    uri = editor.open("net.py", text(SAFE, SAFE))
    assert await fix_all(editor, uri) == text(FIXED, FIXED)


async def test_a_byte_order_mark_stays_first(editor: Editor) -> None:
    text = "\ufeff" + module(SAFE).removeprefix("import torch\n")
    expected = "\ufeff" + module(FIXED)
    uri = editor.open("net.py", text)
    assert await fix_all(editor, uri) == expected
    editor.set_text(uri, text)
    await choose(editor, "Choose with `torch.where` (EXP101)", await actions(editor, uri, "x.sum() > 0"))
    assert editor.texts[uri] == expected
    editor.set_text(uri, text)
    await choose(editor, "Ignore EXP101 in this file", await actions(editor, uri, "x.sum() > 0"))
    assert editor.texts[uri].startswith("\ufeff# exportlint: file-ignore[EXP101]\nfrom torch")


async def test_nothing_to_fix_is_not_offered(editor: Editor) -> None:
    uri = editor.open("net.py", module(UNSAFE))
    assert await actions(editor, uri, EVERYWHERE, ["source.fixAll"]) == []
    uri = editor.open("broken.py", module(SAFE) + ")")
    assert await actions(editor, uri, EVERYWHERE, ["source.fixAll"]) == []


async def test_what_is_chosen_late_is_done_to_the_text_of_now(editor: Editor) -> None:
    uri = editor.open("net.py", module(SAFE))
    (action,) = await actions(editor, uri, EVERYWHERE, ["source.fixAll"])
    editor.replace(uri, "class Net0", "# more\nclass Net0")
    edit = (await resolved(editor, action)).edit
    assert edit is not None
    editor.apply(edit)
    assert editor.texts[uri] == module(FIXED).replace("class Net0", "# more\nclass Net0")
    assert (await resolved(editor, action)).edit is None


@pytest.mark.parametrize("data", [None, 3, [], {}, {"uri": 1}, {"uri": "file:///gone.py"}, {"uri": "net", "codes": 1}])
async def test_an_action_that_is_not_ours_comes_back_as_it_was(editor: Editor, data: object) -> None:
    action = types.CodeAction("something", kind="refactor", data=data)
    assert await editor.answer(editor.client.code_action_resolve_async(action)) == action


async def test_an_action_with_an_edit_keeps_it(editor: Editor) -> None:
    uri = editor.open("net.py", module(SAFE))
    action = types.CodeAction("something", edit=types.WorkspaceEdit({}), data={"uri": uri, "codes": None})
    assert await editor.answer(editor.client.code_action_resolve_async(action)) == action


async def test_texts_of_other_documents_are_seen(editor: Editor) -> None:
    editor.create("base.py", HEAD + "class Base(nn.Module):\n    pass\n")
    uri = editor.open("net.py", f"{HEAD}from base import Base\n{SAFE.format(name='Net0').replace('nn.Module', 'Base')}")
    before = editor.texts[uri]
    assert "torch.where" in await fix_all(editor, uri)
    editor.set_text(uri, before)
    editor.open("base.py", "class Base:\n    pass\n")
    await editor.run("exportlint.applyAutofix", uri)
    assert not editor.client.edits
    assert await actions(editor, uri, EVERYWHERE, ["source.fixAll"]) == []


async def test_what_is_not_saved_can_be_fixed_before_it_is(tmp_path: Path) -> None:
    async with editing(tmp_path, capable(), {"lint": {"run": "onSave"}}) as editor:
        uri = editor.open("net.py", HEAD)
        assert await editor.codes(uri) == []
        editor.set_text(uri, module(SAFE))
        assert await actions(editor, uri, EVERYWHERE, ["quickfix"]) == []
        await choose(editor, FIX_ALL, await actions(editor, uri, EVERYWHERE, ["source.fixAll"]))
        assert editor.texts[uri] == module(FIXED)


async def test_a_client_that_resolves_nothing_gets_all_at_once_when_it_asks(tmp_path: Path) -> None:
    async with editing(tmp_path, minimal()) as editor:
        uri = editor.open("net.py", module(SAFE, SAFE))
        by_itself = await actions(editor, uri, EVERYWHERE, trigger=types.CodeActionTriggerKind.Automatic)
        assert not {FIX_ALL, FIX_RULE} & {action.title for action in by_itself}
        for title in (FIX_ALL, FIX_RULE):
            found = await actions(editor, uri, EVERYWHERE, trigger=types.CodeActionTriggerKind.Invoked)
            (action,) = [action for action in found if action.title == title]
            assert action.edit is not None
            assert action.edit.changes is not None
            assert action.data is None
        assert action.edit is not None
        editor.apply(action.edit)
        assert editor.texts[uri] == module(FIXED, FIXED)
