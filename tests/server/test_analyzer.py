"""The order in which open documents are looked at and told of."""

from __future__ import annotations

import queue
from collections.abc import Mapping
from pathlib import Path

import pytest

from exportlint.config import Configuration
from exportlint.server.analyses import Outcome
from exportlint.server.analyzer import Analyzer, Order
from exportlint.server.documents import Document
from exportlint.server.notebooks import Opened
from exportlint.workspace import Task
from tests.cli.runner import NET
from tests.patience import PATIENCE


@pytest.mark.parametrize("text", [NET, NET + "("], ids=["undone", "broken"])
def test_a_version_that_needs_no_new_look_does_not_wait_for_other_documents(tmp_path: Path, text: str) -> None:
    delivered: queue.Queue[Mapping[Opened, Outcome]] = queue.Queue()
    analyzer = Analyzer(delivered.put)

    def order(number: int, *documents: Document) -> None:
        tasks: dict[Opened, Task] = {
            one: Task(path, settings, data=one.data) for one in documents if (path := one.path) is not None
        }
        analyzer.order(Order(tasks, number=number))

    def document(name: str, version: int, text: str) -> Document:
        return Document((tmp_path / name).as_uri(), version, text, "python")

    settings = Configuration(tmp_path, isolated=True).for_file(tmp_path / "net.py")
    try:
        order(1, document("net.py", 1, NET), document("other.py", 1, NET))
        while len(delivered.get(timeout=PATIENCE)) < 2:
            pass
        typed = document("net.py", 2, text)
        order(2, typed, document("other.py", 2, NET + "\n"))
        first = delivered.get(timeout=PATIENCE)
        assert list(first) == [typed]
        assert first[typed].is_of_before is (text != NET)
        assert len(delivered.get(timeout=PATIENCE)) == 2
    finally:
        analyzer.stop()


def test_a_server_that_keeps_nothing_between_documents_tells_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    for most in (10**12, -1):
        monkeypatch.setattr("exportlint.server.analyzer.MAX_RESIDENT", most)
        monkeypatch.setattr("exportlint.server.analyzer.LEAST_DOCUMENTS", 1)
        told.append(_told_of_keys(tmp_path))
    assert told[0] == told[1]
    assert any(codes for _, codes in told[0])


def _told_of_keys(directory: Path) -> list[tuple[str, list[str]]]:
    """What is told of two documents, typed into by turns: their names, and what is found in them."""
    delivered: queue.Queue[Mapping[Opened, Outcome]] = queue.Queue()
    analyzer, told = Analyzer(delivered.put), []
    settings = Configuration(directory, isolated=True).for_file(directory / "net.py")
    try:
        for number in range(1, 5):
            name = ("net.py", "other.py")[number % 2]
            document = Document((directory / name).as_uri(), number, "\n" * number + NET, "python")
            task = Task(directory / name, settings, data=document.data)
            analyzer.order(Order({document: task}, number=number))
            found = delivered.get(timeout=PATIENCE)[document]
            told.append((name, [f"{finding.span.start.row} {finding.code}" for finding in found.findings]))
    finally:
        analyzer.stop()
    return told
