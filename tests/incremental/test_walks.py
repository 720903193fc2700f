"""Whatever is edited, a server shows what a new one shows, and the command line prints the same in all ways of running.

`scripts/compare_incremental.py` does the same with the files of any project.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from exportlint import linter
from exportlint.source import is_notebook
from tests.cli.runner import Run
from tests.incremental.projects import project
from tests.incremental.walk import Walk
from tests.sampling import one_in


@pytest.mark.parametrize(
    ("seed", "count"),
    [
        *one_in(2, [(seed, 20) for seed in range(4)]),
        *(pytest.param(seed, 50, marks=pytest.mark.thorough) for seed in range(4, 24)),
    ],
)
def test_edits(seed: int, count: int, root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linter, "FEW_FILES", 1)  # so that few files take several processes
    rng = random.Random(seed)
    walk = Walk(root, project(root, rng), rng, around=True, asked=2)
    for found in asyncio.run(walk.differences(count)):
        pytest.fail(f"seed {seed}: {found}")
    assert walk.compared["diagnostics"]
    assert len(walk.steps) >= count - 1
    for path, text in walk.texts.items():
        if not is_notebook(path):
            path.write_bytes(text.encode())
    flags = ("--output-format", "json", "--show-info", "--unsafe-fixes", ".")
    expected = run("-j1", "--no-cache", *flags)
    for ways in (["-j1"], ["-j1"], ["-j2"], ["-j2", "--no-cache"]):
        assert run(*ways, *flags) == expected, f"seed {seed}: {' '.join(ways)}"
