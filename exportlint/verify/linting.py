"""What the linter says of the files that runs were about, in the mode of each run."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from exportlint.big_stack import on_big_stack
from exportlint.config import Configuration
from exportlint.findings import Finding, Mode
from exportlint.fix_requests import MAX_ASKED, answered, requests
from exportlint.linter import merge, with_fixes
from exportlint.source import SourceError, SourceFile
from exportlint.verify.results import Run
from exportlint.verify.verdicts import Judgement, Surprise, judge
from exportlint.workspace import NO_FIXES, Task, Unit, Workspace, fix_key

_LINTER = "EXP0"
"""The family of rules that say nothing about torch.export."""


class Linted:
    """The findings of files, each file linted once a mode, as it is when it is first asked for.

    `fixes`: their fixes are worked out as well.
    """

    def __init__(self, configuration: Configuration, *, fixes: bool = False) -> None:
        self._fixes = fixes
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
            of_mode = [run for run in runs if run.mode == mode]
            tasks = [*self._tasks(_files(of_mode, places), mode), *self._of_libraries(of_mode, mode)]
            tasks = list({task.path: task for task in tasks}.values())
            units = self._looked_at(tasks, mode)
            if self._fixes:
                units = on_big_stack(functools.partial(with_fixes, tasks, units, {}))
            found = merge(tasks, units)
            shown += (finding for finding in found if not finding.code.startswith(_LINTER))
            # What is ignored is not told, but known: torch met nothing there that is news.
            hidden += _others(found, units)
        judgement = judge([*shown, *hidden], runs, self.source)
        missed = tuple(replace(surprise, hint=self._hint(surprise)) for surprise in judgement.missed)
        return replace(judgement, findings=judgement.findings[: len(shown)], missed=missed)

    def _hint(self, surprise: Surprise) -> str:
        """How to have the linter look at the dimension that a program is narrower in, if it takes that for static."""
        run = surprise.run
        if surprise.what != "size" or run.model is None or run.call is not None:
            return ""
        known = set(self._configuration.for_file(Path(run.model.file)).dynamic_dims)
        others = sorted(_narrowed(run) - known)
        if not others:
            return ""
        what = f"dimension{'s' if len(others) > 1 else ''} {' and '.join(map(str, others))}"
        return (
            f"exportlint takes {what} for static: `dynamic-dims = {sorted(known | {*others})}` makes it look"
            " for what fixes the size"
        )

    def findings(self, files: Iterable[Path], mode: Mode) -> list[Finding]:
        """What is found in files, and what their classes reach elsewhere, whatever comments there ignore."""
        tasks = self._tasks(files, mode)
        found = {f.sort_key: f for unit in self._looked_at(tasks, mode) for f in unit.findings}
        return [finding for finding in found.values() if not finding.code.startswith(_LINTER)]

    def read_by(self, files: Iterable[Path], mode: Mode) -> frozenset[Path]:
        """The files that were read to look at `files`."""
        return frozenset().union(*(unit.reads for unit in self._looked_at(self._tasks(files, mode), mode)))

    def with_fix(self, finding: Finding) -> Finding:
        """A finding with its fix, if it has one that holds."""
        keys = [key for key in self._units if key[1] == finding.mode]
        tasks = self._tasks([path for path, _ in keys], finding.mode)
        units = [self._units[key] for key in keys]
        for _ in range(MAX_ASKED):
            asked = requests(tasks, units, [finding]) if finding.fix_pending else {}
            if not asked:
                break
            for index, look in asked.items():
                again = on_big_stack(functools.partial(self._workspace.lint, look.task, look.fixes))
                units[index] = answered(units[index], again, look.fixes or frozenset())
            same = (f for unit in units for f in unit.findings if fix_key(f) == fix_key(finding))
            finding = next((f for f in same if f.fix is not None), replace(finding, fix_pending=False))
        return finding

    def _tasks(self, files: Iterable[Path], mode: Mode) -> list[Task]:
        return [Task(file, replace(self._configuration.for_file(file), mode=mode)) for file in files]

    def _of_libraries(self, runs: Iterable[Run], mode: Mode) -> Iterator[Task]:
        """The files of models of libraries, where torch blames some library: there, only these models are exported."""
        names: dict[Path, set[str]] = {}
        for run in runs:
            blamed = {frame.file for failure in run.failures for frame in failure.frames}
            if run.model is not None and run.model.file not in run.lines and not blamed <= run.lines.keys():
                names.setdefault(Path(run.model.file), set()).add(run.model.name)
        for path, found in sorted(names.items()):
            settings = replace(self._configuration.for_file(path), mode=mode)
            yield Task(path, replace(settings, exported=tuple(f"*:{name}" for name in sorted(found))))

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


def _narrowed(run: Run) -> set[int]:
    """The dimensions whose other sizes a program rejects, by number."""
    narrower = (c for c in run.comparisons if c.kind == "size" and c.agreement == "narrower")
    names = {part.partition(" = ")[0] for comparison in narrower for part in comparison.label.split(", ")}
    shapes = (text.rpartition(": ")[2].partition("[")[2].rstrip("]").split(", ") for text in run.inputs)
    return {i for sizes in shapes for i, size in enumerate(sizes) if size.rpartition("=")[0] in names}


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
