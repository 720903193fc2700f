"""Texts as clients have them: every line end, character and unit, and the edits between one version and the next."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types

from exportlint.server.documents import Document
from exportlint.source import PositionEncoding
from tests.cli.runner import NET
from tests.sampling import one_in
from tests.server import texts
from tests.server.capabilities import ENCODINGS
from tests.server.client import forked
from tests.server.raw import Process, process

Message = dict[str, object]

_ODD = ["a", "(", "é", "😀", "e\u0301", "\t", "\x0c", "\x85", "\u2028", "\n", "\r\n", "\r", "\ufeff"]
ODD = st.lists(st.sampled_from(_ODD))
EDITS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), ODD.map("".join)), min_size=1, max_size=8)


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=200, deadline=None)
@given(ODD.map("".join), EDITS)
def test_edits_are_applied_one_after_the_other(encoding: str, text: str, edits: list[tuple[float, float, str]]) -> None:
    document = Document("untitled:a", 1, text, "python")
    changes: list[types.TextDocumentContentChangeEvent] = []
    for first, second, new in edits:
        start, end = (_boundary(text, int(share * len(text))) for share in sorted((first, second)))
        place = types.Range(texts.position(text, start, encoding), texts.position(text, end, encoding))
        changes.append(types.TextDocumentContentChangePartial(place, new))
        text = text[:start] + new + text[end:]
    assert document.changed(2, changes, PositionEncoding(encoding)).text == text


def _boundary(text: str, offset: int) -> int:
    """The nearest place that a client can speak of, which is none between CR and LF."""
    return offset - 1 if text[offset - 1 : offset + 1] == "\r\n" else offset


@pytest.fixture(scope="module", params=ENCODINGS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A server that counts in each of the units."""
    root = tmp_path_factory.mktemp("documents")
    with process(root, forked()) as started:
        capabilities = {"general": {"positionEncodings": [request.param]}}
        assert started.start(root, capabilities)["positionEncoding"] == request.param
        yield started
        assert started.stop() == 0
        assert " ERROR " not in started.logged


@pytest.mark.parametrize("end", one_in(3, ["\r\n", "\n", "\r"]))
@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("", ""),
        ("", "'😀é\u0301\t'; "),
        ("\x0c\n", "'\x0c'; "),
        ("# \u2028 \x85 \x1c \x0b\n", "'\u2028\x85\x1c'; "),
        ("\ufeff", "'😀'; "),
        ("\ufeff# -*- coding: utf-8 -*-\n", "'é'; "),
        ("# -*- coding: latin-1 -*-\n", "'é😀'; "),
        ("#!/bin/python\n# vim: set fileencoding=cp1252 :\n", "'€'; "),
    ],
)
def test_ranges_are_those_of_the_clients_text(server: Process, before: str, line: str, end: str) -> None:
    statement = f"{line}y = x if x.sum() > 0 else -x; x = y\n        if True:"
    text = (before + NET.replace("if x.sum() > 0:", statement)).replace("\n", end)
    uri = "untitled:text.py"
    server.open(uri, text)
    (shown,) = server.published(uri, 1)
    assert shown["code"] == "EXP101"
    place = types.Range(*(types.Position(**shown["range"][name]) for name in ("start", "end")))
    assert texts.piece(text, place, server.encoding) == "x.sum() > 0"
    server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    server.published(uri)


def test_a_finding_in_the_first_line_after_a_byte_order_mark(server: Process) -> None:
    uri = "untitled:bom.py"
    server.open(uri, "\ufeffx = (\n")
    (shown,) = server.published(uri, 1)
    assert shown["range"]["start"] == {"line": 0, "character": 7 if server.encoding == "utf-8" else 5}


@pytest.mark.parametrize(("text", "row"), [("x = 1\n\0\n", 1), ("# coding: nonsense\n", 0), ("x = '\ud800'\n", None)])
def test_texts_that_python_does_not_read_do_no_harm(server: Process, text: str, row: int | None) -> None:
    uri = "untitled:bad.py"
    server.open(uri, text)
    shown = server.published(uri, 1)
    assert [diagnostic["range"]["start"]["line"] for diagnostic in shown] == ([] if row is None else [row])


MODEL = NET + "\n\n" + NET.replace("class Net", "class Other").replace("x.sum() > 0", "x.any() and x.all()")
PIECES = [
    "x",
    "y",
    "\n",
    "    ",
    "if x.any(): pass\n",
    "😀",
    "# ",
    "(",
    ")",
    "\r\n",
    "'",
    "x.item()",
    "        x.max().item()\n",
]


def _of_text(diagnostics: list[Any]) -> list[Any]:
    """What is said of a text by itself: while it cannot be parsed, what was found before is still shown beside it."""
    return [one for one in diagnostics if one["code"] == "EXP001"] or diagnostics


@pytest.mark.parametrize("seed", one_in(4, range(8)))
def test_random_edits_and_undoing_them_end_where_they_should(server: Process, seed: int) -> None:
    """What is shown after any edits is what is shown of that text when it is opened; after undoing them, as before."""
    encoding, chance = server.encoding, random.Random(seed)
    uri, fresh, text, version = f"untitled:{seed}.py", f"untitled:fresh{seed}.py", MODEL, 1
    server.open(uri, text)
    first = server.published(uri, 1)
    undo: list[tuple[types.Range, str]] = []
    for _ in range(30):
        start = _boundary(text, chance.randrange(len(text) + 1))
        end = _boundary(text, min(len(text), start + chance.choice([0, 0, 1, 5, 40])))
        new = "".join(chance.choices(PIECES, k=chance.randrange(4)))
        after = text[:start] + new + text[end:]
        if _boundary(after, start) != start or _boundary(after, start + len(new)) != start + len(new):
            continue  # it would be between CR and LF
        version += 1
        server.change(uri, version, _change(text, start, end, new, encoding))
        undo.append((_place(after, start, start + len(new), encoding), text[start:end]))
        text = after
    shown = server.published(uri, version)
    server.open(fresh, text)
    assert _of_text(shown) == _of_text(server.published(fresh, 1))
    for place, old in reversed(undo):
        version += 1
        server.change(uri, version, {"range": _plain(place), "text": old})
    assert server.published(uri, version) == first
    for opened in (uri, fresh):
        server.notify("textDocument/didClose", {"textDocument": {"uri": opened}})


def _change(text: str, start: int, end: int, new: str, encoding: str) -> Message:
    return {"range": _plain(_place(text, start, end, encoding)), "text": new}


def _place(text: str, start: int, end: int, encoding: str) -> types.Range:
    return types.Range(texts.position(text, start, encoding), texts.position(text, end, encoding))


def _plain(place: types.Range) -> Message:
    return {
        name: {"line": where.line, "character": where.character}
        for name, where in (("start", place.start), ("end", place.end))
    }
