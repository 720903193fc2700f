"""`exportlint check`: lint, and tell."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from exportlint.cli.output import UsageError, wants_color, warn, write, write_file
from exportlint.cli.overrides import configuration
from exportlint.config import Configuration, Settings
from exportlint.findings import Applicability, Finding, Severity
from exportlint.fixer import fix
from exportlint.fixer import write as write_fixed
from exportlint.linter import LintResult, Task, lint, unreadable
from exportlint.report import TEXT_FORMATS, Context, render, statistics, summary
from exportlint.source import SourceError, SourceFile, discover, is_excluded

_FILES_A_JOB = 16
"""So many files are worth a process of their own, where the user names no number of processes."""

_MOST_JOBS = 61
"""The most processes that a pool can have on every system."""


def run(arguments: argparse.Namespace) -> int:
    """Lint what the arguments say, and report it."""
    cwd = Path.cwd()
    settings = configuration(arguments, cwd)
    here = settings.for_directory(cwd)
    if arguments.statistics and here.output_format not in statistics.FORMATS:
        raise UsageError(
            f"--statistics has no output format `{here.output_format}`: use one of {_listed(statistics.FORMATS)}"
        )
    if arguments.jobs is not None and arguments.jobs < 0:
        raise UsageError(f"--jobs {arguments.jobs}: expected a number of processes, from 1 on")
    paths = [Path(path) for path in arguments.paths] or [Path()]
    if "-" in arguments.paths:
        tasks = _standard_input(arguments, settings, cwd)
        problems: tuple[Finding, ...] = ()
    else:
        tasks, problems = _find(paths, settings, cwd)
    if arguments.show_files:
        write("".join(f"{task.path}\n" for task in tasks))
        return 0
    if arguments.show_settings:
        _show_settings(tasks[0] if tasks else Task(cwd, here))
        return 0
    if not tasks and not problems:
        warn("no Python files found under the given paths")
    if arguments.fix:
        _fix(
            tasks,
            Applicability.UNSAFE if arguments.unsafe_fixes else Applicability.SAFE,
            _jobs(arguments.jobs, len(tasks)),
        )
    result = lint(tasks, _jobs(arguments.jobs, len(tasks)))
    result = LintResult(_in_order((*result.findings, *problems)), result.files_checked)
    if arguments.add_ignore is not None:
        return _add_ignores(tasks, result, arguments)
    _report(arguments, result, tasks, here, cwd)
    return _exit_code(result, exit_zero=arguments.exit_zero)


def _fix(tasks: Sequence[Task], most: Applicability, jobs: int) -> None:
    for fixed in fix(tasks, lambda _: most, jobs).fixed:
        write_fixed(fixed)


def _find(paths: Sequence[Path], settings: Configuration, cwd: Path) -> tuple[list[Task], tuple[Finding, ...]]:
    def absolute(path: Path | str) -> Path:
        return Path(os.path.normpath(cwd / path))

    found = discover(paths, lambda directory: settings.for_directory(absolute(directory)).discovery)
    files = [absolute(file) for file in found.files]
    tasks = [Task(file, settings.for_file(file)) for file in files]
    problems = []
    for problem in found.problems:
        path = absolute(problem.filename)
        holds = settings.for_file(path)
        finding = unreadable(problem, str(path), holds.mode)
        if finding.code in holds.rules_for(path):
            problems.append(finding)
    return tasks, tuple(problems)


def _standard_input(arguments: argparse.Namespace, settings: Configuration, cwd: Path) -> list[Task]:
    if len(arguments.paths) > 1:
        raise UsageError("`-` is standard input, which cannot be linted together with files")
    path = Path(os.path.normpath(cwd / (arguments.stdin_filename or "-")))
    holds = settings.for_file(path)
    if holds.force_exclude and is_excluded(path, holds.discovery):
        return []
    return [Task(path, holds, str(path) if arguments.stdin_filename else "-", sys.stdin.buffer.read())]


def _report(
    arguments: argparse.Namespace, result: LintResult, tasks: Sequence[Task], settings: Settings, cwd: Path
) -> None:
    to_file = Path(arguments.output_file) if arguments.output_file else None
    color = wants_color(arguments.color, sys.stdout) and (to_file is None or arguments.color == "always")
    context = Context(cwd, _sources(tasks), color)
    output_format = settings.output_format
    if arguments.statistics:
        text = statistics.render(result.findings, output_format, context)
    else:
        text = render(result.findings, output_format, context)
    if output_format in TEXT_FORMATS and not arguments.quiet:
        text += summary(result.findings) + "\n"
    if to_file is None:
        write(text)
    else:
        write_file(text, to_file)


def _sources(tasks: Sequence[Task]) -> Callable[[str], SourceFile | None]:
    by_name = {task.filename: task for task in tasks}

    # Findings come file by file.
    @lru_cache(maxsize=1)
    def source(filename: str) -> SourceFile | None:
        task = by_name.get(filename)
        try:
            return None if task is None else task.read()
        except SourceError:
            return None

    return source


def _add_ignores(tasks: Sequence[Task], result: LintResult, arguments: argparse.Namespace) -> int:
    from exportlint.suppressions.add import add_ignores

    by_name = {task.filename: task for task in tasks}
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
    write("\n".join(lines) + "\n")


def _jobs(wanted: int | None, files: int) -> int:
    if wanted:
        return max(1, min(wanted, files, _MOST_JOBS))
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(processors, files // _FILES_A_JOB))


def _in_order(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: finding.sort_key))


def _exit_code(result: LintResult, *, exit_zero: bool) -> int:
    if result.failed:
        return 2
    return int(not exit_zero and any(f.severity is not Severity.INFO for f in result.findings))


def _listed(words: frozenset[str]) -> str:
    return ", ".join(f"`{word}`" for word in sorted(words))
