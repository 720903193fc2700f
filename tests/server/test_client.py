"""The tests' own client counts as the protocol says."""

from __future__ import annotations

import pytest
from lsprotocol import types

from tests.cli.runner import NET
from tests.server import texts
from tests.server.capabilities import EDITORS, ENCODINGS, recorded
from tests.server.client import Editor

TEXT = "a\r\nb😀c\rd\x0ce\nf"


@pytest.mark.parametrize(("encoding", "character"), [*zip(ENCODINGS, (5, 3, 2), strict=True)])
def test_counts_in_units(encoding: str, character: int) -> None:
    place = types.Position(1, character)
    assert texts.position(TEXT, TEXT.index("c"), encoding) == place
    assert texts.offset(TEXT, place, encoding) == TEXT.index("c")
    assert texts.position(TEXT, TEXT.index("e"), encoding) == types.Position(2, 2)
    assert texts.position(TEXT, len(TEXT), encoding) == types.Position(3, 1)


def test_refuses_what_is_no_place_of_the_text() -> None:
    for place in (types.Position(1, 2), types.Position(4, 0), types.Position(0, 2)):
        with pytest.raises(AssertionError):
            texts.offset(TEXT, place, "utf-16")


def test_refuses_edits_that_overlap() -> None:
    edits = [types.TextEdit(texts.range_of("abc", piece, "utf-8"), "") for piece in ("ab", "bc")]
    with pytest.raises(AssertionError, match="overlap"):
        texts.edited("abc", edits, "utf-8")


@pytest.mark.parametrize("editor", EDITORS)
def test_recorded_capabilities_can_be_read(editor: str) -> None:
    assert recorded(editor).text_document is not None


async def test_shows_what_is_found(editor: Editor) -> None:
    uri = editor.open("net.py", NET)
    (shown,) = await editor.diagnostics(uri)
    assert (shown.code, editor.piece(uri, shown.range)) == ("EXP101", "x.sum() > 0")
    editor.replace(uri, "x.sum() > 0", "x.dim() > 0")
    assert await editor.codes(uri) == []
