"""Fixes the files of a project until nothing changes any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from exportlint.cache import ResultCache
from exportlint.findings import Applicability, Finding
from exportlint.fixer.file import repair
from exportlint.fixer.job import Job, Repair
from exportlint.fixer.shifts import Chain
from exportlint.fixer.verdict import Mark, marks, news
from exportlint.linter import (
    LintResult,
    Role,
    each,
    looked_at_whole,
    merge,
    result_of,
    units_of,
    unsaved,
    with_fixes,
)
from exportlint.source import SourceError
from exportlint.workspace import Task, Unit, Workspace, internal_error

MAX_PASSES = 10


@dataclass(frozen=True, slots=True)
class Fixed:
    """A file that was fixed: what it held, what it is to hold, and the findings that are gone."""

    task: Task
    before: bytes
    data: bytes
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class FixResult:
    """What fixing came to: the files that change, the tasks as if they were written, and what is found in these.

    `problems` are why files were given no fixes that they need.
    """

    fixed: tuple[Fixed, ...]
    tasks: tuple[Task, ...]
    remaining: LintResult
    problems: tuple[SourceError, ...] = ()
    units: tuple[Unit, ...] = ()
    """What looking at the tasks gave."""


def fix(
    tasks: Sequence[Task],
    most: Callable[[Task], Applicability | None],
    jobs: int = 1,
    make: Callable[[Mapping[Path, bytes]], Workspace] = Workspace,
    cache: ResultCache | None = None,
) -> FixResult:
    """Apply fixes until there is none left that holds. Nothing is written.

    `most` is the applicability up to which a file is fixed, or None if it is not to be. The result depends neither on
    the order of the files nor on `jobs`, the number of processes, and fixing it again changes nothing. `make` gives
    the workspaces to look at files in; what these raise in `lint` ends it. `cache` may know what is in
    the files before they are fixed.
    """
    run = _Run(tasks, most, jobs, make, cache)
    run.finish()
    return run.result()


class _Run:
    """The state of fixing a project between two passes over it."""

    def __init__(
        self,
        tasks: Sequence[Task],
        most: Callable[[Task], Applicability | None],
        jobs: int,
        make: Callable[[Mapping[Path, bytes]], Workspace],
        cache: ResultCache | None,
    ) -> None:
        self._cache = cache
        self._tasks = {task.path: task for task in tasks}
        self._paths = {task.filename: path for path, task in self._tasks.items()}
        linted = {path: task for path, task in self._tasks.items() if task.role is Role.LINTED}
        self._most = {path: limit for path, task in linted.items() if (limit := most(task)) is not None}
        self._jobs = jobs
        self._make = make
        self._texts = unsaved(tasks)
        self._original: dict[Path, bytes] = {}
        self._started = False
        self._fixed: dict[Path, list[Finding]] = {}
        looked, units = looked_at_whole(tasks, self._look(tasks, self._texts), partial(self._look, texts=self._texts))
        self._tasks = {task.path: task for task in looked}
        self._units = dict(zip(self._tasks, units, strict=True))
        self._shifts: dict[Path, Chain] = {}
        self._witnesses: dict[Path, set[Path]] = {path: set() for path in self._tasks}
        self._settled: dict[Path, Repair] = {}

    def finish(self) -> None:
        """Fix until a pass over all files changes nothing."""
        for _ in range(MAX_PASSES):
            if not self.advance():
                break

    def advance(self) -> bool:
        """Fix each file by itself, then keep the fixes that together make nothing worse.

        Returns:
            Whether another pass may change more.
        """
        jobs = list(self._plan())
        self._started = True
        repairs = each(jobs, partial(self._make, self._texts), repair, _lost, self._jobs)
        self._settled |= {r.path: r for r in repairs if r.data == r.before}
        changed = {r.path: r for r in repairs if r.data != r.before}
        known = sum(map(len, self._witnesses.values()))
        units: dict[Path, Unit] = {}
        while changed:
            units = self._seen_with(changed)
            blamed = {file for path, unit in units.items() for file in self._blamed(path, unit, changed)}
            if not blamed:
                break
            for path in blamed:
                del changed[path]
        for path, one in changed.items():
            self._original.setdefault(path, one.before)
            self._texts[path] = one.data
            self._shifts[path] = Chain((*self._shifts.get(path, Chain()).shifts, *one.shift.shifts))
            self._fixed.setdefault(path, []).extend(one.fixed)
        self._units |= units if changed else {}
        # What a file became has no fix that holds, as long as all that it depends on stays as it is.
        self._settled |= {path: replace(one, before=one.data, units={}) for path, one in changed.items()}
        self._settled = {path: one for path, one in self._settled.items() if not one.reads & (changed.keys() - {path})}
        return bool(changed) or sum(map(len, self._witnesses.values())) > known

    def result(self) -> FixResult:
        """What has come of it."""
        fixed = [
            Fixed(self._tasks[path], before, self._texts[path], tuple(self._fixed[path]))
            for path, before in self._original.items()
            if self._texts[path] != before
        ]
        for path, one in self._settled.items():
            if one.endless:
                error = internal_error(self._tasks[path], _endless(one.endless))
                unit = self._units[path]
                self._units[path] = replace(unit, findings=(*unit.findings, error), inputs=None)
        tasks = tuple(
            replace(task, data=self._texts[path]) if path in self._texts else task for path, task in self._tasks.items()
        )
        remaining = result_of(tasks, self._with_fixes())
        problems = sorted((r.problem for r in self._settled.values() if r.problem is not None), key=str)
        return FixResult(
            tuple(sorted(fixed, key=lambda f: f.task.filename)),
            tasks,
            replace(remaining, findings=tuple(map(self._explained, remaining.findings))),
            tuple(problems),
            tuple(self._units.values()),
        )

    def _explained(self, finding: Finding) -> Finding:
        """A finding that remains, with what keeps its fix from being applied."""
        if finding.fix is None or not self._is_wanted(finding):
            return finding
        settled = self._settled.get(self._paths[finding.filename])
        why = settled.dropped.get(Mark.of(finding), "") if settled is not None else ""
        if settled is not None and settled.endless:
            why = "the fixes of the file do not converge"
        elif settled is not None and settled.problem is not None:
            why = "the file cannot be written back"
        return replace(finding, fix=replace(finding.fix, obstacle=why or "another file would have a new error"))

    def _is_wanted(self, finding: Finding) -> bool:
        path = self._paths[finding.filename]
        limit = self._most.get(path) if self._tasks[path].settings.fixes_severity(finding) else None
        return limit is not None and finding.fix is not None and finding.fix.applicability.rank <= limit.rank

    @property
    def _known(self) -> ResultCache | None:
        """What is known of the files as they are on the disk: of those that are fixed, nothing."""
        return None if self._started else self._cache

    def _lint(self, paths: Sequence[Path], texts: Mapping[Path, bytes]) -> list[Unit]:
        return self._look([self._tasks[path] for path in paths], texts)

    def _look(self, tasks: Sequence[Task], texts: Mapping[Path, bytes]) -> list[Unit]:
        return units_of(tasks, texts, self._jobs, self._make, cache=self._known)

    def _with_fixes(self) -> list[Unit]:
        """What looking at the files as they are now gives, with the fixes of all findings that are shown."""
        tasks, units = list(self._tasks.values()), list(self._units.values())
        found = with_fixes(tasks, units, self._texts, self._jobs, self._make, self._known)
        self._units = dict(zip(self._units, found, strict=True))
        return found

    def _plan(self) -> Iterator[Job]:
        for witness, unit in self._units.items():
            for filename in {finding.filename for finding in unit.findings}:
                path = self._paths.get(filename)
                if path is not None and path != witness and witness not in self._witnesses[path]:
                    self._witnesses[path].add(witness)
                    self._settled.pop(path, None)
        wanted: set[Path] = set()
        for finding in merge(list(self._tasks.values()), self._with_fixes()):
            if self._is_wanted(finding):
                wanted.add(self._paths[finding.filename])
        for path in sorted(wanted - self._settled.keys()):
            witnesses = tuple(self._tasks[other] for other in sorted(self._witnesses[path]))
            yield Job(self._tasks[path], witnesses, self._most[path])

    def _seen_with(self, changed: Mapping[Path, Repair]) -> dict[Path, Unit]:
        """What looking at the files gives that depend on files which changed."""
        stale = [path for path, unit in self._units.items() if unit.reads & changed.keys()]
        texts = {**self._texts, **{path: one.data for path, one in changed.items()}}
        known = {
            path: unit
            for one in changed.values()
            for path, unit in one.units.items()
            if unit.reads & changed.keys() == {one.path}
        }
        anew = [path for path in stale if path not in known]
        known |= dict(zip(anew, self._lint(anew, texts), strict=True))
        return {path: known[path] for path in stale}

    def _blamed(self, path: Path, unit: Unit, changed: Mapping[Path, Repair]) -> set[Path]:
        """The changed files that are the cause of new errors which looking at a file gives.

        Next time it is looked at while they are fixed. Where it was already, the first of them stays as it is now.
        """
        shifts = {self._tasks[other].filename: one.shift for other, one in changed.items()}
        wrong = news(marks(self._units[path].findings), marks(unit.findings), shifts)
        if not wrong:
            return set()
        suspects = (self._units[path].reads | unit.reads) & changed.keys()
        unproven = {other for other in suspects if other != path and path not in self._witnesses[other]}
        if not unproven:
            return set(sorted(suspects)[1:] or suspects)
        there = {other for other in unproven if any(w.mark.filename == self._tasks[other].filename for w in wrong)}
        blamed = there or unproven
        for other in blamed:
            self._witnesses[other].add(path)
        return blamed


def _endless(findings: Sequence[Finding]) -> str:
    codes = ", ".join(sorted({finding.code for finding in findings}))
    return f"the fixes of {codes} do not converge, so the file is unchanged"


def _lost(job: Job) -> Repair:
    problem = SourceError(job.task.filename, "is not fixed: its worker process died")
    return Repair(job.task.path, b"", b"", problem=problem)
