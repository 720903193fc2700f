"""What the linter says of the files that runs were about, in the mode of each run."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from exportlint.big_stack import on_big_stack
from exportlint.config import Configuration
from exportlint.findings import Finding, Mode
from exportlint.linter import merge
from exportlint.source import SourceError, SourceFile
from exportlint.verify.results import Run
from exportlint.verify.verdicts import Judgement, judge
from exportlint.workspace import NO_FIXES, Task, Unit, Workspace

_LINTER = "EXP0"
"""The family of rules that say nothing about torch.export."""


class Linted:
    """The findings of files, each file linted once a mode, as it is when it is first asked for."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._workspace = Workspace({})
        self._units: dict[tuple[Path, Mode], Unit] = {}
        self.source = functools.cache(self._read)

    def judge(self, runs: Sequence[Run], places: Iterable[Path]) -> Judgement:
        """Hold what is found in the files that runs met, and in those of `places`, against the runs."""
        places = list(places)
        shown: list[Finding] = []
        hidden: list[Finding] = []
        for mode in dict.fromkeys(run.mode for run in runs):
            tasks = self._tasks(_files([run for run in runs if run.mode == mode], places), mode)
            units = self._looked_at(tasks, mode)
            found = merge(tasks, units)
            shown += (finding for finding in found if not finding.code.startswith(_LINTER))
            # What is ignored is not told, but known: torch met nothing there that is news.
            hidden += _others(found, units)
        judgement = judge([*shown, *hidden], runs, self.source)
        return replace(judgement, findings=judgement.findings[: len(shown)])

    def _tasks(self, files: Iterable[Path], mode: Mode) -> list[Task]:
        return [Task(file, replace(self._configuration.for_file(file), mode=mode)) for file in files]

    def _looked_at(self, tasks: Sequence[Task], mode: Mode) -> list[Unit]:
        new = [task for task in tasks if (task.path, mode) not in self._units]
        if new:
            looked = on_big_stack(lambda: [self._workspace.lint(one, NO_FIXES) for one in new])
            self._units |= {(task.path, mode): unit for task, unit in zip(new, looked, strict=True)}
        return [self._units[task.path, mode] for task in tasks]

    def _read(self, filename: str) -> SourceFile | None:
        path = Path(filename)
        try:
            return self._workspace.read(Task(path, self._configuration.for_file(path)))
        except SourceError:
            return None


def _files(runs: Iterable[Run], places: Iterable[Path]) -> list[Path]:
    """The files whose lines ran or are blamed, and those of the targets."""
    ran = (file for run in runs for file in run.lines)
    blamed = (frame.file for run in runs for failure in run.failures for frame in failure.frames)
    return sorted({*places, *map(Path, ran), *map(Path, blamed)})


def _others(found: Iterable[Finding], units: Iterable[Unit]) -> list[Finding]:
    """What units found beside `found`, each place once."""
    known = {(f.filename, f.span.start, f.code) for f in found}
    others = {(f.filename, f.span.start, f.code): f for unit in units for f in unit.findings}
    return [f for key, f in others.items() if key not in known and not f.code.startswith(_LINTER)]
