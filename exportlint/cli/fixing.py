"""`exportlint check --fix`, `--fix-only` and `--diff`: which files change, and the outcome."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from exportlint.cache import ResultCache
from exportlint.cli.lint_progress import LintProgress
from exportlint.cli.output import UsageError, warn
from exportlint.config import Settings
from exportlint.findings import Applicability, Finding
from exportlint.importers import Importers
from exportlint.linter import LintResult, Session, Task, lint
from exportlint.report import WITHOUT_FIXES

if TYPE_CHECKING:
    from exportlint.fixer import Fixed, FixResult

_EXCLUSIVE = (
    ("diff", "show_fixes"),
    ("diff", "statistics"),
    ("diff", "output_file"),
    ("exit_non_zero_on_fix", "exit_zero"),
    ("fix", "add_ignore"),
    ("fix_only", "add_ignore"),
    ("diff", "add_ignore"),
    ("diff", "update_baseline"),
    ("add_ignore", "update_baseline"),
    *(
        ("watch", other)
        for other in ("fix", "fix_only", "diff", "add_ignore", "update_baseline", "show_files", "show_settings")
    ),
)


Prove = Callable[["FixResult", Sequence[Task], Applicability, int], "FixResult"]
"""From what fixes make of files to what the proven ones make of them, up to an applicability, in so many processes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to become of fixes: applied up to `most`, or shown as `diff`; `only` without what remains."""

    apply: bool
    only: bool
    diff: bool
    most: Applicability
    hint: bool
    """Whether to say that there are unsafe fixes beside those that are taken."""
    reported: bool = True
    """Whether the report says which findings have fixes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The files that were fixed, all files as they are now, what is found in these, and whether something failed.

    `beside` are those of the files that are looked at besides.
    """

    fixed: tuple[Fixed, ...]
    tasks: Sequence[Task]
    result: LintResult
    failed: bool
    beside: Importers = field(default_factory=Importers)
    notes: tuple[str, ...] = ()
    """What there is to say of baselines, one line each."""

    @property
    def count(self) -> int:
        """How many findings are gone."""
        return sum(len(fixed.findings) for fixed in self.fixed)


def plan(arguments: argparse.Namespace, settings: Settings) -> Plan:
    """What the command line and the settings of the working directory want.

    Raises:
        UsageError: flags contradict each other.
    """
    for one, other in _EXCLUSIVE:
        if getattr(arguments, one) not in (None, False) and getattr(arguments, other) not in (None, False):
            raise UsageError(f"--{one.replace('_', '-')} cannot be used together with --{other.replace('_', '-')}")
    only = settings.fix_only or arguments.diff
    if arguments.verify and not (settings.fix or only):
        raise UsageError(
            "--verify checks fixes, so it needs --fix; to check the code as it is, run `exportlint verify`"
        )
    if arguments.verify and "-" in arguments.paths:
        raise UsageError("--verify imports files, so it cannot be used with standard input")
    return Plan(
        apply=settings.fix or only,
        only=only,
        diff=arguments.diff,
        most=Applicability.UNSAFE if settings.unsafe_fixes else Applicability.SAFE,
        hint=settings.unsafe_fixes is None,
        reported=settings.output_format not in WITHOUT_FIXES,
    )


def carry_out(
    plan: Plan,
    tasks: Sequence[Task],
    jobs: int,
    prove: Prove | None = None,
    kept: Collection[Path] = (),
    cache: ResultCache | None = None,
    *,
    quiet: bool = False,
    session: Session | None = None,
) -> Outcome:
    """Lint files, and fix those that are to be fixed, as far as `prove` proves it, but for those that are `kept`.

    What goes wrong with one of them is told and does not stop it. What `cache` or, where nothing is fixed, `session`
    knows is not worked out again.
    """
    if not plan.apply:
        with LintProgress("linting", len(tasks), quiet=quiet) as progress:
            result = lint(tasks, jobs, progress.done, cache, fixes=plan.reported, session=session)
        return Outcome((), tasks, result, result.failed)
    from exportlint.fixer import fix

    with LintProgress("fixing", None, quiet=quiet):
        outcome = fix(tasks, lambda task: None if task.path in kept else plan.most, jobs, cache=cache)
    if prove is not None:
        outcome = prove(outcome, tasks, plan.most, jobs)
    for name in _left(outcome.remaining.findings, {task.filename for task in tasks if task.path in kept}, plan.most):
        warn(f"{name}: not fixed, because it is reached through a link from another folder; name it to fix it")
    problems = list(map(str, outcome.problems))
    fixed = outcome.fixed
    if not plan.diff:
        refused = {one.task.path: problem for one in fixed if (problem := _written(one)) is not None}
        problems += refused.values()
        fixed = tuple(one for one in fixed if one.task.path not in refused)
    for problem in problems:
        warn(problem)
    if len(fixed) < len(outcome.fixed):
        result = lint(tasks, jobs)
    else:
        if cache is not None and prove is None and not plan.diff:
            for task, unit in zip(tasks, outcome.units, strict=True):
                cache.keep(task, unit)
        tasks = outcome.tasks
        result = replace(outcome.remaining, findings=tuple(_tried(f, plan.most) for f in outcome.remaining.findings))
    return Outcome(fixed, tasks, result, bool(problems) or result.failed)


def _left(findings: Sequence[Finding], kept: Collection[str], most: Applicability) -> Iterable[str]:
    """The files among those that are kept in which something could be fixed."""
    could = (f for f in findings if f.filename in kept and f.fix is not None and f.fix.applicability.rank <= most.rank)
    return dict.fromkeys(finding.filename for finding in could)


def _written(fixed: Fixed) -> str | None:
    """Write a file, unless it is standard input; why that is not possible, if so."""
    from exportlint.fixer import write
    from exportlint.source import SourceError

    try:
        if fixed.task.data is None:
            write(fixed)
    except SourceError as error:
        return str(error)
    return None


def _tried(finding: Finding, most: Applicability) -> Finding:
    """A finding that remains, without a fix that was taken back."""
    if finding.fix is None or finding.fix.obstacle or finding.fix.applicability.rank > most.rank:
        return finding
    return replace(finding, fix=None)
