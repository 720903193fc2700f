"""Notebooks as other clients than VS Code tell of them, or as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.runner import NET
from tests.server.raw import PULLING, PUSHING, Message, Process, is_of

IMPORTS, BODY = NET[: NET.index("class")], NET[NET.index("class") :]
DATA = BODY.replace("Net", "Data").replace("x.sum()", "x.dim()").replace("x * 2", "x.data")


@pytest.fixture
def server(server: Process, tmp_path: Path) -> Process:
    server.root = tmp_path
    return server


def cell(uri: str, text: str, language: str = "python") -> Message:
    return {"uri": uri, "languageId": language, "version": 1, "text": text}


def entry(item: Message) -> Message:
    return {"kind": 2 if item["languageId"] == "python" else 1, "document": item["uri"]}


def open_notebook(server: Process, *cells: Message) -> str:
    uri = (server.root / "model.ipynb").as_uri()
    notebook = {"uri": uri, "notebookType": "jupyter-notebook", "version": 1, "cells": list(map(entry, cells))}
    server.notify("notebookDocument/didOpen", {"notebookDocument": notebook, "cellTextDocuments": cells})
    return uri


def splice(server: Process, uri: str, start: int, gone: int, *cells: Message) -> None:
    array = {"start": start, "deleteCount": gone, "cells": list(map(entry, cells))}
    change = {"cells": {"structure": {"array": array, "didOpen": cells}}}
    server.notify("notebookDocument/didChange", {"notebookDocument": {"uri": uri, "version": 2}, "change": change})


def pulled(server: Process, uri: str) -> list[str]:
    return [found["code"] for found in server.pull(uri)["items"]]


def test_cells_may_be_parts_of_the_uri_of_the_file(server: Process) -> None:
    server.start(server.root, PULLING)
    uris = [f"{(server.root / 'model.ipynb').as_uri()}#{number}" for number in range(3)]
    open_notebook(server, *map(cell, uris, [IMPORTS, BODY, DATA]))
    assert [pulled(server, uri) for uri in uris] == [[], ["EXP101"], ["EXP301"]]


def test_cells_that_are_not_python_are_left_alone(server: Process) -> None:
    server.start(server.root, PULLING)
    text, imports, body = cell("c:0", "# What (", "markdown"), cell("c:1", IMPORTS), cell("c:2", BODY)
    uri = open_notebook(server, text, imports, body)
    assert [pulled(server, f"c:{number}") for number in range(3)] == [[], [], ["EXP101"]]
    splice(server, uri, 0, 1, cell("c:0", "what = (\n"))
    assert [pulled(server, f"c:{number}") for number in range(3)] == [["EXP001"], [], ["EXP101"]]
    splice(server, uri, 2, 1, cell("c:2", BODY, "markdown"))
    assert [pulled(server, f"c:{number}") for number in range(3)] == [["EXP001"], [], []]


def test_a_new_cell_waits_for_nobody_to_save_it(server: Process) -> None:
    server.start(server.root, PULLING, initializationOptions={"settings": {"lint": {"run": "onSave"}}})
    uri = open_notebook(server, cell("c:0", IMPORTS))
    assert pulled(server, "c:0") == []
    splice(server, uri, 1, 0, cell("c:1", BODY))
    assert pulled(server, "c:1") == []
    assert server.request("textDocument/codeLens", {"textDocument": {"uri": "c:1"}})["result"] == []
    server.notify("notebookDocument/didSave", {"notebookDocument": {"uri": uri}})
    server.hear(is_of("workspace/diagnostic/refresh"))
    assert pulled(server, "c:1") == ["EXP101"]


def test_the_text_of_a_notebook_may_be_its_python(server: Process) -> None:
    """As jupytext has it in Neovim, and JupyterLab's language servers."""
    server.start(server.root, PUSHING)
    uri = (server.root / "model.ipynb").as_uri()
    server.open(uri, NET)
    assert server.codes(uri, 1) == ["EXP101"]
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
    asked = {"textDocument": {"uri": uri}, "range": place, "context": {"diagnostics": []}}
    found = server.request("textDocument/codeAction", asked)["result"]
    assert "Ignore EXP101 on this line" in [action["title"] for action in found]
