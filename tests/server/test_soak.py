"""Hours of typing in a minute: at the end the server shows what the command line finds, and is as big as it was."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.patience import PATIENCE
from tests.server import texts
from tests.server.models import model
from tests.server.raw import PUSHING, Message, Process, process

CAPABILITIES: Message = {
    **PUSHING,
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "publishDiagnostics": {"versionSupport": True, "relatedInformation": True},
        "codeAction": {"dataSupport": True, "resolveSupport": {"properties": ["edit"]}},
    },
}
TYPED = [
    "x",
    "\n",
    "        ",
    ".item()",
    "if hidden.sum() > 0:",
    "😀",
    "(",
    ")",
    "# ",
    "é",
    "return states",
    "hidden",
    '"""',
]
PER_SECOND = 50
WARM = 0.25
"""The share of the edits after which the memory counts."""
GROWTH = 80
"""MB that it may then still grow by, which is some copies of the file and its tree."""


@pytest.mark.thorough
@pytest.mark.parametrize(
    "edits", [pytest.param(150, id="short"), pytest.param(2_000, id="long", marks=pytest.mark.soak)]
)
def test_soak(request: pytest.FixtureRequest, tmp_path: Path, edits: int) -> None:
    if request.node.get_closest_marker("soak") and "soak" not in str(request.config.getoption("markexpr")):
        pytest.skip("not asked for by `-m soak`")
    root = tmp_path / "work"
    root.mkdir()
    file, original = root / "encoder.py", model(1_000)
    file.write_text(original, encoding="utf-8", newline="")
    with process(root.parent) as server:
        typing = Typing(server, file.as_uri(), original, seed=edits)
        server.start(root, CAPABILITIES)
        server.open(typing.uri, original)
        server.published(typing.uri, 1)
        sizes = []
        for count in range(edits):
            typing.step(count)
            if count >= edits * WARM and count % 50 == 0:
                sizes.append(_resident(server.process.pid))
        typing.settle()
        file.write_text(typing.text, encoding="utf-8", newline="")
        expected = _from_the_command_line(file)
        if any(code == "EXP001" for code, *_ in expected):  # the server shows what was found before as well
            assert set(expected) <= set(typing.shown())
        else:
            assert typing.shown() == expected
        typing.undo()
        assert typing.text == original
        file.write_text(original, encoding="utf-8", newline="")
        assert typing.shown() == _from_the_command_line(file)
        assert len(typing.shown()) > 2
        grown = max(sizes[len(sizes) // 2 :]) - min(sizes[: len(sizes) // 2 + 1])
        assert grown < GROWTH, sizes
        assert server.stop() == 0
        assert typing.answers == typing.asked
        for trouble in (" ERROR ", "Traceback", "Exception"):
            assert trouble not in server.logged, server.logged
    assert not _children_of(os.getpid()) & {server.process.pid}


class Typing:
    """Somebody who types at random, asks for actions, loses patience, and undoes some of it."""

    def __init__(self, server: Process, uri: str, text: str, seed: int) -> None:
        self.server = server
        self.uri = uri
        self.text = text
        self.version = 1
        self.asked = 0
        self._chance = random.Random(seed)
        self._undo: list[tuple[int, str, str]] = []
        self._waiting: list[int] = []
        self._next = time.monotonic()
        self._cursor = text.index("def forward")

    def step(self, count: int) -> None:
        """One edit, no more than so many a second, and now and then something else."""
        chance = self._chance
        if self._undo and chance.random() < 0.45:
            self._undo_one()
        else:
            if chance.random() < 0.05:
                self._cursor = chance.randrange(len(self.text))
            start = min(self._cursor, len(self.text))
            gone = chance.choice([0, 0, 0, 1, 2, 8])
            self._edit(start, self.text[start : start + gone], chance.choice(TYPED) if gone != 1 else "")
        if count % 7 == 0:
            self._ask()
        if count % 11 == 0 and self._waiting:
            self.server.notify("$/cancelRequest", {"id": self._waiting[-1]})
        if count % 150 == 149:
            self.settle()
        self._next += 1 / PER_SECOND
        time.sleep(max(0.0, self._next - time.monotonic()))
        self._next = max(self._next, time.monotonic() - 1)

    def undo(self) -> None:
        """Take everything back."""
        while self._undo:
            self._undo_one()
        self.settle()

    def settle(self) -> None:
        """Wait for what is shown of the text as it is, and for all answers."""
        while self._published()["version"] != self.version:
            self.server.published(self.uri)
        self._ask()
        for number in self._waiting:
            heard = next((m for m in self.server.heard if "method" not in m and m.get("id") == number), None)
            answer = heard or self.server.answer(number)
            assert answer.get("error", {"code": -32800})["code"] == -32800, answer
        self._waiting.clear()

    @property
    def answers(self) -> int:
        """How many requests were answered, by a result or by being cancelled."""
        return sum("method" not in message for message in self.server.heard) - 2  # initialize and shutdown

    def shown(self) -> list[tuple[str, str, tuple[int, ...]]]:
        """The findings in the text as it is, without calls that lead to them: code, first line of message, place."""
        assert self._published()["version"] == self.version
        found = []
        for shown in self._published()["diagnostics"]:
            if any(words in shown["message"] for words in ("` breaks export: ", "` has an export warning: ")):
                continue
            ends = [types.Position(**shown["range"][end]) for end in ("start", "end")]
            offsets = (texts.offset(self.text, end, "utf-16") for end in ends)
            found.append((shown["code"], shown["message"].partition("\n")[0], tuple(offsets)))
        return sorted(found)

    def _published(self) -> Message:
        return next(
            message["params"]
            for message in reversed(self.server.heard)
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == self.uri
        )

    def _edit(self, start: int, old: str, new: str) -> None:
        assert self.text.startswith(old, start)
        self._change(start, old, new)
        self._undo.append((start, old, new))
        self._cursor = start + len(new)

    def _undo_one(self) -> None:
        start, old, new = self._undo.pop()
        self._change(start, new, old)

    def _change(self, start: int, old: str, new: str) -> None:
        ends = [texts.position(self.text, place, "utf-16") for place in (start, start + len(old))]
        place = {
            name: {"line": end.line, "character": end.character}
            for name, end in zip(("start", "end"), ends, strict=True)
        }
        self.text = self.text[:start] + new + self.text[start + len(old) :]
        self.version += 1
        self.server.change(self.uri, self.version, {"range": place, "text": new})

    def _ask(self) -> None:
        line = self.text.count("\n", 0, self._cursor)
        place = {"start": {"line": line, "character": 0}, "end": {"line": line + 3, "character": 0}}
        params: dict[str, Any] = {"textDocument": {"uri": self.uri}, "range": place, "context": {"diagnostics": []}}
        self._waiting.append(self.server.ask("textDocument/codeAction", params))
        self.asked += 1


def _from_the_command_line(file: Path) -> list[tuple[str, str, tuple[int, ...]]]:
    command = [sys.executable, "-m", "exportlint", "check", "--output-format", "json", file.name]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, timeout=4 * PATIENCE, check=False)
    assert done.returncode in (0, 1), done.stderr
    text = file.read_text(encoding="utf-8")
    lines, found = text.split("\n"), []
    for finding in json.loads(done.stdout):
        ends = (finding["location"], finding["end_location"])
        # A syntax error at the end of a line ends after it.
        rows = ((end["row"] - 1, end["column"] - 1) for end in ends)
        places = (types.Position(row, min(column, len(lines[row]))) for row, column in rows)
        offsets = tuple(texts.offset(text, place, "utf-32") for place in places)
        found.append((finding["code"], finding["message"], offsets))
    return sorted(found)


def _resident(process: int) -> float:
    """The memory that a process has, in MB."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def _children_of(process: int) -> set[int]:
    found = Path(f"/proc/{process}/task/{process}/children")
    return set(map(int, found.read_text().split())) if found.exists() else set()
