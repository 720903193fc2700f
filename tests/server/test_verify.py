"""Verifying models: torch.export itself run by the server, and what an editor shows of it."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types

from tests.patience import PATIENCE
from tests.server.asking import actions, choose, hover, lenses
from tests.server.capabilities import capable
from tests.server.client import Editor, editing

MODELS = """\
import torch
from torch import Tensor, nn

from helper import chosen


class Fails(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x + 1
        return x * 2

    def example_inputs(self):
        return (torch.ones(2, 3),)


class Flagged(nn.Module):
    def forward(self, x: Tensor, flag: Tensor) -> Tensor:
        if flag:
            return x + 1
        return x * 2

    def example_inputs(self):
        return (torch.ones(2, 3), True)


class Missed(nn.Module):
    def forward(self, x):
        n = getattr(x.sum().long(), chr(105) + "tem")()
        if n > 3:
            return x + 1
        return chosen(x)

    def example_inputs(self):
        return (torch.ones(2, 3),)


class Elsewhere(nn.Module):
    def forward(self, x):
        return chosen(x)

    def example_inputs(self):
        return (torch.ones(2, 3),)


class Needs(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, x):
        return x * self.config.scale


class Plain:
    def forward(self, x):
        return x
"""
HELPER = """\
def chosen(x):
    return x if getattr(x, chr(115) + "um")() > 0 else -x
"""
BY = "torch.export 2."
VERIFY = "exportlint.verifyModule"
SOURCE = "exportlint-verify"


@pytest_asyncio.fixture(scope="module")
async def verifying(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """An editor in which all models of a file have been verified."""
    root = tmp_path_factory.mktemp("verify")
    async with editing(root, capable()) as editor:
        for name, text in (("models.py", MODELS), ("helper.py", HELPER)):
            editor.write(name, text)
        editor.open("models.py", MODELS)
        await editor.run(VERIFY, editor.uri("models.py"))
        await told(editor)
        yield editor


@pytest.fixture
def editor(verifying: Editor) -> Editor:
    """That editor, in which the file is open, unchanged."""
    uri = verifying.uri("models.py")
    if verifying.texts.get(uri) != MODELS:
        if uri in verifying.texts:
            verifying.close(uri)
        verifying.open("models.py", MODELS)
    verifying.client.messages.clear()
    return verifying


async def told(editor: Editor) -> str:
    """The next message to the user."""
    await editor.until(lambda: bool(editor.client.messages), PATIENCE)
    return editor.client.messages[-1].message


async def titles(editor: Editor, uri: str) -> dict[str, str]:
    """What the lenses that verify say, by the class that they stand above."""
    return {
        editor.piece(uri, lens.range).removeprefix("class ").partition("(")[0]: lens.command.title
        for lens in await lenses(editor, uri, VERIFY)
        if lens.command is not None
    }


async def remarks(editor: Editor, uri: str) -> Mapping[str, types.Diagnostic]:
    """What verifying says, by the line that it is about."""
    shown = [one for one in await editor.diagnostics(uri) if one.source == SOURCE]
    return {editor.piece(uri, one.range): one for one in shown}


async def messages(editor: Editor, uri: str) -> Sequence[str]:
    """What is said of findings, by the linter and then by torch.export."""
    return [one.message for one in await editor.diagnostics(uri) if one.source == "exportlint"]


async def test_each_model_says_what_came_of_it(editor: Editor) -> None:
    assert await titles(editor, editor.uri("models.py")) == {
        "Fails": "export: fails",
        "Flagged": "export: verified",
        "Missed": "export: fails",
        "Elsewhere": "export: fails",
        "Needs": "export: cannot be built",
    }


async def test_findings_say_what_became_of_them(editor: Editor) -> None:
    confirmed, refuted = await messages(editor, editor.uri("models.py"))
    assert f"\nconfirmed by {BY}" in confirmed
    assert "(non-strict, cpu): export raises here: " in confirmed
    assert f"\nrefuted by {BY}" in refuted
    assert "the line ran, and export passed" in refuted


async def test_what_was_missed_is_shown_where_it_is(editor: Editor) -> None:
    uri = editor.uri("models.py")
    found = await remarks(editor, uri)
    assert {line: one.severity for line, one in found.items()} == {
        "class Fails(nn.Module):": types.DiagnosticSeverity.Error,
        "if n > 3:": types.DiagnosticSeverity.Error,
        "class Missed(nn.Module):": types.DiagnosticSeverity.Error,
        "class Elsewhere(nn.Module):": types.DiagnosticSeverity.Error,
        "class Needs(nn.Module):": types.DiagnosticSeverity.Information,
    }
    missed, needs = found["if n > 3:"], found["class Needs(nn.Module):"]
    assert missed.message.startswith(BY)
    assert "Could not guard on data-dependent expression" in missed.message
    assert missed.code == "fails"
    assert "\nhelp: " in missed.message  # what `exportlint explain` says
    assert "its constructor needs `config`" in needs.message


async def test_the_head_of_a_class_says_what_export_raises_first_and_where(editor: Editor) -> None:
    uri, helper = editor.uri("models.py"), editor.uri("helper.py")
    found = await remarks(editor, uri)
    for name, place in {"Fails": (uri, 8), "Missed": (uri, 29), "Elsewhere": (helper, 1)}.items():
        head = found[f"class {name}(nn.Module):"]
        assert re.match(
            r"torch\.export 2\.\d+\.\d+ \(non-strict, cpu\): export fails: GuardOnDataDependentSymNode: Could not ",
            head.message,
        )
        (raised,) = head.related_information or ()
        assert (raised.location.uri, raised.location.range.start.line) == place


DRAFTED = """\
import torch
from torch import nn


class Drafted(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x + 1
        return torch.as_tensor(getattr(x, chr(110) + "umpy")())

    def example_inputs(self):
        return (torch.ones(2, 3),)


class Other(nn.Module):
    def forward(self, x):
        if x.mean() > 0:
            return x + 1
        return x * 2
"""
"""A branch on data, behind which `draft_export` alone goes on, and a class that nobody has verified."""


async def test_what_draft_export_alone_meets_is_told_as_that_and_other_classes_are_left_alone(editor: Editor) -> None:
    editor.write("drafted.py", DRAFTED)
    uri = editor.open("drafted.py", DRAFTED)
    await editor.run(VERIFY, uri, "Drafted")
    assert (await told(editor)).startswith("exportlint: drafted:Drafted: fails, GuardOnDataDependentSymNode: ")
    found, (mine, other) = await remarks(editor, uri), await messages(editor, uri)
    editor.close(uri)
    assert set(found) == {"class Drafted(nn.Module):", 'return torch.as_tensor(getattr(x, chr(110) + "umpy")())'}
    assert "export fails: GuardOnDataDependentSymNode: " in found["class Drafted(nn.Module):"].message
    drafted = found['return torch.as_tensor(getattr(x, chr(110) + "umpy")())']
    assert "(non-strict, cpu): found by draft_export only: RuntimeError: " in drafted.message
    assert drafted.severity is types.DiagnosticSeverity.Warning
    assert f"\nconfirmed by {BY}" in mine
    assert "torch.export 2" not in other


async def test_what_torch_proposes_can_be_chosen(editor: Editor) -> None:
    uri = editor.uri("models.py")
    title = "Tell torch.export what it cannot know: `torch._check(n > 3)` (proposal)"
    found = await actions(editor, uri, "n > 3")
    (proposed,) = [action for action in found if action.title == title]
    assert proposed.diagnostics == ((await remarks(editor, uri))["if n > 3:"],)
    await choose(editor, title, found)
    assert editor.texts[uri] == MODELS.replace(
        "        if n > 3:\n", "        torch._check(n > 3)\n        if n > 3:\n"
    )
    assert not [action for action in await actions(editor, uri, "if n > 3") if "_check" in action.title]


async def test_another_file_shows_what_is_met_in_it(editor: Editor) -> None:
    uri = editor.open("helper.py", HELPER)
    found = await remarks(editor, uri)
    editor.close(uri)
    assert list(found) == ['return x if getattr(x, chr(115) + "um")() > 0 else -x']


async def test_hover_says_what_became_of_a_finding(editor: Editor) -> None:
    uri = editor.uri("models.py")
    found = await hover(editor, uri, editor.range_of(uri, "flag:\n").start)
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert found.contents.value.startswith(f"**refuted** by {BY}")
    assert "[tensor-branch (EXP101)](" in found.contents.value


async def test_what_is_refuted_is_ignored_with_the_reason(editor: Editor) -> None:
    uri = editor.uri("models.py")
    title = "Ignore EXP101 on this line: torch.export refutes it"
    found = await actions(editor, uri, "flag:\n")
    assert title in [action.title for action in found]
    assert title not in [action.title for action in await actions(editor, uri, "x.sum() > 0")]
    await choose(editor, title, found)
    assert f"        if flag:  # exportlint: ignore[EXP101] refuted by {BY}" in editor.texts[uri]
    assert "EXP101" not in [one.code for one in await editor.diagnostics(uri) if one.range.start.line == 20]


async def test_results_go_stale_with_the_text_and_come_back_with_it(editor: Editor) -> None:
    uri = editor.uri("models.py")
    editor.replace(uri, "class Fails(", "# new\n\nclass Fails(")
    assert not any(BY in message for message in await messages(editor, uri))
    found = await remarks(editor, uri)
    assert set(found) == {
        "class Fails(nn.Module):",  # two lines further down
        "class Missed(nn.Module):",
        "if n > 3:",
        "class Elsewhere(nn.Module):",
        "class Needs(nn.Module):",
    }
    for remark in found.values():
        assert remark.message.startswith("stale: ")
        assert remark.severity is types.DiagnosticSeverity.Information
        assert remark.tags is None  # the code is used
    assert (await titles(editor, uri))["Fails"] == "export: fails (stale)"
    editor.replace(uri, "n > 3", "n > 4")
    editor.replace(uri, "class Needs(", "class Wants(")
    assert set(await remarks(editor, uri)) == {f"class {name}(nn.Module):" for name in ("Fails", "Missed", "Elsewhere")}
    assert (await titles(editor, uri))["Wants"] == "Verify export"
    editor.set_text(uri, MODELS)
    assert len([message for message in await messages(editor, uri) if BY in message]) == 2
    assert len(await remarks(editor, uri)) == 5


async def test_results_go_stale_with_another_file(editor: Editor) -> None:
    uri, helper = editor.uri("models.py"), editor.open("helper.py", HELPER)
    before = await remarks(editor, uri)
    shown = editor.client.published[uri]
    editor.replace(helper, "else -x", "else x")
    await editor.until(lambda: editor.client.published[uri] is not shown)
    assert {line: one.message.startswith("stale: ") for line, one in (await remarks(editor, uri)).items()} == {
        "class Fails(nn.Module):": True,
        "class Missed(nn.Module):": True,
        "if n > 3:": True,
        "class Elsewhere(nn.Module):": True,
        "class Needs(nn.Module):": False,  # nothing was run for it
    }
    shown = editor.client.published[uri]
    editor.close(helper)
    await editor.until(lambda: editor.client.published[uri] is not shown)
    assert await remarks(editor, uri) == before


async def test_what_is_not_saved_is_verified_as_saved(editor: Editor) -> None:
    uri = editor.uri("models.py")
    editor.replace(uri, "class Needs(", "\nclass Needs(")
    await editor.run(VERIFY, uri, "Needs")
    assert await told(editor) == (
        "exportlint: models:Needs: cannot be built, its constructor needs `config`: give a target"
        " (as saved, without later changes)"
    )
    remark = (await remarks(editor, uri))["class Needs(nn.Module):"]
    assert remark.message.startswith("stale: ")


async def test_nothing_is_run_unless_it_is_asked_for(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    text = f"open({str(ran)!r}, 'w').close()\n{MODELS}"
    async with editing(tmp_path, capable()) as editor:
        editor.write("models.py", text)
        uri = editor.open("models.py", text)
        assert set((await titles(editor, uri)).values()) == {"Verify export"}
        await hover(editor, uri, editor.range_of(uri, "flag:\n").start)
        await actions(editor, uri, "flag:\n")
        editor.save(uri)
        await editor.configure({"verify": {"enable": False}})
        assert await titles(editor, uri) == {}
        await editor.run(VERIFY, uri, "Fails")
        assert "verifying is off here" in await told(editor)
    assert not ran.exists()


@pytest.mark.parametrize(
    ("uri", "name", "said"),
    [
        ("file:///nowhere.py", "Fails", "`file:///nowhere.py` is not open"),
        (None, None, "`None` is not open"),
        ("untitled:one", "Fails", "save the file first: the version on disk is verified"),
        ("models.py", "Nothing", "Nothing was not verified: "),
        ("text.txt", None, "only models in Python files can be verified, because verifying imports the file"),
    ],
)
async def test_what_cannot_be_done_is_told(editor: Editor, uri: str | None, name: str | None, said: str) -> None:
    opened = [editor.open("untitled:one", MODELS), editor.open("text.txt", MODELS, "plaintext")]
    await editor.run(VERIFY, editor.uri(uri) if uri else uri, name)
    message = await told(editor)
    for other in opened:
        editor.close(other)
    assert message.startswith(f"exportlint: {said}")
    assert editor.client.messages[-1].type is types.MessageType.Error


@pytest.mark.parametrize("way", ["setting", "option"])
async def test_the_interpreter_is_the_one_that_the_editor_names(editor: Editor, way: str) -> None:
    missing = str(editor.root / "no" / "python")
    if way == "setting":
        await editor.configure({"verify": {"python": missing}})
    options = {"python": "python" if way == "setting" else missing}
    await editor.run(VERIFY, editor.uri("models.py"), "Fails", options)
    said = await told(editor)
    if way == "setting":
        await editor.configure({})
    assert said == f"exportlint: Fails was not verified: `{missing}` cannot be run: No such file or directory"
    assert (await titles(editor, editor.uri("models.py")))["Fails"] == "export: fails"


async def test_a_python_without_torch_is_told_in_terms_of_the_editor(editor: Editor) -> None:
    bare = editor.write("bare", f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    bare.chmod(0o755)
    await editor.run(VERIFY, editor.uri("models.py"), "Fails", {"python": str(bare)})
    advice = f"`{bare} -m pip install torch`, or name another by the setting `exportlint.verify.python`"
    assert await told(editor) == f"exportlint: Fails was not verified: `{bare}` has no torch: {advice}"
