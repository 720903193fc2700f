"""Each fix that the catalogue shows, applied by an editor, gives the block that the catalogue shows.

The blocks are made hard to count in: what they call `x` has a name outside of the first 65,536 characters, lines end in
CRLF, and there is a form feed.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types

from exportlint.config.toml import parse
from exportlint.pages import Block
from tests.catalogue import pages
from tests.sampling import first_of_each
from tests.server.asking import actions, choose
from tests.server.capabilities import ENCODINGS, capable
from tests.server.client import Editor, editing

CASES = [
    (page.original_of(block), block) for page in pages() for block in page.blocks if block.kind == "fixed" and block.fix
]
EVERYWHERE = types.Range(types.Position(0, 0), types.Position(10**6, 0))
MANY = 30
"""More than any block has findings."""

_FIX = re.compile(r".*?(?P<how> \(unsafe\)| \(proposal\))? \(EXP\d{3}\)")
_HOW: dict[str, set[str | None]] = {
    "safe": {None},
    "unsafe": {None, " (unsafe)"},
    "display-only": {None, " (unsafe)", " (proposal)"},
}


def case_id(value: object) -> str | None:
    return value.name if isinstance(value, Block) else None


def every_case(*applicabilities: str) -> pytest.MarkDecorator:
    """Parametrise by a bad block and what fixes up to an applicability make of it."""
    cases = [(bad, fixed) for bad, fixed in CASES if fixed.fix in applicabilities]
    return pytest.mark.parametrize(("bad", "fixed"), first_of_each(cases, lambda case: case[0].page[:5]), ids=case_id)


def text_of(block: Block) -> str:
    """What the block is as a file that is hard to count in."""
    return "# 😀\n\x0c\n".replace("\n", "\r\n") + re.sub(r"(?<![^\W_])x(?=\b|_\d)", "𠀀", block.plain).replace(
        "\n", "\r\n"
    )


def directory(block: Block) -> str:
    return f"{block.name}-{block.fix}"


@pytest_asyncio.fixture(
    scope="module",
    params=[pytest.param(e, marks=() if e == "utf-16" else pytest.mark.thorough) for e in ENCODINGS],
)
async def editor(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """One editor for all blocks, each of which has a folder with the settings that it is about."""
    root = tmp_path_factory.mktemp("blocks")
    for bad, fixed in CASES:
        shapes: dict[str, object] = {} if bad.dynamic else {"dynamic-dims": []}  # as the catalogue's own tests have it
        settings = shapes | parse(bad.settings) | {"mode": fixed.fix_mode, "unsafe-fixes": fixed.fix == "unsafe"}
        write(root / directory(fixed), settings | {"torch-version": "2.13"})
    async with editing(root, capable(request.param)) as opened:
        assert opened.encoding == request.param
        yield opened


def write(folder: Path, settings: dict[str, object]) -> None:
    folder.mkdir()
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in settings.items()]
    (folder / "exportlint.toml").write_text("".join(lines), encoding="utf-8")


@every_case("safe", "unsafe")
async def test_fixing_all_gives_what_the_page_shows(editor: Editor, bad: Block, fixed: Block) -> None:
    uri = editor.open(f"{directory(fixed)}/{bad.name}.py", text_of(bad))
    await choose(editor, "Fix all with exportlint", await actions(editor, uri, EVERYWHERE, ["source.fixAll"]))
    assert editor.texts[uri] == text_of(fixed)
    editor.close(uri)


@every_case("safe", "unsafe", "display-only")
async def test_quick_fixes_give_what_the_page_shows(editor: Editor, bad: Block, fixed: Block) -> None:
    uri = editor.open(f"{directory(fixed)}/{bad.name}.py", text_of(bad))
    for _ in range(MANY):
        found = await actions(editor, uri, EVERYWHERE, ["quickfix"])
        fixes = [a for a in found if (match := _FIX.fullmatch(a.title)) and match["how"] in _HOW[fixed.fix]]
        if not fixes:
            break
        assert fixes[0].edit is not None
        editor.apply(fixes[0].edit)
    assert editor.texts[uri] == text_of(fixed)
    editor.close(uri)
