"""Where names lead in an edited version of files is what it is in a version that was read for the first time."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from exportlint.analysis.incremental.closures import Closures
from exportlint.analysis.project import Project
from exportlint.source import SourceFile, from_bytes
from exportlint.syntax.chunks import Outline
from tests.incremental.edits import edited
from tests.incremental.projects import project

NAMES = (frozenset[str](), frozenset({"flip", "nn", "Block"}))
EDITS = 12


class Files:
    """Files with unsaved texts, and their outlines, of which each goes on from the one before."""

    def __init__(self, texts: Mapping[Path, str]) -> None:
        self._texts = dict(texts)
        self._project = Project(load=self._load)

    def edit(self, path: Path, text: str) -> None:
        self._texts[path] = text
        self._project.forget(path)

    def outlines(self) -> dict[str, Outline]:
        found: dict[str, Outline] = {}
        for path in self._texts:
            self._project.add(self._load(path))
            known = self._project.outline(path.as_posix())
            assert known is not None
            found[path.as_posix()] = known[1]
        return found

    def _load(self, path: Path) -> SourceFile:
        return from_bytes(self._texts[path].encode(), path)


@pytest.mark.parametrize("seed", [*range(40), *(pytest.param(n, marks=pytest.mark.thorough) for n in range(40, 400))])
def test_edited_files_lead_where_files_do_that_are_read_anew(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    texts = {path: text for path, text in project(tmp_path / "a", rng).items() if path.suffix == ".py"}
    files = Files(texts)
    closures = Closures(files.outlines())
    for _ in range(EDITS):
        path = rng.choice(sorted(texts))
        if rng.random() < 0.4:  # as most keys are: a name becomes another, which nothing binds
            texts[path] = texts[path].replace("return x", f"return x{rng.randrange(9)}", 1)
        else:
            texts[path] = edited(texts[path], [*texts.values()], rng)
        files.edit(path, texts[path])
        outlines = files.outlines()
        closures, fresh = closures.of_version(outlines), Closures(outlines)
        for chunk in {chunk for outline in outlines.values() for chunk in outline.chunks}:
            for names in NAMES:
                assert closures.of(chunk, names) == fresh.of(chunk, names)
