"""What a key costs a real server, counted in classes that run and characters that are parsed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forking import python
from tests.server.models import model
from tests.server.raw import Process, process

COUNTING = """\
import sys
from exportlint.analysis import analyze
from exportlint.cli import main
from exportlint.source import parsing, reparsing

def counted(module, name, say):
    function = getattr(module, name)
    def counting(*arguments):
        print(say(*arguments), file=sys.stderr, flush=True)
        return function(*arguments)
    setattr(module, name, counting)

counted(analyze, "_export", lambda engine, cls, name: f"RUN {cls.qualname}.{name}")
for module in (parsing, reparsing):
    counted(module, "tree_of", lambda text: f"PARSED {len(text.strip())}")
sys.exit(main(["server", "--no-cache"]))
"""
"""A server that notes what it runs and parses."""

PLACE = "hidden = self.wide(states)"
TYPED = "gate = self.wide(states).sum().item()"


def typed(root: Path, lines: int) -> list[tuple[set[str], int]]:
    """The entry points that run, and the characters that are parsed, for each key typed into a method of a file."""
    with process(root, [*python(), "-c", COUNTING]) as server:
        server.start(root)
        uri, text = (root / "model.py").as_uri(), model(lines)
        server.open(uri, text)
        server.published(uri, 1)
        method = text.index(PLACE, len(text) // 2)
        row = text.count("\n", 0, method)
        work = []
        for version, change in enumerate(changes(row), 2):
            before = len(server.logged)
            server.change(uri, version, change)
            server.published(uri, version)
            work.append(noted(server, before))
        assert server.stop() == 0
        return work


def changes(row: int) -> list[dict[str, object]]:
    """A line that is typed, a key at a time."""
    keys = [(0, " " * 8 + "\n"), *((8 + column, key) for column, key in enumerate(TYPED))]
    places = [({"line": row, "character": column}, text) for column, text in keys]
    return [{"range": {"start": place, "end": place}, "text": text} for place, text in places]


def noted(server: Process, start: int) -> tuple[set[str], int]:
    """What was noted since the log had some length."""
    rows = [row.split() for row in server.logged[start:].splitlines()]
    runs = {row[1] for row in rows if row[0] == "RUN"}
    return runs, sum(int(row[1]) for row in rows if row[0] == "PARSED")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[tuple[set[str], int]]]:
    """What keys cost in files of two lengths."""
    return {lines: typed(tmp_path_factory.mktemp(str(lines)), lines) for lines in (500, 2_000)}


@pytest.mark.thorough
def test_a_key_runs_the_classes_that_use_what_it_changes(work: dict[int, list[tuple[set[str], int]]]) -> None:
    short, long = ([len(runs) for runs, _ in work[lines]] for lines in (500, 2_000))
    assert max(short) > 0
    assert max(long) <= max(short) <= 4


def test_a_key_parses_the_class_around_it_unless_the_text_is_broken(
    work: dict[int, list[tuple[set[str], int]]],
) -> None:
    short, long = ([parsed for runs, parsed in work[lines] if runs] for lines in (500, 2_000))
    assert max(short) <= 2 * 4_000
    assert max(long) <= max(short) + 100


def test_a_key_that_breaks_the_text_runs_nothing_and_parses_no_more_than_is_below(
    work: dict[int, list[tuple[set[str], int]]],
) -> None:
    broken = [parsed for runs, parsed in work[2_000] if not runs and parsed]
    assert broken
    assert max(broken) < len(model(2_000)) * 0.6
