"""Comments that have findings not reported again, written by code actions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.runner import NET
from tests.server.asking import actions, choose
from tests.server.capabilities import ENCODINGS, capable
from tests.server.client import Editor, editing
from tests.server.test_code_actions import IGNORE, TEST
from tests.server.test_notebooks import AT, Cells, editor_apply


@pytest.fixture
def editor(shared: Editor) -> Editor:
    return shared


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_comments_go_where_they_belong(tmp_path: Path, encoding: str) -> None:
    text = NET.replace(TEST, '(x.sum() > len("😀😀")\n        )')
    text = f'#!/usr/bin/env python\n# coding: utf-8\n"""What\nit 😀 is."""  # why\n\n{text}'.replace("\n", "\r\n")
    async with editing(tmp_path, capable(encoding)) as editor:
        uri = editor.open("net.py", text)
        found = await actions(editor, uri, 'x.sum() > len("😀😀")')
        await choose(editor, IGNORE[0], found)
        assert editor.texts[uri] == text.replace("        ):", "        ):  # exportlint: ignore[EXP101]")
        assert await editor.codes(uri) == []
        editor.set_text(uri, text)
        found = await actions(editor, uri, 'x.sum() > len("😀😀")')
        await choose(editor, IGNORE[1], found)
        pragma = "# exportlint: file-ignore[EXP101]\r\n"
        assert editor.texts[uri] == text.replace("# why\r\n", f"# why\r\n{pragma}")
        assert await editor.codes(uri) == []


async def test_comments_have_a_reason_to_fill_in_where_one_is_required(tmp_path: Path) -> None:
    (tmp_path / "exportlint.toml").write_text("require-reason = true\n", encoding="utf-8")
    async with editing(tmp_path, capable()) as editor:
        uri = editor.open("net.py", NET)
        for title, expected in (
            (IGNORE[0], NET.replace(f"{TEST}:", f"{TEST}:  # exportlint: ignore[EXP101] TODO: say why")),
            (IGNORE[1], f"# exportlint: file-ignore[EXP101] TODO: say why\n{NET}"),
        ):
            await choose(editor, title, await actions(editor, uri, TEST))
            assert editor.texts[uri] == expected
            assert await editor.codes(uri) == []
            editor.set_text(uri, NET)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("", "# exportlint: file-ignore[EXP101]\n"),
        ("# (c) me\n", "# exportlint: file-ignore[EXP101]\n# (c) me\n"),
        ("#!/bin/python\n", "#!/bin/python\n# exportlint: file-ignore[EXP101]\n"),
        ("# -*- coding: utf-8 -*-\n", "# -*- coding: utf-8 -*-\n# exportlint: file-ignore[EXP101]\n"),
        ("#\n# vim: fileencoding=utf-8\n", "#\n# vim: fileencoding=utf-8\n# exportlint: file-ignore[EXP101]\n"),
        ("'''a'''; import os\n", "'''a'''; import os\n# exportlint: file-ignore[EXP101]\n"),
        ("# x\n\n\x0c\n('a'\n 'b')\n", "# x\n\n\x0c\n('a'\n 'b')\n# exportlint: file-ignore[EXP101]\n"),
        ("f'{1}'\n", "# exportlint: file-ignore[EXP101]\nf'{1}'\n"),
        ("'a'; b = \\\n 1\n", "'a'; b = \\\n 1\n# exportlint: file-ignore[EXP101]\n"),
        ("# x\n\nr'a' \\\n 'b'\n", "# x\n\nr'a' \\\n 'b'\n# exportlint: file-ignore[EXP101]\n"),
        ("# exportlint: file-ignore[EXP2]\n", "# exportlint: file-ignore[EXP2, EXP101]\n"),
    ],
)
async def test_a_comment_for_the_file_stands_below_what_must_be_first(editor: Editor, head: str, expected: str) -> None:
    uri = editor.open("net.py", head + NET)
    await choose(editor, IGNORE[1], await actions(editor, uri, TEST))
    assert editor.texts[uri] == expected + NET
    assert "EXP101" not in await editor.codes(uri)


@pytest.mark.thorough
@pytest.mark.parametrize("head", ["%%time\n", "\n%%capture out\n%%time\n", "%load_ext autoreload\n%autoreload 2\n"])
async def test_a_comment_for_the_file_stands_below_the_magic_of_its_cell(tmp_path: Path, head: str) -> None:
    async with editing(tmp_path, capable()) as editor:
        cells = Cells(editor, head + NET)
        (ignore,) = [one for one in await actions(editor, f"{AT}0", TEST) if one.title == IGNORE[1]]
        assert ignore.edit is not None
        editor_apply(editor, ignore.edit)
        assert editor.texts[f"{AT}0"] == f"{head}# exportlint: file-ignore[EXP101]\n{NET}"
        cells.write(0, editor.texts[f"{AT}0"])
        assert await cells.found() == {}
