"""Rules, and what else comments for exportlint may say, while they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from exportlint.registry import all_rules
from tests.cli.runner import NET
from tests.server.asking import completion
from tests.server.capabilities import ENCODINGS, capable
from tests.server.client import Editor, editing

TEST = "if x.sum() > 0:"
CODES = [rule.code for rule in all_rules()]
NAMES = [rule.name for rule in all_rules()]


@pytest.fixture
def editor(shared: Editor) -> Editor:
    return shared


async def offered(editor: Editor, typed: str, rest: str = "", before: str = TEST) -> tuple[str, list[str]]:
    """The URI of a document in which a comment was typed, and what can stand behind it."""
    uri = editor.open("net.py", NET.replace(TEST, f"{before}  {typed}{rest}"))
    await editor.diagnostics(uri)  # what comes first goes by what is found, if that is known in time
    place = editor.range_of(uri, f"{before}  {typed}").end
    return uri, [item.label for item in await completion(editor, uri, place)]


@pytest.mark.parametrize(
    "typed",
    [
        "# exportlint: ignore[",
        "#exportlint:ignore[",
        "# exportlint: ignore[ten",
        "# exportlint: ignore[E501,",
        "# exportlint: ignore[E501, EXP1",
        "# see below # exportlint: ignore[",
    ],
)
async def test_rules_can_stand_in_a_list(editor: Editor, typed: str) -> None:
    _, labels = await offered(editor, typed)
    assert labels[:2] == ["EXP101", "tensor-branch"]  # what is found in that line comes first
    assert sorted(labels) == sorted([*CODES, *NAMES])


@pytest.mark.parametrize("rest", ["]", "EXP1]", "tensor-branch]"])
async def test_what_the_comment_suppresses_already_counts_as_found(editor: Editor, rest: str) -> None:
    _, labels = await offered(editor, "# exportlint: ignore[", rest)
    assert labels[0] == "EXP101"


async def test_rules_that_are_listed_are_not_offered_again(editor: Editor) -> None:
    _, labels = await offered(editor, "# exportlint: ignore[tensor-branch, EXP202, ", "]")
    assert {"EXP101", "tensor-branch", "EXP202"}.isdisjoint(labels)
    assert len(labels) == 2 * len(CODES) - 4


@pytest.mark.parametrize("typed", ["# noqa: ", "# noqa:", "# NOQA: EXP1", "# noqa: E501 ", "# noqa: E501, EXP"])
async def test_codes_can_stand_behind_noqa(editor: Editor, typed: str) -> None:
    _, labels = await offered(editor, typed)
    assert labels[0] == "EXP101"
    assert sorted(labels) == CODES


@pytest.mark.parametrize("typed", ["# exportlint: ", "# exportlint:", "# exportlint: fi"])
async def test_verbs_can_stand_behind_the_name(editor: Editor, typed: str) -> None:
    _, labels = await offered(editor, typed)
    assert labels == ["ignore", "file-ignore", "disable", "enable"]


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "# ",
        "# a, b [",
        "# exportlint",
        "# exportlint: ignore[EXP101] ",
        "# exportlint: ignore[EXP101]: ",
        "# noqa",
        "# noqa: EXP101 because ",
        "'# noqa: ",
        "'# exportlint: ignore[",
    ],
)
async def test_nothing_is_offered_elsewhere(editor: Editor, typed: str) -> None:
    _, labels = await offered(editor, typed, "'" if typed.startswith("'") else "")
    assert labels == []


async def test_what_is_found_in_the_file_comes_first_where_it_is_for_the_file(editor: Editor) -> None:
    uri = editor.open("net.py", f"# exportlint: file-ignore[\n{NET}")
    found = await completion(editor, uri, types.Position(0, 26))
    assert [item.label for item in found[:2]] == ["EXP101", "tensor-branch"]
    assert [item.detail for item in found[:2]] == ["tensor-branch", "EXP101"]


async def test_what_is_found_below_comes_first_on_a_line_of_its_own(editor: Editor) -> None:
    uri = editor.open("own.py", NET.replace(TEST, f"# exportlint: ignore[\n        {TEST}"))
    found = await completion(editor, uri, editor.range_of(uri, "ignore[").end)
    assert found[0].label == "EXP101"


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_the_entry_is_replaced_as_a_whole(tmp_path: Path, encoding: str) -> None:
    async with editing(tmp_path, capable(encoding)) as editor:
        comment = "# 😀 exportlint: x # exportlint: ignore[EXP202, tens"
        uri, _ = await offered(editor, comment, "or-br]")
        place = editor.range_of(uri, f"{TEST}  {comment}").end
        (item,) = [item for item in await completion(editor, uri, place) if item.label == "tensor-branch"]
        assert isinstance(item.text_edit, types.TextEdit)
        editor.change(uri, item.text_edit)
        assert f"{TEST}  # 😀 exportlint: x # exportlint: ignore[EXP202, tensor-branch]\n" in editor.texts[uri]


async def test_a_rule_is_explained_when_it_is_looked_at(editor: Editor) -> None:
    uri, _ = await offered(editor, "# noqa: ")
    (item,) = [i for i in await completion(editor, uri, editor.range_of(uri, "noqa: ").end) if i.label == "EXP101"]
    shown = await editor.answer(editor.client.completion_item_resolve_async(item))
    assert shown.documentation.startswith("Reports ")
    plain = types.CompletionItem("ignore")
    assert await editor.answer(editor.client.completion_item_resolve_async(plain)) == plain


async def test_it_is_asked_for_where_lists_begin_and_go_on(editor: Editor) -> None:
    assert editor.capabilities.completion_provider is not None
    assert list(editor.capabilities.completion_provider.trigger_characters or ()) == ["[", ",", ":", " "]
