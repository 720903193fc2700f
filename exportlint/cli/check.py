"""`exportlint check`: lint, and tell."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from exportlint.cli.caching import cache_of, save
from exportlint.cli.fixing import Outcome, Plan, Prove, carry_out, plan
from exportlint.cli.output import UsageError, warn, write
from exportlint.cli.overrides import configuration
from exportlint.cli.reporting import report, sources
from exportlint.config import Configuration, Settings
from exportlint.findings import Finding
from exportlint.fingerprints import fingerprinted
from exportlint.linter import LintResult, Session, Task, lint, once, shown, unsaved
from exportlint.report import WITH_FINGERPRINTS, statistics
from exportlint.report.context import printable
from exportlint.selection import beside, select
from exportlint.source import SourceError, is_excluded
from exportlint.syntax.import_resolver import Resolver

if TYPE_CHECKING:
    from exportlint.cli.baselines import Baselines

_FILES_A_JOB = 16
"""So many files are worth a process of their own, where the user names no number of processes."""

_MOST_JOBS = 61
"""The most processes that a pool can have on every system."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a run is about: the files to lint, the directories that were searched for them, and what went wrong.

    `here` are the settings of the working directory, `given` is standard input if that is linted.
    """

    cwd: Path
    settings: Configuration
    here: Settings
    fixes: Plan
    paths: tuple[Path, ...]
    tasks: tuple[Task, ...]
    directories: frozenset[Path] = frozenset()
    problems: tuple[Finding, ...] = ()
    given: bytes | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """What a run came to: its exit code, how many findings it showed, and how many files it linted."""

    code: int
    findings: int = 0
    files: int = 0


def run(arguments: argparse.Namespace) -> int:
    """Lint what the arguments say, and report it."""
    if arguments.watch:
        from exportlint.cli.watching import watch

        return watch(arguments)
    found = find(arguments)
    if arguments.show_files:
        write("".join(f"{printable(str(task.path))}\n" for task in found.tasks))
        return 0
    if arguments.show_settings:
        _show_settings(found.tasks[0] if found.tasks else Task(found.cwd, found.here))
        return 0
    return check(arguments, found).code


def find(arguments: argparse.Namespace) -> Found:
    """What the arguments say to lint.

    Raises:
        ConfigError: a configuration cannot be used.
        UsageError: the arguments contradict each other.
    """
    cwd = Path.cwd()
    settings = configuration(arguments, cwd)
    here = settings.for_directory(cwd)
    if arguments.statistics and here.output_format not in statistics.FORMATS:
        raise UsageError(
            f"--statistics has no output format `{here.output_format}`: use one of {_listed(statistics.FORMATS)}"
        )
    fixes = plan(arguments, here)
    if arguments.jobs is not None and arguments.jobs < 0:
        raise UsageError(f"--jobs {arguments.jobs}: expected at least 1 process")
    paths = tuple(Path(path) for path in arguments.paths) or (Path(),)
    if "-" in arguments.paths:
        given, tasks = _standard_input(arguments, settings, cwd)
        return Found(cwd, settings, here, fixes, paths, tuple(tasks), given=given)
    selected = select(paths, settings, cwd)
    return Found(
        cwd, settings, here, fixes, paths, selected.tasks, directories=selected.directories, problems=selected.problems
    )


def check(arguments: argparse.Namespace, found: Found, session: Session | None = None) -> Checked:
    """Lint the files that were found, and report it. What a `session` knows is not worked out again.

    Raises:
        UsageError: a baseline or the place for results cannot be used.
    """
    cwd, settings, here, fixes, given = found.cwd, found.settings, found.here, found.fixes, found.given
    paths, tasks, problems = found.paths, found.tasks, found.problems
    if not tasks and not problems:
        warn("no Python files found under the given paths")
    for notice in dict.fromkeys(notice for holds in (here, *(t.settings for t in tasks)) for notice in holds.notices):
        warn(str(notice))
    baselines = _baselines(tasks, arguments)
    # What is taken out of a baseline must not be found by way of a file that nobody looked at.
    importing = beside(tasks, {cwd / path for path in paths}, settings, of_all=arguments.update_baseline)
    looked_at = (*tasks, *importing.tasks)
    jobs = _jobs(arguments.jobs, len(tasks) + importing.count)
    by_name = {task.filename: task.settings for task in looked_at}

    def settings_of(finding: Finding) -> Settings:
        return by_name.get(finding.filename, here)

    cache = cache_of(arguments, here, cwd, unsaved(looked_at))
    named = here.output_format in WITH_FINGERPRINTS or baselines is not None

    def judged(result: LintResult, looked_at: Sequence[Task]) -> LintResult:
        """The findings of the run, with fingerprints if anybody needs these, and what is accepted marked."""
        result = _with(result, problems)
        if not named:
            return result
        findings = fingerprinted(result.findings, sources(looked_at))
        if baselines is not None:
            findings = baselines.mark(findings, settings_of)
        return replace(result, findings=findings)

    if arguments.add_ignore is not None:
        outside = _outside(tasks, paths, cwd)
        own = [task for task in tasks if task.path not in outside]
        found_in = lint(looked_at, jobs, cache=cache, fixes=False)
        return Checked(_add_ignores(own, shown(judged(found_in, looked_at), settings_of), arguments))
    kept = _outside(tasks, paths, cwd) if fixes.apply else ()
    prove = _prover(arguments, settings, cwd)
    outcome = carry_out(fixes, looked_at, jobs, prove, kept, cache, quiet=arguments.quiet, session=session)
    if cache is not None:
        save(cache, verbose=arguments.verbose)
    result = judged(outcome.result, outcome.tasks)
    notes: list[str] = []
    if baselines is not None and arguments.update_baseline:
        baselines, notes = baselines.update(outcome.tasks, result, settings_of)
        result = replace(result, findings=baselines.mark(result.findings, settings_of))
    elif baselines is not None and given is None:  # what is not saved says nothing about files
        notes = baselines.stale_notes(outcome.tasks, result, settings_of)
    outcome = replace(outcome, result=shown(result, settings_of), beside=importing, notes=tuple(notes))
    report(arguments, fixes, outcome, here, cwd, given)
    failing = any(settings_of(finding).fails(finding) for finding in outcome.result.findings)
    code = _exit_code(arguments, fixes, outcome, failing=failing)
    return Checked(code, len(outcome.result.findings), outcome.result.files_checked)


def _baselines(tasks: Sequence[Task], arguments: argparse.Namespace) -> Baselines | None:
    if not arguments.update_baseline and all(task.settings.baseline is None for task in tasks):
        return None
    from exportlint.cli.baselines import Baselines

    return Baselines.of(tasks, update=arguments.update_baseline)


def _prover(arguments: argparse.Namespace, settings: Configuration, cwd: Path) -> Prove | None:
    if not arguments.verify:
        return None
    from exportlint.cli.proving import prover

    return prover(arguments, settings, cwd)


def _with(result: LintResult, problems: Sequence[Finding]) -> LintResult:
    findings = sorted((*result.findings, *problems), key=lambda finding: finding.sort_key)
    return replace(result, findings=once(findings))


def _outside(tasks: Sequence[Task], paths: Sequence[Path], cwd: Path) -> frozenset[Path]:
    """The files that a link leads to from a folder that is named and that lie in none: a stranger may have made it."""
    named = {Path(os.path.normpath(cwd / path)) for path in paths}
    roots = [os.path.join(os.path.realpath(path), "") for path in named]  # noqa: PTH118 - with a separator at its end
    return frozenset(
        task.path
        for task in tasks
        if task.data is None and task.path not in named and not os.path.realpath(task.path).startswith(tuple(roots))
    )


def _standard_input(arguments: argparse.Namespace, settings: Configuration, cwd: Path) -> tuple[bytes, list[Task]]:
    if len(arguments.paths) > 1:
        raise UsageError("`-` is standard input, which cannot be linted together with files")
    if arguments.watch:
        raise UsageError("--watch is about files, so it cannot be used with standard input")
    path = Path(os.path.normpath(cwd / (arguments.stdin_filename or "-")))
    holds = settings.for_file(path)
    given = sys.stdin.buffer.read()
    if holds.force_exclude and is_excluded(path, holds.discovery):
        return given, []
    return given, [Task(path, holds, str(path) if arguments.stdin_filename else "-", given)]


def _add_ignores(tasks: Sequence[Task], result: LintResult, arguments: argparse.Namespace) -> int:
    from exportlint.suppressions.add import add_ignores

    by_name = {task.filename: task for task in tasks}
    if not arguments.add_ignore and any(task.settings.require_reason for task in tasks):
        raise UsageError("--add-ignore needs a reason because `require-reason` is set: write `--add-ignore=REASON`")
    if any(task.data is not None for task in tasks):
        raise UsageError("--add-ignore changes files, so it cannot be used with standard input")
    added, problems = 0, []
    for filename in dict.fromkeys(finding.filename for finding in result.findings):
        if filename not in by_name:
            continue
        try:
            task = by_name[filename]
            added += add_ignores(
                task.read(), [f for f in result.findings if f.filename == filename], arguments.add_ignore
            )
        except SourceError as error:
            problems.append(str(error))
    for problem in problems:
        warn(problem)
    if not arguments.quiet:
        write(f"Added {added} suppression{'' if added == 1 else 's'}.\n")
    return 2 if problems or result.failed else 0


def _show_settings(task: Task) -> None:
    holds = task.settings
    lines = [
        f'Resolved settings for: "{task.path}"',
        f'Settings path: "{holds.file}"' if holds.file else "Settings path: none",
    ]
    lines += [f"{key} = {value}" for key, value in holds.described()]
    folder = task.path if task.path.is_dir() else task.path.parent
    lines += ["Imports start from:", *(f"  {root}" for root in Resolver(holds.src).roots(folder.as_posix()))]
    write("".join(f"{printable(line)}\n" for line in lines))


def _jobs(wanted: int | None, files: int) -> int:
    if wanted:
        return max(1, min(wanted, files, _MOST_JOBS))
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(processors, files // _FILES_A_JOB))


def _exit_code(arguments: argparse.Namespace, fixes: Plan, outcome: Outcome, *, failing: bool) -> int:
    if outcome.failed:
        return 2
    if fixes.diff or (arguments.exit_non_zero_on_fix and outcome.fixed):
        return int(bool(outcome.fixed) and not arguments.exit_zero)
    return int(failing and not fixes.only and not arguments.exit_zero)


def _listed(words: frozenset[str]) -> str:
    return ", ".join(f"`{word}`" for word in sorted(words))
