"""`exportlint check --fix --verify`: fixes are kept if torch.export bears them out, and what is not kept is said."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from exportlint.cli.fixing import Prove
from exportlint.cli.output import UsageError, warn, write
from exportlint.cli.verify_plan import warmth
from exportlint.config import Configuration
from exportlint.findings import Applicability
from exportlint.fixer import FixResult
from exportlint.linter import Task, lint
from exportlint.report import Context
from exportlint.report.context import printable
from exportlint.verify.interpreter import NAMED_IN_FILES, InterpreterError, find_interpreter
from exportlint.verify.process import StartError
from exportlint.verify.prove import Refused, prove
from exportlint.verify.target import Target
from exportlint.verify.targets import find_targets


def prover(arguments: argparse.Namespace, settings: Configuration, cwd: Path) -> Prove:
    """Proves fixes by the targets that the paths on the command line have, and by those that are configured."""

    def tell(text: str) -> None:
        if sys.stderr.isatty() and not arguments.quiet:
            write(f"{printable(text)}\n", sys.stderr)

    def run(result: FixResult, tasks: Sequence[Task], most: Applicability, jobs: int) -> FixResult:
        if not result.fixed:
            return result
        here = settings.for_directory(cwd)
        targets = list(_targets(arguments.paths, settings, cwd))
        try:
            interpreter = find_interpreter(here.verify.python, here.root, cwd, NAMED_IN_FILES)
            kept = warmth(None, interpreter)
            proof = prove(result.fixed, tasks, most, targets, interpreter.path, jobs, tell, kept)
        except (InterpreterError, StartError) as error:
            raise UsageError(str(error)) from None
        context = Context(cwd, lambda _: None, False)
        for refused in proof.refused:
            warn(_said(refused, context))
        texts = {one.task.path: one.data for one in proof.fixed}
        now = tuple(replace(task, data=texts[task.path]) if task.path in texts else task for task in tasks)
        return replace(result, fixed=proof.fixed, tasks=now, remaining=lint(now, jobs))

    return run


def _targets(paths: Sequence[str], settings: Configuration, cwd: Path) -> Iterator[Target]:
    """What may run the code that is fixed, in the mode that its findings are about."""
    named = [path for path in paths if (cwd / path).exists()]
    found = [*find_targets(named or ["."], settings, cwd).targets]
    if settings.for_directory(cwd).verify.targets:
        found += find_targets([], settings, cwd).targets
    for target in {target.name: target for target in found}.values():
        yield replace(target, modes=(settings.for_file(target.place[0]).mode,))


def _said(refused: Refused, context: Context) -> str:
    finding = refused.finding
    place = f"{context.shown(finding.filename)}:{finding.span.start.row}:{finding.span.start.column}"
    return f"{place}: the fix of {finding.code} {finding.name} is not kept: {refused.why}"
