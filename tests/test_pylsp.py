"""docs/other-tools.md: exportlint inside of python-lsp-server, over its standard input and output."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import NET, write
from tests.documents import PROJECT
from tests.server.raw import Process

PAGE = (PROJECT / "docs" / "other-tools.md").read_text(encoding="utf-8")

Json = dict[str, Any]


class Pylsp:
    """python-lsp-server with one folder."""

    def __init__(self, root: Path) -> None:
        self.server = Process(root, (sys.executable, "-m", "pylsp"))
        self.uri = (root / "net.py").as_uri()
        self.server.request("initialize", {"processId": None, "rootUri": root.as_uri(), "capabilities": {}})
        self.server.notify("initialized", {})

    def found(self, text: str, version: int = 1) -> list[Json]:
        """What exportlint says of a text."""
        if version == 1:
            self.server.open(self.uri, text)
        else:
            self.server.change(self.uri, version, text)
        return [one for one in self.server.published(self.uri) if one["source"] == "exportlint"]

    def actions(self, line: int, *only: str, character: int = 12) -> list[Json]:
        """The code actions of exportlint at a line."""
        place = {"line": line, "character": character}
        answer = self.server.request(
            "textDocument/codeAction",
            {
                "textDocument": {"uri": self.uri},
                "range": {"start": place, "end": place},
                "context": {"diagnostics": [], **({"only": only} if only else {})},
            },
        )
        found: list[Json] = answer["result"]
        return [one for one in found if one["kind"].partition(".")[0] in ("quickfix", "source")]

    def edits(self, action: Json) -> list[Json]:
        """The edits of an action."""
        found: list[Json] = action["edit"]["changes"][self.uri]
        return found


@pytest.fixture
def pylsp(tmp_path: Path) -> Iterator[Pylsp]:
    made = Pylsp(tmp_path)
    yield made
    assert made.server.stop() == 0
    assert "Traceback" not in made.server.logged


def test_findings_and_fixes(pylsp: Pylsp) -> None:
    (found,) = pylsp.found(NET)
    assert (found["code"], found["severity"]) == ("EXP101", 1)
    assert found["range"] == {"start": {"line": 6, "character": 11}, "end": {"line": 6, "character": 22}}
    assert found["message"].startswith("`if` on tensor data")
    assert found["codeDescription"]["href"].endswith("EXP101-tensor-branch.md")
    assert pylsp.actions(2) == []
    assert pylsp.actions(6, "refactor") == []
    (fix,) = pylsp.actions(6)
    assert (fix["title"].partition(" ")[0], fix["kind"], fix["diagnostics"]) == ("Choose", "quickfix", [found])
    assert "torch.where(" in "".join(edit["newText"] for edit in pylsp.edits(fix))
    (all_of_it,) = pylsp.actions(0, "source.fixAll")
    (edit,) = pylsp.edits(all_of_it)
    assert edit["range"] == {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
    assert pylsp.found(edit["newText"], version=2) == []
    assert pylsp.actions(0, "source.fixAll") == []
    assert pylsp.found("def f(:\n", version=3)[0]["code"] == "EXP001"


@pytest.mark.thorough
def test_columns_are_those_of_utf_16(pylsp: Pylsp) -> None:
    (found,) = pylsp.found(
        NET.replace("        if x.sum() > 0", '        "😀"; _ = x if x.any() else -x\n        if 1')
    )
    assert found["range"] == {"start": {"line": 6, "character": 23}, "end": {"line": 6, "character": 30}}
    assert pylsp.actions(6) == []
    (fix,) = pylsp.actions(6, character=25)
    first = pylsp.edits(fix)[0]["range"]["start"]
    assert (first["line"], first["character"] >= 14) == (6, True)


@pytest.mark.thorough
def test_settings(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    for text, found in (
        ('ignore = ["EXP1"]\n', []),
        ('mode = "strct"\n', [(None, 1, 0)]),
        ('min-severity = "info"\n', [("EXP101", 1, 6)]),
    ):
        write(tmp_path, {"exportlint.toml": text})
        pylsp = Pylsp(tmp_path)
        said = [(one.get("code"), one["severity"], one["range"]["start"]["line"]) for one in pylsp.found(NET)]
        assert said == found
        pylsp.server.notify("workspace/didChangeConfiguration", {"settings": json.loads(shown)})
        assert pylsp.found(NET + "\n", version=2) == []
        assert pylsp.server.stop() == 0
